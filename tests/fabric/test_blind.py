"""Silence of an aggregator, a rack or a region is reported, also over restarts of the analyzer."""

import json
import re
import time

import pytest

from lab.faults import Fault
from lab.innocents import accused
from lab.rackmesh import REGION, aggregator_of
from lab.wait import until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"], "tor3": ["h6", "h7"]}
BLIND = {"start_ms": 4000}
FIRES_S, RESOLVES_S = 10, 20
BACK_S = 10
QUIET_S = 2
FIND_BACK_S = 10


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blind")
    with World(RACKS, folder, analyzer={"blind": BLIND}) as world:
        world.start()
        # No rack is called blind just after its aggregator has connected.
        world.plain.silence(FIND_BACK_S, world.plain.mark())
        yield world


# ---- faults ----------------------------------------------------------------------------


class AggregatorKilled(Fault):
    def __init__(self, lab, tor):
        super().__init__("aggregator-down", "RackmeshAggregator", aggregator_of(tor))
        self._daemon = lab.aggregators[tor]

    def _begin(self):
        self._daemon.kill()

    def bit(self):
        return not self._daemon.alive

    def end(self):
        self._daemon.start()


class RackFrozen(Fault):
    """All agents of the rack are stopped at once. Their kernels still acknowledge, so each
    agent is reported, too."""

    def __init__(self, lab, tor):
        super().__init__("rack-blind", "RackmeshRack", tor)
        self._hosts = lab.fabric.racks[tor]
        self._agents = [lab.agents[host] for host in self._hosts]

    def also(self, arrival):
        return arrival.alertname == "RackmeshAgent" and arrival.part in self._hosts

    def _begin(self):
        for agent in self._agents:
            agent.freeze()

    def bit(self):
        return all(agent.state() == "T" for agent in self._agents)

    def end(self):
        for agent in self._agents:
            agent.thaw()


class RackCut(Fault):
    """All hosts of the rack lose their management path at once; their RNICs work."""

    def __init__(self, lab, tor):
        super().__init__("rack-blind", "RackmeshRack", tor)
        self._fabric, self._hosts = lab.fabric, lab.fabric.racks[tor]

    def _begin(self):
        for host in self._hosts:
            self._fabric.cut_management(host)

    def bit(self):
        return not any(self._fabric.carrier_of(host) for host in self._hosts)

    def end(self):
        for host in self._hosts:
            self._fabric.mend_management(host)


class RegionSilent(Fault):
    """All aggregators are killed at once."""

    def __init__(self, lab):
        super().__init__("region-blind", "RackmeshRegion", REGION)
        self._daemons = list(lab.aggregators.values())
        self.ended = float("inf")

    def _begin(self):
        for daemon in self._daemons:
            daemon.kill()

    def bit(self):
        return not any(daemon.alive for daemon in self._daemons)

    def end(self):
        self.ended = time.monotonic()
        for daemon in self._daemons:
            daemon.start()

    def also(self, arrival):
        """An aggregator that returns later than the others really is silent meanwhile."""
        return arrival.alertname == "RackmeshAggregator" and arrival.at > self.ended


# ---- alerts ----------------------------------------------------------------------------


def guilty(fault, arrival):
    """Whether the alert names a part of this fault."""
    also = getattr(fault, "also", None)
    return fault.names(arrival) or (also is not None and also(arrival))


def fires(region, fault, mark):
    """Waits for the alert at both sinks; returns the seconds until the first."""
    alert = region.plain.wait_for(fault.fires, FIRES_S, mark[0], str(fault))
    region.grouped.wait_for(fault.fires, FIRES_S, mark[1], f"{fault}, by Alertmanager")
    assert alert.annotations["kind"] == fault.kind, alert
    assert fault.bit()
    return alert.at - fault.at


def resolves(region, fault, mark):
    what = f"the end of {fault}"
    region.plain.wait_for(fault.resolves, RESOLVES_S, mark[0], what)
    region.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], what)


def settled(region):
    """Waits until everything is back and no incident is open."""
    region.lab.wait_probing()
    until("nothing is open", BACK_S, lambda: not open_incidents(region))
    until("all racks are well", BACK_S, lambda: set(states(region).values()) == {"ok"})


