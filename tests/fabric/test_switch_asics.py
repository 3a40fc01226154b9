"""A ToR's switch with several ASICs: each has its own Redis, and all ports are those of one switch."""

import json

import pytest

from lab.sonic import REDIS_PORT, Sonic
from lab.wait import until

RACKS = {"tor1": ["h1", "h2"]}
PASSWORD = "a password of the lab"
PORTS = 4  # of each ASIC
READ_S = 60
OWN = "rackmesh_aggregator_switch_"


@pytest.fixture
def rack(world, tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(PASSWORD + "\n")

    def options(fabric):
        here = fabric.management["centre"]
        reading = {"kind": "sonic", "address": f"{here}:{REDIS_PORT}", "asics": [f"{here}:{REDIS_PORT + 1}"],
                   "password_file": str(password), "interval_s": 2, "neighbors_interval_s": 2}
        return {"tors": [{"name": "tor1", "switch": reading}]}

    rack = world(RACKS, spines=0, alertmanager=False, aggregator=options)
    fabric = rack.fabric
    rack.asics = []
    for i in range(2):
        folder = tmp_path / f"asic{i}"
        folder.mkdir()
        rack.asics.append(
            Sonic(fabric.netns("centre"), fabric.management["centre"], folder, PASSWORD, REDIS_PORT + i))
    rack.aggregator = rack.lab.aggregators["tor1"]
    try:
        for i, asic in enumerate(rack.asics):
            asic.start().wait_ready()
            asic.fill(PORTS, first=i * PORTS)
        yield rack.start()
    finally:
        for asic in rack.asics:
            asic.stop()


def own(rack, name, **labels):
    return rack.aggregator.metrics().sum(OWN + name, tor="tor1", **labels)


def shown(rack, port):
    try:
        return rack.aggregator.metrics().sum("rackmesh_switch_rx_bytes_total", tor="tor1", port=port)
    except KeyError:
        return None


def switch(rack):
    each, = json.loads(rack.aggregator.get("/v1/switches?limit=1000").text)["switches"]
    return each


def ports(rack):
    return [each["port"] for each in switch(rack)["objects"] if each["part"] == "port"]


def wait_ports(rack, *numbers):
    until(f"the ports are {numbers}", READ_S,
          lambda: ports(rack) == [f"Ethernet{4 * number}" for number in numbers], [rack.aggregator])


def test_the_ports_of_all_asics_are_those_of_one_switch(rack):
    wait_ports(rack, *range(2 * PORTS))
    assert own(rack, "up", asic="0") == 1 and own(rack, "up", asic="1") == 1
    rack.asics[0].count("Ethernet0", SAI_PORT_STAT_IF_IN_OCTETS=5)
    rack.asics[1].count("Ethernet16", SAI_PORT_STAT_IF_IN_OCTETS=7)
    rack.asics[1].neighbor("Ethernet16", "h2.lab.example", "r0")
    until("a port of each is counted", READ_S,
          lambda: (shown(rack, "Ethernet0"), shown(rack, "Ethernet16")) == (5, 7), [rack.aggregator])

    def neighbor():
        port, = (each for each in switch(rack)["objects"]
                 if (each["part"], each["port"]) == ("port", "Ethernet16"))
        return port["neighbor"] and port["neighbor"]["host"]

    until("the neighbour of the second one's port is known", READ_S, lambda: neighbor() == "h2", [rack.aggregator])
    assert [each["up"] for each in switch(rack)["asics"]] == [True, True]

    # The second ASIC hangs: the ports of the first one are read as before.
    rack.asics[1].freeze()
    wait_ports(rack, *range(PORTS))
    rack.asics[0].count("Ethernet0", SAI_PORT_STAT_IF_IN_OCTETS=11)
    until("the first one is read", READ_S, lambda: shown(rack, "Ethernet0") == 11, [rack.aggregator])
    until("the failure is shown", READ_S, lambda: not switch(rack)["up"], [rack.aggregator])
    assert own(rack, "up", asic="0") == 1 and own(rack, "up", asic="1") == 0
    assert "in time" in switch(rack)["error"] and switch(rack)["address"].endswith(str(REDIS_PORT + 1))
    assert not shown(rack, "Ethernet16")
    done = rack.lab.ctl_run("agg-tor1", "switch", "tor1")
    assert done.returncode == 1 and "Ethernet0" in done.stdout and "Ethernet16" not in done.stdout, done
    assert done.stderr.count("switch of tor1, ASIC ") == 1 and f":{REDIS_PORT + 1}: " in done.stderr, done

    rack.asics[1].thaw()
    wait_ports(rack, *range(2 * PORTS))
    assert shown(rack, "Ethernet16") == 7

    # So it is the other way round.
    rack.asics[0].kill()
    wait_ports(rack, *range(PORTS, 2 * PORTS))
    assert "refused" in switch(rack)["error"] and switch(rack)["address"].endswith(str(REDIS_PORT))

    # Neither is read: old counters are not shown, but the age of the last reading is.
    rack.asics[1].kill()
    wait_ports(rack)
    assert not shown(rack, "Ethernet0") and not shown(rack, "Ethernet16")
    assert switch(rack)["age_ms"] > 0 and not switch(rack)["up"]


def test_a_port_of_two_asics_is_counted_and_not_mixed(rack):
    wait_ports(rack, *range(2 * PORTS))
    assert own(rack, "duplicate_ports_total") == 0
    rack.asics[0].count("Ethernet0", SAI_PORT_STAT_IF_IN_OCTETS=5)
    rack.asics[1].fill(1)  # Ethernet0, again
    rack.asics[1].count("Ethernet0", SAI_PORT_STAT_IF_IN_OCTETS=9)
    until("it is counted", READ_S, lambda: own(rack, "duplicate_ports_total") > 0, [rack.aggregator])
    until("the first one's value is shown", READ_S, lambda: shown(rack, "Ethernet0") == 5, [rack.aggregator])
    wait_ports(rack, *range(2 * PORTS))
    assert any("are counted by two ASICs" in line for line in rack.aggregator.log.read_text().splitlines())
