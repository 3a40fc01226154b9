"""The life of a fault, from its first moment to its resolution, as every test needs it."""

import dataclasses
import time

from .innocents import accused
from .wait import VIRTUAL, in_time, until

FIRES_S = 10
RESOLVES_S = 30
# For worlds in which the same part fails again and again, each time as a fault of its own: with the
# default of half an hour, its third fault makes it flapping.
FLAPPING = {"flapping_within_s": 20}
AGGREGATOR_FLAPPING = {"alerts": FLAPPING}
PROBED_S = 10
TURNS_S = 5  # a verdict with a wrong kind is corrected within this time
PROBES = 20  # if a peer has sent fewer, an alert proves nothing


@dataclasses.dataclass
class Alerted:
    """Seconds from the fault to its alert at each sink."""

    plain: float
    grouped: float
    alert: object  # as the plain webhook brought it
    kind: str  # of the last alert; in virtual time of the first one


def run_fault(world, fault, rng, peer=None, fires_s=FIRES_S):
    """Causes the fault at a random phase of the windows, waits for its alert at both sinks,
    ends it and waits for the resolutions. No other part may be named. peer must have sent some
    probes meanwhile. fires_s: the time limit for the alert, where time is judged."""
    mark, began = world.mark(), time.monotonic()
    world.plain.silence(rng.uniform(0, 1), mark[0])
    sent = world.lab.sent(peer) if peer else 0
    at = fault.begin()
    try:
        reported = _wait_alerts(world, fault, mark, at, fires_s)
        assert fault.bit(), f"{fault}: it never hurt anybody"
        if peer:
            probes = world.lab.sent(peer) - sent
            assert probes >= PROBES or not VIRTUAL, f"{peer.name} sent only {probes} probes"
            what = f"{peer.name} sends {PROBES} probes"
            until(what, PROBED_S, lambda: world.lab.sent(peer) - sent >= PROBES)
        if reported.kind != fault.kind and not VIRTUAL:
            # The first verdict may be based on few probes; later ones correct it.
            world.plain.silence(TURNS_S, mark[0], fault.names)
    finally:
        fault.end()
    what = f"the end of {fault}"
    _resolved(world.plain, fault, mark[0], what)
    if world.alertmanager:
        world.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], what)
    others = accused(world.since(mark), began, fault.names)
    assert not others, f"{fault}: others were named: {others}"
    in_time(str(fault), reported.plain, fires_s, at)
    if not VIRTUAL:
        reported.kind = last_kind(world.plain, fault, mark[0])
    return reported


def last_kind(sink, fault, mark):
    """The kind of the fault's verdict in the end, which its resolution has, too."""
    arrivals = [arrival for arrival in sink.since(mark) if fault.names(arrival)]
    return arrivals[-1].annotations["kind"]


def _resolved(sink, fault, mark, what):
    """Both aggregators report a host in two racks: as many alerts must resolve as fired."""

    def last(arrival):
        came = sink.since(mark)
        fired = sum(fault.fires(each) for each in came)
        return fault.resolves(arrival) and sum(fault.resolves(each) for each in came) >= fired

    sink.wait_for(last, RESOLVES_S, mark, what)


def _wait_alerts(world, fault, mark, at, fires_s):
    alert = world.plain.wait_for(fault.fires, fires_s, mark[0], str(fault))
    grouped = alert
    if world.alertmanager:
        grouped = world.grouped.wait_for(fault.fires, fires_s, mark[1], f"{fault} (grouped)")
    return Alerted(alert.at - at, grouped.at - at, alert, alert.annotations["kind"])
