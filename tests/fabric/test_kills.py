"""For every kind of fault, exactly the faulty part is named, within seconds."""

import itertools
import time

import pytest

from lab import figures
from lab.engines import GROUP_INTERVAL_S
from lab.faults import RNIC_KINDS, AgentFrozen, AgentKilled, HostGone, RnicDead
from lab.story import AGGREGATOR_FLAPPING, run_fault
from lab.wait import in_time
from lab.world import RACKS

pytestmark = pytest.mark.full

KILLS, KILLS_SOAK = 12, 100
P95_S, WORST_S = 2.5, 4.0
AGENT_WORST_S = 8.0


def peer_of(world, rnic):
    """Another RNIC of the rack, which probes it."""
    return next(
        each
        for each in world.fabric.rnics.values()
        if each.tor == rnic.tor and each.host != rnic.host
    )


def kills(world, rng, count):
    """Yields faults of all kinds in all racks in turn, each of a random RNIC."""
    for tor, kind in itertools.islice(
        itertools.cycle(itertools.product(RACKS, RNIC_KINDS)), count
    ):
        rnics = [rnic for rnic in world.fabric.rnics.values() if rnic.tor == tor]
        yield RnicDead(world.lab, rng.choice(rnics), kind)


def test_a_dead_rnic_is_named_every_time(world, rng, print_line, soak):
    whole = world(RACKS, aggregator=AGGREGATOR_FLAPPING).start()
    count = KILLS_SOAK if soak else KILLS
    plain, grouped, kinds = [], [], 0
    began = time.monotonic()

    for fault in kills(whole, rng, count):
        reported = run_fault(whole, fault, rng, peer_of(whole, fault.rnic))
        plain.append(reported.plain)
        grouped.append(reported.grouped)
        kinds += reported.kind == fault.kind
        if reported.kind != fault.kind:
            print_line(f"{fault}: called {reported.kind}")

    print_line(f"right RNIC named {len(plain)} of {count}, nobody else; kind right {kinds} of {count}")
    print_line(figures.line("RNIC dead, plain webhook", plain))
    print_line(figures.line("RNIC dead, Alertmanager", grouped))
    assert kinds == count
    for seconds, theirs in ((plain, 0), (grouped, GROUP_INTERVAL_S)):
        in_time("95 % of them", figures.percentile(seconds, 0.95), P95_S + theirs, began)
        in_time("the worst", max(seconds), WORST_S + theirs, began)


def test_a_dead_agent_and_a_dead_host_get_different_verdicts(world, rng, print_line, soak):
    """h12 is in two racks: it still gets one alert."""
    whole = world(RACKS, aggregator=AGGREGATOR_FLAPPING).start()
    rounds = 4 if soak else 1
    seconds = {}

    for fault_class, host in itertools.product(
        (AgentKilled, AgentFrozen, HostGone), ["h12", "h13", "h5"] * rounds
    ):
        fault = fault_class(whole.lab, host)
        reported = run_fault(whole, fault, rng, fires_s=AGENT_WORST_S)
        assert reported.kind == fault.kind
        seconds.setdefault(fault.kind, []).append(reported.plain)

    for kind, each in seconds.items():
        print_line(figures.line(kind, each))
