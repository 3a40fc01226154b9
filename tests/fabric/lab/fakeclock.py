"""Wall clocks that jump, of one process each, by libfaketime. Monotonic time goes on, as
it does on a machine whose clock is set."""

import os
import pathlib

LIBRARIES = pathlib.Path("/usr/lib")  # the package libfaketime; the machine's name is below
READ_EVERY_S = 1


class FakeClock:
    """The environment of a process, and by how much its clock is wrong."""

    def __init__(self, folder, name):
        self._library = next(LIBRARIES.glob("*/faketime/libfaketimeMT.so.1"))
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        self._file = pathlib.Path(folder) / f"{name}.clock"
        self.set("+0")

    def set(self, offset):
        """As libfaketime writes it: +10y, -1h, +0. Seen within READ_EVERY_S."""
        fresh = self._file.with_suffix(".new")  # half a file would be another time
        fresh.write_text(f"{offset}\n")
        fresh.rename(self._file)

    def variables(self):
        # Not FAKETIME_XRESET: with it later changes are not seen.
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": str(READ_EVERY_S),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",  # a clock that is set leaves the times of files alone
        }


def sweep():
    """What processes left in shared memory that were killed."""
    for left in pathlib.Path("/dev/shm").glob("*faketime_s*_*"):
        owner = left.name.rpartition("_")[2]
        if owner.isdigit() and not pathlib.Path("/proc", owner).exists():
            try:
                os.unlink(left)
            except FileNotFoundError:
                pass
