"""The shortest test of everything together."""

import pytest

from lab.faults import RnicDead
from lab.story import run_fault

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h1", "h4"]}


@pytest.mark.smoke
def test_the_dead_rnic_in_a_rack_of_two_is_named(world, rng, print_line):
    small = world(RACKS).start()
    fault = RnicDead(small.lab, small.rnic("h4/r0"))

    reported = run_fault(small, fault, rng, peer=small.rnic("h1/r1"))

    print_line(f"plain webhook {reported.plain:.2f} s, through Alertmanager {reported.grouped:.2f} s")
    assert reported.kind == "rnic-down"
    assert reported.alert.annotations["summary"]
