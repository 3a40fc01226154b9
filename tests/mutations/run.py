#!/usr/bin/python3
"""Does the gate still bite? Puts one defect at a time into a copy of the tree, and runs the
level that should see it. A defect that its level does not see is an error.

usage: run.py [NAME...]     by default all; the copy is build/mutations/tree"""

import dataclasses
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutations"
TREE = PLACE / "tree"
UNIT = PLACE / "gcc-asan"
RELEASE = PLACE / "release"


@dataclasses.dataclass
class Defect:
    name: str
    level: str  # unit, or a group of tests/roce-lab/run.py
    path: str
    old: str
    new: str


DEFECTS = [
    Defect(
        "a verdict names the neighbour",
        "verdicts-rack",
        "tor-aggregator/rack_evidence.c",
        "rack->members[member].host, rack->members[member].device);",
        "rack->members[(member + 1) % rack->member_count].host,"
        " rack->members[(member + 1) % rack->member_count].device);",
    ),
    Defect(
        "an alert is sent twice",
        "unit",
        "rackmesh/fabric/alert.c",
        "	known = known || (restored && incident->told_opened);\n",
        "	known = known || (restored && incident->told_opened);\n"
        "	alerts_push(alerts, &firing->incident, ALERT_OPENED, alerts->sink_count, NULL);\n",
    ),
    Defect(
        "an acknowledged record is dropped at a restart",
        "unit",
        "rackmesh/base/spool_recover.c",
        "		if (found.seq <= recovery->done.done)\n",
        "		if (found.seq <= recovery->done.done + 1)\n",
    ),
    Defect(
        "the window closes a second late",
        "verdicts-rack",
        "tor-aggregator/window.c",
        "	const int64_t end_ns = (newest + 1) * options->bin_ns;\n	bool partial;\n",
        "	const int64_t end_ns = (newest + 1) * options->bin_ns;\n	bool partial;\n\n"
        "	if (now.ns < end_ns + 2000000000)\n		return false;\n",
    ),
    Defect(
        "a lost reply counts as a lost probe",
        "verdicts-rack",
        "tor-aggregator/rack_pair.c",
        "	pair.arrived = clamp(from->arrived, pair.answered, pair.sent);\n",
        "	pair.arrived = pair.answered;\n",
    ),
    Defect(
        "an expired pinglist is probed",
        "unit",
        "host-agent/pinglist.c",
        "	if (over > PINGLIST_SLOW_NS) {\n",
        "	if (over > 1000 * PINGLIST_SLOW_NS) {\n",
    ),
    Defect(
        "a certificate of another role is let in",
        "unit",
        "rackmesh/fabric/authority.c",
        "	    who->role >= RM_ROLES ||\n"
        "	    (verbs[request->verb].roles & 1u << who->role) == 0)\n",
        "	    who->role >= RM_ROLES)\n",
    ),
    Defect(
        "a flow's port is ignored",
        "unit",
        "host-agent/port_udp.c",
        "udp_flow(const struct port *base, uint16_t wanted)\n{\n	return wanted;\n",
        "udp_flow(const struct port *base, uint16_t wanted)\n{\n	return 50000;\n",
    ),
    Defect(
        "a counter does not add up",
        "unit",
        "tor-aggregator/ingest.c",
        "		ingest->counts.raw.windowed++;\n",
        "",
    ),
    Defect(
        "a link is called dead after four lost probes of one second",
        "unit",
        "analyzer/localise_naming.c",
        "	if (passed->passage == LOCALISE_UNDECIDED)\n"
        "		passed->passage =\n"
        "		    passed->dead >= 1 || (passed->window_ns == 0 &&\n",
        "	if (passed->passage <= LOCALISE_CLOSED)\n"
        "		passed->passage =\n"
        "		    passed->dead < 0 || (passed->window_ns >= 0 &&\n",
    ),
]


def put_in(defect):
    path = TREE / defect.path
    text = path.read_text()
    if text.count(defect.old) != 1:
        sys.exit(f"{defect.name}: {defect.path} has changed; bring the defect up to date")
    path.write_text(text.replace(defect.old, defect.new))
    return lambda: path.write_text(text)


def run(*words, log):
    with open(log, "ab") as file:
        return subprocess.run(list(map(str, words)), stdout=file, stderr=file).returncode


def build(level, log):
    if level == "unit":
        return run("ninja", "-C", UNIT, log=log)
    return run("ninja", "-C", RELEASE, "lab_programs", log=log)


def is_seen(level, log):
    """Whether the level fails."""
    if level == "unit":
        words = ("ctest", "--test-dir", UNIT, "-L", "unit", "-j", "8", "--stop-on-failure")
        return run(*words, log=log) != 0
    lab = TREE / "tests" / "roce-lab" / "run.py"
    words = (lab, "--build", RELEASE, "--clock", "virtual", "--reports", PLACE, level)
    return run(*words, log=log) != 0


def make_copy():
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for name in filter(None, files.split("\0")):
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)
    (TREE / "build").mkdir()
    for name in ("roce-lab", "engines"):
        (TREE / "build" / name).symlink_to(ROOT / "build" / name)
    log = PLACE / "build.log"
    sane = ["-DCMAKE_BUILD_TYPE=Debug", "-DRACKMESH_SANITIZE=ON"]
    sane += [f"-DCMAKE_{each}_FLAGS_DEBUG=-O1 -g1" for each in ("C", "CXX")]
    for folder, options in ((UNIT, sane), (RELEASE, ["-DCMAKE_BUILD_TYPE=RelWithDebInfo"])):
        if run("cmake", "-S", TREE, "-B", folder, "-G", "Ninja", *options, log=log):
            sys.exit(f"cmake failed; see {log}")
    for level in ("unit", "verdicts"):
        if build(level, log):
            sys.exit(f"the build failed; see {log}")


def main(names):
    unknown = [name for name in names if name not in {each.name for each in DEFECTS}]
    if unknown:
        sys.exit(f"no such defect: {unknown[0]}; there are: {[each.name for each in DEFECTS]}")
    PLACE.mkdir(parents=True, exist_ok=True)
    make_copy()
    missed = 0
    for i, defect in enumerate(DEFECTS):
        if names and defect.name not in names:
            continue
        log, started = PLACE / f"{i + 1}.log", time.monotonic()
        log.unlink(missing_ok=True)
        take_out = put_in(defect)
        try:
            broken = build(defect.level, log)
            seen = not broken and is_seen(defect.level, log)
        finally:
            take_out()
        missed += not seen
        word = "does not build" if broken else "red" if seen else "NOT SEEN"
        print(f"{defect.name:48} {defect.level:16} {word:16}"
              f" {time.monotonic() - started:5.0f} s", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
