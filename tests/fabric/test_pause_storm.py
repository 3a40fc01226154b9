"""A pause storm over three switches, each a real Redis with SONiC's tables: the aggregator that
reads them names the RNIC that causes the pauses, and none of its victims."""

import json
import time

import pytest
import yaml

from lab.sonic import APPL_DB, REDIS_PORT, Sonic
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"]}
PASSWORD = "a password of the lab"
FOUND_S = 90
PORTS = 4
# Port, and what its neighbour calls itself and its port.
CABLES = {
    "tor1": {"Ethernet0": ("h1.lab", "r0"), "Ethernet4": ("h2", "r0"), "Ethernet8": ("spine1.lab", "Ethernet0")},
    "spine1": {"Ethernet0": ("tor1", "Ethernet8"), "Ethernet4": ("leaf-2", "Ethernet8")},
    "tor2": {"Ethernet0": ("h4", "r0"), "Ethernet4": ("h5", "02:00:00:00:00:99"), "Ethernet8": ("spine1", "Ethernet4")},
}
# Time for which the neighbour pauses the port, or frames per second by which the port pauses it.
STORM = {
    "tor1": {"Ethernet0": {"RX_PAUSE_DURATION_US": 0.83e6}, "Ethernet4": {"TX_PKTS": 900}, "Ethernet8": {"TX_PKTS": 900}},
    "spine1": {"Ethernet0": {"RX_PAUSE_DURATION_US": 0.3e6}, "Ethernet4": {"TX_PKTS": 700}},
    "tor2": {"Ethernet8": {"RX_PAUSE_DURATION_US": 0.2e6}, "Ethernet0": {"TX_PKTS": 500}, "Ethernet4": {"TX_PKTS": 500}},
}

# The MAC at h5 is not that of its RNIC.
VICTIMS = {"tor1", "spine1", "tor2", "h2/r0", "h4/r0", "h5"}


