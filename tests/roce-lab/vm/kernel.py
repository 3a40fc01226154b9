#!/usr/bin/python3
"""A Debian kernel package made ready to boot: vmlinux, its modules, the first modules' order.

usage: kernel.py PACKAGE.deb FOLDER     FOLDER appears only when it is complete

The image itself is started, not the compressed bzImage: unpacking that under emulation
takes longer than all the rest of a boot."""

import lzma
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

# What the first minute of a boot needs, before there is a root with modules.
FIRST = ("virtio_pci", "virtio_mmio", "virtio_console", "9pnet_virtio", "9p", "overlay")

# Most of a kernel package by size, and nothing of it is in the machine.
UNWANTED = ("gpu", "media", "scsi", "usb", "iio", "staging", "hwmon", "mtd", "input")
UNWANTED_ELSEWHERE = ("kernel/sound", "kernel/drivers/net/wireless")

SETUP_SECTORS = 0x1F1
PAYLOAD = 0x248  # its offset and its length, 32 bits each
SECTOR = 512


def vmlinux(image):
    """The ELF file inside a bzImage."""
    sectors = image[SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    start = (sectors + 1) * SECTOR + offset
    packed = image[start : start + length - 4]  # its last word is the size, unpacked
    if packed.startswith(b"\xfd7zXZ"):
        elf = lzma.LZMADecompressor().decompress(packed)
    elif packed.startswith(b"\x1f\x8b"):
        elf = zlib.decompressobj(31).decompress(packed)
    elif packed.startswith(b"\x28\xb5\x2f\xfd"):
        elf = subprocess.run(["zstd", "-dcq"], input=packed, capture_output=True).stdout
    else:
        raise ValueError(f"a kernel packed in an unknown way: {packed[:6].hex()}")
    if not elf.startswith(b"\x7fELF"):
        raise ValueError("what the kernel image holds is no ELF file")
    return elf


def unpack(package, folder):
    """Of the package: the image and the modules."""
    unwanted = [f"kernel/drivers/{name}" for name in UNWANTED] + list(UNWANTED_ELSEWHERE)
    tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(
        ["tar", "-x", "-C", folder, "--exclude=./usr/share"]
        + [f"--exclude=*/{name}" for name in unwanted],
        stdin=tar.stdout,
        check=True,
    )
    if tar.wait() != 0:
        raise ValueError(f"{package} is no whole package")


def first_modules(folder, release):
    """Paths of the first modules, what each needs before it."""
    order = []
    for name in FIRST:
        shown = subprocess.run(
            ["modprobe", "-d", folder, "-S", release, "--show-depends", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in shown.splitlines():  # "insmod PATH", or "builtin NAME"
            verb, _, path = line.strip().partition(" ")
            if verb == "insmod" and path.strip() not in order:
                order.append(path.strip())
    return [str(pathlib.Path(path).relative_to(folder)) for path in order]


def make(package, folder):
    folder = pathlib.Path(folder).absolute()
    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    unpack(package, draft)
    if not (draft / "lib").exists():  # newer packages have it in /usr
        (draft / "lib").symlink_to("usr/lib")
    (release,) = [path.name for path in (draft / "lib" / "modules").iterdir()]
    subprocess.run(["depmod", "-b", draft, release], check=True)
    (image,) = (draft / "boot").glob("vmlinuz-*")
    (draft / "vmlinux").write_bytes(vmlinux(image.read_bytes()))
    shutil.rmtree(draft / "boot")
    (draft / "first").write_text("\n".join(first_modules(draft, release)) + "\n")
    (draft / "release").write_text(f"{release}\n")
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


if __name__ == "__main__":
    make(*sys.argv[1:])
