"""Services end to end: a connection of another program is seen, probed along its own path within a
second, reported everywhere, and gone when its process is killed."""

import contextlib
import datetime
import time

import pytest

from guest.events import Events
from guest.verbs import Rping, Stream, connections
from guest.world import RoceWorld
from lab.wait import until

ROCE = 4791
READY_S = 60
PROBED_S = 10
FIRST_PROBE_S = 1
SAME_WAY_S = 60
JOINED_S = 75  # seconds; an agent asks again after 30 s
GONE_S = 10
MOMENT = 0.3  # seconds of traffic at full speed
REAL = 50  # packets; more than any other flow has
CROSSED = 6  # probes
MANY = 200
SHALLOW = ["-t", 8, "-r", 8]  # the depth of queues, so that one CQ has room for all
CAP = 16  # services.max_flows by default


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    """One region for all tests of this file; flows are traced often."""
    often = {"trace": {"interval_s": 5}}
    with contextlib.closing(
        RoceWorld(fabric, tmp_path_factory.mktemp("region"), agent=often)
    ) as world:
        world.start()
        for agent in world.lab.agents.values():
            until("it traces", READY_S, lambda: services(agent)["tracing"], [agent])
        yield world


@pytest.fixture
def pair(fabric):
    """Two RNICs in different racks, of different hosts."""
    return fabric.rnics["h1/rxe0"], fabric.rnics["h2/rxe3"]


def services(agent):
    return agent.get("/v1/services").json


def flow_of(agent, pid):
    """The flow of a process, as its host's agent shows it, or None."""
    found = [each for each in services(agent)["services"] if each["pid"] == pid]
    return found[0] if found else None


def flow_that(what, seconds, agent, pid, check):
    def seen():
        flow = flow_of(agent, pid)
        return flow if flow and check(flow) else None

    return until(what, seconds, seen, [agent], every=0.1)


def spines_of(fabric, source, target):
    """{source port: {spine: packets}} of the flows of this pair"""
    ends = (source.ipv4, target.ipv4)
    flows = fabric.flows().items()
    return {key[2]: seen for key, seen in flows if key[:2] == ends and key[3] == ROCE}


def first_probe(region, source, target, since):
    """The time at which the first service probe was sent after that, by the raw results."""
    aggregator = region.lab.aggregators[source.tor]
    shown = aggregator.get(f"/v1/drill/{source.name}?seconds=60&limit=10000").json
    sent = [
        datetime.datetime.fromisoformat(result["sent"]).timestamp()
        for result in shown["results"]
        if result["kind"] == "service" and result["to"] == target.name
    ]
    return min((at for at in sent if at >= since), default=None)


class Quiet:
    """Traffic that is frozen except on request, as it would use the whole machine."""

    def __init__(self, traffic):
        self._traffic = traffic
        self.pid = traffic.client.pid
        self._ends = traffic.client, traffic.server
        self.freeze()

    def freeze(self):
        for end in self._ends:
            end.freeze()

    def flow_a_moment(self):
        for end in reversed(self._ends):
            end.thaw()
        enough = time.monotonic() + MOMENT
        until("traffic has flowed", 10, lambda: time.monotonic() > enough)
        self.freeze()

    def connection(self):
        (qp,) = connections(self._ends[0])
        return qp

    def kill(self):
        self._traffic.kill()


def is_probed_at_once(region, events, traffic, pair, print_line):
    source, target = pair
    agent = region.lab.agents[source.host]
    qp = traffic.connection()
    (reported,) = until("it is reported", PROBED_S, lambda: events.by_pid("connected", traffic.pid))
    rtr = time.time() - (time.monotonic() - int(reported["at_ns"]) / 1e9)

    flow = flow_that("it is probed", PROBED_S, agent, traffic.pid, lambda f: f["state"] == "probed")
    assert (flow["src_qpn"], flow["dst_qpn"]) == (qp["lqpn"], qp["rqpn"])
    assert flow["peer"] == target.ipv4 and flow["qp_type"] == "rc" and not flow["predates_agent"]
    left = until(
        "a service probe has left",
        PROBED_S,
        lambda: first_probe(region, source, target, rtr),
        every=0.2,
    )
    print_line(f"the first probe left {left - rtr:.2f} s after RTR")
    assert left - rtr < FIRST_PROBE_S
    return flow


def way_of(fabric, traffic, pair, port):
    """The spine that forwards the real flow's packets."""
    fabric.count_flows()
    traffic.flow_a_moment()
    seen = spines_of(fabric, *pair)
    real = {key: spines for key, spines in seen.items() if sum(spines.values()) > REAL}
    assert list(real) == [port], "the source port of the flow itself is known"
    (way,) = real[port]
    return way


def takes_the_same_way(region, fabric, traffic, pair, way, print_line):
    source, target = pair
    agent = region.lab.agents[source.host]
    flow = flow_that(
        "probes take its way", SAME_WAY_S, agent, traffic.pid, lambda f: f["probe_port"]
    )
    fabric.count_flows()

    def crossed():
        seen = spines_of(fabric, *pair).get(flow["probe_port"], {})
        return seen if sum(seen.values()) >= CROSSED else None

    over = until("probes have crossed the fabric", PROBED_S, crossed)
    print_line(f"port {flow['src_port']} over {way}, probed from {flow['probe_port']} over {over}")
    assert list(over) == [way], "over the spine of the real flow, and over no other"

    def shown():
        rows = region.lab.aggregators[source.tor].get("/v1/services").json["services"]
        mine = [row for row in rows if row["pid"] == traffic.pid and row["path"]]
        return mine[0] if mine else None

    row = until("the aggregator shows it with its path", PROBED_S, shown, every=0.2)
    assert row["rnic"] == source.name and row["host"] == source.host
    assert row["peer_id"] and f"{way}@" in row["path"]
    assert row["state"] == "probed"


