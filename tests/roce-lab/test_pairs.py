"""All RNICs probe all others, over all paths, in both classes and both sizes, and no packet is lost
or unexplained, by counts that do not come from the daemons."""

import datetime
import itertools
import time

import pytest

from guest.fabric import FOUR_TORS
from guest.wire import Wire, grouped, total
from guest.world import RoceWorld
from lab.figures import median, percentile
from lab.netns import run
from lab.wait import until

RACKS = FOUR_TORS
LASTS_S, LASTS_SOAK_S = 16, 60
MARKED_S = 6
REST_S = 10
TRACED_S = 90
LAST_S = 2  # seconds; the last term of a probe comes with the reply to the next one
MOST = 10000  # rows of one drill-down
RAW = ("windowed", "late", "invalid", "duplicate")
VALID = 0.999
LOSSLESS, BEST_EFFORT, OTHER = 26, 0, 10
ECN_CAPABLE = 2
TTL_IN_RACK, TTL_BETWEEN_RACKS = 63, 61  # TTL behind one ToR; behind ToR, spine and ToR
TERMS = ("rtt_ns", "prober_delay_ns", "responder_delay_ns")

# Enough witnesses that each RNIC probes all those of the other racks, at a rate that an emulated
# machine on a busy host can bear.
PLAN = {"witness_targets": 16, "witness_interval_ms": 200, "mesh_interval_ms": 200}


@pytest.fixture(scope="module")
def wire(fabric):
    return Wire(fabric)


