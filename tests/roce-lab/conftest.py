"""Fixtures for the scenarios of the RoCE lab, which run inside its machine: ./dev test, or run.py."""

import os
import random

import pytest

from guest.fabric import MACHINE, TWO_RAILS, RoceFabric
from guest.world import RoceWorld


def pytest_configure(config):
    config.addinivalue_line("markers", "every_kernel: run in the lab's newer kernel, too")
    config.addinivalue_line("markers", "virtual: judges times, in the machine on virtual time")


def pytest_sessionstart():
    if not MACHINE.exists():
        pytest.exit("these run inside the lab's machine: tests/roce-lab/run.py GROUP", 4)


@pytest.fixture(scope="module")
def fabric(request):
    """One fabric for all tests of a file, which leave it as they find it. The file may set RACKS,
    SPINES and TRANSPORT."""
    said = request.module
    with RoceFabric(
        getattr(said, "RACKS", TWO_RAILS),
        getattr(said, "SPINES", 2),
        getattr(said, "TRANSPORT", "roce"),
    ) as laid:
        yield laid


@pytest.fixture
def world(fabric, tmp_path):
    """world(...) starts all daemons on the fabric (see guest/world.py), and stops them after the
    test."""
    made = []

    def make(**options):
        made.append(RoceWorld(fabric, tmp_path, **options))
        return made[-1]

    yield make
    for each in reversed(made):
        each.close()


@pytest.fixture(scope="session")
def soak():
    """Whether ./dev soak runs, with its larger counts."""
    return "RACKMESH_SOAK" in os.environ


@pytest.fixture
def rng():
    """Prints its seed; set RACKMESH_SEED to repeat a run."""
    seed = int(os.environ.get("RACKMESH_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"RACKMESH_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def print_line(capfd):
    """Prints figures past pytest's capture, so that they are in the log of every run."""

    def line(text):
        with capfd.disabled():
            print(f"\n  {text}", end="", flush=True)

    return line


def pytest_collection_modifyitems(items):
    if os.environ.get("RACKMESH_CLOCK") != "virtual":
        for item in items:
            if item.get_closest_marker("virtual"):
                item.add_marker(pytest.mark.skip(reason="judges seconds: on virtual time alone"))
