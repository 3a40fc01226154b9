#!/usr/bin/python3
"""Checks that the gate still finds defects. Puts one defect at a time into a copy of the tree, and
runs the test of the gate that should fail. If that test passes, runs the whole level of the gate.
If the whole level passes, that is an error; a test that fails without a defect is also an error.

usage: run.py [--whole] [NAME...]     by default all; the copy is build/mutations/tree

--whole: run the whole levels at once; this shows all tests that fail with a defect, and takes an
hour."""

import dataclasses
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutations"
TREE = PLACE / "tree"
UNIT = PLACE / "gcc-asan"
RELEASE = PLACE / "release"


@dataclasses.dataclass
class Defect:
    name: str
    level: str  # unit: unit tests and trials; or a group of tests/roce-lab/run.py
    test: str  # that should see it: a unit test, or what pytest -k finds in the group
    path: str
    old: str
    new: str


DEFECTS = [
    Defect(
        "a verdict names the neighbour",
        "verdicts-rack",
        "dead_rnic and h3",
        "tor-aggregator/suspect/rack_evidence.c",
        "rack->members[member].host, rack->members[member].device);",
        "rack->members[(member + 1) % rack->member_count].host,"
        " rack->members[(member + 1) % rack->member_count].device);",
    ),
    Defect(
        "an alert is sent twice",
        "unit",
        "tor_aggregator",
        "rackmesh/incident/alert.c",
        "	known = known || (restored && incident->notified_opened);\n",
        "	known = known || (restored && incident->notified_opened);\n"
        "	alerts_push(alerts, &firing->incident, ALERT_OPENED, alerts->sink_count, NULL);\n",
    ),
    Defect(
        "an acknowledged record is dropped at a restart",
        "unit",
        "spool_mount",
        "rackmesh/spool/spool_recover.c",
        "		if (found.seq <= recovery->done.done)\n",
        "		if (found.seq <= recovery->done.done + 1)\n",
    ),
    Defect(
        "the window closes a second late",
        "verdicts-rack",
        "dead_rnic and h3",
        "tor-aggregator/window/window.c",
        "	const int64_t end_ns = (newest + 1) * options->bin_ns;\n	bool partial;\n",
        "	const int64_t end_ns = (newest + 1) * options->bin_ns;\n	bool partial;\n\n"
        "	if (now.ns < end_ns + 2000000000)\n		return false;\n",
    ),
    Defect(
        "a lost reply counts as a lost probe",
        "verdicts-rack",
        "dead_rnic and h5",
        "tor-aggregator/suspect/rack_pair.c",
        "	pair.arrived = clamp(from->arrived, pair.answered, pair.sent);\n",
        "	pair.arrived = pair.answered;\n",
    ),
    Defect(
        "an expired pinglist is probed",
        "unit",
        "agent_pinglist",
        "host-agent/pinglist/pinglist.c",
        "	if (over > PINGLIST_SLOW_NS) {\n",
        "	if (over > 1000 * PINGLIST_SLOW_NS) {\n",
    ),
    Defect(
        "a certificate of another role is let in",
        "unit",
        "http_places",
        "rackmesh/identity/authority.c",
        "	    who->role >= RM_ROLES ||\n"
        "	    (verbs[request->verb].roles & 1u << who->role) == 0)\n",
        "	    who->role >= RM_ROLES)\n",
    ),
    Defect(
        "a flow's port is ignored",
        "unit",
        "port_udp",
        "host-agent/udp/port_udp.c",
        "udp_flow(const struct port *base, uint16_t wanted)\n{\n	return wanted;\n",
        "udp_flow(const struct port *base, uint16_t wanted)\n{\n	return 50000;\n",
    ),
    Defect(
        "a counter does not add up",
        "unit",
        "tor_aggregator",
        "tor-aggregator/agents/ingest.c",
        "		ingest->counts.raw.windowed++;\n",
        "",
    ),
    Defect(
        "a link is called dead though flows pass",
        "unit",
        "localise_kinds",
        "analyzer/suspicion/localise_passage.c",
        "	if (element->passed.ns != 0 && rm_mono_since(",
        "	if (seen->lost >= 4)\n"
        "		return LOCALISE_CLOSED;\n"
        "	if (element->passed.ns != 0 && rm_mono_since(",
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


def build(level, test, log):
    """Builds the programs that the test needs; without a test, those of the whole level."""
    if level != "unit":
        return run("ninja", "-C", RELEASE, "lab_programs", log=log)
    if test:
        return run("ninja", "-C", home_of(test), f"test_{test}", log=log)
    return run("ninja", "-C", UNIT, "unit_tests", log=log) or run(
        "ninja", "-C", RELEASE, "trials", log=log
    )


def home_of(test):
    """As in the gate: unit tests with sanitizers, trials optimised."""
    lists = (TREE / "tests" / "unit").glob("*/CMakeLists.txt")
    is_trials = any(re.search(rf"rackmesh_trials\(\S*\b{test} ", each.read_text()) for each in lists)
    return RELEASE if is_trials else UNIT


def failed_units(test, log):
    """The first that fails, with those beside it. One that takes too long has seen nothing."""
    some = [(home_of(test), "-R", f"^unit_{test}$")] if test else []
    for tree, *which in some or ((UNIT, "-L", "unit"), (RELEASE, "-L", "trials")):
        words = ("ctest", "--test-dir", tree, *which, "--no-tests=error", "-j", "8")
        if run(*words, "--stop-on-failure", log=log):
            break
    else:
        return None
    said = log.read_text(errors="replace")
    return re.findall(r"^\t *\d+ - (\S+) \((?!Timeout|Not Run)", said, re.MULTILINE)


def failed_verdicts(group, test, log):
    lab, report = TREE / "tests" / "roce-lab" / "run.py", PLACE / f"roce-{group}.xml"
    report.unlink(missing_ok=True)
    words = ("env", "RACKMESH_SEED=1", lab, "--build", RELEASE)
    words += ("--clock", "virtual", "--reports", PLACE, *(("-k", test) if test else ()), group)
    if run(*words, log=log) == 0:
        return None
    if not report.exists():
        return []
    cases = ElementTree.parse(report).iter("testcase")
    words = ("failure", "error")  # of a test, and of what it stands on
    return [
        each.get("name") for each in cases if any(each.find(word) is not None for word in words)
    ]


def failed_tests(level, test, log):
    """The run of the test, or of the level if there is none: the tests that failed, or None if
    it is well. None failed, and it is not well: the machine was lost, and nothing is known."""
    if level == "unit":
        return failed_units(test, log)
    return failed_verdicts(level, test, log)


def make_copy():
    """A file whose content is right stays as it is. One that a killed run has left with a
    defect in it is newer then than what was built of it."""
    words = ["git", "ls-files", "-z"]
    files = subprocess.run(words, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    names = set(filter(None, files.split("\0")))
    for path in TREE.rglob("*") if TREE.exists() else ():
        name = str(path.relative_to(TREE))
        if path.is_file() and name not in names and not name.startswith("build/"):
            path.unlink()
    for name in names:
        content, path = (ROOT / name).read_bytes(), TREE / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode)
    # Its machine writes into build/roce-lab: a folder of its own, for no link leads out of
    # the machine.
    (TREE / "build" / "roce-lab").mkdir(parents=True, exist_ok=True)
    for name in ("roce-lab/kernel", "engines"):
        (TREE / "build" / name).unlink(missing_ok=True)
        (TREE / "build" / name).symlink_to((ROOT / "build" / name).resolve())
    log = PLACE / "build.log"
    sane = ["-DCMAKE_BUILD_TYPE=Debug", "-DRACKMESH_SANITIZE=ON"]
    sane.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold")
    sane += [f"-DCMAKE_{each}_FLAGS_DEBUG=-O1 -g1" for each in ("C", "CXX")]
    # Assertions are off in the gate's, too: a defect has to be seen without them.
    lean = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    lean += [f"-DCMAKE_{each}_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG" for each in ("C", "CXX")]
    for folder, options in ((UNIT, sane), (RELEASE, lean)):
        if run("cmake", "-S", TREE, "-B", folder, "-G", "Ninja", *options, log=log):
            sys.exit(f"cmake failed; see {log}")


def row(name, level, outcome, started, tests=()):
    seconds = time.monotonic() - started
    seen = ", ".join(tests[:3]) + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
    print(f"{name:48} {level:14} {outcome:14} {seconds:5.0f} s  {seen}", flush=True)


def try_without(tests):
    """How many of {(level, test)} fail of themselves."""
    failing = 0
    for i, (level, test) in enumerate(sorted(tests)):
        log, started = PLACE / f"without-{i}.log", time.monotonic()
        log.unlink(missing_ok=True)
        if build(level, test, log):
            sys.exit(f"the build failed; see {log}")
        failed = failed_tests(level, test, log)
        name = f"no defect{test and f' ({test})'}"
        row(name, level, "well" if failed is None else "FAILS", started, failed or ())
        failing += failed is not None
    return failing


def try_defect(defect, test, log):
    """Whether its level sees it, by a test that it names."""
    started = time.monotonic()
    log.unlink(missing_ok=True)
    take_out, failed = put_in(defect), None
    try:
        for each in (test, "") if test else ("",):
            broken = build(defect.level, each, log)
            failed = None if broken else failed_tests(defect.level, each, log)
            if broken or failed:
                break
    finally:
        take_out()
    outcome = "does not build" if broken else "red" if failed else "NOT SEEN"
    row(defect.name, defect.level, outcome, started, failed or ())
    return bool(failed)


def main(words):
    whole, names = "--whole" in words, [each for each in words if each != "--whole"]
    known = [each.name for each in DEFECTS]
    for name in names:
        if name not in known:
            sys.exit(f"no such defect: {name}; there are: {', '.join(known)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    asked = [each for each in DEFECTS if not names or each.name in names]
    make_copy()
    failing = try_without({(each.level, "" if whole else each.test) for each in asked})
    missed = sum(
        not try_defect(each, "" if whole else each.test, PLACE / f"{known.index(each.name)}.log")
        for each in asked
    )
    return 1 if failing or missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
