"""The machine from outside: its caller is informed of every kind of end."""

import contextlib
import io
import lzma
import os
import struct
import subprocess
import time
import zlib

import pytest

from .kernel import SECTOR, vmlinux
from .machine import Lost, Machine, waited_s

BOOT_S = 600  # seconds
KERNEL = os.environ.get("RACKMESH_LAB_KERNEL", "usual")


@pytest.fixture
def machine(tmp_path):
    return Machine(KERNEL, tmp_path / "out")


def test_only_output_files_and_status_come_back(machine, tmp_path):
    outside, said = tmp_path / "outside", io.BytesIO()
    job = f"echo said; echo aside >&2; id -u >{machine.out}/file; echo >{outside}; exit 7"

    assert machine.run(job, BOOT_S, said) == 7

    assert said.getvalue().split() == [b"said", b"aside"]
    assert (machine.out / "file").read_text() == "0\n"
    assert not outside.exists()


def test_a_panic_is_reported_with_its_first_words(machine):
    with pytest.raises(Lost, match="Kernel panic.*sysrq triggered crash") as lost:
        machine.run("echo before; sync; echo c >/proc/sysrq-trigger; sleep 60", BOOT_S)
    assert str(machine.console) in str(lost.value)


def test_a_machine_that_hangs_ends_at_its_time_limit(machine):
    with pytest.raises(Lost, match="not done after 2 s"):
        machine.run("sleep 600", 2)


def test_only_an_elf_file_in_a_known_packing_is_taken_for_a_kernel():
    def image(payload):
        head = bytearray(2 * SECTOR)
        head[0x1F1] = 1
        struct.pack_into("<II", head, 0x248, 0, len(payload) + 4)
        return bytes(head) + payload + bytes(4)

    def gzip(data):
        packer = zlib.compressobj(wbits=31)
        return packer.compress(data) + packer.flush()

    elf = b"\x7fELF and the rest of it"
    assert vmlinux(image(gzip(elf))) == elf
    assert vmlinux(image(lzma.compress(elf))) == elf
    with pytest.raises(ValueError, match="unknown way"):
        vmlinux(image(b"BZh9 and more"))
    with pytest.raises(ValueError, match="no ELF"):
        vmlinux(image(gzip(b"text")))


def test_what_a_process_waits_for_a_processor_is_counted():
    line = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0))), "yes"]
    with contextlib.ExitStack() as stack:
        loops = [subprocess.Popen(line, stdout=subprocess.DEVNULL) for _ in range(2)]
        for each in loops:
            stack.callback(each.wait)
            stack.callback(each.kill)
        deadline = time.monotonic() + 60
        while min(waited_s(each.pid) for each in loops) < 0.1:
            assert time.monotonic() < deadline
            time.sleep(0.02)
