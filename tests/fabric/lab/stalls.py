#!/usr/bin/python3
"""The machine stands still: some processes are stopped and continued, together, again and
again.

usage: stalls.py PATTERN COMMAND...    stops COMMAND and all that it starts, until it ends

PATTERN is one of often (300 ms of every 330), now-and-then (1 s every 5 s), once (3 s, after 10
s), each-level (3 s every 23 s, so that every long level of ./dev test has some)."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import threading

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.signals import end_on_signals, ended  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Pattern:
    runs_s: float  # before each stop
    still_s: float
    times: int  # 0: until it is ended


PATTERNS = {
    "often": Pattern(0.033, 0.3, 0),
    "now-and-then": Pattern(4.0, 1.0, 0),
    "once": Pattern(10.0, 3.0, 1),
}
STOPPED = "T"
EACH_LEVEL = {"each-level": Pattern(20.0, 3.0, 0)}  # for ./dev test, not for scenarios


class Stalls:
    """A context. pids(): the processes to stop, called each time. times: how often they were
    stopped."""

    def __init__(self, pattern, pids):
        self.pattern, self._pids, self.times = pattern, pids, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.wait(self.pattern.runs_s):
            # Processes that a test has stopped must not be continued here.
            stopped = [pid for pid in self._pids() if state_of(pid) != STOPPED]
            _signal(stopped, signal.SIGSTOP)
            try:
                self._over.wait(self.pattern.still_s)
            finally:
                _signal(stopped, signal.SIGCONT)
            self.times += 1
            if self.times == self.pattern.times:
                return


def state_of(pid):
    """The state letter of the kernel, for example STOPPED. None: the process has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return None


def _signal(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def of_world(world, pattern):
    """Stops all daemons of a world together, but not the receivers of their alerts."""
    lab = world.lab
    daemons = [*lab.controllers, *lab.aggregator_daemons(), *lab.agents.values()]
    daemons += [lab.analyzer] if lab.analyzer else []
    return Stalls(pattern, lambda: [each.pid for each in daemons if each.alive])


def descendants(pid):
    """All processes that it started, and those that these started."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found, left = [], [pid]
    while left:
        some = children.get(left.pop(), [])
        found += some
        left += some
    return found


def main(name, *command):
    patterns = PATTERNS | EACH_LEVEL
    if name not in patterns or not command:
        sys.exit(__doc__)
    end_on_signals()  # the stopped processes are continued then, too
    started = subprocess.Popen(command)
    with Stalls(patterns[name], lambda: [started.pid, *descendants(started.pid)]) as stalls:
        status = ended(started)
    print(f"stalls.py: {name}: it stalled {stalls.times} times", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
