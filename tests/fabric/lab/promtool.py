"""promtool, as Debian packs it with Prometheus: build/engines has it, unpacked."""

import subprocess

from .places import ENGINES


def promtool(*words, text=None):
    """What it says; of a check that fails that is an error."""
    done = subprocess.run(
        [ENGINES / "usr/bin/promtool", *map(str, words)],
        input=text, capture_output=True, text=True, timeout=300, check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said
