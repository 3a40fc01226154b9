#!/usr/bin/python3
"""Runs the benches and judges them: speed as a ratio to a yardstick of the same run.

    bench.py --build DIR [--smoke] [--junit FILE] [NAME...]

Each figure is one line: what was measured, its yardstick, the ratio, its gate. Ends
with 1 when a gate fails. --smoke is for CI: the same benches, shorter, under a minute.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import traceback
import xml.etree.ElementTree as ElementTree

import analyzer
import page
import probe
import table


def run_program(name, options):
    """Runs one C program; each line that it prints is a figure."""
    command = [options.build / "tests" / "bench" / name]
    if options.smoke:
        command.append("--smoke")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{name} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_rack(options):
    """Also counts the instructions per result, if valgrind is installed."""
    rows = run_program("bench_rack", options) + run_program("bench_counts", options)
    if options.smoke or not shutil.which("valgrind"):
        return rows
    timed = ("sim_aggregator_take", "sim_aggregator_tick")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [f"--toggle-collect={name}" for name in timed]
    command += [options.build / "tests/bench/bench_rack", "--count"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    instructions = int(re.search(r"Collected : (\d+)", done.stderr)[1])
    results = json.loads(done.stdout)["results"]
    each = instructions / results
    return rows + [{"name": "instructions per result", "unit": "", "value": each}]


BENCHES = {  # in this order
    "wire": ("one batch of 90 results", lambda o: run_program("bench_wire", o)),
    "mac": ("authentication of a probe", lambda o: run_program("bench_mac", o)),
    "sketch": ("one latency sketch", lambda o: run_program("bench_sketch", o)),
    "line": (
        "points of line protocol",
        lambda o: run_program("bench_line", o) + run_program("bench_history", o),
    ),
    "counters": (
        "what the RNICs of a host have counted, replayed",
        lambda o: run_program("bench_counters", o),
    ),
    "spool": (
        "records of 256 bytes that a disk keeps",
        lambda o: run_program("bench_spool", o),
    ),
    "rack": (
        "the aggregator's work for 256 RNICs at 100 results/s each",
        run_rack,
    ),
    "localise": (
        "faults between the racks of a region: a curve over its size",
        lambda o: run_program("bench_localise", o),
    ),
    "tls": (
        "a batch's whole way into the aggregator",
        lambda o: run_program("bench_tls", o),
    ),
    "upstream": (
        "what leaves a healthy rack against what came in",
        lambda o: run_program("bench_upstream", o),
    ),
    "analyzer": ("the analyzer fed by 1,000 racks, and its database", analyzer.run),
    "page": ("the analyzer's page in a browser, of 1,000 racks", page.run),
    "probe": ("two host-agents over a veth pair", probe.run),
}


def show(row):
    print(table.line(row), flush=True)


def write_junit(path, results):
    suite = ElementTree.Element("testsuite", name="bench")
    for bench, rows in results:
        for row in rows:
            if not row.get("gate") or row["gate"].startswith("aim"):
                continue
            case = ElementTree.SubElement(
                suite, "testcase", classname=f"bench.{bench}", name=row["name"]
            )
            if row["verdict"] == "FAIL":
                text = f"{row['value']} {row['unit']}, ratio {row['ratio']}"
                ElementTree.SubElement(
                    case, "failure", message=f"{text}; gate: {row['gate']}"
                )
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="unicode")


def run_bench(name, options):
    """Never raises: a bench that fails counts as a failed gate."""
    title, run = BENCHES[name]
    print(f"\n{name}: {title}")
    print(table.HEADER)
    try:
        rows = run(options)
    except Exception:  # whatever it was, the other benches still run
        traceback.print_exc()
        rows = [{"name": "ran", "unit": "", "value": 0, "gate": "value >= 1"}]
    for row in rows:
        table.judge(row)
        show(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--junit", type=pathlib.Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help=" ".join(BENCHES))
    options = parser.parse_args()
    options.build = options.build.resolve()
    for name in options.names:
        if name not in BENCHES:
            parser.error(f"no such bench: {name}; there are {' '.join(BENCHES)}")
    if os.geteuid() != 0 and (not options.names or "probe" in options.names):
        parser.error("the probe bench makes network namespaces: it needs root")

    results = []
    for name in BENCHES:
        if not options.names or name in options.names:
            results.append((name, run_bench(name, options)))
    if options.junit:
        write_junit(options.junit, results)
    rows = [row for _, some in results for row in some]
    failed = sum(row["verdict"] == "FAIL" for row in rows)
    passed = sum(row["verdict"] == "pass" for row in rows)
    print(f"\n{passed} gates passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    # SIGTERM acts like Ctrl-C, so that temporary files are removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