@pytest.fixture(scope="module")
def region(fabric, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    with RoceWorld(fabric, folder, controller={"plan": PLAN}) as made:
        yield made.start()


# ---- figures of the daemons -----------------------------------------------------------


def outcomes(region):
    """{outcome of a probe: number}, of all agents."""
    sums = {}
    for agent in region.lab.agents.values():
        by = agent.metrics().by("rackmesh_agent_results_total", "outcome")
        for outcome, count in by.items():
            sums[outcome] = sums.get(outcome, 0) + count
    return sums


def words(counts):
    return ", ".join(f"{count:,.0f} {name}" for name, count in counts.items() if count)


def of_agents(region, name):
    every = region.lab.agents.values()
    return sum(each.metrics().sum(f"rackmesh_agent_{name}") for each in every)


def skips(region):
    """Probes that were due but never sent, such as the first to a new neighbour."""
    return of_agents(region, "probes_skipped_total")


def of_aggregators(region, name):
    every = region.lab.aggregators.values()
    return sum(each.metrics().sum(f"rackmesh_aggregator_{name}") for each in every)


def pause(region):
    for agent in region.lab.agents.values():
        assert agent.post("/v1/pause").json == {"paused": True}
    for host in region.lab.agents:
        until(f"{host} has nothing on its way", REST_S, lambda: at_rest(region.lab, host))


def rest(region):
    """Waits until the paths of all flows are known, and no probe is under way."""
    resume(region)
    region.lab.wait_traced(TRACED_S)
    pause(region)


def at_rest(lab, host):
    probes, outbox = lab.probe_counts(host), lab.outbox(host)
    flying = probes["sent"] + probes["send_failed"] - probes["results"]
    unbatched = probes["results"] - outbox["made_results"]
    return not (flying or unbatched or outbox["waiting"] or outbox["unconfirmed"])


def resume(region):
    for agent in region.lab.agents.values():
        assert agent.post("/v1/resume").json == {"paused": False}


def results(region, since, before):
    """Raw results of the probes that were sent between two times, each once."""
    found = []
    for rnic in region.fabric.rnics.values():
        asked = f"/v1/drill/{rnic.name}?seconds={time.time() - since:.0f}&limit={MOST}"
        listed = region.lab.aggregators[rnic.tor].get(asked).json["results"]
        assert len(listed) < MOST
        found += [each for each in listed if each["from"] == rnic.name]
    return [each for each in found if since <= sent_at(each) < before]


def sent_at(result):
    return datetime.datetime.fromisoformat(result["sent"]).timestamp()


def ways(region):
    """{(from, to, source port): the spine of the traced path}"""
    return {
        (flow["from"], flow["to"], flow["src_port"]): flow["path"].split()[1].split("@")[0]
        for tor in region.lab.aggregators.values()
        for flow in tor.get("/v1/paths").json["flows"]
        if flow["path"] not in (None, "*")
    }


def pairs(fabric):
    """Pairs of RNICs that may probe each other."""
    every = itertools.permutations(fabric.rnics.values(), 2)
    return {(a.name, b.name) for a, b in every if a.host != b.host}


# ---- checks -----------------------------------------------------------------------------


def check_terms(raw, print_line):
    """Nearly every answered probe has all three terms, and each term is plausible."""
    answered = [each for each in raw if each["outcome"] in ("ok", "late_reply", "invalid")]
    valid = [each for each in answered if each["outcome"] == "ok" and "rtt_ns" in each]
    for term in TERMS:
        values = [each[term] / 1e6 for each in valid]
        print_line(
            f"{term[:-3]:15} p50 {median(values):.2f} ms   p99"
            f" {percentile(values, 0.99):.2f} ms   worst {max(values):.2f} ms"
        )
        assert min(values) >= 0
    share = len(valid) / len(answered)
    print_line(f"{len(answered):,} answered, {len(valid):,} with all three terms: {share:.3%}")
    assert share >= VALID


def check_arrivals(fabric, raw):
    """Packets arrive as they were sent, and with the TTL of their path."""
    for each in raw:
        beside = fabric.rnics[each["from"]].tor == fabric.rnics[each["to"]].tor
        came = each["arrived_dscp"], each["arrived_ecn"], each["arrived_ttl"]
        ttl = TTL_IN_RACK if beside else TTL_BETWEEN_RACKS
        assert came == (each["dscp"], ECN_CAPABLE, ttl), each


def check_accounts(region, print_line):
    """Probes sent, taken and counted are the same ones."""
    sent = of_agents(region, "probes_sent_total")
    failed = of_agents(region, "probes_send_failed_total")
    became = outcomes(region)
    print_line(f"since the start: {sent:,.0f} sent, {failed:.0f} not: {words(became)}")
    print_line(f"  {skips(region):.0f} never tried")
    assert sent + failed == sum(became.values())
    taken = of_aggregators(region, "results_taken_total")
    kinds = {each: of_aggregators(region, f"results_{each}_total") for each in RAW}
    print_line(f"aggregators: {taken:,.0f} taken = {words(kinds)}")
    assert taken == sum(kinds.values())
    acked = sum(region.lab.outbox(host)["acked_results"] for host in region.lab.agents)
    assert taken - kinds["duplicate"] == acked == sum(became.values())


def sent_by(region):
    """{(RNIC, whether replies): number}, by the agents' metrics."""
    return {
        (rnic.name, reply): region.lab.agents[rnic.host]
        .metrics()
        .sum(f"rackmesh_agent_{name}_total", device=rnic.device)
        for rnic in region.fabric.rnics.values()
        for reply, name in ((False, "probes_sent"), (True, "replies_sent"))
    }


def check_wire(region, wire, before, print_line):
    """Compares nftables with the agents' metrics, for each RNIC; every packet that was sent has
    arrived."""
    left, arrived, after = wire.left(), wire.arrived(), sent_by(region)
    assert left == arrived
    for (name, reply), count in after.items():
        counted = total(left, source=name, reply=reply)
        assert counted == count - before[name, reply], (name, reply)
    print_line(
        f"on the wire as in the metrics: {total(left, reply=False):,} probes,"
        f" {total(left, reply=True):,} replies"
    )
    return left


def check_kinds(left, print_line):
    """Classes and sizes are those of the plan; a reply has the size and the class of its probe."""
    shown = []
    for dscp, size in itertools.product((LOSSLESS, BEST_EFFORT), ("small", "full")):
        probes = total(left, dscp=dscp, size=size, reply=False)
        shown.append(f"{probes:,} {size} of DSCP {dscp}")
        assert probes > 50
    print_line(f"probes: {', '.join(shown)}")
    assert not total(left, size="other") and not total(left, dscp=None)
    asked = grouped(left, "source", "target", "label", "size", "dscp", reply=False)
    answered = grouped(left, "target", "source", "label", "size", "dscp", reply=True)
    assert asked == answered


def check_flows(left):
    """The sender's flow determines the flow label, in probes and in replies."""
    for reply in (False, True):
        ports = {}
        for source, label, port in grouped(left, "source", "label", "port", reply=reply):
            ports.setdefault((source, label), set()).add(port)
        assert all(len(each) == 1 for each in ports.values()), ports
        one_each = {(source, *port) for (source, _), port in ports.items()}
        assert len(one_each) == len(ports), ports


def check_paths(region, wire, known, left, print_line):
    """Each flow of each pair crosses one spine, which is the traced one."""
    probed = grouped(left, "source", "target", reply=False)
    assert set(probed) == pairs(region.fabric)
    seen, crossed, both = {}, {}, {}
    for spine in region.fabric.spines:
        for packet, count in wire.through(spine).items():
            flow = packet.source, packet.target, packet.port
            seen.setdefault(flow, set()).add(spine)
            racks = tuple(region.rnic(name).tor for name in flow[:2])
            crossed[(*racks, spine, packet.reply)] = count + crossed.get(
                (*racks, spine, packet.reply), 0
            )
            if not packet.reply:
                both.setdefault(flow[:2], set()).add(spine)
    assert all(len(spines) == 1 for spines in seen.values())
    right = [flow for flow, spine in known.items() if seen.get(flow) == {spine}]
    wrong = {flow: spine for flow, spine in known.items() if seen.get(flow, {spine}) != {spine}}
    every = itertools.product(
        itertools.permutations(region.fabric.tors, 2), region.fabric.spines, (False, True)
    )
    least = min(crossed.get((*racks, spine, reply), 0) for racks, spine, reply in every)
    flows = [pair for *pair, _ in grouped(left, "source", "target", "port", reply=False)]
    each = [flows.count(list(pair)) for pair in probed]
    print_line(
        f"{len(probed)} pairs of RNICs, {min(probed.values())} to {max(probed.values())} probes"
        f" each, over {min(each)} to {max(each)} flows"
    )
    print_line(
        f"of {len(both)} pairs between racks {sum(len(s) == 2 for s in both.values())} probed"
        f" over both spines; of each two racks, each way through each spine, at least {least}"
    )
    print_line(f"{len(right)} of {len(known)} traced flows went as traced, {len(wrong)} otherwise")
    assert right and not wrong
    between = [packet for packet in left if is_between_racks(region, packet)]
    assert {(each.source, each.target, each.port) for each in between} <= set(known)
    assert least >= 5


def stay_quiet(region, seconds):
    """No part is named; incidents that began while the daemons started may end."""
    region.plain.silence(seconds, region.mark()[0], lambda alert: alert.status == "resolved")


def is_between_racks(region, packet):
    racks = {region.rnic(name).tor for name in (packet.source, packet.target)}
    return not packet.reply and len(racks) == 2


# ---- the tests ------------------------------------------------------------------------------


def test_all_pairs_probe_each_other_and_every_probe_is_accounted_for(region, wire, soak, print_line):
    lasts_s, rnics = LASTS_SOAK_S if soak else LASTS_S, len(region.fabric.rnics)
    rest(region)
    wire.count()
    before, sent, skipped = outcomes(region), sent_by(region), skips(region)
    since = time.time()
    resume(region)
    stay_quiet(region, lasts_s)
    known, last = ways(region), time.time() - LAST_S
    pause(region)

    after = outcomes(region)
    during = {each: after[each] - before[each] for each in after}
    print_line(
        f"{rnics} RNICs, {lasts_s} s: {sum(during.values()):,.0f} probes: {words(during)};"
        f" {skips(region) - skipped:.0f} never tried"
    )
    raw = results(region, since, last)
    check_terms(raw, print_line)
    check_arrivals(region.fabric, raw)
    check_accounts(region, print_line)
    left = check_wire(region, wire, sent, print_line)
    check_kinds(left, print_line)
    check_flows(left)
    check_paths(region, wire, known, left, print_line)
    assert sum(during.values()) == during["ok"] > 10 * lasts_s * rnics


def mark_anew(fabric, spine, dscp, other):
    """Rewrites DSCP as a switch with a wrong map of classes does."""
    rules = f"""
        table ip marks {{
            chain anew {{
                type filter hook forward priority 0
                udp dport 4791 ip dscp {dscp} ip dscp set {other}
            }}
        }}
    """
    run("ip", "netns", "exec", fabric.netns(spine), "nft", "-f", "-", input=rules)


def mark_no_more(fabric, spine):
    run(*f"ip netns exec {fabric.netns(spine)} nft delete table ip marks".split())


def test_a_spine_that_changes_the_class_is_seen_and_replies_keep_theirs(region, wire, print_line):
    rest(region)
    known, before = ways(region), outcomes(region)
    wire.count()
    mark_anew(region.fabric, "spine1", LOSSLESS, OTHER)
    try:
        since = time.time()
        resume(region)
        stay_quiet(region, MARKED_S)
        last = time.time() - LAST_S
        pause(region)
    finally:
        mark_no_more(region.fabric, "spine1")

    raw = [each for each in results(region, since, last) if each["kind"] != "service"]
    changed = [each for each in raw if each["arrived_dscp"] != each["dscp"]]
    through = [
        each
        for each in raw
        if each["dscp"] == LOSSLESS
        and known.get((each["from"], each["to"], each["src_port"])) == "spine1"
    ]
    left, arrived = wire.left(), wire.arrived()
    print_line(
        f"spine1 changes the class: {len(changed):,} of {len(raw):,} probes arrived in another,"
        f" {total(arrived, dscp=None, reply=True):,} replies, too; all left in the right one"
    )
    assert {each["arrived_dscp"] for each in changed} == {OTHER}
    assert through and all(each["arrived_dscp"] == OTHER for each in through)
    assert {spine_of(known, each) for each in changed} <= {"spine1", None}
    after = outcomes(region)
    assert {each for each in after if after[each] > before[each]} == {"ok"}
    check_kinds(left, print_line)
    assert total(arrived) == total(left)


def spine_of(known, result):
    return known.get((result["from"], result["to"], result["src_port"]))
