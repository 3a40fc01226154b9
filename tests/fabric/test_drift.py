"""Settings of RNICs that differ from the config's expectation are found and shown, without an
alert."""

import json
import signal

import pytest
import yaml

from lab.netns import batch
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
MTU, WRONG_MTU, MBPS = 1500, 1400, 10000  # veth has 10 Gb/s
REPORTED_S = 60
EXPECTED = [
    {"rnics": ["h3/*"], "firmware": "28.39.*"},  # which a veth has none of
    {"rnics": ["h[1-3]"], "mtu_bytes": MTU, "speed_gbps": MBPS // 1000},
]


@pytest.fixture
def rack(world):
    rack = world(RACKS, spines=0, alertmanager=False, aggregator={"expected": EXPECTED},
                 agent={"counters": {"interval_ms": 500}})
    rack.aggregator = rack.lab.aggregators["tor1"]
    return rack.start()


def answer(rack, query=""):
    return json.loads(rack.aggregator.get(f"/v1/drift?{query}").text)


def found(rack, query=""):
    return {(each["host"], each["setting"]): (each["state"], each["expected"], each["actual"])
            for each in answer(rack, query)["settings"]}


def since(rack, host, setting):
    return {(each["host"], each["setting"]): each["since"] for each in answer(rack)["settings"]}[host, setting]


def sums(rack, state):
    return rack.aggregator.metrics().sum("rackmesh_drift_settings", tor="tor1", state=state)


def wait_found(rack, wanted):
    until(f"drift is {wanted}", REPORTED_S, lambda: found(rack) == wanted, [rack.aggregator])


NO_FIRMWARE = {("h3", "firmware"): ("unknown", "28.39.*", None)}
WRONG = {("h2", "mtu"): ("different", str(MTU), str(WRONG_MTU))}


def test_an_unexpected_mtu_is_reported_until_it_is_corrected(rack):
    wait_found(rack, NO_FIRMWARE)  # the speed of all was read
    until("three hosts have reported", REPORTED_S, lambda: sums(rack, "same") == 6, [rack.aggregator])
    assert sums(rack, "different") == 0
    assert sums(rack, "unknown") == 1
    speed = found(rack, "all=1&host=h1")["h1", "speed"]
    assert speed == ("same", "10 Gb/s", "10 Gb/s")

    rnic = rack.rnic("h2/r0")
    batch([f"link set {rnic.device} mtu {WRONG_MTU}"], rack.fabric.netns("h2"))
    wait_found(rack, WRONG | NO_FIRMWARE)
    assert sums(rack, "different") == 1
    assert rack.aggregator.metrics().sum("rackmesh_drift_rnics_different", tor="tor1") == 1
    done = rack.lab.ctl_run("agg-tor1", "drift", "h2")
    assert done.returncode == 1
    assert rack.lab.ctl_run("agg-tor1", "drift", "h1").returncode == 0
    row, = (line.split() for line in done.stdout.splitlines() if line.startswith("tor1"))
    assert row[:7] == ["tor1", "h2", rnic.device, "mtu", "different", str(MTU), str(WRONG_MTU)]
    begun = since(rack, "h2", "mtu")

    # No alert is sent: a wrong setting is not urgent.
    assert json.loads(rack.aggregator.get("/v1/incidents?open=1").text)["incidents"] == []

    rack.lab.agents["h2"].kill()
    wait_found(rack, NO_FIRMWARE)
    rack.lab.agents["h2"].start()
    wait_found(rack, WRONG | NO_FIRMWARE)
    assert since(rack, "h2", "mtu") == begun

    batch([f"link set {rnic.device} mtu {MTU}"], rack.fabric.netns("h2"))
    wait_found(rack, NO_FIRMWARE)
    assert rack.lab.ctl_run("agg-tor1", "drift").returncode == 0


def test_a_reload_changes_the_expected_settings(rack):
    wait_found(rack, NO_FIRMWARE)
    path = rack.lab.folder / "config" / "agg-tor1.yaml"
    config = yaml.safe_load(path.read_text())
    config["expected"] = [{"rnics": ["h1/r0"], "mtu_bytes": 9000}]
    path.write_text(yaml.safe_dump(config))
    rack.aggregator.signal(signal.SIGHUP)
    wait_found(rack, {("h1", "mtu"): ("different", "9000", str(MTU))})
