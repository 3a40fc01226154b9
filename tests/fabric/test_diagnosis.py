"""What an RNIC's counters mean: a link that comes and goes, told by the rack's aggregator out of what
the host's agent has read of its real network device, and of no other one."""

import json

from lab.netns import run
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
FOUND_S = 60


def diagnosis(rack, query=""):
    aggregator = rack.lab.aggregators["tor1"]
    return json.loads(aggregator.get(f"/v1/diagnosis?{query}").text)


def found(rack):
    return {(each["host"], each["device"], each["diagnosis"]): each
            for each in diagnosis(rack)["findings"]}


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
    assert aggregator.metrics().sum("rackmesh_rack_diagnoses", tor="tor1", diagnosis="link-flap") == 1
    assert aggregator.metrics().sum("rackmesh_rack_diagnoses", tor="tor1") == 1

    host, = diagnosis(rack, "host=h3")["rnics"]
    assert host["device"] == "r0" and host["not_known"]["pfc-storm"] == "pfc_tx_pause_us"
    table = rack.lab.ctl("agg-tor1", "diagnosis", "h2")
    assert "link-flap" in table and evidence in table
    say(f"h2/r0: {evidence}")
