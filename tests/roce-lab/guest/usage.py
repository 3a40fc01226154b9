"""What processes and the whole machine have used so far, by the kernel's counts."""

import dataclasses
import os
import pathlib
import re
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE, IOWAIT = 4, 5  # columns of a line of /proc/stat


@dataclasses.dataclass
class Process:
    """cpu_s: CPU time of all threads, with the softirqs that ran in them; system_s: the part of it
    in the kernel. sleeps: how often threads have gone to sleep."""

    cpu_s: float
    system_s: float
    sleeps: int
    preempted: int


def of_process(pid):
    proc = pathlib.Path(f"/proc/{pid}")
    tasks = list((proc / "task").iterdir())
    words = (proc / "stat").read_text().rpartition(")")[2].split()
    switches = [_numbers(task / "status", "ctxt_switches") for task in tasks]
    return Process(
        cpu_s=sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9,
        system_s=int(words[12]) * TICK_S,
        sleeps=sum(each["voluntary_ctxt_switches"] for each in switches),
        preempted=sum(each["nonvoluntary_ctxt_switches"] for each in switches),
    )


@dataclasses.dataclass
class Memory:
    anonymous_kib: int
    locked_kib: int  # by mlock, VmLck
    pinned_kib: int  # for RNICs, VmPin


def memory_of(pid):
    held = _numbers(f"/proc/{pid}/status", "Vm(?:Lck|Pin)")
    rollup = _numbers(f"/proc/{pid}/smaps_rollup", "Anonymous")
    return Memory(rollup["Anonymous"], held["VmLck"], held["VmPin"])


def _numbers(path, names):
    text = pathlib.Path(path).read_text()
    return {k: int(v) for k, v in re.findall(rf"^(\w*{names}):\s+(\d+)", text, re.M)}


@dataclasses.dataclass
class Machine:
    """idle_s: of all CPUs, which the kernel measures. It samples busy time at its ticks, and so
    misses work that a timer begins and that ends before the next tick. threads_s: of its threads
    for softirqs, which is charged to no process."""

    idle_s: float
    threads_s: float


def of_machine():
    line = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()
    idle_s = sum(int(line[i]) for i in (IDLE, IOWAIT)) * TICK_S
    return Machine(idle_s, sum(map(_cpu_s, _softirq_threads())))


def _cpu_s(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _softirq_threads():
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        if path.read_text().startswith("ksoftirqd/"):
            yield int(path.parent.name)


@dataclasses.dataclass
class Usage:
    """What was used in a span of time: seconds of CPU, and how often each process slept."""

    seconds: float
    processes: list
    machine: Machine

    def cpu_s(self):
        return sum(each.cpu_s for each in self.processes)

    def busy_s(self):
        """CPU time of the whole machine."""
        return self.seconds * os.cpu_count() - self.machine.idle_s


def during(pids, wait):
    """Measures from now until wait() returns."""
    began = time.monotonic(), [of_process(pid) for pid in pids], of_machine()
    wait()
    ended = time.monotonic(), [of_process(pid) for pid in pids], of_machine()
    return Usage(
        ended[0] - began[0],
        [_less(after, before) for after, before in zip(ended[1], began[1])],
        _less(ended[2], began[2]),
    )


def _less(after, before):
    fields = dataclasses.fields(after)
    return type(after)(*(getattr(after, f.name) - getattr(before, f.name) for f in fields))
