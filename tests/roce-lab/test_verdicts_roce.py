"""The whole system over Soft-RoCE in one region: an RNIC that is dead or unplugged, an uplink that
loses some packets, a service from its connection to its kill. On virtual time."""

import pytest

from guest.fabric import FOUR_TORS
from guest.faults import CarrierLost, Fault, MtuBroken
from guest.verbs import Rping
from guest.world import RoceWorld
from lab.faults import RnicDead
from lab.story import run_fault
from lab.wait import until

RACKS = FOUR_TORS
DEAD_S = 2.5
MTU_S = 6.0
LOSSY_S = 30
TRACED_S = 90
SERVICE_S = 60

pytestmark = pytest.mark.virtual


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    with RoceWorld(fabric, tmp_path_factory.mktemp("roce"), analyzer={}) as made:
        yield made.start()


class UplinkLossy(Fault):
    """Some of the packets that a ToR sends over one uplink are lost."""

    def __init__(self, lab, tor, spine, percent):
        super().__init__("link-lossy", "RackmeshLink", "--".join(sorted((tor, spine))))
        self.fabric, self.ends, self.percent = lab.fabric, (tor, spine), percent

    def _begin(self):
        self.fabric.impair_link(*self.ends, up=f"loss {self.percent}%")

    def bit(self):
        return self.fabric.link_impaired(*self.ends)[0] > 0

    def end(self):
        self.fabric.repair_link(*self.ends)


def live(region, fault, rng, say, seconds):
    reported = run_fault(region, fault, rng, fires_s=seconds)
    say(f"{fault}: reported after {reported.plain:.2f} s: {reported.alert.annotations['summary'][:110]}")
    assert reported.kind == fault.kind


def test_a_dead_rnic_is_named(region, rng, say):
    live(region, RnicDead(region.lab, region.rnic("h4/rxe7")), rng, say, DEAD_S)


def test_an_rnic_whose_cable_is_drawn_is_named(region, rng, say):
    live(region, CarrierLost(region.lab, region.rnic("h2/rxe2")), rng, say, DEAD_S)


def test_a_port_of_narrow_mtu_is_named(region, rng, say):
    live(region, MtuBroken(region.lab, region.rnic("h3/rxe5")), rng, say, MTU_S)


def test_a_lossy_uplink_is_named(region, rng, say):
    region.lab.wait_traced(TRACED_S)
    live(region, UplinkLossy(region.lab, "tor1", "spine2", 30), rng, say, LOSSY_S)


def test_a_service_is_probed_from_its_connection_to_its_kill(region, tmp_path, say):
    source, target = region.rnic("h1/rxe0"), region.rnic("h3/rxe4")
    agent = region.lab.agents["h1"]
    until("it traces", SERVICE_S, lambda: agent.get("/v1/services").json["tracing"], [agent])

    def listed():
        return [each for each in region.lab.services("h1") if each["state"] == "probed"]

    with Rping(tmp_path, source, target) as rping:
        flow, *others = until("it is probed", SERVICE_S, listed, [rping.client], every=0.1)
        assert flow["comm"] == "rping" and flow["peer"] == target.ipv4 and not others
        rping.kill()
        until("it is forgotten", SERVICE_S, lambda: not region.lab.services("h1"), every=0.1)
    say("a service: probed while it lived, forgotten when it was killed")
