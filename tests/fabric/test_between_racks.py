"""Faults that no rack can decide alone: a dead ToR, a dead uplink, a spine that drops whole
flows."""

import itertools

import pytest

from lab import figures
from lab.faults import FlowsBlackholed, SwitchDead, UplinkDead
from lab.story import run_fault
from lab.world import RACKS

pytestmark = pytest.mark.full

FAULTS, FAULTS_SOAK = 6, 30
WORST_S = 6.0  # the limit of the simulator's marks
SWALLOWED_S = 8.0  # it takes more than a second of probes to show which flows are dropped
TRACED_S = 60


def faults(world, rng):
    """Yields faults of all kinds in turn, each at a random place."""
    lab, tors, spines = world.lab, list(RACKS), world.fabric.spines
    kinds = [
        lambda: SwitchDead(lab, rng.choice(tors)),
        lambda: UplinkDead(lab, rng.choice(tors), rng.choice(spines)),
        lambda: FlowsBlackholed(
            lab, rng.choice(spines), rng.choice(tors), 2, rng.randrange(1 << 32)
        ),
        lambda: UplinkDead(lab, rng.choice(tors), rng.choice(spines), down=False),
        lambda: FlowsBlackholed(lab, rng.choice(spines), None, 3, rng.randrange(1 << 32)),
        lambda: SwitchDead(lab, rng.choice(spines)),
    ]
    for make in itertools.cycle(kinds):
        yield make()


def test_dead_tors_dead_uplinks_and_blackholed_flows_are_named(world, rng, print_line, soak):
    whole = world(RACKS, analyzer={}).start()
    whole.lab.wait_traced(TRACED_S)
    count = FAULTS_SOAK if soak else FAULTS
    seconds, kinds = {}, 0

    for fault in itertools.islice(faults(whole, rng), count):
        worst = SWALLOWED_S if fault.kind == "flows-blackholed" else WORST_S
        reported = run_fault(whole, fault, rng, fires_s=worst)
        seconds.setdefault(fault.kind, []).append(reported.plain)
        kinds += reported.kind == fault.kind
        if reported.kind != fault.kind:
            print_line(f"{fault}: called {reported.kind}")

    print_line(f"right part named {count} of {count}, no RNIC blamed; kind right {kinds} of {count}")
    for kind, each in seconds.items():
        print_line(figures.line(kind, each))
    assert kinds == count
