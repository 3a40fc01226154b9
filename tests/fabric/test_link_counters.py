"""A dead link between switches: the region's verdict has the counters of the switch's port at
its end, which the rack's aggregator reads from a real Redis with SONiC's tables. In a fabric of
two racks only these counters distinguish the cable from its spine: without them the verdict is
"it or one of its cables"."""

import pytest
import yaml

from lab.faults import UplinkDead
from lab.sonic import REDIS_PORT, Sonic
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5", "h6"]}
PASSWORD = "a password of the lab"
PORT = "Ethernet8"
TRACED_S, FOUND_S = 60, 90


@pytest.fixture
def region(world, tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(PASSWORD + "\n")
    region = world(RACKS, spines=2, alertmanager=False, analyzer={})
    centre = region.fabric.management["centre"]
    path = region.lab.folder / "config" / "agg-tor1.yaml"
    config = yaml.safe_load(path.read_text())
    config["tors"][0]["switch"] = {
        "kind": "sonic", "address": f"{centre}:{REDIS_PORT}", "password_file": str(password),
        "interval_s": 1, "neighbors_interval_s": 1}
    path.write_text(yaml.safe_dump(config))
    region.switch = Sonic(region.fabric.netns("centre"), centre, tmp_path, PASSWORD)
    try:
        region.switch.start().wait_ready()
        region.switch.fill(4, queues=1)
        region.switch.neighbor(PORT, "spine1.lab", "Ethernet0")
        yield region.start()
    finally:
        region.switch.stop()


def test_a_verdict_between_racks_has_the_counters_of_the_port(region, print_line):
    lab, switch = region.lab, region.switch
    lab.wait_traced(TRACED_S)
    fault = UplinkDead(lab, "tor1", "spine1")
    counted = 0

    def evidence():
        """The counters keep growing meanwhile."""
        nonlocal counted
        counted += 100
        switch.count(PORT, SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES=counted)
        return next((each["evidence"]["counters"] for each in
                     lab.analyzer.get("/v1/incidents?open=1").json["incidents"]
                     if each["part"] in ("spine1", "spine1--tor1") and each["evidence"]["counters"]), None)

    fault.begin()
    reported = until("the verdict has the port's counters", FOUND_S, evidence,
                 [lab.analyzer, lab.aggregators["tor1"]])
    assert fault.bit()
    assert reported.startswith(f"tor1: the switch's port {PORT} counted "), reported
    assert "codewords that FEC could not correct" in reported, reported
    # CNPs are compared over a region only if most of its RNICs count them; here they do not.
    cnps = lab.analyzer.get("/v1/health").json["regions"][0]["cnps"]
    assert cnps["state"] == "not-known" and "0 of 6 RNICs have these counters" in cnps["sentence"], cnps
    fault.end()
    print_line(reported)
