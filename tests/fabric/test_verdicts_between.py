"""Faults that no rack can decide alone: a dead ToR, uplink or spine, and flows that one of them
drops. The analyzer names exactly the faulty part, in time. On virtual time."""

import pytest

from lab.faults import FlowsBlackholed, SwitchDead, UplinkDead
from lab.story import AGGREGATOR_FLAPPING, FLAPPING, run_fault
from lab.world import World

pytestmark = pytest.mark.virtual

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h1", "h5", "h6"], "tor3": ["h6", "h7"]}
TRACED_S = 60
DEAD_S = 6.0  # what the simulated fabric promises
SWALLOWED_S = 8.0


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("between")
    with World(RACKS, folder, alertmanager=False, analyzer=FLAPPING, aggregator=AGGREGATOR_FLAPPING) as world:
        world.start().lab.wait_traced(TRACED_S)
        yield world


FAULTS = {
    "a ToR": lambda lab: SwitchDead(lab, "tor3"),
    "an uplink, both ways": lambda lab: UplinkDead(lab, "tor1", "spine2"),
    "an uplink, up": lambda lab: UplinkDead(lab, "tor2", "spine1", down=False),
    "every second flow to a rack": lambda lab: FlowsBlackholed(lab, "spine1", "tor1", 2, 7),
    "every third flow in a spine": lambda lab: FlowsBlackholed(lab, "spine2", None, 3, 7),
    "a spine": lambda lab: SwitchDead(lab, "spine1"),
}


# Faults after which the machine computes for a minute until all is well again: only tested with
# --full.
SLOW = {"every third flow in a spine"}


@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=[pytest.mark.full] * (each in SLOW)) for each in FAULTS]
)
def test_a_fault_between_racks_is_named_and_no_rnic(region, rng, print_line, what):
    fault = FAULTS[what](region.lab)
    swallowed = fault.kind == "flows-blackholed"
    reported = run_fault(region, fault, rng, fires_s=SWALLOWED_S if swallowed else DEAD_S)
    print_line(f"{fault}: reported after {reported.plain:.2f} s: {reported.alert.annotations['summary'][:110]}")
    assert reported.kind == fault.kind
