#!/usr/bin/python3
"""Runs groups of scenarios in the RoCE lab's machine, one boot for each.

usage: run.py [--build DIR] [--engines DIR] [--kernel usual|backports] [GROUP...]

A group is a file test_<group>.py here, or machine: tests of the machine itself, from
outside; or fabric-smoke: the smoke of tests/fabric, in this kernel; or every-kernel,
which has to be asked for: tests of all files that are marked so. A group whose machine
panics or hangs fails by its own name. Its logs and its console stay in
build/roce-lab/out/<group>/."""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

from vm.machine import LAB, Lost, Machine, kernel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = 300
TAIL = 15  # lines
STARVED_MS = 1000  # in all
LOCK_UPS = 2
PYTEST = "/usr/bin/python3 -m pytest -p no:cacheprovider -v -rs"


def groups(asked=()):
    """{name: what pytest is to run}, in the order of running."""
    found = {path.stem[5:]: f"{path}" for path in sorted(HERE.glob("test_*.py"))}
    if asked == ["every-kernel"]:
        return {"every-kernel": f"-m every_kernel {' '.join(found.values())}"}
    return {
        "machine": f"--noconftest {HERE / 'vm'}",
        **found,
        "fabric-smoke": f"-m smoke {ROOT / 'tests' / 'fabric'}",
    }


class Said:
    """To our stdout, and kept: the last words say which test a machine was lost in."""

    def __init__(self, path):
        self._file = path.open("wb")

    def write(self, some):
        self._file.write(some)
        sys.stdout.buffer.write(some)

    def flush(self):
        self._file.flush()
        sys.stdout.buffer.flush()


class Group:
    def __init__(self, name, what, asked):
        self.name, self.what, self.asked = name, what, asked
        if asked.kernel != "usual":
            self.name += f"-{pathlib.Path(asked.kernel).name}"
        self.machine = Machine(asked.kernel, LAB / "out" / self.name)
        self.said = self.machine.out / "said"
        self.report = asked.reports / f"roce-{self.name}.xml"

    def run(self):
        """Whether all of it is well."""
        out, started = self.machine.out, time.monotonic()
        words = f"{PYTEST} --junitxml={out}/junit.xml --basetemp={out}/tests"
        more = f" -k {shlex.quote(self.asked.k)}" if self.asked.k else ""
        line = f"exec {words}{more} {self.what}"
        status, wrong = self._try(line)
        if status and (still_ms := self._stood_still_ms()) >= STARVED_MS:
            print(f"\nRoCE lab, {self.name}: FAILED in a machine that stood still for {still_ms}"
                  " ms in all, as its daemons say. Once more:")
            self.machine = Machine(self.asked.kernel, self.machine.out)
            status, wrong = self._try(line)
        seconds = time.monotonic() - started
        if (out / "junit.xml").exists():
            shutil.copy(out / "junit.xml", self.report)
            if wrong:
                self._fail(wrong, self.report.with_suffix(".lost.xml"))
        elif status or wrong:
            self._fail(wrong or f"pytest ended with {status}", self.report)
        print(f"RoCE lab, {self.name}: {'FAILED' if status else 'well'} after {seconds:.0f} s\n")
        if status:
            self._show_tails(wrong)
        return status == 0

    def _try(self, line):
        """(status, what became of the machine if it did not come to an end)"""
        try:
            return self._run_again_if_locked_up(line), None
        except Lost as lost:
            return 1, f"{lost}; last said: {self._last_said()}"

    def _run_again_if_locked_up(self, line):
        """An emulated processor now and then hangs on the entry of a function that is being
        patched, as one agent comes or goes and another uses it: README.md."""
        for _ in range(LOCK_UPS):
            try:
                return self._run(line)
            except Lost as lost:
                console = self.machine.console.read_text(errors="replace")
                if "soft lockup" not in console:
                    raise
                kept = self.machine.out.with_name(f"{self.name}.locked-up")
                kept.write_text(console)
                print(f"\nRoCE lab, {self.name}: it locked up ({lost}); see {kept}. Once more:")
                self.machine = Machine(self.asked.kernel, self.machine.out)
        return self._run(line)

    def _stood_still_ms(self):
        """For how long in all a daemon was not run, by its own log: emulation on a machine that
        has no time for it. Verdicts within seconds cannot be asked of that."""
        said = [path.read_text(errors="replace") for path in self.machine.out.glob("tests/**/*.log")]
        found = [re.findall(r"stood still for (\d+) ms", each) for each in said]
        return max((sum(map(int, each)) for each in found), default=0)

    def _run(self, line):
        if self.name != "machine":
            return self.machine.run(line, self.asked.seconds, Said(self.said))
        return subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL).returncode

    def _last_said(self):
        lines = self.said.read_text(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "nothing")

    def _fail(self, why, path):
        """What pytest could not report itself."""
        suite = ElementTree.Element("testsuite", name=f"roce-{self.name}")
        case = ElementTree.SubElement(suite, "testcase", classname="roce-lab", name=self.name)
        ElementTree.SubElement(case, "failure", message=why)
        ElementTree.ElementTree(suite).write(path)

    def _show_tails(self, why):
        if why:
            print(f"{self.name}: {why}")
        out = self.machine.out
        for path in [out / "console", *sorted(out.glob("tests/**/*.log"))]:
            if path.is_file() and path.stat().st_size:
                lines = path.read_text(errors="replace").splitlines()[-TAIL:]
                print(f"---- the end of {path}", *lines, sep="\n")
        sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--engines", type=pathlib.Path, default=ROOT / "build" / "engines")
    parser.add_argument("--kernel", default="usual", help="usual, backports or a folder")
    parser.add_argument("--reports", type=pathlib.Path, default=ROOT / "build" / "reports")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for a group")
    parser.add_argument("-k", help="only the tests that this names, as for pytest")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(groups()))
    return parser.parse_args()


def main():
    asked = arguments()
    known = groups(asked.groups)
    for name in asked.groups:
        if name not in known:
            sys.exit(f"run.py: no group {name}; there are: {', '.join(known)}")
    os.environ["RACKMESH_BUILD"] = str(asked.build.resolve())
    os.environ["RACKMESH_LAB_KERNEL"] = str(kernel(asked.kernel))
    os.environ["RACKMESH_ENGINES"] = str(asked.engines.resolve())
    asked.reports.mkdir(parents=True, exist_ok=True)
    well = [Group(name, known[name], asked).run() for name in asked.groups or known]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
