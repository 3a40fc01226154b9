"""promtool, which is in Debian's Prometheus package: unpacked in build/engines."""

import subprocess

from .places import ENGINES


def promtool(*words, text=None):
    """Its output; a check that fails is an error."""
    done = subprocess.run(
        [ENGINES / "usr/bin/promtool", *map(str, words)],
        input=text, capture_output=True, text=True, timeout=300, check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output
