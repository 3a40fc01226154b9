"""Wall clocks that jump, each of one process, by libfaketime. Monotonic time continues, as on a
machine whose clock is set."""

import os
import pathlib

LIBRARIES = pathlib.Path("/usr/lib")  # the package libfaketime; the folder below has the architecture's name
READ_EVERY_S = 1


class FakeClock:
    """The environment for a process, and the error of its wall clock."""

    def __init__(self, folder, name):
        self._library = next(LIBRARIES.glob("*/faketime/libfaketimeMT.so.1"))
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        self._file = pathlib.Path(folder) / f"{name}.clock"
        self.set("+0")

    def set(self, offset):
        """Sets the error in libfaketime's notation: +10y, -1h, +0. The process sees it within
        READ_EVERY_S."""
        fresh = self._file.with_suffix(".new")  # renamed when complete: half of the text would be another time
        fresh.write_text(f"{offset}\n")
        fresh.rename(self._file)

    def variables(self):
        # Without FAKETIME_XRESET, which would ignore later changes.
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": str(READ_EVERY_S),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",  # setting a clock does not change the times of files
        }


def sweep():
    """Removes what libfaketime left in shared memory for processes that were killed."""
    for left in pathlib.Path("/dev/shm").glob("*faketime_s*_*"):
        owner = left.name.rpartition("_")[2]
        if owner.isdigit() and not pathlib.Path("/proc", owner).exists():
            try:
                os.unlink(left)
            except FileNotFoundError:
                pass
