#!/usr/bin/python3
"""A busy machine: processes that want every processor, until a command has ended.

usage: burners.py KIND COMMAND...

KIND is ordinary (two busy loops of the usual priority), or real-time (on each processor
300 ms busy and 150 ms idle, at a priority that nobody else has)."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.signals import end_on_signals, ended  # noqa: E402

LOOPS, BUSY_S, IDLE_S, PRIORITY = 2, 0.3, 0.15, 10
BURN = "--burn"


def burn(processor):
    """Runs for ever. processor: uses this one with real-time priority, in intervals; None: an
    ordinary busy loop."""
    if processor is not None:
        os.sched_setaffinity(0, {processor})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    while True:
        until = time.monotonic() + BUSY_S
        while time.monotonic() < until:
            pass
        if processor is not None:
            time.sleep(IDLE_S)


@contextlib.contextmanager
def burning(processors):
    """A context with so many burners; see burn(). They also end when this process is killed."""
    words = ["setpriv", "--pdeathsig", "KILL", sys.executable, __file__, BURN]
    burners = [subprocess.Popen([*words, "" if each is None else str(each)]) for each in processors]
    try:
        yield burners
    finally:
        for each in burners:
            each.kill()
            each.wait()


def main(kind, *command):
    if kind == BURN:
        burn(int(command[0]) if command[0] else None)
    kinds = {"ordinary": [None] * LOOPS, "real-time": sorted(os.sched_getaffinity(0))}
    if kind not in kinds or not command:
        sys.exit(__doc__)
    end_on_signals()
    with burning(kinds[kind]) as burners:
        status = ended(subprocess.Popen(command))
        gone = [each.returncode for each in burners if each.poll() is not None]
    if gone:
        sys.exit(f"burners.py: a burner ended with {gone[0]}: nothing is shown")
    sys.exit(status)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
