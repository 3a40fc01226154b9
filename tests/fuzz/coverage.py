#!/usr/bin/env python3
"""Lines of every file that parses foreign bytes, as the fuzz targets reach them.

The table (coverage.txt) names each target's files. Each target runs over its corpus, and
for --seconds more on its own; what all of them reached is put together, so that a file
that two targets read counts once. Ends with 1 if a file is below what it must reach: 90 %,
or the percentage behind its name, which is a gap that is known and must not grow.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LEAST = 90


def table():
    rows = {}
    for line in (HERE / "coverage.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            files = [(file, float(least or LEAST))
                     for file, _, least in (word.partition(":") for word in words[1:])]
            rows.setdefault(words[0], []).extend(files)
    return rows


def check(rows, built):
    """What the table must have, and what it must not."""
    wrong = [f"{name}: a target, but not in the table" for name in built if name not in rows]
    for name, files in rows.items():
        if name not in built:
            wrong.append(f"{name}: in the table, but no target")
        wrong += [f"{name}: no file {file}" for file, _ in files if not (ROOT / file).is_file()]
    return wrong


def tool(name):
    for word in (f"{name}-14", name):
        if shutil.which(word):
            return word
    sys.exit(f"coverage: no {name}; it is in the package llvm-14")


def run(name, binary, work, seconds):
    corpus = work / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    raw = work / "profiles" / f"{name}.profraw"
    limit = [f"-max_total_time={seconds}"] if seconds else ["-runs=0"]
    done = subprocess.run(
        [binary, *limit, "-timeout=10", "-rss_limit_mb=2048", f"-artifact_prefix={corpus}-",
         corpus, HERE / "corpus" / name],
        env={**os.environ, "LLVM_PROFILE_FILE": str(raw)}, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"coverage: {name} failed:\n{done.stderr[-2000:]}")
    return raw


def measure(binaries, raws, work):
    """{file: (lines, covered)}"""
    data = work / "all.profdata"
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", data, *raws], check=True)
    first, *rest = binaries
    objects = [word for binary in rest for word in ("-object", binary)]
    answer = subprocess.run(
        [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={data}", first, *objects],
        check=True, capture_output=True, text=True).stdout
    return {
        file["filename"]: (file["summary"]["lines"]["count"], file["summary"]["lines"]["covered"])
        for file in json.loads(answer)["data"][0]["files"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, default=ROOT, help="as it was built")
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = options.build / "tests" / "fuzz"
    built = {f.name[5:]: f for f in sorted(folder.glob("fuzz_*")) if f.is_file()}
    rows = table()
    wrong = check(rows, built)
    for name in options.names:
        if name not in built:
            wrong.append(f"{name}: no such target")
    if wrong:
        sys.exit("\n".join(["coverage:", *wrong]))
    names = options.names or list(built)
    work = options.build / "coverage"
    (work / "profiles").mkdir(parents=True, exist_ok=True)
    raws = [run(name, built[name], work, options.seconds) for name in names]
    lines = measure([built[name] for name in names], raws, work)

    low = known = 0
    for name in names:
        for file, least in rows[name]:
            count, covered = lines.get(str(options.source.resolve() / file), (0, 0))
            percent = 100 * covered / count if count else 0
            state = "below" if percent < least else "known" if percent < LEAST else ""
            low += state == "below"
            known += state == "known"
            print(f"  {state:5s} {percent:5.1f} %  {covered:4d} of {count:4d}  {name:14s} {file}")
    files = sum(len(rows[name]) for name in names)
    print(f"{files} files of {len(names)} targets: {low} below what they must reach, "
          f"{known} known to be below {LEAST} %")
    return low > 0


if __name__ == "__main__":
    sys.exit(main())
