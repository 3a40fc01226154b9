"""What an RNIC's counters mean: a link that comes and goes, told by the rack's aggregator out of what
the host's agent has read of its real network device, and of no other one."""

import json

from lab.faults import RnicDead
from lab.netns import run
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
FOUND_S = 60
FIRES_S = 30


def diagnosis(rack, query=""):
    aggregator = rack.lab.aggregators["tor1"]
    return json.loads(aggregator.get(f"/v1/diagnosis?{query}").text)


def found(rack):
    return {(each["host"], each["device"], each["diagnosis"]): each
            for each in diagnosis(rack)["findings"]}


def open_incidents(rack):
    return rack.lab.aggregators["tor1"].get("/v1/incidents?open=1").json["incidents"]


def test_a_link_that_comes_and_goes_is_diagnosed_and_no_other(world, say):
    rack = world(RACKS, spines=0, alertmanager=False,
                 agent={"counters": {"interval_ms": 500}}).start()
    aggregator = rack.lab.aggregators["tor1"]
    until("all RNICs' counters are reported", FOUND_S,
          lambda: diagnosis(rack)["rnics_reported"] == 3, [aggregator])
    assert not found(rack)

    rnic = rack.rnic("h2/r0")
    for up in ("down", "up") * 2:
        run("ip", "-n", rack.fabric.netns(rnic.tor), "link", "set", rnic.port, up)
    findings = until("the link's flapping is found", FOUND_S, lambda: found(rack), [aggregator])
    assert set(findings) == {("h2", "r0", "link-flap")}
    evidence, = (each["evidence"] for each in findings.values())
    assert "its link" in evidence and "times in " in evidence
    assert aggregator.metrics().sum("rackmesh_diagnosis_rnics", tor="tor1", diagnosis="link-flap") == 1
    assert aggregator.metrics().sum("rackmesh_diagnosis_rnics", tor="tor1") == 1

    host, = diagnosis(rack, "host=h3")["rnics"]
    assert host["device"] == "r0" and host["not_known"]["pfc-storm"] == "pfc_tx_pause_us"
    table = rack.lab.ctl("agg-tor1", "diagnosis", "h2")
    assert "link-flap" in table and evidence in table
    say(f"h2/r0: {evidence}")

    # A fault of that RNIC is told with it, one of another RNIC is not.
    until("the flapping is over", FOUND_S, lambda: not open_incidents(rack), [aggregator])
    for name in ("h2/r0", "h3/r0"):
        mark = rack.plain.mark()
        fault = RnicDead(rack.lab, rack.rnic(name))
        fault.begin()
        alert = rack.plain.wait_for(fault.fires, FIRES_S, mark, str(fault))
        incident, = open_incidents(rack)
        fault.end()
        told = name == "h2/r0"
        assert ("; its link" in alert.annotations["summary"]) == told, alert
        assert ("its link" in incident["evidence"]["counters"]) == told, incident
        rack.plain.wait_for(fault.resolves, FOUND_S, mark, str(fault))
