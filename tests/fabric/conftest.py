"""Fabric tests: the real daemons in network namespaces. Needs root and a build.

Lanes: pytest -n 3 --dist loadfile; one lane runs all tests of a file, and the longest files run
first."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import time

import pytest

from lab import machine, places
from lab.signals import end_on_signals
from lab.wait import FULL, VIRTUAL, Late, until
from lab.world import World

SOAK = os.environ.get("RACKMESH_SOAK") == "1"
SEED = 1  # of every run without the full counts
BEFORE_S = 20  # state that a test finds in its world may come from the test before it
BUSY_SHARE = 0.5  # share of a test's time in which some process waited for a processor
STARVED_S = 1  # if the machine did not run for this long, no verdict within seconds can be required
MEMORY = pathlib.Path("/dev/shm")  # for state: a shared disk may be slow because of other machines
ROOM_BYTES = 2 << 30
KEPT_BYTES = 8 << 20  # larger files of a failed test are internal files of a database
ENDS_S = 60  # time for a lane to remove its namespaces and mounts

# Seconds that each file takes, by which the files are ordered.
SECONDS = {
    "test_history": 197,
    "test_flapping": 125,
    "test_soak": 120,
    "test_pause_storm": 103,
    "test_switch": 102,
    "test_hypervisors": 94,
    "test_page_counters": 90,
    "test_page": 82,
    "test_demo": 82,
    "test_kills": 80,
    "test_between_racks": 80,
    "test_tls": 79,
    "test_switch_nexus": 74,
    "test_swap": 57,
    "test_quiet": 50,
    "test_loss": 50,
    "test_blind": 50,
    "test_paths": 48,
    "test_kubelet": 47,
    "test_accept": 47,
    "test_region": 45,
    "test_restarts": 44,
    "test_check": 43,
    "test_dashboards": 39,
    "test_pairs": 38,
    "test_marks": 35,
    "test_many_connections": 35,
    "test_phone": 34,
    "test_controllers": 32,
    "test_page_tls": 31,
    "test_upstream": 30,
    "test_names": 26,
    "test_keys": 25,
    "test_prometheus": 21,
    "test_switch_asics": 20,
    "test_conservation": 20,
    "test_limits": 19,
    "test_documented": 18,
    "test_diagnosis": 18,
    "test_degraded": 18,
    "test_units": 17,
    "test_receivers": 17,
    "test_stalls": 16,
    "test_mesh": 15,
}
SHORT_S = 10

LANE = os.environ.get("PYTEST_XDIST_WORKER")


def pytest_addoption(parser):
    parser.addoption("--failed", type=os.path.abspath, help="a file that takes what failed, a"
                     " line each: starved, in a machine that did not run or was too busy for a"
                     " time that is judged, or steady; its name")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    for mark in (
        "smoke: short enough for ./dev check",
        "full: only in ./dev test --full, for what it costs",
        "virtual: only where the clock is virtual, because it asserts seconds",
    ):
        config.addinivalue_line("markers", mark)
    end_on_signals(once=LANE is not None)
    config.pulse = machine.watch()
    config.lanes = []
    if LANE is None and config.option.basetemp is None and room_in_memory():
        config.option.basetemp = str(MEMORY / f"rackmesh-{os.getpid()}")
        config.basetemp_is_ours = True


def room_in_memory():
    with contextlib.suppress(OSError):
        place = os.statvfs(MEMORY)
        return place.f_bavail * place.f_frsize >= ROOM_BYTES
    return False


def pytest_unconfigure(config):
    if getattr(config, "basetemp_is_ours", False):
        shutil.rmtree(config.option.basetemp, ignore_errors=True)


# ---- lanes --------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: -SECONDS.get(item.path.stem, SHORT_S))
    for item in items:
        if os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root: network namespaces"))
        if item.get_closest_marker("virtual") and not VIRTUAL:
            item.add_marker(pytest.mark.skip(reason="judges seconds: on virtual time alone"))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodeready(node):
    node.config.lanes.append(node)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    """Waits until interrupted lanes have removed their namespaces and mounts."""
    if exitstatus not in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
        return
    lanes = [lane for lane in session.config.lanes if not lane_ended(lane)]
    for lane in lanes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(lane.gateway._io.popen.pid, signal.SIGINT)
    with contextlib.suppress(AssertionError):
        until("the lanes have put everything back", ENDS_S, lambda: all(map(lane_ended, lanes)))


def lane_ended(lane):
    return hasattr(lane, "workeroutput") or lane.gateway._io.popen.poll() is not None


# ---- reports on a test --------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.started = time.monotonic()
    item.waited = machine.cpu_waited_s()
    item.broken = False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """After a failure explains it in the report, and keeps the folders of the test."""
    report = (yield).get_result()
    if report.failed:
        item.broken = True
        explain(item, report, call.excinfo.value)
        keep(item, report)
    if report.when == "teardown":
        put_away(item)


def explain(item, report, error):
    """Adds the state of the machine and the ends of the aggregators' logs to the report. The
    machine counts as starved, too, if a time limit was exceeded while processes waited for a
    processor. (The gate checks no time limits.)"""
    times, in_all, longest = item.config.pulse.since(item.started - BEFORE_S, machine.STILL_S)
    said = (f"stalled {times} times, for {in_all:.1f} s in all, {longest:.1f} s at the"
            " longest")
    now, busy = machine.cpu_waited_s(), False
    if None not in (now, item.waited):
        waited, took = now - item.waited, time.monotonic() - item.started
        busy = isinstance(error, Late) and waited >= BUSY_SHARE * took
        said += f"; processes waited for a processor for {waited:.1f} s of {took:.1f}"
    report.sections.append(("the machine", said))
    for world in World.opened:
        for daemon in world.lab.aggregator_daemons():
            said = [line for line in daemon.tail(100, 300).split("\n") if "event loop stalled" not in line]
            report.sections.append((f"log of {daemon.name}", "\n".join(said[-8:])))
    failed = item.config.getoption("failed")
    if failed:
        how = "starved" if in_all >= STARVED_S or busy else "steady"
        with open(failed, "a", encoding="utf-8") as file:
            file.write(f"{how} {item.nodeid}\n")


def keep(item, report):
    """Copies the folders of a failed test unchanged, with the reason of its failure."""
    name = "".join(c if c.isalnum() else "-" for c in item.nodeid.partition("::")[2])
    kept = places.ROOT / "build" / "reports" / "fabric-failed" / name
    kept.mkdir(parents=True, exist_ok=True)
    said = [report.longreprtext, *("\n".join(section) for section in report.sections)]
    (kept / f"{report.when}.txt").write_text("\n\n".join(said))
    for folder in [*folder_of(item), *(world.lab.folder for world in World.opened)]:
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(folder, kept, ignore=too_large, dirs_exist_ok=True)


def folder_of(item):
    return [item.funcargs["tmp_path"]] if "tmp_path" in item.funcargs else []


def put_away(item):
    """Deletes the folder of a test: it uses memory, and is not needed any more."""
    for folder in folder_of(item):
        shutil.rmtree(folder, ignore_errors=True)


def too_large(folder, names):
    """Returns the names that are not copied: of large files, and of what is no file, such as
    sockets."""
    places_of = {name: pathlib.Path(folder, name) for name in names}
    return {
        name
        for name, place in places_of.items()
        if not place.is_dir() and (not place.is_file() or place.stat().st_size > KEPT_BYTES)
    }


def pytest_runtest_logreport(report):
    """A test in a lane cannot print, so its figures are sent with the report."""
    if report.when == "call":
        FIGURES.extend((report.nodeid, text) for key, text in report.user_properties
                       if key == "line")


FIGURES = []


def pytest_terminal_summary(terminalreporter, config):
    """Prints the figures of a run in lanes; without lanes they were printed at once."""
    if FIGURES and config.getoption("numprocesses", None):
        terminalreporter.section("figures")
        last = None
        for nodeid, text in FIGURES:
            if nodeid != last:
                terminalreporter.write_line(nodeid)
            terminalreporter.write_line(f"  {text}")
            last = nodeid
    times, in_all, longest = config.pulse.since(0, machine.STILL_S)
    terminalreporter.write_line(f"the machine did not run {times} times, for {in_all:.1f} s in"
                                f" all, {longest:.1f} s at the longest")


# ---- fixtures -----------------------------------------------------------------------------


@pytest.fixture
def soak():
    """Whether the run uses the full counts, those of ./dev soak."""
    return SOAK


@pytest.fixture
def full():
    """Whether the run uses at least the counts of ./dev test --full."""
    return FULL


@pytest.fixture
def rng():
    """A random generator; it prints its seed. RACKMESH_SEED repeats the choices of a run."""
    usual = random.SystemRandom().randrange(1 << 32) if FULL else SEED
    seed = int(os.environ.get("RACKMESH_SEED", usual))
    print(f"RACKMESH_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def world(tmp_path):
    """world(racks, ...) makes one; see lab/world.py. It ends with the test."""
    made = []

    def make(racks, **options):
        made.append(World(racks, tmp_path, **options))
        return made[-1]

    yield make
    for each in reversed(made):
        each.close()


@pytest.fixture
def print_line(request, capfd):
    """Prints figures without pytest's capture, so that they are in the log of every run."""

    def line(text):
        request.node.user_properties.append(("line", text))
        if LANE is None:
            with capfd.disabled():
                print(f"\n  {text}", end="", flush=True)

    return line