@pytest.fixture
def rack(world, tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(PASSWORD + "\n")

    def reading(fabric, at):
        return {"kind": "sonic", "address": f"{fabric.management['centre']}:{REDIS_PORT + at}",
                "password_file": str(password), "interval_s": 2, "neighbors_interval_s": 1}

    rack = world(RACKS, spines=1, alertmanager=False)
    path = rack.lab.folder / "config" / "agg-tor1.yaml"
    config = yaml.safe_load(path.read_text())
    config["tors"][0]["switch"] = reading(rack.fabric, 0)
    config["switches"] = [{"name": "spine1", **reading(rack.fabric, 1)},
                          {"name": "tor2", "role": "tor", "system_name": "leaf-2", **reading(rack.fabric, 2)}]
    # It cannot be read, but its name is used.
    config["hypervisors"] = [{"name": "esx1", "address": "127.0.0.1", "port": 1}]
    path.write_text(yaml.safe_dump(config))
    rack.aggregator = rack.lab.aggregators["tor1"]
    rack.switches = {}
    try:
        for at, name in enumerate(CABLES):
            folder = tmp_path / name
            folder.mkdir()
            switch = Sonic(rack.fabric.netns("centre"), rack.fabric.management["centre"], folder, PASSWORD,
                           REDIS_PORT + at)
            rack.switches[name] = switch.start().wait_ready()
            switch.fill(PORTS, queues=1)
            for port, (neighbor, port_id) in CABLES[name].items():
                switch.neighbor(port, neighbor, port_id)
        yield rack.start()
    finally:
        for switch in rack.switches.values():
            switch.stop()


def pauses(rack):
    return json.loads(rack.aggregator.get("/v1/diagnosis").text)["pauses"]


def storm_goes_on(rack, began, seen):
    """Adds what the storm has counted by now; returns the present findings."""
    def check():
        for name, ports in STORM.items():
            for port in CABLES[name]:
                counts = {f"SAI_PORT_STAT_PFC_3_{what}": 0 for what in ("RX_PAUSE_DURATION_US", "TX_PKTS", "RX_PKTS")}
                for what, per_second in ports.get(port, {}).items():
                    counts[f"SAI_PORT_STAT_PFC_3_{what}"] = int((time.monotonic() - began) * per_second)
                rack.switches[name].count(port, **counts)
        return seen(pauses(rack))
    return check


def test_the_source_of_a_storm_is_named_and_its_victims_are_not(rack, print_line):
    began = time.monotonic()
    # While this test stands still, the counters do not grow, so a reading sees no pauses.
    found = until("the storm has a source and all victims", FOUND_S, storm_goes_on(
        rack, began, lambda found: found if any(set(each["victims"]) == VICTIMS for each in found) else None),
        [rack.aggregator], every=0.5)
    assert [(each["diagnosis"], each["source"], each["switch"], each["port"], each["priority"]) for each in found] == [
        ("pause-source", "h1/r0", "tor1", "Ethernet0", 3)], found
    assert found[0]["victim_count"] == len(VICTIMS)
    assert found[0]["paused_pct"] > 50 and found[0]["frames_per_s"] is None
    assert found[0]["step_count"] == len(found[0]["steps"]) == len(VICTIMS)
    assert [(each["from"], each["to"]) for each in found[0]["steps"]][0] == ("h1/r0", "tor1")
    print_line(found[0]["evidence"])

    # The counts of the port are used for the RNIC behind it, because veth counts no pauses.
    def findings(_):
        reported = json.loads(rack.aggregator.get("/v1/diagnosis").text)["findings"]
        return {(each["host"], each["device"], each["diagnosis"]) for each in reported} >= {
            ("h1", "r0", "pfc-storm"), ("h2", "r0", "pause-victim")}

    until("the RNICs are diagnosed", FOUND_S, storm_goes_on(rack, began, findings), [rack.aggregator], every=0.5)
    storms = [each for each in json.loads(rack.aggregator.get("/v1/diagnosis").text)["findings"]
              if each["diagnosis"] == "pfc-storm"]
    assert [each["host"] for each in storms] == ["h1"], storms
    assert "it paused the switch's port Ethernet0" in storms[0]["evidence"], storms
    metrics = rack.aggregator.metrics()
    assert metrics.sum("rackmesh_diagnosis_pauses") == 1
    assert metrics.sum("rackmesh_diagnosis_pauses", diagnosis="pause-source") == 1
    assert "h1/r0" in rack.lab.ctl("agg-tor1", "diagnosis")

    # The other switches are shown with their roles and names.
    assert metrics.sum("rackmesh_aggregator_switch_up", switch="spine1", switch_role="spine") == 1
    assert metrics.sum("rackmesh_switch_port_up", switch="tor2", switch_role="tor") == PORTS
    assert metrics.sum("rackmesh_switch_port_up", tor="tor1") == PORTS
    reported = json.loads(rack.aggregator.get("/v1/switches?tor=spine1&port=Ethernet4&limit=1").text)["switches"]
    assert [(each["name"], each["tor"], each["role"]) for each in reported] == [("spine1", None, "spine")]
    assert reported[0]["objects"][0]["neighbor"]["kind"] == "switch"
    assert "leaf-2 Ethernet8" in rack.lab.ctl("agg-tor1", "switch", "spine1", "Ethernet4")

    # LLDP does not report any more what is at that port.
    rack.switches["tor1"].tell_redis(APPL_DB, "DEL", "LLDP_ENTRY_TABLE:Ethernet0")
    unknown = until("the source is not known", FOUND_S, storm_goes_on(
        rack, began, lambda found: [each for each in found if each["diagnosis"] == "pause-source-not-known"]),
        [rack.aggregator], every=0.5)
    assert [(each["source"], each["switch"], each["port"]) for each in unknown] == [(None, "tor1", "Ethernet0")]
    assert "not known" in unknown[0]["evidence"]

    # A host without an agent, whose NIC is named by the description of its port.
    rack.switches["tor1"].neighbor("Ethernet0", "esx1.lab.example", "00:50:56:00:00:07", "vmnic5")
    esxi = until("an ESXi host is the source", FOUND_S, storm_goes_on(
        rack, began, lambda found: [each for each in found if each["source"] == "esx1/vmnic5"]),
        [rack.aggregator], every=0.5)
    assert [(each["diagnosis"], each["switch"], each["port"]) for each in esxi] == [
        ("pause-source", "tor1", "Ethernet0")]


# Frames per second by which the neighbour pauses the port, and the port the neighbour.
GLOBAL = {
    "tor1": {"Ethernet0": (900, 0), "Ethernet4": (0, 600), "Ethernet8": (0, 600)},
    "spine1": {"Ethernet0": (600, 0), "Ethernet4": (0, 500)},
    "tor2": {"Ethernet8": (500, 0), "Ethernet0": (0, 400), "Ethernet4": (0, 400)},
}


def test_global_pauses_are_followed_to_their_source_where_pfc_is_not_used(rack, print_line):
    began = time.monotonic()

    def goes_on(seen, pfc=0):
        def check():
            seconds = time.monotonic() - began
            for name in GLOBAL:
                for port in CABLES[name]:
                    received, sent = GLOBAL[name].get(port, (0, 0))
                    rack.switches[name].count(
                        port, SAI_PORT_STAT_PAUSE_RX_PKTS=int(seconds * received),
                        SAI_PORT_STAT_PAUSE_TX_PKTS=int(seconds * sent),
                        SAI_PORT_STAT_PFC_3_RX_PKTS=int(seconds * pfc), SAI_PORT_STAT_PFC_3_TX_PKTS=0)
            return seen(pauses(rack))
        return check

    found = until("the global pauses have a source and all victims", FOUND_S, goes_on(
        lambda found: found if any(set(each["victims"]) == VICTIMS for each in found) else None),
        [rack.aggregator], every=0.5)
    assert [(each["diagnosis"], each["source"], each["switch"], each["port"], each["priority"]) for each in found] == [
        ("pause-source", "h1/r0", "tor1", "Ethernet0", None)], found
    assert found[0]["frames_per_s"] > 100 and found[0]["paused_pct"] is None
    assert "global pauses, of all priorities" in found[0]["evidence"]
    print_line(found[0]["evidence"])

    # The same counts are not followed if the ports use PFC: they may be those of PFC.
    until("no global pauses are followed", FOUND_S, goes_on(
        lambda found: not [each for each in found if each["priority"] is None], pfc=1), [rack.aggregator], every=0.5)
