"""Two aggregators per ToR and two analyzers: a fault causes one alert, also if one of them has
any trouble."""

import contextlib
import os
import time

import pytest

from lab.faults import RnicDead, SwitchDead
from lab.innocents import accused
from lab.pairs import PairWorld, second_of
from lab.rackmesh import aggregator_of
from lab.story import AGGREGATOR_FLAPPING, FLAPPING
from lab.wait import until

SOAK = os.environ.get("RACKMESH_SOAK") == "1"
RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h1", "h5", "h6"]}
FIRES_S, RESOLVES_S, TURNS_S, QUIET_S, AFTER_S = 10, 25, 12, 2, 3
SINKS = ("centre",)
FOUND_S, MOVES_S = 30, 8
BLIND = {"blind": {"start_ms": 4000}}
SILENCE = ("RackmeshRack", "RackmeshAggregator", "RackmeshRegion")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    with PairWorld(RACKS, folder, analyzer={**BLIND, **FLAPPING}, aggregator=AGGREGATOR_FLAPPING) as world:
        world.start()
        for tor in RACKS:
            until(f"the primary of {tor} is active", TURNS_S, lambda: is_active(world, tor, False))
        yield world


def is_active(world, tor, second):
    """Whether only this aggregator is active."""
    return world.lab.active_aggregators(tor) == [second_of(tor) if second else aggregator_of(tor)]


# ---- troubles of a primary -----------------------------------------------------------


class Trouble:
    """A trouble of tor1's primary aggregator. fatal: the standby must become active."""

    fatal = True

    def __init__(self, world):
        self.world = world
        self.daemon = world.lab.aggregators["tor1"]

    def __str__(self):
        return type(self).__name__


class Killed(Trouble):
    def begin(self):
        self.daemon.kill()

    def end(self):
        self.daemon.start()
        self.daemon.wait_ready()


class Stopped(Trouble):
    def begin(self):
        self.daemon.freeze()
        until("it stands", 5, lambda: self.daemon.state() == "T")

    def end(self):
        self.daemon.thaw()


class CutOff(Trouble):
    """Its cable to the management network is down."""

    def begin(self):
        self.world.fabric.cut_management(self.daemon.name)

    def end(self):
        self.world.fabric.mend_management(self.daemon.name)


class SinksGone(Trouble):
    """The primary reaches no receiver of alerts; the standby does."""

    def begin(self):
        self.world.cut(self.daemon.name, *SINKS)

    def end(self):
        self.world.mend(self.daemon.name)


class PeerGone(Trouble):
    """The two aggregators do not reach each other, but agents reach both."""

    fatal = False

    def begin(self):
        self.world.cut(self.daemon.name, second_of("tor1"))

    def end(self):
        self.world.mend(self.daemon.name)


class Mute(Trouble):
    """The primary reaches no receiver of alerts, and the two do not reach each other: the standby
    only learns this from the agents' reports."""

    def begin(self):
        self.world.cut(self.daemon.name, second_of("tor1"), *SINKS)

    def end(self):
        self.world.mend(self.daemon.name)


TROUBLES = (Killed, Stopped, CutOff, SinksGone, PeerGone, Mute)


# ---- expectations --------------------------------------------------------------------


def assert_alerted_once(world, fault, mark):
    """Asserts one opening and one end at Alertmanager, perhaps repeated with equal labels at
    the plain webhook, and no other part."""
    grouped = [each for each in world.grouped.since(mark[1])]
    plain = [each for each in world.plain.since(mark[0])]
    others = accused(
        [each for each in grouped + plain if each.status == "firing"], fault.at,
        lambda each: each.alertname == "RackmeshAggregator" or fault.names(each))
    assert not others, f"others were named: {others}"
    reported = [each.status for each in grouped if fault.names(each)]
    assert reported == ["firing", "resolved"], f"by Alertmanager: {reported}"
    arrivals = [each for each in plain if fault.names(each)]
    assert arrivals and arrivals[-1].status == "resolved", [str(each) for each in arrivals]
    assert len({tuple(sorted(each.labels.items())) for each in arrivals}) == 1
    return len([each for each in arrivals if each.status == "firing"])


def back(world):
    until("the primary is active again", TURNS_S + 8, lambda: is_active(world, "tor1", False))
    until("nothing is open", RESOLVES_S, lambda: not any(
        daemon.get("/v1/incidents?open=1").json["incidents"]
        for daemon in (world.lab.aggregators["tor1"], world.lab.seconds["tor1"])))


@contextlib.contextmanager
def trouble_of(trouble):
    trouble.begin()
    try:
        yield
    finally:
        trouble.end()


def chosen(*few, gate=(), of=TROUBLES):
    """The kinds that are tested in this run: `few` and `gate` in every run, some more in ./dev
    test --full, all in ./dev soak."""
    more = [pytest.param(kind, marks=pytest.mark.full)
            for kind in (of if SOAK else few) if kind not in gate]
    return pytest.mark.parametrize("kind", [*gate, *more])


@chosen(PeerGone, Mute)
def test_a_fault_after_trouble_of_an_aggregator_is_one_alert(pairs, kind, print_line):
    trouble, mark = kind(pairs), pairs.mark()
    fault = RnicDead(pairs.lab, pairs.rnic("h2/r0"))
    with trouble_of(trouble):
        fault.begin()
        try:
            alert = pairs.grouped.wait_for(fault.fires, FIRES_S, mark[1], f"{fault}, {trouble}")
            seconds = alert.at - fault.at
            assert fault.bit()
            if trouble.fatal and kind not in (Stopped, CutOff):
                until("only the other one is active", TURNS_S, lambda: is_active(pairs, "tor1", True))
        finally:
            fault.end()
        pairs.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], f"the end, {trouble}")
    back(pairs)
    repeats = assert_alerted_once(pairs, fault, mark)
    print_line(f"{trouble}, then a fault: reported after {seconds:.1f} s; at the webhook {repeats}x")


