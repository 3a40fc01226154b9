"""Runs daemons under the system call lists of their systemd units, to find calls that these
lists lack.

As a program: -m lab.confined UNIT CALL... makes each call under the unit's list, in a process
of its own, and prints how that process ended.
"""

import functools
import json
import os
import subprocess
import sys

from .places import ROOT

sys.path.append(str(ROOT / "tests" / "support"))
from confine import Filter, Unit, main  # noqa: E402, F401: Unit is imported from here

UNITS = {
    kind: ROOT / kind / f"{kind}.service"
    for kind in ("host-agent", "tor-aggregator", "region-controller", "analyzer")
}
CONFINE = ROOT / "tests" / "support" / "confine.py"


@functools.cache
def _is_sanitized(program):
    """True: the program is built with a sanitizer, which at its end makes calls that our
    daemons do not make."""
    return b"__asan_init" in program.read_bytes()


def confined(kind, program, variables=None):
    """The words to put before the command. Empty if the environment has libraries of a test, or
    RACKMESH_CONFINE=0."""
    if (
        "LD_PRELOAD" in (variables or {})
        or os.environ.get("RACKMESH_CONFINE") == "0"
        or _is_sanitized(program)
    ):
        return []
    return [sys.executable, str(CONFINE), str(UNITS[kind]), "--"]


def endings(unit, calls):
    """{call: the signal that ended the process that made it under the unit's list, or None}"""
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
