"""Faults between racks, over RoCE: which link or switch is at fault, by flows with traced paths. On
virtual time."""

import time
from collections import Counter

import pytest

from guest.fabric import FOUR_TORS
from guest.faults import SpineSwallows, UplinkSilent
from guest.world import RoceWorld
from lab.story import AGGREGATOR_FLAPPING, FLAPPING, run_fault

RACKS = FOUR_TORS
WORST_S = 5.0
TRACED_S = 90
QUIET_S = 8
LASTS_S = 10

pytestmark = pytest.mark.virtual


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    with RoceWorld(fabric, folder, analyzer=FLAPPING, aggregator=AGGREGATOR_FLAPPING) as made:
        made.start().lab.wait_traced(TRACED_S)
        yield made


def ways(region):
    """{(from, to, source port): the switches on its traced path}, only if all of them have
    answered: a silent hop may be any switch."""
    return {
        (flow["from"], flow["to"], flow["src_port"]): [
            hop.split("@")[0] for hop in flow["path"].split()
        ]
        for tor in region.lab.aggregators.values()
        for flow in tor.get("/v1/paths").json["flows"]
        if flow["path"] not in (None, "*") and "?" not in flow["path"]
    }


def through(way, first, second):
    """Whether the path crosses the link between these two switches."""
    return (first, second) in zip(way, way[1:])


def results(region, seconds):
    """Raw results of the last seconds, as (flow, outcome)."""
    for rnic in region.fabric.rnics.values():
        asked = f"/v1/drill/{rnic.name}?seconds={seconds}&limit=10000"
        for each in region.lab.aggregators[rnic.tor].get(asked).json["results"]:
            yield (each["from"], each["to"], each["src_port"]), each["outcome"]


class Watched(UplinkSilent):
    """The fault lasts until there are enough results. probed, lost: the number of probes of every
    flow during the fault, and how many of them were lost."""

    def __init__(self, region, tor, spine):
        super().__init__(region.lab, tor, spine)
        self.region, self.probed, self.lost = region, Counter(), Counter()

    def end(self):
        try:
            self.region.plain.silence(LASTS_S - (time.monotonic() - self.at), 1 << 30)
            for flow, outcome in results(self.region, LASTS_S - 2):
                self.probed[flow] += 1
                self.lost[flow] += outcome == "no_reply"
        finally:
            super().end()


def wait_quiet(region):
    """Waits until no alert about an earlier fault comes any more."""
    while True:
        try:
            return region.plain.silence(QUIET_S, region.mark()[0])
        except AssertionError:
            pass


def test_a_silent_uplink_is_named_by_the_flows_through_it(region, rng, print_line):
    known = ways(region)
    fault = Watched(region, "tor1", "spine2")
    reported = run_fault(region, fault, rng, fires_s=WORST_S)
    print_line(f"{fault}: after {reported.plain:.2f} s: {reported.alert.annotations['summary']}")

    probed = {flow for flow in fault.probed if flow in known}
    dead = {flow for flow in probed if through(known[flow], "tor1", "spine2")}
    lost = {flow for flow in probed if fault.lost[flow]}
    dying = {flow for flow in dead if fault.lost[flow] >= fault.probed[flow] / 2}
    others = {flow for flow in lost - dead if not touches(region, flow, "tor1")}
    print_line(
        f"{len(probed)} flows between racks were probed, {len(dead)} of them traced through it:"
        f" {len(dying)} lost; of those that neither begin nor end at tor1 {len(others)}. Others at"
        f" tor1: {len(lost - dead)}; once no ARP goes up, nothing comes down that link either"
    )
    assert reported.kind == fault.kind
    assert dead and len(dead) < len(probed)
    assert dying == dead
    assert not others, f"others lost, too: {sorted(others)}"


def touches(region, flow, tor):
    return tor in (region.rnic(flow[0]).tor, region.rnic(flow[1]).tor)


def test_a_spine_that_silently_drops_packets_is_named(region, rng, print_line):
    fault = SpineSwallows(region.lab, "spine1")
    reported = run_fault(region, fault, rng, fires_s=WORST_S)
    print_line(f"{fault}: after {reported.plain:.2f} s: {reported.alert.annotations['summary']}")
    assert reported.kind == fault.kind


def test_an_uplink_that_an_operator_sets_down_causes_no_alert(region, print_line):
    wait_quiet(region)
    mark, before = region.mark(), region.lab.totals()
    region.fabric.uplink_down("tor2", "spine1")
    try:
        region.plain.silence(QUIET_S, mark[0])
        after = region.lab.totals()
    finally:
        region.fabric.uplink_up("tor2", "spine1")
    sent, lost = (after[key] - before[key] for key in ("sent", "no_reply"))
    print_line(f"tor2 goes round its link to spine1: {sent:.0f} probes, {lost:.0f} lost, no alert")
    assert sent > 1000
    assert lost <= 5 + sent / 1000
    region.plain.silence(QUIET_S, mark[0])