@chosen(SinksGone, gate=[Killed])
def test_a_fault_during_trouble_of_an_aggregator_is_one_alert(pairs, kind, print_line):
    trouble, mark = kind(pairs), pairs.mark()
    fault = RnicDead(pairs.lab, pairs.rnic("h3/r0"))
    fault.begin()
    try:
        pairs.grouped.wait_for(fault.fires, FIRES_S, mark[1], str(fault))
        with trouble_of(trouble):
            until(f"{trouble}: one is active", TURNS_S, lambda: taken(pairs, trouble))
        back_open(pairs, trouble, fault)
    finally:
        fault.end()
    pairs.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], f"the end, {trouble}")
    back(pairs)
    repeats = assert_alerted_once(pairs, fault, mark)
    print_line(f"a fault, then {trouble}: one alert; at the webhook {repeats}x")


@chosen(CutOff, of=(Killed, Stopped, CutOff, SinksGone, Mute))
def test_a_fault_that_ends_while_the_primary_is_away_is_resolved_once(pairs, kind, print_line):
    """When the primary returns, the fault's incident is still open there."""
    trouble, mark = kind(pairs), pairs.mark()
    fault = RnicDead(pairs.lab, pairs.rnic("h4/r0"))
    with contextlib.ExitStack() as undo:
        fault.begin()
        undo.callback(fault.end)
        pairs.grouped.wait_for(fault.fires, FIRES_S, mark[1], str(fault))
        with trouble_of(trouble):
            until(f"{trouble}: the other one is active", TURNS_S, lambda: taken(pairs, trouble))
            undo.close()
            pairs.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], f"{trouble}")
    back(pairs)
    pairs.grouped.silence(AFTER_S, pairs.grouped.mark(), lambda each: not fault.names(each))
    repeats = assert_alerted_once(pairs, fault, mark)
    print_line(f"a fault that ends while the primary is away ({trouble}): one alert; {repeats}x")


def taken(world, trouble):
    """Whether the standby is active if it must be, and the primary is active if it can be."""
    [rack] = world.lab.seconds["tor1"].get("/v1/racks").json["racks"]
    return rack["active"] == trouble.fatal


def back_open(world, trouble, fault):
    """Whether the primary is active again, with the open incidents of the standby."""
    until(f"after {trouble} the primary is active", TURNS_S + 8,
          lambda: is_active(world, "tor1", False))
    mine, theirs = (
        [each["id"] for each in daemon.get("/v1/incidents?open=1").json["incidents"]
         if each["part"] == fault.part]
        for daemon in (world.lab.aggregators["tor1"], world.lab.seconds["tor1"]))
    assert len(mine) == 1 and mine == theirs, (mine, theirs)


# ---- analyzers -----------------------------------------------------------------------


def connected(world, analyzer):
    """Number of aggregators that are connected to it; 0 if it does not answer."""
    with contextlib.suppress(OSError):
        metrics = analyzer.metrics()
        return metrics.sum("rackmesh_analyzer_sessions")
    return 0


@pytest.mark.parametrize("kind", ("killed", "stopped") if SOAK else ("killed",))
def test_aggregators_fail_over_to_the_next_analyzer_and_back(pairs, kind, print_line):
    lab, mark = pairs.lab, pairs.mark()
    first, second = lab.analyzer, lab.second_analyzer
    everybody = 2 * len(RACKS)
    fault = SwitchDead(lab, "spine1")
    until("all are with the first", MOVES_S, lambda: connected(pairs, first) == everybody)
    with contextlib.ExitStack() as undo:
        first.kill() if kind == "killed" else first.freeze()
        at = time.monotonic()
        undo.callback(first.start if kind == "killed" else first.thaw)
        until("all are with the second", MOVES_S,
              lambda: connected(pairs, second) == everybody)
        moved = time.monotonic() - at
        fault.begin()
        undo.callback(fault.end)
        alert = pairs.grouped.wait_for(fault.fires, FOUND_S, mark[1], f"{fault}, {kind}")
        first.start() if kind == "killed" else first.thaw()
        at = time.monotonic()
        undo.pop_all()
    with contextlib.ExitStack() as undo:
        undo.callback(fault.end)
        until("all are back", MOVES_S, lambda: connected(pairs, first) == everybody
              and connected(pairs, second) == 0)
        returned = time.monotonic() - at
        until("the first one has found it, too", FOUND_S, lambda: any(
            each["part"] == fault.part
            for each in first.get("/v1/incidents?open=1").json["incidents"]))
        assert fault.bit()
    pairs.grouped.wait_for(fault.resolves, FOUND_S, mark[1], f"the end of {fault}")
    pairs.grouped.silence(QUIET_S, pairs.grouped.mark(), lambda arrival: not fault.names(arrival))
    reported = [each.status for each in pairs.grouped.since(mark[1]) if fault.names(each)]
    missed = accused(pairs.since(mark), fault.at, lambda each: each.alertname not in SILENCE)
    assert reported == ["firing", "resolved"], reported
    assert not missed, missed
    print_line(f"{kind}: all with the next after {moved:.1f} s, back after {returned:.1f} s;"
        f" a spine dead meanwhile: reported once, after {alert.at - fault.at:.1f} s")