def assert_alerted_once(region, faults, mark):
    """Asserts one opening and one end of each part, and no other part. An end may be sent again
    by a daemon that was killed, since it cannot know whether the first one arrived."""
    for sink, place in ((region.plain, mark[0]), (region.grouped, mark[1])):
        came = sink.since(place)
        firing = [each for each in came if each.status == "firing"]
        others = accused(
            firing,
            min(fault.at for fault in faults),
            lambda each: any(guilty(fault, each) for fault in faults),
        )
        assert not others, f"others were named: {others}"
        for fault in faults:
            said = [each.status for each in came if fault.names(each)]
            assert said.count("firing") == 1 and said[-1] == "resolved", f"{fault}: {said}"


def open_incidents(region):
    return region.lab.analyzer.get("/v1/incidents?open=1").json["incidents"]


def numbers(region, fault):
    """The numbers of the open incidents of this part."""
    return [each["id"] for each in open_incidents(region) if each["part"] == fault.part]


def states(region):
    """{rack: its state at the analyzer}"""
    racks = region.lab.analyzer.get("/v1/health").json["racks"]
    return {rack["tor"]: rack["state"] for rack in racks}


def run_faults(region, print_line, *faults, found):
    """found: the states that the racks must get."""
    mark = region.mark()
    for fault in faults:
        fault.begin()
    try:
        seconds = [fires(region, fault, mark) for fault in faults]
        region.plain.silence(
            QUIET_S, mark[0], lambda arrival: any(guilty(fault, arrival) for fault in faults)
        )
        until(f"the racks are {found}", FIRES_S, lambda: states(region) == found)
    finally:
        for fault in faults:
            fault.end()
    for fault in faults:
        resolves(region, fault, mark)
    settled(region)
    assert_alerted_once(region, faults, mark)
    for fault, each in zip(faults, seconds):
        print_line(f"{fault}: reported after {each:.1f} s, nobody else was named")


def is_called_blind(region, tor):
    health = region.lab.ctl_run("analyzer", "health")
    return health.returncode == 1 and re.search(rf"^{tor} +blind", health.stdout, re.M)


def kept(region, number):
    """Whether the analyzer has saved that this incident was notified."""
    folder = region.lab.folder / "state" / "analyzer"
    saved = json.loads((folder / f"incidents-{REGION}.json").read_text())
    return any(each["id"] == number and each["notified_opened"] for each in saved["incidents"])


# ---- tests -----------------------------------------------------------------------------


def test_racks_that_are_silent_at_once_are_blind_and_no_part_of_them_is_blamed(region, print_line):
    faults = RackFrozen(region.lab, "tor1"), RackCut(region.lab, "tor3")
    run_faults(region, print_line, *faults, found={"tor1": "blind", "tor2": "ok", "tor3": "blind"})


def test_a_region_without_aggregators_is_one_alert(region, print_line):
    run_faults(region, print_line, RegionSilent(region.lab), found=dict.fromkeys(RACKS, "blind"))


def test_a_killed_aggregator_is_one_alert_also_if_the_analyzer_is_killed(region, print_line):
    analyzer, fault = region.lab.analyzer, AggregatorKilled(region.lab, "tor3")
    mark = region.mark()
    fault.begin()
    try:
        seconds = fires(region, fault, mark)
        [number] = numbers(region, fault)
        # The notification is saved after the alert: an analyzer that is killed in between
        # sends the alert again.
        until("the incident and that it was reported are kept", 5, lambda: kept(region, number))
        analyzer.kill()
        analyzer.start()
        analyzer.wait_ready()
        region.grouped.silence(
            BLIND["start_ms"] / 1000 + QUIET_S,
            region.grouped.mark(),
            lambda arrival: arrival.status == "resolved",
        )
        assert numbers(region, fault) == [number]
        until("health calls tor3 blind", FIRES_S, lambda: is_called_blind(region, "tor3"))
    finally:
        fault.end()
    resolves(region, fault, mark)
    settled(region)
    assert_alerted_once(region, [fault], mark)
    print_line(f"{fault}: reported after {seconds:.1f} s, once, over a kill of the analyzer")


@pytest.mark.full
def test_an_aggregator_that_stops_while_the_analyzer_is_down_is_reported(region, print_line):
    analyzer, fault = region.lab.analyzer, AggregatorKilled(region.lab, "tor2")
    mark = region.mark()
    analyzer.kill()
    fault.begin()
    analyzer.start()
    try:
        seconds = fires(region, fault, mark)
    finally:
        fault.end()
    resolves(region, fault, mark)
    settled(region)
    assert_alerted_once(region, [fault], mark)
    print_line(f"{fault}: reported {seconds:.1f} s after the analyzer's start")
