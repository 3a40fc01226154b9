"""Services between racks that do not probe each other: no plan of either contains the other's
RNICs, and yet the probes of both ends are answered, from the first one on."""

import time

import pytest

from guest.fabric import FOUR_TORS
from guest.verbs import Rping
from guest.world import RoceWorld
from lab.wait import until

RACKS = FOUR_TORS
PLAN = {"inter_tor_destinations": 1, "witness_below": 0}
READY_S = 60
PROBED_S = 15
ANSWERED = 20  # probes of each side
REMEMBERED_S = 75  # seconds; aggregators forget a path that is not reported for a minute
REFOUND_S = 45


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    with RoceWorld(
        fabric,
        tmp_path_factory.mktemp("guests"),
        controller={"plan": PLAN},
        agent={"trace": {"interval_s": 300}},
    ) as made:
        made.start()
        for agent in made.lab.agents.values():
            until("it traces", READY_S, lambda: agent.get("/v1/services").json["tracing"], [agent])
        yield made


def planned(region):
    """{(tor, tor)}: an RNIC of one is in the plan of the other."""
    lab, found = region.lab, set()
    tor_of = {}
    for aggregator in lab.aggregators.values():
        for rnic in aggregator.get("/v1/rnics").json["rnics"]:
            tor_of[rnic["id"]] = rnic["tor"]
    for agent in lab.agents.values():
        for pinglist in agent.get("/v1/pinglist").json["pinglists"]:
            for target in pinglist["targets"]:
                ends = tor_of.get(target["src"]), tor_of.get(target["dst"])
                found |= {ends, ends[::-1]}
    return found


def rnics_that_do_not_probe_each_other(region):
    """Two RNICs of racks that do not probe each other."""
    known = planned(region)
    rnics = region.fabric.rnics.values()
    if not all((rnic.tor, rnic.tor) in known for rnic in rnics):
        return None
    pairs = ((a, b) for a in rnics for b in rnics if a.tor != b.tor and a.host != b.host)
    return next(((a, b) for a, b in pairs if (a.tor, b.tor) not in known), None)


def outcomes(region, source, target):
    return [
        each["outcome"]
        for each in region.lab.drill(source, target, 60)
        if each["kind"] == "service"
    ]


def refused(region, rnic):
    return region.lab.agents[rnic.host].metrics().sum(
        "rackmesh_agent_reflector_refused_total", reason="unknown_peer"
    )


def path_of(region, rnic, pid):
    rows = region.lab.aggregators[rnic.tor].get("/v1/services").json["services"]
    return next((row["path"] for row in rows if row["pid"] == pid), None)


def test_both_ends_answer_peers_that_are_in_no_plan_of_theirs(region, tmp_path, print_line):
    source, target = until("all racks probe", READY_S, lambda: rnics_that_do_not_probe_each_other(region), every=1)
    before = [refused(region, each) for each in (source, target)]
    with Rping(tmp_path / "traffic", source, target) as traffic:
        traffic.client.freeze()
        traffic.server.freeze()
        started = time.monotonic()
        for ends in ((source, target), (target, source)):
            until(
                f"{ends[0].name} probes {ends[1].name}",
                PROBED_S + ANSWERED,
                lambda: len(outcomes(region, *ends)) >= ANSWERED,
                every=0.5,
            )
            seen = outcomes(region, *ends)
            assert set(seen) == {"ok"}, seen
        print_line(f"{source.name} and {target.name}: both probe, after {time.monotonic() - started:.1f} s")
        assert [refused(region, each) for each in (source, target)] == before

        pid = traffic.client.pid
        path = until("its path is known", READY_S, lambda: path_of(region, source, pid), every=0.5)
        until("time has passed", 2 * REMEMBERED_S, lambda: time.monotonic() > started + REMEMBERED_S)
        assert path_of(region, source, pid) == path, "nobody has forgotten it"


def test_a_peer_whose_agent_restarts_is_probed_on_its_new_qps(region, tmp_path, print_line):
    source, target = until("all racks probe", READY_S, lambda: rnics_that_do_not_probe_each_other(region), every=1)
    agent = region.lab.agents[target.host]

    def well():
        newest = outcomes(region, source, target)[:ANSWERED]
        return len(newest) == ANSWERED and set(newest) == {"ok"}

    with Rping(tmp_path / "traffic", source, target) as traffic:
        traffic.client.freeze()
        traffic.server.freeze()
        until("it is probed", READY_S, well, every=0.5)
        agent.restart()
        started = time.monotonic()
        until("some are lost", READY_S, lambda: not well(), every=0.2)
        until("it is probed again", REFOUND_S, well, [agent], every=0.5)
        print_line(f"probed on its new QPs within {time.monotonic() - started:.1f} s")
