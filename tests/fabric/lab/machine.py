"""Whether the machine itself stood still: seconds in which nobody was run, neither the
daemons nor the test, are no time in which anything can be asked of them."""

import threading
import time

EVERY_S = 0.02
LATE_S = 0.2  # daemons judge by the second; from 0.3 s on they say so themselves


class Watch:
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

    def since(self, at):
        """(how often, seconds in all, the longest) it stood still since then."""
        lasted = [seconds for end, seconds in self.stalls if end > at]
        return len(lasted), sum(lasted), max(lasted, default=0)

    def close(self):
        self._ended.set()
        self._thread.join()
