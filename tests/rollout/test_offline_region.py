"""A region whose machines have no repository, and only IPv6 addresses in the management network:
all packages come from the folder that ansible/offline fills."""

import re
import shutil
import time

import pytest
import yaml
from packages import DAEMONS, ROOT
from region import ANALYZER, EXAMPLE, FROM_FOLDER, Region, places_of

FOLDER = ROOT / "build" / "rollout-offline"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not FOLDER.exists(), reason="no folder of packages: sudo ./dev rollout"),
]


def small(hosts):
    """A part of the example: one rack of two hosts, and one controller, with IPv6 addresses."""
    groups = hosts["rackmesh"]["children"]
    racks = groups["racks"]["children"]
    del racks["rack2"], racks["rack1"]["hosts"]["h13"], groups["canary"]
    del groups["controllers"]["hosts"]["ctl2"]
    groups["etcd"]["hosts"] = {"ctl1": None}
    for where in (racks["rack1"], groups["controllers"]):
        for given in where["hosts"].values():
            given["ansible_host"] = "fd31::" + given["ansible_host"].rpartition(".")[2]
    return hosts


@pytest.fixture(scope="module")
def region(tmp_path_factory, print_line):
    folder = tmp_path_factory.mktemp("offline")
    inventory = shutil.copytree(EXAMPLE, folder / "example")
    hosts = inventory / "hosts.yaml"
    hosts.write_text(yaml.safe_dump(small(yaml.safe_load(hosts.read_text()))))
    places = places_of(inventory)
    began = time.monotonic()
    with Region(places, folder, inventory, FOLDER) as made:
        print_line(f"{len(places)} machines of IPv6 have booted in {time.monotonic() - began:.1f} s")
        yield made


def test_the_machines_have_no_ipv4_among_each_other_and_no_repository(region):
    for name in region.names:
        assert "inet " not in region.on(name, "ip", "address", "show", "dev", "mgmt0")
        for package in (*FROM_FOLDER, "etcd-server"):
            policy = region.on(name, "apt-cache", "policy", package)
            assert re.search(r"Candidate: [^(]", policy) is None, policy


def test_a_watched_region_comes_of_a_folder_and_ipv6(rolled_out, region):
    assert rolled_out.hosts("failed") == rolled_out.hosts("unreachable") == set()
    for daemon in DAEMONS:
        for name in region.machines_of(daemon):
            assert region.property(name, daemon, "ActiveState") == "active", f"{daemon} on {name}"
    assert region.probed() == region.rnics()
    assert region.alerts() == set()
    assert region.ask_influx("SHOW RETENTION POLICIES")
    assert "fd31::11" in region.in_etcd("/rackmesh/r1/topology/region")
    for package in FROM_FOLDER[:2]:
        assert "/var/cache/rackmesh" in region.on(ANALYZER, "apt-cache", "policy", package)


def test_a_second_run_changes_nothing(rolled_out, region, print_line):
    run = region.play("site")
    print_line(f"second run: {run.took_s:.0f} s, {run.counts()}")
    assert run.hosts("ok") >= region.places()
    assert run.hosts("changed") == run.hosts("failed") == set()
