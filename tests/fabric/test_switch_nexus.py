"""The counters of a ToR's switch, read by the rack's aggregator over NX-API from an imitated
Cisco Nexus. A switch that hangs, sends nonsense, floods, refuses or is another server does not
delay anything else."""

import json

import pytest

from lab.ca import Authority
from lab.faults import RnicDead
from lab.nexus import HUGE, NXAPI_PORT, USER, Nexus
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
PASSWORD = "a password of the lab"
PORTS = 64
READ_S = 60
OWN = "rackmesh_aggregator_switch_"
FAILED = "switch of tor1: cannot read its counters"


@pytest.fixture
def rack(world, tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(PASSWORD + "\n")
    authority = Authority(tmp_path / "switch-ca")

    def options(fabric):
        address = f"{fabric.management['centre']}:{NXAPI_PORT}"
        reading = {"kind": "nexus", "address": address, "user": USER,
                   "password_file": str(password), "interval_s": 2,
                   "neighbors_interval_s": 4, "optics_interval_s": 4,
                   "authorities": str(authority.certificate_path)}
        return {"tors": [{"name": "tor1", "switch": reading}]}

    rack = world(RACKS, spines=0, alertmanager=False, aggregator=options)
    fabric = rack.fabric
    rack.authority, rack.tmp = authority, tmp_path
    rack.switch = Nexus(
        fabric.netns("centre"), fabric.management["centre"], authority, PASSWORD, PORTS)
    rack.aggregator = rack.lab.aggregators["tor1"]
    try:
        yield rack.start()
    finally:
        rack.switch.stop()


def own(rack, name):
    return rack.aggregator.metrics().sum(OWN + name, tor="tor1")


def shown(rack, name, **labels):
    try:
        return rack.aggregator.metrics().sum("rackmesh_switch_" + name, **labels)
    except KeyError:
        return None  # no reading yet


def wait_shown(rack, value, name, **labels):
    until(f"{name} is {value}", READ_S, lambda: shown(rack, name, **labels) == value,
          [rack.aggregator])


def wait_up(rack, up):
    until(f"up is {up}", READ_S, lambda: own(rack, "up") == up, [rack.aggregator])


def answer(rack, query=""):
    return json.loads(rack.aggregator.get(f"/v1/switches?{query}").text)


def wait_error(rack, words):
    until(f"{words!r} is logged", READ_S,
          lambda: words in (answer(rack)["switches"][0]["error"] or ""), [rack.aggregator])


def times_logged(rack, words):
    return sum(words in line for line in rack.aggregator.log.read_text().splitlines())


def test_counters_of_the_switch_are_shown(rack, print_line):
    wait_up(rack, 1)
    port, queue = {"port": "Ethernet1/2"}, {"port": "Ethernet1/2", "queue": "3"}
    rack.switch.count("Ethernet1/2", "eth_inbytes", value="1000")
    rack.switch.count("Ethernet1/2", "eth_fcs_err", value=2)
    rack.switch.count("Ethernet1/2", "rx-pause", value="7")
    rack.switch.count("Ethernet1/2", 3, "rx-pause-count", value="9,286,478")
    rack.switch.count("Ethernet1/2", "3", "Dropped Pkts", value="5")
    rack.switch.count("Ethernet1/2", 3, "ecn", value="17")
    rack.switch.count("Ethernet1/2", "MMU Pkts", value="6493907")
    rack.switch.count("Ethernet1/2", "watchdog", value="Shutdown")
    rack.switch.count("ii1/1/1", "rx-stats", value="15000000")
    rack.switch.lights = {"Ethernet1/2": ["-2.00", "-30.00"]}
    rack.switch.neighbors = [("mgmt0", "x", "y"), ("Eth1/2", "h2", "r0")]
    wait_shown(rack, 9286478, "rx_priority_pause_total", priority="3", **port)
    wait_shown(rack, 15000000, "rx_pfc_frames_total", role="fabric")
    assert shown(rack, "rx_pfc_frames_total", role="fabric", port="ii1/1/1") == 15000000
    assert shown(rack, "rx_bytes_total", **port) == 1000
    assert shown(rack, "rx_fcs_errors_total", **port) == 2
    assert shown(rack, "rx_global_pause_total", **port) == 7
    assert shown(rack, "rx_buffer_drops_total", **port) == 6493907
    assert shown(rack, "queue_dropped_packets_total", **queue) == 5
    assert shown(rack, "queue_ecn_marked_packets_total", **queue) == 17
    assert shown(rack, "pfc_watchdog_stormed", **queue) == 1
    assert shown(rack, "pfc_on") == PORTS + 1

    switch, = answer(rack, "port=Ethernet1/2")["switches"]
    assert switch["up"] and switch["error"] is None
    assert {each["role"] for each in switch["objects"]} == {"edge"}
    neighbor = until("who is behind the port is read", READ_S, lambda: answer(
        rack, "port=Ethernet1/2&limit=1")["switches"][0]["objects"][0]["neighbor"])
    assert (neighbor["kind"], neighbor["host"], neighbor["device"]) == ("rnic", "h2", "r0"), neighbor
    until("its module is read", READ_S,
          lambda: shown(rack, "optics_rx_power_lowest_watts", **port) == pytest.approx(1e-6))
    assert shown(rack, "optics_temperature_celsius", **port) == 34
    assert own(rack, "parse_errors_total") == 0
    # This switch has no "show queuing burst-detect".
    assert own(rack, "commands_refused_total") > 0
    # If reading modules takes too long, counters are read without them.
    failed = own(rack, "reads_failed_total")
    rack.switch.slow_command = "transceiver"
    until("a reading with modules fails", READ_S, lambda: own(rack, "reads_failed_total") > failed)
    rack.switch.count("Ethernet1/2", "eth_inbytes", value="1001")
    wait_shown(rack, 1001, "rx_bytes_total", **port)
    assert shown(rack, "optics_temperature_celsius", **port) == 34
    # Counters are also read without modules when the pause after failures is longer than the interval
    # of modules.
    rack.switch.hangs = True
    failed = own(rack, "reads_failed_total")
    until("three readings fail", READ_S, lambda: own(rack, "reads_failed_total") >= failed + 3)
    rack.switch.hangs = False
    rack.switch.count("Ethernet1/2", "eth_inbytes", value="1002")
    wait_shown(rack, 1002, "rx_bytes_total", **port)
    rack.switch.slow_command = "(none)"
    wait_up(rack, 1)
    table = rack.lab.ctl("agg-tor1", "switch", "tor1", "Ethernet1/2")
    assert "pfc_rx_frames" in table and "9286478" in table
    print_line(f"{answer(rack)['object_count']} ports and queues read in {switch['read_ms']} ms")


def test_a_switch_that_hangs_delays_nothing(rack):
    wait_up(rack, 1)
    before = times_logged(rack, FAILED)
    rack.switch.hang()
    wait_up(rack, 0)
    age = own(rack, "age_seconds")
    fault = RnicDead(rack.lab, rack.rnic("h3/r0"))  # the rack is still judged
    fault.begin()
    rack.plain.wait_for(fault.fires, 10, 0, str(fault))
    assert own(rack, "age_seconds") > age
    assert shown(rack, "pfc_on") == PORTS + 1  # unchanged
    until("several readings fail", READ_S, lambda: own(rack, "reads_failed_total") >= 2)
    assert times_logged(rack, FAILED) == before + 1
    assert "in time" in answer(rack)["switches"][0]["error"]
    rack.switch.wake()
    wait_up(rack, 1)


def test_nonsense_of_a_switch_hides_no_other_port(rack):
    wait_up(rack, 1)
    rack.switch.count("Ethernet1/1", "eth_inbytes", value="9" * 30)
    rack.switch.count("Ethernet1/1", "eth_inucast", value={"deep": [["x"]]})
    rack.switch.count("Ethernet1/1", "eth_outbytes", value="NaN")
    rack.switch.count("Ethernet1/1", "eth_inmcast", value=1 << 64)  # too large for an integer of JSON parsers
    rack.switch.count("Ethernet1/1", "eth_inbcast", value="NOT-UTF-8")
    rack.switch.count("Ethernet1/2", "eth_inbytes", value="5")
    rack.switch.unknown.add("show queuing tabular")
    wait_shown(rack, 5, "rx_bytes_total")  # Ethernet1/1's is not there
    until("lies are counted", READ_S, lambda: own(rack, "parse_errors_total") >= 4)
    wait_up(rack, 1)

    for raw, error in ((b"x" * HUGE, "larger than"), (b"[" * 100000, "not JSON"),
                       (b'{"ins_api":{}}', "is it NX-API")):
        rack.switch.raw = raw
        wait_error(rack, error)
        rack.switch.raw = None
        wait_up(rack, 1)


def test_a_wrong_password_is_reported(rack):
    wait_up(rack, 1)
    rack.switch.password = "another"
    wait_error(rack, "password_file")
    asked = rack.switch.asked
    until("two more attempts", READ_S, lambda: rack.switch.asked >= asked + 2)
    rack.switch.password = PASSWORD
    wait_up(rack, 1)


def test_a_certificate_of_another_authority_is_refused(rack):
    wait_up(rack, 1)
    rack.switch.stop()
    wait_up(rack, 0)
    fabric = rack.fabric
    rack.switch = Nexus(fabric.netns("centre"), fabric.management["centre"],
                        Authority(rack.tmp / "other-ca"), PASSWORD, PORTS)
    wait_error(rack, "certificate")
    assert rack.switch.asked == 0  # no server got the password
