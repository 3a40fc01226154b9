"""The daemons under the system call lists of their own units: what those lack shows."""

import functools
import os
import sys

from .places import ROOT

sys.path.append(str(ROOT / "tests" / "support"))
from confine import Filter, Unit  # noqa: E402, F401: for whoever looks into a unit

UNITS = {
    kind: ROOT / kind / f"{kind}.service"
    for kind in ("host-agent", "tor-aggregator", "region-controller", "analyzer")
}
CONFINE = ROOT / "tests" / "support" / "confine.py"


@functools.cache
def _is_sanitized(program):
    """A sanitizer does at its end what no daemon of ours does."""
    return b"__asan_init" in program.read_bytes()


def confined(kind, program, variables=None):
    """What to put before the command. Not with libraries of a test's own in it, nor where
    RACKMESH_CONFINE=0 asks for none."""
    if (
        "LD_PRELOAD" in (variables or {})
        or os.environ.get("RACKMESH_CONFINE") == "0"
        or _is_sanitized(program)
    ):
        return []
    return [sys.executable, str(CONFINE), str(UNITS[kind]), "--"]
