#!/usr/bin/python3
"""Adds up the reports of all test levels. Prints the names of failed and repeated tests, a
table of the levels' seconds, and at the end one line: "N passed, N failed, N skipped". Exits
with 1 if a test failed or none ran. NAME.again.xml contains the repeated tests; its result
of a test replaces that in NAME.xml."""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

CMOCKA = re.compile(r"\[  (PASSED|FAILED|SKIPPED)\s*\] (\d+) test\(s\)")
CMOCKA_FAILED = re.compile(r"\[  FAILED  \] (?!\d+ test)(\S+)")
WORDS = ("passed", "failed", "skipped")


def count_case(case, totals, failures):
    """Counts one case of ctest; if it is a cmocka program, it counts each test in it."""
    output = case.findtext("system-out") or ""
    inner = {word: int(n) for word, n in CMOCKA.findall(output)}
    skipped = case.find("skipped") is not None
    failed = (
        case.find("failure") is not None
        or case.find("error") is not None
        or case.get("status") == "fail"
    )
    if failed:
        names = list(dict.fromkeys(CMOCKA_FAILED.findall(output)))
        where = "::".join(dict.fromkeys(name for name in name_of(case) if name))
        failures += [f"{where}: {name}" for name in names] or [where]
    if inner:
        totals["passed"] += inner.get("PASSED", 0)
        totals["skipped"] += inner.get("SKIPPED", 0)
        totals["failed"] += inner.get("FAILED", 0) or int(failed)
    elif skipped:
        totals["skipped"] += 1
    elif failed:
        totals["failed"] += 1
    else:
        totals["passed"] += 1


def cases(report):
    return ElementTree.parse(report).getroot().iter("testcase") if report.exists() else ()


def name_of(case):
    return case.get("classname"), case.get("name")


def print_levels(table):
    """Prints the seconds of the levels beside their budgets, and their CPU seconds. Returns the
    names of those that failed."""
    if not table.exists():
        return []
    lost = []
    print(f"  {'level':36} {'budget s':>8} {'took s':>8} {'CPU s':>8}")
    for line in table.read_text().splitlines():
        name, budget, took, cpu, word = line.split("\t")
        end = "" if word == "done" else f"  {word}"
        print(f"  {name:36} {budget:>8} {took:>8} {cpu:>8}{end}")
        lost += [] if word == "done" else [name]
    return lost


def main():
    reports = pathlib.Path(sys.argv[1])
    totals, failures, retried = collections.Counter(), [], []
    for report in sorted(reports.glob("*.xml")):
        before = totals.copy()
        again = {name_of(case) for case in cases(report.with_suffix(".again.xml"))}
        retried += ["::".join(filter(None, name)) for name in sorted(again)]
        for case in cases(report):
            if name_of(case) not in again:
                count_case(case, totals, failures)
        each = ", ".join(f"{totals[k] - before[k]} {k}" for k in WORDS)
        print(f"  {report.stem:36} {each}")
    checks = reports / "checks.txt"
    if checks.exists():
        before = totals.copy()
        for line in checks.read_text().splitlines():
            name, word = line.rsplit(" ", 1)
            totals[word] += 1
            failures += [name] if word == "failed" else []
        each = ", ".join(f"{totals[k] - before[k]} {k}" for k in WORDS)
        print(f"  {'format, fuzz, soak':36} {each}")
    lost = print_levels(reports / "levels.tsv")
    if lost and not failures:  # it came to no test
        failures += lost
        totals["failed"] += len(lost)
    elsewhere = reports / "tried-again.txt"
    retried += elsewhere.read_text().split() if elsewhere.exists() else []
    print(f"  tried again: {', '.join(retried) or 'none'}")
    for name in dict.fromkeys([*failures, *lost]):
        print(f"  FAILED: {name}")
    print(", ".join(f"{totals[k]} {k}" for k in WORDS))
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
