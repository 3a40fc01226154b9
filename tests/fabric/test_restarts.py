"""kill -9 of every daemon and engine in turn, under load: nothing promised is lost."""

import itertools

from lab.faults import RnicDead
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h4", "h5", "h6"]}
KILLS, KILLS_SOAK = 10, 100
FIRES_S, RESOLVES_S, RETURNS_S, WRITTEN_S = 20, 40, 30, 30
LOAD = {"summary": {"interval_s": 1, "rnic_interval_s": 1}}


def victims(world):
    """Every daemon and engine, one after the other, for ever."""
    lab = world.lab
    return itertools.cycle(
        [
            lab.aggregators["tor1"],
            lab.analyzer,
            lab.agents["h1"],
            world.influx,
            lab.controllers[0],
            next(iter(world.etcd.members.values())),
            world.alertmanager,
            lab.controllers[1],
        ]
    )


def acknowledged(world):
    """{(aggregator, lane): messages that the analyzer has taken over}, by the numbers of
    the lanes, which go on over restarts."""
    found = {}
    for aggregator in world.lab.aggregators.values():
        for lane in ("summary", "incident"):
            found[aggregator.name, lane] = int(
                aggregator.metrics().sum("rackmesh_aggregator_lane_acked_seq", lane=lane)
            )
    return found


def written(world, measurement):
    """{aggregator: the numbers of its messages that are in InfluxDB}"""
    numbers = {}
    for row in world.influx.query(f"SELECT seq FROM {measurement} GROUP BY aggregator"):
        numbers.setdefault(row["aggregator"], set()).add(int(row["seq"]))
    return numbers


def missing(world, acked):
    """Acknowledged messages that left no point."""
    lost = {}
    for lane, measurement in (("summary", "rm_rack"), ("incident", "rm_incident")):
        there = written(world, measurement)
        for (aggregator, its_lane), last in acked.items():
            if its_lane != lane:
                continue
            gone = set(range(1, last + 1)) - there.get(aggregator, set())
            if gone:
                lost[aggregator, lane] = sorted(gone)[:10]
    return lost


def one_kill(world, rng, victim):
    """A fault, and the daemon dies at some moment of its life."""
    mark = world.mark()
    fault = RnicDead(world.lab, world.rnic("h2/r0"))
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
    fired = [a for a in world.grouped.since(mark[1]) if fault.fires(a)]
    others = [str(a) for a in world.since(mark) if a.alertname == "RackmeshRnic"
              and not fault.names(a)]
    assert len(fired) == 1, f"{victim.name} killed: {len(fired)} notifications of one fault"
    assert not others, f"{victim.name} killed: others were named: {others}"


def test_nothing_promised_is_lost_by_kill_9(world, rng, say, soak):
    whole = world(
        RACKS, controllers=2, etcd=1, analyzer={}, influx=True, aggregator=LOAD
    ).start()
    count = KILLS_SOAK if soak else KILLS

    for victim in itertools.islice(victims(whole), count):
        one_kill(whole, rng, victim)
        until(f"{victim.name} is back", RETURNS_S, lambda: whole.is_up(victim), every=0.1)

    acked = acknowledged(whole)
    until(
        "every acknowledged message is in InfluxDB",
        WRITTEN_S,
        lambda: not missing(whole, acked),
        every=0.5,
    )
    say(f"{count} kills: {sum(acked.values())} acknowledged messages, none lost; one alert"
        " per fault, every one resolved")
    assert all(last > 0 for (_, lane), last in acked.items() if lane == "summary")
