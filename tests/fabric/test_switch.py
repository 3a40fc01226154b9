"""The counters of a ToR's switch, read by the rack's aggregator from a real Redis with SONiC's
tables. A switch that hangs, sends nonsense or is down does not delay anything else."""

import json

import pytest

from lab.faults import RnicDead
from lab.sonic import APPL_DB, COUNTERS_DB, REDIS_PORT, STATE_DB, Sonic
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
PASSWORD = "a password of the lab"
PORTS, QUEUES = 64, 8
OBJECTS = PORTS * (1 + 2 * QUEUES)
READ_S = 60
EXPECTED = [{"ports": ["tor1/Ethernet[048]"], "pfc": "3,4", "mtu_bytes": 9100, "dscp": "26:3"}]
OWN = "rackmesh_aggregator_switch_"
FAILED = "switch of tor1: cannot read its counters"


@pytest.fixture
def rack(world, tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(PASSWORD + "\n")

    def options(fabric):
        address = f"{fabric.management['centre']}:{REDIS_PORT}"
        reading = {"kind": "sonic", "address": address, "password_file": str(password),
                   "interval_s": 4, "neighbors_interval_s": 1, "optics_interval_s": 1}
        return {"tors": [{"name": "tor1", "switch": reading}], "expected": EXPECTED}

    rack = world(RACKS, spines=0, alertmanager=False, aggregator=options)
    fabric = rack.fabric
    rack.switch = Sonic(fabric.netns("centre"), fabric.management["centre"], tmp_path, PASSWORD)
    rack.aggregator = rack.lab.aggregators["tor1"]
    try:
        rack.switch.start().wait_ready()
        rack.switch.fill(PORTS, QUEUES)
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


def drift(rack):
    """{(port, setting): (state, expected, actual)} of the settings that are not as expected."""
    settings = json.loads(rack.aggregator.get("/v1/drift").text)["settings"]
    return {(each["device"], each["setting"]): (each["state"], each["expected"], each["actual"])
            for each in settings if (each["kind"], each["host"]) == ("port", "tor1")}


def test_settings_of_ports_are_compared_with_the_expected_ones(rack):
    wait_up(rack, 1)
    unknown = {(port, setting): ("unknown", expected, None)
               for port in ("Ethernet0", "Ethernet4", "Ethernet8")
               for setting, expected in (("pfc", "3,4"), ("mtu", "9100"), ("dscp", "26:3"))}
    until("no setting is known", READ_S, lambda: drift(rack) == unknown, [rack.aggregator])
    for port in ("Ethernet0", "Ethernet4", "Ethernet8"):
        rack.switch.configure(port, pfc="3,4", mtu=9100, speed=100000)
    rack.switch.configure("Ethernet8", pfc="3", mtu=1500)
    wrong = {("Ethernet8", "pfc"): ("different", "3,4", "3"), ("Ethernet8", "mtu"): ("different", "9100", "1500")}
    until("the wrong settings are found", READ_S, lambda: drift(rack) == wrong, [rack.aggregator])
    assert rack.aggregator.metrics().sum("rackmesh_drift_ports_different", tor="tor1") == 1
    assert rack.lab.ctl_run("agg-tor1", "drift", "tor1").returncode == 1
    assert own(rack, "parse_errors_total") == 0
    rack.switch.configure("Ethernet8", pfc="3,4", mtu=9100)
    until("all settings are as expected", READ_S, lambda: drift(rack) == {}, [rack.aggregator])
    assert rack.lab.ctl_run("agg-tor1", "drift").returncode == 0


def answer(rack, query=""):
    return json.loads(rack.aggregator.get(f"/v1/switches?{query}").text)


def times_logged(rack, words):
    return sum(words in line for line in rack.aggregator.log.read_text().splitlines())


def test_counters_of_the_switch_are_shown(rack, print_line):
    wait_up(rack, 1)
    port, queue = {"port": "Ethernet8"}, {"port": "Ethernet8", "queue": "3"}
    rack.switch.count("Ethernet8", SAI_PORT_STAT_PFC_3_RX_PKTS=9286478,
                      SAI_PORT_STAT_IF_IN_FEC_CODEWORD_ERRORS_S14=7,
                      SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES=2)
    rack.switch.count("Ethernet8:3", PFC_WD_STATUS="stormed",
                      SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES=4096,
                      SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS=17)
    wait_shown(rack, 9286478, "rx_priority_pause_total", priority="3", **port)
    wait_shown(rack, 1, "pfc_watchdog_stormed")
    rack.switch.neighbor("Ethernet8", "h2.lab.example", "02:00:00:00:00:99", "r0")
    rack.switch.neighbor("Ethernet12", "spine1", "Eth1/7")
    rack.switch.count("Ethernet12", SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES=0)
    assert own(rack, "parse_errors_total") == 0
    rack.switch.neighbor("Ethernet16", "x" * 300, "\x1b[2J")
    assert shown(rack, "rx_fec_uncorrectable_total", **port) == 2
    assert shown(rack, "rx_fec_codewords_total", symbol_errors="14", **port) == 7
    assert shown(rack, "queue_watermark_bytes", **queue) == 4096
    assert shown(rack, "queue_ecn_marked_packets_total", **queue) == 17
    assert shown(rack, "port_speed_bytes_per_second", **port) == 12.5e9
    assert shown(rack, "port_up") == PORTS
    # One class is in use, and is exported with its zeros.
    assert shown(rack, "queue_tx_packets_total") == 0
    assert own(rack, "values_unused") == PORTS * (QUEUES * 3 + 1) - 4
    assert own(rack, "values_refused") == 0

    switch, = answer(rack, "port=Ethernet8")["switches"]
    assert switch["up"] and switch["error"] is None
    assert {(each["part"], each["index"]) for each in switch["objects"]} == {
        ("port", None), *((part, i) for part in ("queue", "group") for i in range(QUEUES))}
    def behind(port):
        return answer(rack, f"port={port}&limit=1")["switches"][0]["objects"][0]["neighbor"]

    neighbor = until("who is behind the port is read", READ_S, lambda: behind("Ethernet8"))
    assert (neighbor["kind"], neighbor["host"], neighbor["device"]) == ("rnic", "h2", "r0"), neighbor
    neighbor = until("another switch is reported", READ_S, lambda: behind("Ethernet12"))
    assert (neighbor["kind"], neighbor["name"], neighbor["port"]) == ("not-known", "spine1", "Eth1/7")
    until("what is no name is counted", READ_S, lambda: own(rack, "parse_errors_total") >= 2)
    assert behind("Ethernet16") is None and behind("Ethernet0") is None
    rack.switch.tell_redis(APPL_DB, "DEL", "LLDP_ENTRY_TABLE:Ethernet16")
    counters = {(each["name"], each.get("priority", each.get("symbol_errors"))): each
                for each in switch["objects"][0]["counters"]}
    assert counters["pfc_rx_frames", 3]["total"] == 9286478
    assert counters["fec_codewords", 14]["total"] == 7
    assert ("rx_bytes", None) not in counters  # 0, and not asked for
    assert answer(rack)["object_count"] == OBJECTS
    table = rack.lab.ctl("agg-tor1", "switch", "tor1", "Ethernet8")
    assert "fec_codewords of 14 errors" in table and "pfc_rx_frames" in table and "9286478" in table and "h2/r0" in table
    print_line(f"{OBJECTS} ports, queues and groups read in {switch['read_ms']} ms")
    the_proof_has_what_the_switch_counted_beside_the_hosts(rack)
    counts_of_switch_ports_identify_cables(rack)


def the_proof_has_what_the_switch_counted_beside_the_hosts(rack):
    def both_sides():
        proof, = json.loads(rack.aggregator.get("/v1/proof?tor=tor1").text)["racks"]
        frames = proof["priorities"][3]["switch"]["frames_received"]
        return frames and proof["age_s"] is not None and proof

    proof = until("the switch's pauses and RNICs are in the proof", READ_S, both_sides,
                  [rack.aggregator])
    priority = proof["priorities"][3]
    assert priority["switch"]["frames_received"] == 9286478 and proof["switch_read"]
    assert priority["host"]["frames_received"] is None  # a veth does not count them, which is not zero
    assert priority["switch"]["frames_sent"] is None  # this switch has no such counter
    states = {each["question"]: each["state"] for each in proof["answers"]}
    # No counter has the duration of these pauses.
    assert states["cnp"] == "not-known" and states["pfc"] == "not-known", proof["answers"]
    ratios = {each["name"]: each for each in proof["ratios"]}
    assert not ratios["host_ce"]["known"] and "ecn_ce_rx" in ratios["host_ce"]["error"]
    table = rack.lab.ctl("agg-tor1", "diagnosis", "--proof", "tor1")
    assert "pfc priority 3" in table and "9286478 frames received" in table and "not known" in table, table


def counts_of_switch_ports_identify_cables(rack):
    rack.switch.set(STATE_DB, "TRANSCEIVER_DOM_SENSOR|Ethernet8", temperature=44,
                    rx1power="-2.0", rx2power="-inf", tx1power="0.0", tx2power="0.0")
    # Behind that port is a spine, not an RNIC.
    rack.switch.count("Ethernet12", SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES=500)

    def cables():
        reported = json.loads(rack.aggregator.get("/v1/diagnosis").text)["findings"]
        seen.update({(each["host"], each["device"]): each["evidence"] for each in reported
                     if each["diagnosis"] == "cable-errors"})
        return len(seen) >= 2 and seen

    seen = {}
    until("both cables are reported", READ_S, cables, [rack.aggregator])
    assert set(seen) == {("h2", "r0"), ("tor1", "Ethernet12")}, seen
    assert "the module of the switch's port Ethernet8 receives a lane" in seen["h2", "r0"], seen
    assert "counted 500 codewords" in seen["tor1", "Ethernet12"], seen


def test_a_switch_that_hangs_or_is_gone_delays_nothing(rack):
    wait_up(rack, 1)
    before = times_logged(rack, FAILED)
    rack.switch.freeze()
    wait_up(rack, 0)
    age = own(rack, "age_seconds")
    fault = RnicDead(rack.lab, rack.rnic("h3/r0"))  # the rack is still judged
    fault.begin()
    rack.plain.wait_for(fault.fires, 10, 0, str(fault))
    assert own(rack, "age_seconds") > age
    assert shown(rack, "port_up") == PORTS  # unchanged
    until("several readings fail", READ_S, lambda: own(rack, "reads_failed_total") >= 3)
    assert times_logged(rack, FAILED) == before + 1
    assert "in time" in answer(rack)["switches"][0]["error"]

    rack.switch.thaw()
    wait_up(rack, 1)
    before = times_logged(rack, FAILED)
    rack.switch.kill()
    wait_up(rack, 0)
    until("nothing answers", READ_S,
          lambda: "refused" in answer(rack)["switches"][0]["error"])
    assert times_logged(rack, FAILED) == before + 1


def test_nonsense_of_a_switch_is_counted_and_hides_no_other_port(rack):
    wait_up(rack, 1)
    rack.switch.count("Ethernet0", SAI_PORT_STAT_IF_IN_OCTETS="99999999999999999999999",
                      SAI_PORT_STAT_IF_OUT_OCTETS="NaN")
    rack.switch.tell_redis(COUNTERS_DB, "DEL", f"COUNTERS:{Sonic.oid('Ethernet4')}")
    rack.switch.tell_redis(COUNTERS_DB, "SET", f"COUNTERS:{Sonic.oid('Ethernet4')}", "x" * 100000)
    rack.switch.set(COUNTERS_DB, "COUNTERS_QUEUE_NAME_MAP", **{'Ethernet"0:1': "oid:0x1"})
    rack.switch.count("Ethernet8", SAI_PORT_STAT_IF_IN_OCTETS=5)
    wait_shown(rack, 5, "rx_bytes_total")  # Ethernet0's and Ethernet4's are not there
    until("lies are counted", READ_S, lambda: own(rack, "parse_errors_total") >= 4)
    wait_up(rack, 1)

    rack.switch.tell_redis(COUNTERS_DB, "DEL", "COUNTERS_PORT_NAME_MAP")
    wait_up(rack, 0)
    assert "COUNTERS_PORT_NAME_MAP" in answer(rack)["switches"][0]["error"]


def test_a_wrong_password_is_reported(rack):
    wait_up(rack, 1)
    rack.switch.tell_redis(0, "CONFIG", "SET", "requirepass", "another")
    wait_up(rack, 0)
    assert "password_file" in answer(rack)["switches"][0]["error"]
