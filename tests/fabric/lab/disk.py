"""A small disk of a daemon's own, that can be full or read-only: a tmpfs."""

import errno
import os
import pathlib
import re

from .netns import run

SIZE = "48m"
_OURS = re.compile(r"rmdisk([0-9a-f]+)")
_CHUNK = bytes(1 << 16)


class SmallDisk:
    """Mounted at a folder until closed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._filler = self.folder / "filler"
        name = f"rmdisk{os.getpid():x}"
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", name, self.folder)

    def fill(self):
        """Until not one byte more is taken."""
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
        """Only while nobody has a file open for writing. The disk itself, not this mount of
        it: who is started meanwhile has a copy of the mount, and would keep it so."""
        run("mount", "-o", f"remount,{'ro' if yes else 'rw'}", self.folder)
        if yes:
            run("mount", "-o", "remount,bind,rw", self.folder)

    def close(self):
        run("umount", "-l", self.folder, check=False)


def sweep():
    """Takes away the disks of a process that was killed before it could."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        name, folder = line.split()[:2]
        owner = _OURS.fullmatch(name)
        if owner and not pathlib.Path(f"/proc/{int(owner[1], 16)}").exists():
            run("umount", "-l", folder, check=False)