def is_forgotten(region, traffic, source, print_line):
    agent = region.lab.agents[source.host]
    aggregator = region.lab.aggregators[source.tor]
    killed = time.monotonic()
    traffic.kill()
    until("it is forgotten", GONE_S, lambda: flow_of(agent, traffic.pid) is None)
    print_line(f"forgotten {time.monotonic() - killed:.2f} s after the kill")

    def reported():
        rows = aggregator.get("/v1/services").json["services"]
        return all(row["pid"] != traffic.pid for row in rows)

    until("so it is by the aggregator", GONE_S, reported)


@pytest.mark.parametrize("kind", [Rping, Stream])
def test_a_flow_is_probed_over_its_own_spine_until_its_process_is_killed(
    region, fabric, pair, tmp_path, print_line, kind
):
    with Events(tmp_path) as events, kind(tmp_path / "traffic", *pair) as busy:
        traffic = Quiet(busy)
        flow = is_probed_at_once(region, events, traffic, pair, print_line)
        way = way_of(fabric, traffic, pair, flow["src_port"])
        takes_the_same_way(region, fabric, traffic, pair, way, print_line)
        is_forgotten(region, traffic, pair[0], print_line)


def test_a_flow_that_nobody_can_join_is_counted_and_silences_no_other(region, pair, tmp_path):
    source = pair[0]
    near, far = (region.lab.agents[each.host] for each in pair)
    aggregator = region.lab.aggregators[source.tor]
    with Rping(tmp_path / "a", *pair) as by_cm, Stream(tmp_path / "b", *pair) as by_hand:
        known, lone = Quiet(by_cm), Quiet(by_hand)
        far.kill()
        near.restart()
        flow_that("it is listed", READY_S, near, lone.pid, lambda f: f["predates_agent"])

        def reported():
            answer = aggregator.get("/v1/services").json
            (host,) = [each for each in answer["hosts"] if each["host"] == source.host]
            pids = [row["pid"] for row in answer["services"]]
            return host["connected"] and host["unresolved_qps"] > 0 and known.pid in pids

        until("the aggregator has it", PROBED_S, reported, [near])
        for traffic in (known, lone):
            traffic.kill()
        far.start()
        until("it traces", READY_S, lambda: services(far)["tracing"], [far])


def test_unreliable_connections_are_flows_too(region, pair, tmp_path):
    agent = region.lab.agents[pair[0].host]
    with Stream(tmp_path / "traffic", *pair, more=["-c", "UC"]) as busy:
        traffic = Quiet(busy)
        flow = flow_that(
            "it is probed", PROBED_S, agent, traffic.pid, lambda f: f["state"] == "probed"
        )
        assert flow["qp_type"] == "uc" and flow["peer"] == pair[1].ipv4
        traffic.kill()
        until("it is forgotten", GONE_S, lambda: flow_of(agent, traffic.pid) is None)


def test_many_connections_share_few_probes(region, pair, tmp_path, print_line):
    agent = region.lab.agents[pair[0].host]

    def now(what):
        return agent.metrics().sum(f"rackmesh_agent_service_{what}")

    with Stream(tmp_path / "traffic", *pair, qps=MANY, more=SHALLOW) as busy:
        for end in (busy.client, busy.server):
            end.freeze()
        pid = busy.client.pid
        until("all are followed", PROBED_S, lambda: now("qps") >= MANY, [agent])
        until("some are probed", PROBED_S, lambda: now("flows_probed") > 0, [agent])
        print_line(f"{MANY} QPs: {now('flows_probed'):.0f} ways probed, {now('flows_waiting'):.0f} wait")
        assert now("flows_probed") <= CAP
        busy.kill()
        until("they are forgotten", GONE_S, lambda: flow_of(agent, pid) is None)


def test_flows_older_than_the_agent_are_resolved_by_address_and_by_number(
    region, pair, tmp_path, print_line
):
    source, target = pair
    agents = [region.lab.agents[each.host] for each in pair]
    with Rping(tmp_path / "a", *pair) as by_cm, Stream(tmp_path / "b", *pair) as by_hand:
        known, joined = Quiet(by_cm), Quiet(by_hand)
        before = flow_that("it is seen", PROBED_S, agents[0], known.pid, lambda f: f["src_port"])
        for agent in agents:
            agent.restart()
        started = time.monotonic()

        after = flow_that(
            "rdma_cm's is probed", READY_S, agents[0], known.pid, lambda f: f["state"] == "probed"
        )
        assert after["predates_agent"] and after["peer"] == target.ipv4
        assert after["src_port"] == before["src_port"]

        after = flow_that(
            "the other's is joined", JOINED_S, agents[0], joined.pid, lambda f: f["dst"]
        )
        print_line(f"joined {time.monotonic() - started:.1f} s after the restart")
        assert after["predates_agent"] and after["peer"] == target.ipv4
        for traffic in (known, joined):
            traffic.kill()
        until(
            "both are forgotten",
            GONE_S,
            lambda: not any(flow_of(agents[0], each.pid) for each in (known, joined)),
        )
