#!/usr/bin/python3
"""Runs groups of scenarios in the RoCE lab's machine, one boot for each.

usage: run.py [--clock host|virtual] [--jobs N] [--kernel usual|backports] [GROUP...]

A group is a file test_<group>.py here; or machine: tests of the machine itself, from outside; or
fabric-smoke: the smoke test of tests/fabric, in this kernel.

Only if named: every-kernel: the tests of all files with this marker; verdicts-<what>: such a file
here or in tests/fabric, with a virtual clock; verdicts: all of them but verdicts-stalls,
verdicts-catalogue and verdicts-links, several in one machine.

If a machine panics or hangs, its group fails by its own name. Logs and console are in
build/roce-lab/out/<group>/."""

import argparse
import concurrent.futures
import io
import itertools
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

from vm.machine import CLOCKS, LAB, Lost, Machine, kernel, warm_programs

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FABRIC = ROOT / "tests" / "fabric"
SECONDS = {"host": 900, "virtual": 3600}  # seconds; a starved host needs four times as long
TAIL = 15  # lines of a log that are shown after a failure
STARVED_MS = 1000  # stalls of a daemon in all, above which a machine counts as starved
STARVED_SHARE = 0.25  # of the host's time: a machine's two emulated processors need two
LOCK_UPS = 2
LONG = {"verdicts-stalls", "verdicts-catalogue", "verdicts-links"}  # only run if named
# Groups that share a machine, since its boot and its first programs take as long as a file's tests.
# Tests for ./dev test --full alone are left out.
SHARED = (("verdicts-rack",), ("verdicts-between", "verdicts-pair", "verdicts-roce"))
PYTEST = (
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 /usr/bin/python3 -m pytest -p no:cacheprovider -v -rs"
    " --durations=0 --durations-min=1"
)


def name_of(path):
    return path.stem.removeprefix("test_").replace("_", "-")


def verdict_files():
    return [path for place in (FABRIC, HERE) for path in place.glob("test_verdicts_*.py")]


def usual_groups():
    """{name: what pytest runs}, in the order of running."""
    files = [path for path in sorted(HERE.glob("test_*.py")) if path not in verdict_files()]
    found = {name_of(path): f"{path}" for path in files}
    return {
        "machine": f"--noconftest {HERE / 'vm'}",
        **found,
        "fabric-smoke": f"-m smoke {FABRIC}",
    }


def other_groups():
    """Groups that only run if named."""
    files = " ".join(map(str, sorted(HERE.glob("test_*.py"))))
    verdicts = {name_of(path): f"{path}" for path in verdict_files()}
    which = "" if os.environ.get("RACKMESH_FULL") == "1" else "-m 'not full' "
    shared = {
        "+".join(names): which + " ".join(verdicts[name] for name in names) for names in SHARED
    }
    return {"every-kernel": f"-m every_kernel {files}", **verdicts, **shared}


def known_groups():
    return {**usual_groups(), **other_groups()}


def asked_groups(words):
    """The names of groups; "verdicts" stands for several, of which the shared ones take longest and
    come first."""
    alone = {name_of(path) for path in verdict_files()} - LONG - {*itertools.chain(*SHARED)}
    verdicts = [*map("+".join, SHARED), *sorted(alone)]
    names = [each for word in words for each in (verdicts if word == "verdicts" else [word])]
    return names or list(usual_groups())


def warm_line(what, build):
    """Also imports every module of the tests."""
    return f"{warm_programs(build)}; {PYTEST} --collect-only -q {what}"


class Said:
    """Writes to a stream and to a file: the last line shows in which test a machine was lost."""

    def __init__(self, path, stream):
        self._file, self._stream = path.open("wb"), stream

    def write(self, some):
        self._file.write(some)
        self._stream.write(some.decode(errors="replace"))

    def flush(self):
        self._file.flush()
        self._stream.flush()


