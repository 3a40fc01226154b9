"""The daemons under the system call lists of their own units: what those lack shows.

As a program: -m lab.confined UNIT CALL... makes each call under the unit's list, in a
process of its own, and prints how that ended."""

import functools
import json
import os
import subprocess
import sys

from .places import ROOT

sys.path.append(str(ROOT / "tests" / "support"))
from confine import Filter, Unit, main  # noqa: E402, F401: for whoever looks into a unit

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


def endings(unit, calls):
    """{call: the signal that ended whoever made it under the unit's list, or None}"""
    done = subprocess.run(
        [sys.executable, "-m", "lab.confined", unit, *calls],
        env=dict(os.environ, PYTHONPATH=str(ROOT / "tests" / "fabric")),
        stdout=subprocess.PIPE,
        check=True,
    )
    statuses = json.loads(done.stdout)
    return {call: -status if status < 0 else None for call, status in statuses.items()}


def _try(unit, call):
    child = os.fork()
    if child == 0:
        try:
            main([unit, "--call", call])
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    print(json.dumps({call: _try(sys.argv[1], call) for call in sys.argv[2:]}))
