"""A fault from its first moment to the last word on it, as every test wants it told."""

import dataclasses

from .wait import in_time

FIRES_S = 10
RESOLVES_S = 30
PROBES = 20  # that a peer has to have sent before an alert means anything


@dataclasses.dataclass
class Told:
    """Seconds from the fault until its alert came."""

    plain: float
    grouped: float
    alert: object  # as the plain webhook brought it
    kind: str


def live_through(world, fault, rng, peer=None, fires_s=FIRES_S):
    """Gives the fault at a random phase of the windows, waits for its alert at both
    sinks, takes it back and waits for the resolutions. Nobody else may be named. fires_s:
    in which it has to be told, where time is judged."""
    mark = world.mark()
    world.plain.silence(rng.uniform(0, 1), mark[0])
    sent = world.lab.sent(peer) if peer else 0
    at = fault.begin()
    try:
        told = _hear(world, fault, mark, at, fires_s)
        assert fault.bit(), f"{fault}: it never hurt anybody"
        if peer:
            probes = world.lab.sent(peer) - sent
            assert probes >= PROBES, f"{peer.name} sent only {probes} probes"
    finally:
        fault.end()
    what = f"the end of {fault}"
    _resolved(world.plain, fault, mark[0], what)
    if world.alertmanager:
        world.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], what)
    others = [str(arrival) for arrival in world.since(mark) if not fault.names(arrival)]
    assert not others, f"{fault}: others were named: {others}"
    in_time(str(fault), told.plain, fires_s)
    return told


def _resolved(sink, fault, mark, what):
    """A host in two racks is told of by both aggregators: so many fire, so many resolve."""

    def last(arrival):
        came = sink.since(mark)
        fired = sum(fault.fires(each) for each in came)
        return fault.resolves(arrival) and sum(fault.resolves(each) for each in came) >= fired

    sink.wait_for(last, RESOLVES_S, mark, what)


def _hear(world, fault, mark, at, fires_s):
    alert = world.plain.wait_for(fault.fires, fires_s, mark[0], str(fault))
    grouped = alert
    if world.alertmanager:
        grouped = world.grouped.wait_for(fault.fires, fires_s, mark[1], f"{fault} (grouped)")
    return Told(alert.at - at, grouped.at - at, alert, alert.annotations["kind"])
