"""No loss is unnoticed: the counts of what was sent, received, counted and dropped add up, to
the last packet and the last batch, while every kind of drop is provoked."""

import struct


from lab.rackmesh import LINK_AGGREGATOR
from lab.tap import BATCH, Tap, kind
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
TAPPED = "h1"  # its batches pass a tap
TAP_PORT = 9490
QUEUE = {"max_age_ms": 1000, "max_bytes": 65536}
PLAN = {"mesh_interval_ms": 20, "mesh_max_rate_per_s": 200}
CLOSINGS = 12  # windows, four a second: longer than any wait for results
FROZEN_S = 4  # long enough for both limits of the queue
PROVOKED_S = 30

RAW = ("windowed", "late", "invalid", "duplicate")


def raw(lab):
    """The fate of the raw results that the rack's aggregator has received."""
    metrics = lab.aggregators["tor1"].metrics()
    name = "rackmesh_aggregator_results_{}_total"
    return metrics.sum(name.format("taken")), {
        each: metrics.sum(name.format(each)) for each in RAW
    }


def windows(lab):
    return lab.aggregators["tor1"].metrics().sum("rackmesh_aggregator_windows_judged_total")


def provoke(lab, what, reached):
    return until(what, PROVOKED_S, reached, [lab.aggregators["tor1"]])


def repeat_batches(lab, tap):
    """Sends every batch twice, as an agent does that gets no acknowledgement."""
    tap.on_frame = lambda payload: [payload] * 2 if kind(payload) == BATCH else None
    provoke(lab, "duplicates are counted", lambda: raw(lab)[1]["duplicate"] > 0)
    tap.on_frame = None


def hold_batches(lab, tap):
    """Holds batches until their windows have closed; the agent gives them up meanwhile."""
    tap.hold(BATCH)
    provoke(lab, "batches are held", lambda: tap.kept() > 0)
    closed = windows(lab) + CLOSINGS
    provoke(lab, "windows close without them", lambda: windows(lab) >= closed)
    tap.release()
    provoke(lab, "late results are counted", lambda: raw(lab)[1]["late"] > 0)


def forge_batches(lab, tap, mac):
    """The agent reports for an RNIC of another host; everything else is genuine."""
    own = struct.pack("<Q", int(mac.replace(":", ""), 16))
    strange = struct.pack("<Q", 0x02AABBCCDDEE)

    def forge(payload):
        return [payload.replace(own, strange)] if kind(payload) == BATCH else None

    tap.on_frame = forge
    provoke(lab, "invalid results are counted", lambda: raw(lab)[1]["invalid"] > 0)
    tap.on_frame = None


def freeze_aggregator(lab, sink):
    """The agents' queues are small, so batches become too old or are dropped for newer ones."""
    aggregator = lab.aggregators["tor1"]
    aggregator.freeze()
    try:
        sink.silence(FROZEN_S, sink.mark())
        assert aggregator.state() == "T"
    finally:
        aggregator.thaw()
    provoke(
        lab,
        "agents report what they dropped",
        lambda: sum(sum(lab.outbox(host)["dropped"].values()) for host in lab.agents) > 0,
    )


def come_to_rest(lab):
    """Waits until there are no probes, no packets in flight and no waiting batches."""
    for agent in lab.agents.values():
        assert agent.post("/v1/pause").json == {"paused": True}
    for host in lab.agents:
        until(f"{host} has nothing on its way", PROVOKED_S, lambda: at_rest(lab, host))


def at_rest(lab, host):
    probes, outbox = lab.probe_counts(host), lab.outbox(host)
    flying = probes["sent"] + probes["send_failed"] - probes["results"]
    unbatched = probes["results"] - outbox["made_results"]
    return not (flying or unbatched or outbox["waiting"] or outbox["unconfirmed"])


def test_every_packet_and_batch_is_accounted_for(world, print_line):
    taps = []

    def through_tap(fabric):
        """A function of the fabric, whose addresses it needs."""
        centre = fabric.management["centre"]
        target = (fabric.management["agg-tor1"], LINK_AGGREGATOR)
        taps.append(Tap(fabric.netns("centre"), centre, TAP_PORT, target))
        fabric.count()
        return {TAPPED: {"tor1": taps[0].address}}

    rack = world(
        RACKS,
        alertmanager=False,
        agent={"queue": QUEUE},
        controller={"plan": PLAN},
        uplinks=through_tap,
        plaintext=True,  # the tap reads frames, and forges some
    )
    lab, (tap,) = rack.lab, taps
    try:
        rack.start()
        repeat_batches(lab, tap)
        hold_batches(lab, tap)
        forge_batches(lab, tap, rack.rnic(f"{TAPPED}/r0").mac)
        freeze_aggregator(lab, rack.plain)
        come_to_rest(lab)
    finally:
        tap.close()
    assert_wire(rack, print_line)
    assert_batches(lab, print_line)
    assert_raw(lab, print_line)


def assert_wire(rack, print_line):
    """Compares nftables' counts at the cables with the agents' metrics, per RNIC."""
    probes = replies = 0
    for rnic in rack.fabric.rnics.values():
        metrics = rack.lab.agents[rnic.host].metrics()
        sent = metrics.sum("rackmesh_agent_probes_sent_total", device=rnic.device)
        replied = metrics.sum("rackmesh_agent_replies_sent_total", device=rnic.device)
        assert rack.fabric.counted(rnic) == (sent, replied), rnic.name
        assert sent > 200 and replied > 200
        probes, replies = probes + sent, replies + replied
    print_line(f"on the wire as in the metrics: {probes:,.0f} probes, {replies:,.0f} replies")


def assert_batches(lab, print_line):
    """made = acknowledged + dropped(reason), per host."""
    made = taken = 0
    dropped = {}
    for host in lab.agents:
        outbox = lab.outbox(host)
        assert outbox["made"] == outbox["acked"] + sum(outbox["dropped"].values()), host
        made, taken = made + outbox["made"], taken + outbox["acked"]
        for reason, count in outbox["dropped"].items():
            dropped[reason] = dropped.get(reason, 0) + count
    reasons = ", ".join(f"{count:.0f} {reason}" for reason, count in dropped.items() if count)
    print_line(f"batches: {made:,.0f} made = {taken:,.0f} taken + dropped ({reasons})")
    assert sum(dropped.values()) > 0


def assert_raw(lab, print_line):
    """received = windowed + late + invalid + duplicate, and received is what agents delivered."""
    taken, kinds = raw(lab)
    shown = " + ".join(f"{kinds[each]:,.0f} {each}" for each in RAW)
    print_line(f"raw results: {taken:,.0f} taken = {shown}")
    reasons = lab.aggregators["tor1"].metrics().by(
        "rackmesh_aggregator_results_invalid_reason_total", "reason"
    )
    print_line(f"  invalid for: {', '.join(f'{n:.0f} {why}' for why, n in reasons.items() if n)}")
    assert sum(reasons.values()) == kinds["invalid"]
    assert all(kinds[each] > 0 for each in RAW)
    assert taken == sum(kinds.values())
    acked = sum(lab.outbox(host)["acked_results"] for host in lab.agents)
    assert taken - kinds["duplicate"] == acked
