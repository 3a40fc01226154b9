"""The whole chain in the lab: RNICs are probed, paths traced, a dead RNIC is named."""

import pytest

from lab.faults import RnicDead
from lab.story import live_through

TRACED_S = 60
TRANSPORT = "udp"


def test_every_way_is_traced_and_the_dead_rnic_named(world, rng, say):
    region = world().start()
    region.lab.wait_traced(TRACED_S)
    ways = {
        tuple(flow["path"])
        for tor in region.lab.aggregators.values()
        for flow in tor.get("/v1/paths").json["flows"]
    }
    say(f"{len(ways)} ways")

    fault = RnicDead(region.lab, region.rnic("h4/e7"))
    told = live_through(region, fault, rng, peer=region.rnic("h1/e1"))
    say(f"named within {told.plain:.2f} s")
    assert told.kind == "rnic-down"
