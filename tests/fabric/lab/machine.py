"""Whether the machine itself stood still: seconds in which nobody was run, neither the
daemons nor the test, are no time in which anything can be asked of them."""

import os
import pathlib
import re
import threading
import time

VIRTUAL = os.environ.get("RACKMESH_CLOCK") == "virtual"
EVERY_S = 1 if VIRTUAL else 0.02  # nothing stands still there
LATE_S = 0.05  # later than any scheduler's turn
STILL_S = 0.2  # daemons judge by the second; from 0.3 s on they say so themselves
CLEAN_S = 0.3  # who was kept from running for no longer is never called silent
_PRESSURE = pathlib.Path("/proc/pressure/cpu")


class Pulse:
    """A thread that asks to be woken, and notes whenever that comes late, until closed."""

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
        """(how often, seconds in all, the longest) it was late since then, by that much."""
        lasted = [seconds for end, seconds in self.stalls if end > at and seconds >= least]
        return len(lasted), sum(lasted), max(lasted, default=0)

    def close(self):
        self._ended.set()
        self._thread.join()


_pulse = None


def watch():
    """The one pulse of this process, from now on."""
    global _pulse
    _pulse = _pulse or Pulse()
    return _pulse


def lost(since):
    """Seconds of the machine's own that have passed since then; 0 where nobody watches."""
    return _pulse.since(since)[1] if _pulse else 0


def longest(since):
    """Seconds that it stood still at most at a time since then."""
    return _pulse.since(since)[2] if _pulse else 0


def cpu_waited_s():
    """Seconds in which somebody waited for a processor, since the machine's start; None
    where the kernel does not say."""
    try:
        found = re.search(r"^some .*total=(\d+)", _PRESSURE.read_text(), re.M)
    except OSError:
        return None
    return int(found[1]) / 1e6 if found else None
