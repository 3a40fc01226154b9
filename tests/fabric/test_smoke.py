"""The shortest test of everything together."""

import pytest

from lab.faults import RnicDead
from lab.story import live_through

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h1", "h4"]}


@pytest.mark.smoke
def test_the_dead_rnic_in_a_rack_of_two_is_named(world, rng, say):
    small = world(RACKS).start()
    fault = RnicDead(small.lab, small.rnic("h4/r0"))

    told = live_through(small, fault, rng, peer=small.rnic("h1/r1"))

    say(f"plain webhook {told.plain:.2f} s, through Alertmanager {told.grouped:.2f} s")
    assert told.kind == "rnic-down"
    assert told.alert.annotations["summary"]
