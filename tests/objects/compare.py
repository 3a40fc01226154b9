#!/usr/bin/env python3
"""Whether the product's object code is the same in two commits.

usage: compare.py BEFORE [AFTER]

For commits that state that they change words or names alone. Both commits (AFTER: HEAD) are
compiled in the same folder, without debug information and assertions, so that neither
comments nor line numbers count. Compared is what is loaded of each object: code and data
must be equal. Objects that differ in strings alone are listed: a prose commit may change
texts on purpose. Exit status 1: code or data differs, or an object is missing.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
GENERATED = ["rackmesh_schemas", "qp_trace_skeleton"]  # headers
WITHOUT_PLACES = ["-g0", "-w", "-Wno-builtin-macro-redefined", "-D__LINE__=0", '-D__FILE__=""']
SECTION = re.compile(r"^\s*\d+ (\S+)\s+([0-9a-f]+)\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\S+\s+(.*)$")


def output(*words, where=ROOT):
    return subprocess.run(words, cwd=where, check=True, capture_output=True, text=True).stdout


def is_of_product(path):
    return not path.startswith(("tests/", "build/")) and path.endswith((".c", ".cc"))


def compile_one(job):
    entry, target = job
    words = shlex.split(entry["command"])
    target.parent.mkdir(parents=True, exist_ok=True)
    words[words.index("-o") + 1] = str(target)
    subprocess.run([*words, *WITHOUT_PLACES], cwd=entry["directory"], check=True)


def compile_all(commit, tree, objects):
    """{path of a source: its object}"""
    output("git", "checkout", "-q", commit, where=tree)
    output("cmake", "-S", ".", "-B", "build", "-G", "Ninja", *FLAGS, where=tree)
    output("ninja", "-C", "build", *GENERATED, where=tree)
    jobs, ret = [], {}
    for entry in json.loads((tree / "build/compile_commands.json").read_text()):
        source = os.path.relpath(entry["file"], tree)
        if is_of_product(source):
            ret[source] = objects / (source + ".o")
            jobs.append((entry, ret[source]))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, jobs))
    return ret


def sections(path):
    """{name of a section that is loaded: its bytes, or its size where it has none}"""
    data, ret = path.read_bytes(), {}
    for line in output("objdump", "-h", "-w", str(path)).splitlines():
        match = SECTION.match(line)
        if match and "ALLOC" in match[4]:
            size, offset = int(match[2], 16), int(match[3], 16)
            ret[match[1]] = data[offset:offset + size] if "CONTENTS" in match[4] else size
    return ret


def moved(before, after):
    """{path before: path after} of files that were renamed."""
    rows = output("git", "diff", "-M20%", "--diff-filter=R", "--name-status", before, after)
    return dict(row.split("\t")[1:] for row in rows.splitlines())


def main(before, after="HEAD"):
    before, after = (output("git", "rev-parse", each).strip() for each in (before, after))
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        tree = place / "tree"
        output("git", "clone", "-q", str(ROOT), str(tree))
        old, new = (compile_all(commit, tree, place / commit) for commit in (before, after))
        names, texts, code, missing = moved(before, after), [], [], []
        for source, path in sorted(old.items()):
            other = new.get(names.get(source, source))
            if other is None:
                missing.append(source)
                continue
            one, two = sections(path), sections(other)
            differ = {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}
            if differ and all(".str" in name for name in differ):
                texts.append(source)
            elif differ:
                code.append(f"{source}: {' '.join(sorted(differ))}")
    for title, rows in (("differ in strings alone", texts), ("differ", code), ("are missing", missing)):
        for row in rows:
            print(f"  {title}: {row}")
    equal = len(old) - len(texts) - len(code) - len(missing)
    print(f"{len(old)} objects: {equal} are equal, {len(texts)} differ in strings alone, "
          f"{len(code)} differ, {len(missing)} are missing")
    return 1 if code or missing else 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
