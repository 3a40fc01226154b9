"""The diagnosis of a flapping link, by the rack's aggregator, from counters that the host's
agent reads of its real network device; no other RNIC gets one."""

import json

from lab.faults import RnicDead
from lab.netns import run
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h3", "h4"]}
FOUND_S = 60
FIRES_S = 30
TRIES = 5


def diagnosis(rack, query=""):
    aggregator = rack.lab.aggregators["tor1"]
    return json.loads(aggregator.get(f"/v1/diagnosis?{query}").text)


def found(rack):
    return {(each["host"], each["device"], each["diagnosis"]): each
            for each in diagnosis(rack)["findings"]}


def open_incidents(rack):
    return rack.lab.aggregators["tor1"].get("/v1/incidents?open=1").json["incidents"]


def test_a_link_that_comes_and_goes_is_diagnosed_and_no_other(world, print_line):
    rack = world(RACKS, spines=1, alertmanager=False,
                 agent={"counters": {"interval_ms": 500}}).start()
    aggregator = rack.lab.aggregators["tor1"]
    until("all RNICs' counters are reported", FOUND_S,
          lambda: diagnosis(rack)["rnics_reported"] == 3, [aggregator])
    assert not found(rack)

    rnic = rack.rnic("h2/r0")
    for _ in range(2):
        flap(rack, rnic)
    findings = until("the link's flapping is found", FOUND_S, lambda: found(rack), [aggregator])
    assert set(findings) == {("h2", "r0", "link-flap")}
    evidence, = (each["evidence"] for each in findings.values())
    assert "its link" in evidence and "times in " in evidence
    assert aggregator.metrics().sum("rackmesh_diagnosis_rnics", tor="tor1", diagnosis="link-flap") == 1
    assert aggregator.metrics().sum("rackmesh_diagnosis_rnics", tor="tor1") == 1

    host, = diagnosis(rack, "host=h3")["rnics"]
    assert host["device"] == "r0" and host["not_known"]["pfc-storm"] == "pfc_tx_pause_us"
    # veth counts no retransmissions, and probes without losses alone do not show that the network
    # is good.
    assert host["network"] == "not-known" and host["network_evidence"], host
    table = rack.lab.ctl("agg-tor1", "diagnosis", "h2")
    assert "link-flap" in table and evidence in table and "suspect" in table, table
    for name, said in (("h3", "no finding in the counters of 1 RNIC"),
                       ("h9", "no RNIC of this name has reported counters")):
        assert said in rack.lab.ctl_run("agg-tor1", "diagnosis", name).stderr, name
    print_line(f"h2/r0: {evidence}")

    # h3 also sends the counters of its RNIC at tor2, which belongs to another aggregator.
    until("readings of another rack are counted", FOUND_S,
          lambda: aggregator.metrics().sum("rackmesh_aggregator_readings_elsewhere_total") > 0,
          [aggregator])

    # An incident of that RNIC has the diagnosis, an incident of another RNIC does not.
    assert incident_of_a_dead_rnic(rack, "h2/r0", flaps=True)
    assert not incident_of_a_dead_rnic(rack, "h3/r0", flaps=False)


def flap(rack, rnic):
    for up in ("down", "up"):
        run("ip", "-n", rack.fabric.netns(rnic.tor), "link", "set", rnic.port, up)


def flapping_since(rack, name):
    finding = found(rack).get((*name.split("/"), "link-flap"))
    return finding and finding["since"]


def incident_of_a_dead_rnic(rack, name, flaps):
    """Whether its incident has the link's counters. With flaps, the diagnosis must exist from
    before the fault until after its alert, however long a busy machine takes; else the test
    tries again."""
    aggregator, rnic = rack.lab.aggregators["tor1"], rack.rnic(name)
    for _ in range(TRIES):
        until("nothing is open", FOUND_S, lambda: not open_incidents(rack), [aggregator])
        if flaps and not flapping_since(rack, name):
            flap(rack, rnic)
            until("the link's flapping is found", FOUND_S, lambda: flapping_since(rack, name), [aggregator])
            until("nothing is open", FOUND_S, lambda: not open_incidents(rack), [aggregator])
        since = flapping_since(rack, name)
        mark = rack.plain.mark()
        fault = RnicDead(rack.lab, rnic)
        fault.begin()
        alert = rack.plain.wait_for(fault.fires, FIRES_S, mark, str(fault))
        incident, = open_incidents(rack)
        in_order = flapping_since(rack, name) == since and bool(since) == flaps
        fault.end()
        rack.plain.wait_for(fault.resolves, FOUND_S, mark, str(fault))
        if in_order:
            reported = "its link" in incident["evidence"]["counters"]
            assert ("; its link" in alert.annotations["summary"]) == reported, alert
            return reported
    raise AssertionError(f"{name}: no diagnosis stood for as long as an incident took to open")
