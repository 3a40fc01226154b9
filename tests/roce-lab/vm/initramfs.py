"""The first root file system: busybox, the first modules, and the script that switches to the real
root.

It is a cpio archive (format "newc"), written here: the format is simple, and no program is needed."""

import lzma
import pathlib
import shutil
import subprocess

BUSYBOX = pathlib.Path("/bin/busybox")
INIT = pathlib.Path(__file__).with_name("init")
DIRECTORY, FILE = 0o040755, 0o100755


def _entry(name, mode, data=b""):
    name = name.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def _module(path):
    """The module's bytes, decompressed: busybox's insmod does not decompress."""
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    return path.read_bytes()


def write(kernel, path):
    """kernel: a folder made by kernel.py."""
    parts = [_entry(name, DIRECTORY) for name in ("bin", "modules", "host", "rw", "root", "out")]
    parts += [_entry(name, DIRECTORY) for name in ("proc", "sys", "dev")]
    parts.append(_entry("bin/busybox", FILE, pathlib.Path(shutil.which(BUSYBOX)).read_bytes()))
    parts.append(_entry("init", FILE, INIT.read_bytes()))
    for i, line in enumerate((kernel / "first").read_text().split()):
        parts.append(_entry(f"modules/{i:02}.ko", FILE, _module(kernel / line)))
    parts.append(_entry("TRAILER!!!", 0))
    path.write_bytes(b"".join(parts))
