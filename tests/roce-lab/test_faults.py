"""Faults of one RNIC, its cable or its port, over RoCE: the right part, kind and direction are
reported, no other part is named, and all incidents end."""

import json

import pytest

from guest.faults import CarrierLost, InterfaceDown, MtuBroken, OneWayLoss, wait_active
from guest.world import RoceWorld
from lab import figures
from lab.story import run_fault
from lab.wait import until

WORST_S = 5.0
SLOW_S = 60  # seconds, for a loss of 5 % in one direction
CYCLES, CYCLES_SOAK = 10, 50
WELL_S = 20


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    with RoceWorld(fabric, tmp_path_factory.mktemp("faults")) as made:
        yield made.start()


def probing_again(region, rnic):
    """Waits until its agent's counts show that probes of the RNIC are answered again, and that it
    replies to probes of others."""

    def counts():
        view = region.lab.agent_view(rnic)
        return view["prober"]["results"]["ok"], view["reflector"]["replied"]

    before = counts()
    until(
        f"{rnic.name} probes and answers again",
        WELL_S,
        lambda: all(now > then + 20 for now, then in zip(counts(), before)),
    )


def live(region, fault, rng, peer=None, fires_s=WORST_S):
    peer = region.rnic(peer) if peer else None
    reported = run_fault(region, fault, rng, peer=peer, fires_s=fires_s)
    assert reported.kind == fault.kind, f"{fault}: called {reported.kind}"
    return reported


@pytest.mark.parametrize("make", [InterfaceDown, CarrierLost])
@pytest.mark.parametrize("name", ["h4/rxe7", "h2/rxe2"])
def test_an_rnic_whose_port_is_down_is_named_at_once(region, rng, print_line, make, name):
    rnic = region.rnic(name)
    # Its agent reports the fault: no probe is needed.
    reported = live(region, make(region.lab, rnic), rng)
    print_line(f"{make.__name__} of {name}: named after {reported.plain:.2f} s")
    wait_active(region.fabric, rnic)
    probing_again(region, rnic)


@pytest.mark.parametrize("towards", [True, False])
@pytest.mark.parametrize("percent", [100, 20, 5])
def test_loss_in_one_direction_is_reported_with_its_direction(region, rng, print_line, percent, towards):
    rnic = region.rnic("h3/rxe4")
    fault = OneWayLoss(region.lab, rnic, percent, towards)
    within = WORST_S if percent == 100 else SLOW_S
    reported = live(region, fault, rng, "h1/rxe0", within)
    evidence = reported.alert.annotations["summary"]
    print_line(f"{fault}: {reported.kind} after {reported.plain:.2f} s: {evidence}")
    if percent < 100:
        direction = json.loads(reported.alert.annotations["evidence"])["direction"]
        assert direction == ("receive" if towards else "send")


def test_a_port_with_a_small_mtu_is_reported_as_such(region, rng, print_line):
    fault = MtuBroken(region.lab, region.rnic("h4/rxe6"))
    reported = live(region, fault, rng, "h1/rxe0", 2 * WORST_S)
    print_line(f"{fault}: after {reported.plain:.2f} s: {reported.alert.annotations['summary']}")


def test_everything_still_probes_after_many_downs_and_ups(region, print_line, soak):
    """All RNICs go down in turn, each as soon as the one before is back."""
    rnics, cycles = list(region.fabric.rnics.values()), CYCLES_SOAK if soak else CYCLES
    numbers = {rnic.name: region.lab.agent_view(rnic)["rdma"]["qpn"] for rnic in rnics}
    for i in range(cycles):
        rnic = rnics[i % len(rnics)]
        region.fabric.rnic_down(rnic)
        until(f"{rnic.name} is down", WELL_S, lambda: not rnic.active)
        region.fabric.rnic_up(rnic)
        wait_active(region.fabric, rnic)
    for rnic in rnics:
        probing_again(region, rnic)
    kept = sum(region.lab.agent_view(rnic)["rdma"]["qpn"] == numbers[rnic.name] for rnic in rnics)
    print_line(f"{cycles} times down and up: all {len(rnics)} probe, {kept} with the QPN they had")
    until(
        "every RNIC is well",
        WELL_S,
        lambda: all(region.lab.health(rnic) == "good" for rnic in rnics),
    )