class Group:
    """stream: gets the machine's output. processor: see vm/machine.py."""

    def __init__(self, name, what, asked, stream, processor=None):
        self.name, self.what, self.asked, self.stream = name, what, asked, stream
        self.processor = processor
        if asked.kernel != "usual":
            self.name += f"-{pathlib.Path(asked.kernel).name}"
        self.machine = self._machine(LAB / "out" / self.name)
        self.said = self.machine.out / "said"
        self.report = asked.reports / f"roce-{self.name}.xml"

    def _machine(self, out):
        return Machine(self.asked.kernel, out, self.asked.clock, self.processor)

    def _print(self, text):
        print(text, file=self.stream, flush=True)

    def _line(self):
        """With a virtual clock the tests' folder is in memory until they end: a program that waits
        for a file of the host would see time jump."""
        out, virtual = self.machine.out, self.asked.clock == "virtual"
        temp = "/run/tests" if virtual else f"{out}/tests"
        more = f" -k {shlex.quote(self.asked.k)}" if self.asked.k else ""
        words = f"{PYTEST} --junitxml={out}/junit.xml --basetemp={temp}{more} {self.what}"
        if not virtual:
            return words
        keep = f"tar -C {temp} --exclude=*.sock -cf - . | tar -C {out}/tests -xf -"
        return f"{words}; status=$?; [ $status = 0 ] || {{ mkdir {out}/tests; {keep}; }}; exit $status"

    def run(self):
        """Returns whether all tests have passed."""
        out, started = self.machine.out, time.monotonic()
        line = self._line()
        status, wrong = self._try(line)
        starved = self._starved(time.monotonic() - started) if status else None
        if starved:
            self._print(f"\nRoCE lab, {self.name}: FAILED in a machine that {starved}. Once more:")
            self._tried_again()
            self.machine = self._machine(self.machine.out)
            status, wrong = self._try(line)
        seconds = time.monotonic() - started
        if (out / "junit.xml").exists():
            shutil.copy(out / "junit.xml", self.report)
            if wrong:
                self._fail(wrong, self.report.with_suffix(".lost.xml"))
        elif status or wrong:
            self._fail(wrong or f"pytest ended with {status}", self.report)
        self._print(f"{self.name}: {'FAILED' if status else 'well'} after {seconds:.0f} s\n")
        if status:
            self._show_tails(wrong)
        return status == 0

    def _try(self, line):
        """(exit status, the error if the machine ended without one)"""
        try:
            return self._run_again_if_locked_up(line), None
        except Lost as lost:
            return 1, f"{lost}; last said: {self._last_said()}"

    def _run_again_if_locked_up(self, line):
        """An emulated processor now and then locks up at the entry of a function that is being
        patched, when one agent starts or stops while another uses the function: see README.md."""
        for _ in range(LOCK_UPS):
            try:
                return self._run(line)
            except Lost as lost:
                console = self.machine.console.read_text(errors="replace")
                if "soft lockup" not in console or self.asked.clock == "virtual":
                    raise
                kept = self.machine.out.with_name(f"{self.name}.locked-up")
                kept.write_text(console)
                self._print(f"\n{self.name}: it locked up ({lost}); see {kept}. Once more:")
                self._tried_again()
                self.machine = self._machine(self.machine.out)
        return self._run(line)

    def _tried_again(self):
        """tests/support/count.py reports these groups at the end."""
        with (self.asked.reports / "tried-again.txt").open("a") as list_of_names:
            list_of_names.write(f"{self.name}\n")

    def _starved(self, seconds):
        """Why the machine counts as starved, or None: the failure of a starved machine proves
        nothing. A virtual clock does not depend on the host, so then it is None."""
        if self.asked.clock == "virtual":
            return None
        still_ms, waited_s = self._stood_still_ms(), self.machine.waited_s
        if still_ms >= STARVED_MS:
            return f"did not run for {still_ms} ms in all, as its daemons logged"
        if waited_s >= STARVED_SHARE * seconds:
            return f"waited for a processor for {waited_s:.0f} s of {seconds:.0f}"
        return None

    def _stood_still_ms(self):
        """Milliseconds for which a daemon stalled in all, by its own log: emulation did not get
        enough time. Verdicts within seconds cannot be expected then."""
        said = [path.read_text(errors="replace") for path in self.machine.out.glob("tests/**/*.log")]
        found = [re.findall(r"event loop stalled for (\d+) ms", each) for each in said]
        return max((sum(map(int, each)) for each in found), default=0)

    def _run(self, line):
        if self.name != "machine":
            virtual = self.asked.clock == "virtual"
            warm = warm_line(self.what, self.asked.build.resolve()) if virtual else ""
            seconds = self.asked.seconds or SECONDS[self.asked.clock]
            said = Said(self.said, self.stream)
            return self.machine.run(line, seconds, said, warm)
        return subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL).returncode

    def _last_said(self):
        lines = self.said.read_text(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "nothing")

    def _fail(self, why, path):
        """Writes a report of what pytest could not report itself."""
        suite = ElementTree.Element("testsuite", name=f"roce-{self.name}")
        case = ElementTree.SubElement(suite, "testcase", classname="roce-lab", name=self.name)
        ElementTree.SubElement(case, "failure", message=why)
        ElementTree.ElementTree(suite).write(path)

    def _show_tails(self, why):
        if why:
            self._print(f"{self.name}: {why}")
        out = self.machine.out
        for path in [out / "console", *sorted(out.glob("tests/**/*.log"))]:
            if path.is_file() and path.stat().st_size:
                lines = path.read_text(errors="replace").splitlines()[-TAIL:]
                self._print("\n".join((f"---- the end of {path}", *lines)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--engines", type=pathlib.Path, default=ROOT / "build" / "engines")
    parser.add_argument("--kernel", default="usual", help="usual, backports or a folder")
    parser.add_argument("--reports", type=pathlib.Path, default=ROOT / "build" / "reports")
    parser.add_argument("--seconds", type=float, help="for a group")
    parser.add_argument("--clock", choices=CLOCKS, default="host")
    parser.add_argument("--jobs", type=int, default=1, help="machines side by side")
    parser.add_argument("-k", help="only the tests that this names, as for pytest")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(known_groups()))
    return parser.parse_args()


def run_abreast(names, asked):
    """Runs so many groups at once, and prints the output of each when it has ended."""
    free = queue.SimpleQueue()  # processors; several machines may share one
    for processor in itertools.islice(itertools.cycle(sorted(os.sched_getaffinity(0))), asked.jobs):
        free.put(processor if asked.clock == "virtual" else None)

    def run(name):
        stream, processor = io.StringIO(), free.get()
        try:
            group = Group(name, known_groups()[name], asked, stream, processor)
            return group.run(), stream.getvalue()
        finally:
            free.put(processor)

    pool = concurrent.futures.ThreadPoolExecutor(asked.jobs)
    every = []
    try:
        for each in concurrent.futures.as_completed([pool.submit(run, name) for name in names]):
            well, said = each.result()
            print(said, flush=True)
            every.append(well)
    except KeyboardInterrupt:
        os._exit(130)  # the machines end with this process
    return every


def main():
    asked = arguments()
    known, names = known_groups(), asked_groups(asked.groups)
    for name in names:
        if name not in known:
            sys.exit(f"run.py: no group {name}; there are: verdicts, {', '.join(known)}")
        if name.startswith("verdicts-") and asked.clock != "virtual":
            sys.exit(f"run.py: {name} judges seconds of a virtual clock: --clock virtual")
    os.environ["RACKMESH_BUILD"] = str(asked.build.resolve())
    os.environ["RACKMESH_LAB_KERNEL"] = str(kernel(asked.kernel))
    os.environ["RACKMESH_ENGINES"] = str(asked.engines.resolve())
    asked.reports.mkdir(parents=True, exist_ok=True)
    if asked.jobs > 1:
        every = run_abreast(names, asked)
    else:
        every = [Group(name, known[name], asked, sys.stdout).run() for name in names]
    return 0 if all(every) else 1


if __name__ == "__main__":
    sys.exit(main())
