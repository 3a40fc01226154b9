"""kill -9 of every daemon and engine in turn, under load, loses nothing that was acknowledged."""

import itertools
import signal
import time


from lab.faults import RnicDead
from lab.innocents import accused
from lab.ledger import Ledger
from lab.rackmesh import LINK_ANALYZER
from lab.story import AGGREGATOR_FLAPPING
from lab.tap import Tap
from lab.wait import FULL, until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h4", "h5", "h6"]}
KILLS_GATE, KILLS_FULL, KILLS_SOAK = 3, 10, 100
DEATHS_GATE, DEATHS_FULL, DEATHS_SOAK = 1, 3, 30
# The third fault of one RNIC within the time of AGGREGATOR_FLAPPING counts as flapping, and is resolved after 15 s without
# a bad window, which never happens on a machine that stands still every few seconds.
VICTIMS = ("h2/r0",) if FULL else ("h2/r0", "h3/r0", "h5/r0")
FIRES_S, RESOLVES_S, RETURNS_S, WRITTEN_S = 20, 40, 30, 30
TAP_PORT = 7499
# Alerts on silence. In a full run they are errors, too: no daemon is down for so long, if its
# start takes no longer than usual.
BLIND = ("RackmeshRack", "RackmeshAggregator", "RackmeshRegion")
LOAD = {"summary": {"interval_s": 1, "rnic_interval_s": 1}}


def victims(world):
    """Every daemon and our engines, one after the other, for ever. Not Alertmanager: when it is
    killed, it forgets which alerts it has sent, and never resolves them."""
    lab = world.lab
    return itertools.cycle(
        [
            lab.aggregators["tor1"],
            lab.analyzer,
            world.influx,
            lab.agents["h1"],
            lab.controllers[0],
            next(iter(world.etcd.members.values())),
            lab.aggregators["tor2"],
            lab.controllers[1],
        ]
    )


def missing(world, ledger):
    """Acknowledged messages without a point in InfluxDB."""
    racks = {
        (row["tor"], row["time"])
        for row in world.influx.query("SELECT taken FROM rm_rack GROUP BY tor")
    }
    incidents = {
        (row["id"], row["state"], row["time"])
        for row in world.influx.query("SELECT id FROM rm_incident GROUP BY state")
    }
    return (set(ledger.acknowledged("summary")) - racks) | (
        set(ledger.acknowledged("incident")) - incidents
    )


def one_kill(world, rng, rnic, victim):
    """Causes a fault, and kills the daemon at some moment of the fault."""
    mark, began = world.mark(), time.monotonic()
    fault = RnicDead(world.lab, world.rnic(rnic))
    early = rng.random() < 0.5
    world.plain.silence(rng.uniform(0, 1), mark[0])
    fault.begin()
    try:
        if not early:
            world.grouped.wait_for(fault.fires, FIRES_S, mark[1], f"{fault}, before the kill")
        victim.kill()
        assert not victim.alive
        victim.start()
        world.grouped.wait_for(fault.fires, FIRES_S, mark[1], f"{fault}, {victim.name} killed")
        if rng.random() < 0.3 and not early:
            victim.kill()
            victim.start()
        assert fault.bit()
    finally:
        fault.end()
    world.grouped.wait_for(
        fault.resolves, RESOLVES_S, mark[1], f"the end of {fault}, {victim.name} killed"
    )
    # The next fault begins when every receiver knows of this one's end.
    world.plain.wait_for(fault.resolves, RESOLVES_S, mark[0], f"the end of {fault}, by webhook")
    fired = [a for a in world.grouped.since(mark[1]) if fault.fires(a)]
    judged = ("RackmeshRnic", *(BLIND if FULL else ()))
    others = accused(
        world.since(mark), began, lambda a: a.alertname not in judged or fault.names(a))
    assert len(fired) == 1, f"{victim.name} killed: {len(fired)} notifications of one fault"
    assert not others, f"{victim.name} killed: others were named: {others}"


def test_kill_9_loses_nothing_that_was_acknowledged(world, rng, print_line, full, soak):
    taps, kills = [], KILLS_SOAK if soak else KILLS_FULL if full else KILLS_GATE

    def through_tap(fabric):
        target = (fabric.management["analyzer"], LINK_ANALYZER)
        centre = fabric.management["centre"]
        taps.append(Tap(fabric.netns("centre"), centre, TAP_PORT, target))
        return {"analyzers": [taps[0].address], **LOAD, **AGGREGATOR_FLAPPING}

    whole = world(
        RACKS,
        controllers=2,
        etcd=1,
        analyzer={},
        influx=True,
        aggregator=through_tap,
        plaintext=True,  # the tap reads frames
    )
    ledger = Ledger(taps[0])
    try:
        whole.start()
        rnics = itertools.cycle(VICTIMS)
        for victim, rnic in itertools.islice(zip(victims(whole), rnics), kills):
            one_kill(whole, rng, rnic, victim)
            until(f"{victim.name} is back", RETURNS_S, lambda: whole.is_up(victim), every=0.1)
        until(
            "every acknowledged message is in InfluxDB",
            WRITTEN_S,
            lambda: not missing(whole, ledger),
            every=0.5,
        )
    finally:
        taps[0].close()

    counts = {lane: len(ledger.acknowledged(lane)) for lane in ("summary", "incident")}
    print_line(f"{counts['summary']} summaries and {counts['incident']} incidents acknowledged, none"
        " lost; one alert per fault, every one resolved")
    assert counts["summary"] > 10 * kills and counts["incident"] > kills


def is_killed_while_sending(sink, fault, victim):
    """kill -9 while it sends the first message on the fault, which it cannot complete."""
    take, began = sink.take, sink.mark()

    def take_and_kill(at, body):
        take(at, body)
        if any(map(fault.fires, sink.since(began))):
            sink.take = take
            victim.signal(signal.SIGKILL)

    sink.take = take_and_kill


def test_an_aggregator_that_is_killed_while_it_reports_a_fault_reports_its_end(world, full, soak):
    small = world(RACKS, spines=0, alertmanager=False, aggregator=AGGREGATOR_FLAPPING).start()
    victim, sink = small.lab.aggregators["tor1"], small.plain
    for _ in range(DEATHS_SOAK if soak else DEATHS_FULL if full else DEATHS_GATE):
        mark, fault = sink.mark(), RnicDead(small.lab, small.rnic("h2/r0"))
        is_killed_while_sending(sink, fault, victim)
        fault.begin()
        try:
            sink.wait_for(fault.fires, FIRES_S, mark, str(fault))
            until(f"{victim.name} is dead", RETURNS_S, lambda: not victim.alive)
            assert fault.bit()
        finally:
            fault.end()
        victim.restart()
        sink.wait_for(fault.resolves, RESOLVES_S, mark, f"the end of {fault}")
        small.lab.wait_probing()
        reported = sink.since(mark)
        others = accused(reported, fault.at, fault.names)
        assert not others, f"others were named: {others}"
        assert len({each.annotations["incident"] for each in reported if fault.names(each)}) == 1
