#!/usr/bin/python3
"""Adds up what every test level reported, and ends with one line:
"N passed, N failed, N skipped". Exits 1 when a test failed or none ran. What was tried
again is in NAME.again.xml, and counts in place of what NAME.xml says of it."""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

CMOCKA = re.compile(r"\[  (PASSED|FAILED|SKIPPED)\s*\] (\d+) test\(s\)")


def count_case(case, totals):
    """A cmocka program is one case of ctest, but says how many tests it ran."""
    output = case.findtext("system-out") or ""
    inner = {word: int(n) for word, n in CMOCKA.findall(output)}
    skipped = case.find("skipped") is not None
    failed = (
        case.find("failure") is not None
        or case.find("error") is not None
        or case.get("status") == "fail"
    )
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


def main():
    reports = pathlib.Path(sys.argv[1])
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for report in sorted(reports.glob("*.xml")):
        before = dict(totals)
        again = {name_of(case) for case in cases(report.with_suffix(".again.xml"))}
        for case in cases(report):
            if name_of(case) not in again:
                count_case(case, totals)
        each = ", ".join(f"{totals[k] - before[k]} {k}" for k in totals)
        print(f"  {report.stem:24} {each}")
    checks = reports / "checks.txt"
    if checks.exists():
        before = dict(totals)
        for line in checks.read_text().splitlines():
            totals[line.split()[1]] += 1
        each = ", ".join(f"{totals[k] - before[k]} {k}" for k in totals)
        print(f"  {'format, fuzz, soak':24} {each}")
    print(", ".join(f"{totals[k]} {k}" for k in ("passed", "failed", "skipped")))
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
