"""Fabric tests: the real daemons in network namespaces. Needs root and a build."""

import os
import random

import pytest

from lab.signals import end_on_signals
from lab.world import World

SOAK = os.environ.get("RACKMESH_SOAK") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "smoke: short enough for ./dev check")
    config.addinivalue_line("markers", "beside: asserts no latency that a busy machine spoils")
    end_on_signals()


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
