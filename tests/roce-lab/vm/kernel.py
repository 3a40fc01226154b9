#!/usr/bin/python3
"""Unpacks a Debian kernel package: vmlinux, its modules, and the order of the first modules.

usage: kernel.py PACKAGE.deb FOLDER     FOLDER appears only when it is complete

vmlinux is booted instead of the compressed bzImage: decompression under emulation takes longer than
all the rest of a boot."""

import lzma
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

# Modules that the boot needs before there is a root with modules.
FIRST = ("virtio_pci", "virtio_mmio", "virtio_console", "9pnet_virtio", "9p", "overlay")

# Most of a kernel package by size, and for devices that the machine does not have.
UNWANTED = ("gpu", "media", "scsi", "usb", "iio", "staging", "hwmon", "mtd", "input")
UNWANTED_ELSEWHERE = ("kernel/sound", "kernel/drivers/net/wireless")

SETUP_SECTORS = 0x1F1
PAYLOAD = 0x248  # the place of the payload's offset and length, 32 bits each
SECTOR = 512


def vmlinux(image):
    """Returns the ELF file of a bzImage."""
    sectors = image[SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    start = (sectors + 1) * SECTOR + offset
    packed = image[start : start + length - 4]  # the last word is the uncompressed size
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
    """Unpacks the image and the modules of the package."""
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
    """Paths of the first modules, each after the modules that it needs."""
    order = []
    for name in FIRST:
        shown = subprocess.run(
            ["modprobe", "-d", folder, "-S", release, "--show-depends", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in shown.splitlines():  # lines are "insmod PATH" or "builtin NAME"
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
    if not (draft / "lib").exists():  # newer packages have the modules in /usr/lib
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
