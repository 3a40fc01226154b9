"""Measures whether the machine did not run. In seconds in which no process ran, neither the
daemons nor the test, nothing can be asserted of the daemons."""

import os
import pathlib
import re
import threading
import time

VIRTUAL = os.environ.get("RACKMESH_CLOCK") == "virtual"
EVERY_S = 1 if VIRTUAL else 0.02  # virtual time never stands still
LATE_S = 0.05  # longer than any delay by the scheduler
STILL_S = 0.2  # daemons judge seconds; they report stalls of 0.3 s and more themselves
CLEAN_S = 0.3  # a daemon that could not run for at most so long is never called silent
_PRESSURE = pathlib.Path("/proc/pressure/cpu")


class Pulse:
    """A thread that sleeps for short times and records each late wake-up, until closed."""

    def __init__(self):
        self.stalls = []  # (time.monotonic() at the end, seconds)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        asked = time.monotonic()
        while not self._ended.wait(EVERY_S):
            now = time.monotonic()
            if now - asked > EVERY_S + LATE_S:
                self.stalls.append((now, now - asked - EVERY_S))
            asked = time.monotonic()

    def since(self, at, least=LATE_S):
        """(number, total seconds, longest) of the wake-ups since then that were late by at
        least that much."""
        lasted = [seconds for end, seconds in self.stalls if end > at and seconds >= least]
        return len(lasted), sum(lasted), max(lasted, default=0)

    def close(self):
        self._ended.set()
        self._thread.join()


_pulse = None


def watch():
    """Starts the one Pulse of this process."""
    global _pulse
    _pulse = _pulse or Pulse()
    return _pulse


def lost(since):
    """Seconds since then in which the machine did not run; 0 without a Pulse."""
    return _pulse.since(since)[1] if _pulse else 0


def longest(since):
    """The longest time in seconds since then for which it did not run without a break."""
    return _pulse.since(since)[2] if _pulse else 0


def cpu_waited_s():
    """Seconds in which some process waited for a processor, since the boot; None if the kernel
    does not report it."""
    try:
        found = re.search(r"^some .*total=(\d+)", _PRESSURE.read_text(), re.M)
    except OSError:
        return None
    return int(found[1]) / 1e6 if found else None
