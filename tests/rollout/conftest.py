"""Machines, each with its own systemd. Needs root, and the base that `./dev rollout` makes
first."""

import pathlib
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "fabric"), str(TESTS / "packages")]

import pytest  # noqa: E402
from lab import machine  # noqa: E402
from lab.signals import end_on_signals  # noqa: E402
from packages import DEBS, debs  # noqa: E402
from region import BASE, EXAMPLE, NEWCOMER, PLAYBOOK, Region, places_of  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "long: a run of Ansible over the whole region; in ./dev rollout alone"
    )
    end_on_signals()
    machine.watch()


@pytest.fixture(scope="session", autouse=True)
def needs():
    if not debs(DEBS) or not (BASE / "srv/debian/Packages").exists() or not PLAYBOOK.exists():
        pytest.skip("no packages, no root for the machines, or no Ansible: sudo ./dev rollout")


@pytest.fixture(scope="session")
def print_line(pytestconfig):
    """Prints figures past pytest's capture, so that the log of every run contains them."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def line(text):
        with capture.global_and_fixture_disabled():
            print(f"\n  {text}", end="", flush=True)

    return line


# Has the scope module: the machines of one module are removed before the next module makes its own.
@pytest.fixture(scope="module")
def region(tmp_path_factory, print_line):
    """All machines of the example's inventory, without Rackmesh. One is not in the inventory
    yet."""
    places = places_of(EXAMPLE)
    began = time.monotonic()
    with Region(places, tmp_path_factory.mktemp("region")) as made:
        print_line(f"{len(places)} machines have booted in {time.monotonic() - began:.1f} s")
        made.leave_out(NEWCOMER)
        yield made


@pytest.fixture(scope="module")
def rolled_out(region, print_line):
    """The run of Ansible that set up the region. The region has no incident afterwards."""
    run = region.play("site")
    print_line(f"first rollout: {run.took_s:.0f} s, {run.counts()}")
    print_line(f"  of that: {run.steps()}")
    began = time.monotonic()
    region.wait_healthy()
    print_line(f"no incident {time.monotonic() - began:.0f} s after it")
    return run
