"""Fabric tests: the real daemons in network namespaces. Needs root and a build."""

import os
import pathlib
import random
import time

import pytest

from lab.machine import Watch
from lab.signals import end_on_signals
from lab.world import World

SOAK = os.environ.get("RACKMESH_SOAK") == "1"
BEFORE_S = 20  # what a test finds in its world may come from the one before
STARVED_S = 1  # stood still for so long: no verdict within seconds can be asked of it


def pytest_addoption(parser):
    parser.addoption("--failed", type=pathlib.Path, help="a file that takes what failed, a"
                     " line each: starved, in a machine that stood still, or steady; its name")


def pytest_configure(config):
    config.addinivalue_line("markers", "smoke: short enough for ./dev check")
    config.addinivalue_line("markers", "beside: asserts no latency that a busy machine spoils")
    end_on_signals()
    config.watch = Watch()


def pytest_unconfigure(config):
    config.watch.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.started = time.monotonic()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Of what failed: how the machine was, and what the aggregators last said."""
    report = (yield).get_result()
    if not report.failed:
        return
    times, in_all, longest = item.config.watch.since(item.started - BEFORE_S)
    report.sections.append(("the machine", f"stood still {times} times, for {in_all:.1f} s"
                            f" in all, {longest:.1f} s at the longest"))
    for world in World.opened:
        for daemon in world.lab.aggregator_daemons():
            said = [line for line in daemon.tail(100, 300).split("\n") if "stood still" not in line]
            report.sections.append((f"log of {daemon.name}", "\n".join(said[-8:])))
    failed = item.config.getoption("failed")
    if failed:
        with failed.open("a") as file:
            how = "starved" if in_all >= STARVED_S else "steady"
            file.write(f"{how} {item.nodeid}\n")


def pytest_collection_modifyitems(items):
    if os.geteuid() != 0:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="needs root: network namespaces"))


@pytest.fixture
def soak():
    """Whether the full counts of ./dev soak are asked for."""
    return SOAK


@pytest.fixture
def rng():
    """Prints its seed: RACKMESH_SEED repeats a run's choices."""
    seed = int(os.environ.get("RACKMESH_SEED", random.SystemRandom().randrange(1 << 32)))
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
def say(capfd):
    """Prints figures past pytest's capture: they belong into the log of every run."""

    def line(text):
        with capfd.disabled():
            print(f"\n  {text}", end="", flush=True)

    return line
