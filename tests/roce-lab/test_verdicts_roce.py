"""The whole system over Soft-RoCE in one region: an RNIC that is dead or unplugged; a service from
its connection to its kill, and links of its path that lose some packets, by either of the two
aggregators of its rack. On virtual time."""

import pytest

from guest.fabric import FOUR_TORS
from guest.faults import CarrierLost, Fault, MtuBroken
from guest.verbs import Rping
from guest.world import RoceLab, RoceWorld
from lab.faults import RnicDead
from lab.pairs import PairLab, second_of
from lab.rackmesh import aggregator_of
from lab.story import AGGREGATOR_FLAPPING, FLAPPING, run_fault
from lab.wait import until

RACKS = FOUR_TORS
DEAD_S = 2.5
MTU_S = 6.0
LOSSY_S = 30
TRACED_S = 90
SERVICE_S = 60
HURTS_S = 30
SEES_S = 30

pytestmark = pytest.mark.virtual


class TwoOfTor1(RoceLab, PairLab):
    """Two aggregators of tor1, and one of each other ToR."""

    ANALYZERS = 1

    def has_second(self, tor):
        return tor == "tor1"


class RegionWorld(RoceWorld):
    LAB = TwoOfTor1


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    folder = tmp_path_factory.mktemp("roce")
    with RegionWorld(fabric, folder, analyzer=FLAPPING, aggregator=AGGREGATOR_FLAPPING) as made:
        yield made.start()


class Service:
    """A connection from tor1 to tor3, without traffic: its probes alone use its path."""

    def __init__(self, region, rping, flow):
        self.region, self.rping, self.flow = region, rping, flow

    def spine(self):
        """The spine on the path of its packets, by tor1's aggregator."""
        listed = self.region.lab.aggregators["tor1"].get("/v1/services").json["services"]
        mine = [each for each in listed if each["pid"] == self.flow["pid"] and each["path"]]
        return mine[0]["path"].split()[1].split("@")[0] if mine else None


@pytest.fixture(scope="module")
def service(region, tmp_path_factory):
    source, target = region.rnic("h1/rxe0"), region.rnic("h3/rxe4")
    agent = region.lab.agents["h1"]
    until("it traces", SERVICE_S, lambda: agent.get("/v1/services").json["tracing"], [agent])

    def listed():
        return [each for each in region.lab.services("h1") if each["state"] == "probed"]

    with Rping(tmp_path_factory.mktemp("service"), source, target) as rping:
        flow, *others = until("it is probed", SERVICE_S, listed, [rping.client], every=0.1)
        assert flow["comm"] == "rping" and flow["peer"] == target.ipv4 and not others
        for end in (rping.client, rping.server):
            end.freeze()
        yield Service(region, rping, flow)


class HurtsService(Fault):
    """Some of the packets that cross a link in one direction are lost: those that the ToR sends,
    or those to it. Lasts until the analyzer reports that the service loses probes."""

    def __init__(self, service, tor, spine, direction, percent):
        super().__init__("link-lossy", "RackmeshLink", "--".join(sorted((tor, spine))))
        self.service, self.lab, self.fabric = service, service.region.lab, service.region.fabric
        self.ends, self.direction, self.percent = (tor, spine), direction, percent

    def _begin(self):
        self.fabric.impair_link(*self.ends, **{self.direction: f"loss {self.percent}%"})

    def bit(self):
        return any(self.fabric.link_impaired(*self.ends))

    def hurts(self):
        """(impact, services) of its open incidents, by the analyzer."""
        listed = self.lab.analyzer.get("/v1/incidents?open=1").json["incidents"]
        mine = [each["evidence"] for each in listed if each["part"] == self.part]
        return [(each["impact"], each["services"]) for each in mine]

    def end(self):
        hurt = [("P0", self.service.flow["service"])]
        try:
            until("the service loses probes", HURTS_S, lambda: self.hurts() == hurt)
        finally:
            self.fabric.repair_link(*self.ends)


def live(region, fault, rng, print_line, seconds):
    reported = run_fault(region, fault, rng, fires_s=seconds)
    print_line(f"{fault}: reported after {reported.plain:.2f} s: {reported.alert.annotations['summary'][:110]}")
    assert reported.kind == fault.kind


def test_a_dead_rnic_is_named(region, rng, print_line):
    live(region, RnicDead(region.lab, region.rnic("h4/rxe7")), rng, print_line, DEAD_S)


def test_an_rnic_whose_cable_is_unplugged_is_named(region, rng, print_line):
    live(region, CarrierLost(region.lab, region.rnic("h2/rxe2")), rng, print_line, DEAD_S)


def test_a_port_with_a_small_mtu_is_named(region, rng, print_line):
    live(region, MtuBroken(region.lab, region.rnic("h3/rxe5")), rng, print_line, MTU_S)


def test_a_lossy_uplink_is_named_with_the_service_that_it_hurts(region, service, rng, print_line):
    region.lab.wait_traced(TRACED_S)
    spine = until("the service's path is known", TRACED_S, service.spine, every=0.2)
    live(region, HurtsService(service, "tor1", spine, "up", 30), rng, print_line, LOSSY_S)


def test_the_other_aggregator_of_its_rack_reports_it_as_well(region, service, rng, print_line):
    first, second = aggregator_of("tor1"), second_of("tor1")
    spine = until("the service's path is known", TRACED_S, service.spine, every=0.2)
    mark = region.mark()
    region.lab.aggregators["tor1"].kill()
    until("the second one is active", SEES_S, lambda: region.lab.active_aggregators("tor1") == [second])
    region.plain.wait_for(lambda alert: alert.part == first, SEES_S, mark[0], f"{first} is down")
    live(region, HurtsService(service, "tor3", spine, "down", 30), rng, print_line, LOSSY_S)


def test_a_killed_service_is_forgotten(region, service, print_line):
    for end in (service.rping.client, service.rping.server):
        end.thaw()
    service.rping.kill()
    until("it is forgotten", SERVICE_S, lambda: not region.lab.services("h1"), every=0.1)
    print_line("a service: probed while it lived, forgotten when it was killed")
