"""A small disk for one daemon, which tests can fill or make read-only: a tmpfs."""

import errno
import os
import pathlib
import re

from .netns import run

SIZE = "48m"
_OURS = re.compile(r"rmdisk([0-9a-f]+)")
_CHUNK = bytes(1 << 16)


class SmallDisk:
    """A tmpfs that is mounted at a folder until close()."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._filler = self.folder / "filler"
        name = f"rmdisk{os.getpid():x}"
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", name, self.folder)

    def fill(self):
        """Writes until the disk does not take one more byte."""
        with open(self._filler, "wb", buffering=0) as filler:
            for chunk in (_CHUNK, _CHUNK[:1]):
                while self._takes(filler, chunk):
                    pass
        assert self.free() == 0

    @staticmethod
    def _takes(filler, chunk):
        try:
            return filler.write(chunk) == len(chunk)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return False

    def empty(self):
        self._filler.unlink()

    def free(self):
        return os.statvfs(self.folder).f_bavail

    def read_only(self, yes):
        """Works only while no process has a file open for writing. Makes the file system
        read-only, not only this mount: a daemon that starts meanwhile has its own copy of the
        mount, which would keep the old state."""
        run("mount", "-o", f"remount,{'ro' if yes else 'rw'}", self.folder)
        if yes:
            run("mount", "-o", "remount,bind,rw", self.folder)

    def close(self):
        run("umount", "-l", self.folder, check=False)


def sweep():
    """Unmounts the disks of processes that were killed before they could do it."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        name, folder = line.split()[:2]
        owner = _OURS.fullmatch(name)
        if owner and not pathlib.Path(f"/proc/{int(owner[1], 16)}").exists():
            run("umount", "-l", folder, check=False)
