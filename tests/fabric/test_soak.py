"""An hour of random troubles, and what has to hold in it. In `./dev test --full` half a minute.

Everything runs as in a deployment: racks with two aggregators each, two controllers on three
members of etcd, an analyzer, InfluxDB, Alertmanager, mutual TLS. In rounds, at random moments,
daemons and engines are killed, stopped, cut off, robbed of their disk or of their clock, while
parts of the fabric break and are mended. The oracle is a process of its own (lab/oracle.py).

What it proves:
- every fault is found by its right part, at the webhook and through Alertmanager, within
  FOUND_S of the moment when all that had trouble is well again, and its end is told, too;
- one of an RNIC is also found while one of its ToR's two aggregators is gone, and through
  Alertmanager none of an RNIC is told of twice;
- no RNIC, ToR, link, switch or path is accused that no fault of ours had befallen;
- the records that the second analyzer ("books") acknowledged to a feeder, whose content is
  known from their numbers alone, are in InfluxDB: none lost, none invented, none altered;
- every incident that anybody was told of is in InfluxDB;
- whenever an aggregator is asked, its accounts add up.

What not: the disk's own promises (tests/crash has those), and agents' clocks, whose
kernel's time stamps would not jump along. A daemon whose disk is gone promises by its
memory: it is not killed before the disk is back, for that would be two failures."""

import collections
import contextlib
import itertools
import os
import time

import pytest

from lab import figures
from lab.faults import RNIC_KINDS, RnicDead, SwitchDead, UplinkDead
from lab.feeder import Feeder
from lab.oracle import Oracle
from lab.rackmesh import topology
from lab.soak import POLICIES, SoakWorld
from lab.troubles import DEAR, KINDS, CannotHappen, Killed, PartedOff, Stopped
from lab.wait import until
from lab.world import GROUPED_PORT, PLAIN_PORT

pytestmark = pytest.mark.full

RACKS = {
    "tor1": ["h1", "h2", "h3", "h4"],
    "tor2": ["h1", "h5", "h6", "h7"],
    "tor3": ["h2", "h8", "h9", "h10"],
}
SECONDS, SECONDS_SOAK = 24, 3600
LONGEST_S, LONGEST_S_SOAK = 3, 8  # a trouble
FOUND_S, RESOLVED_S, TRACED_S, WRITTEN_S = 30, 60, 60, 120
LOAD = {"summary": {"interval_s": 1, "rnic_interval_s": 1}}
COUNTS = ("count", "opened")  # of records; all else are sums of what they say
FEEDERS, FEED_PER_S = 10, 5  # racks made up; summaries of each and second
# At least so much has to happen, or nothing is proved: (in any run, one in so many seconds).
LEAST_TROUBLES, LEAST_FAULTS = (4, 12), (1, 45)
LEAST_DEAR = (0, 60)  # of those whose records can be checked
LEAST_ALONE = (0, 240)  # faults with one aggregator gone
HALF = 0.5  # of the faults of RNICs: one of the two aggregators is gone meanwhile
SLOWER = 5  # a machine on which a round takes so much longer has more time for them
KINDS_SEEN, KINDS_SEEN_S = 8, 600  # all but one, in a run of so many seconds


class Fates:
    """Kinds of something in a random order, each as often as it stands in the list."""

    def __init__(self, rng, kinds):
        self._rng, self._kinds, self._deck = rng, list(kinds), []

    def next(self):
        if not self._deck:
            self._deck = self._rng.sample(self._kinds, len(self._kinds))
        return self._deck.pop()


class Soak:
    """The one who gives faults and troubles and waits for what they have to come to."""

    def __init__(self, world, oracle, feeder, rng, say, calm_s):
        self.world, self.oracle, self.feeder = world, oracle, feeder
        self.rng, self.say = rng, say
        self._longest_s = calm_s
        self._kinds = Fates(rng, KINDS)
        self._halves = Fates(rng, [Killed, Stopped, PartedOff])
        self._faults = Fates(rng, ["rnic", "rnic", "rnic", "link", "switch", "none"])
        self.troubles, self.faults = collections.Counter(), collections.Counter()
        self.plans = 0  # changes of the topology
        self.dear = 0  # troubles of those whose records can be checked
        self.alone = 0  # faults while one of the two aggregators was gone
        self.missed, self.seconds, self.told, self.idle = [], [], [], []

    # ---- one round ------------------------------------------------------------------

    def round(self):
        """Troubles and perhaps a fault; then it is found. Troubles and its end; then that
        is told."""
        self._change_plans()
        fault = self._fault()
        if fault is None:
            self._play(self._troubles())
            return
        if isinstance(fault, RnicDead) and self.rng.random() < HALF:
            self._found_by_one(fault)
        else:
            at = self._play(self._troubles() + [self._soon(lambda: self._begins(fault))])
            self._found(fault, "is found", at)
        if not fault.bit():
            self.idle.append(str(fault))
        at = self._play(self._troubles() + [self._soon(lambda: self._ends(fault))])
        self._expect(fault, "is over", RESOLVED_S,
                     lambda: all(self.oracle.resolved(fault=fault.number)), at)

    def _found(self, fault, what, since):
        self._expect(fault, what, FOUND_S, lambda: None not in self._heard(fault), since)
        self.told += [each for each in self._heard(fault) if each is not None]

    def _found_by_one(self, fault):
        """One of the two aggregators is gone before it begins, and until it is found."""
        others = set(self.world.processes()) - self.world.pair(fault.rnic.tor)
        trouble = self._halves.next()(self.world, self.rng, others)
        self._befalls(trouble)
        self._begins(fault)
        self._found(fault, f"is found without {trouble.victim}", fault.at)
        self.alone += 1
        self._heals(trouble)
        trouble.wait_well()

    def _change_plans(self):
        """etcd and the controllers have work, too: a spine has one more address."""
        content = topology(self.world.fabric)
        spine = next(s for s in content["switches"] if s["role"] == "spine")
        spine["aliases"].append(f"10.99.{self.plans // 250}.{self.plans % 250 + 1}")
        with contextlib.suppress(OSError):  # leadership may be lost just then
            self.world.lab.import_topology(content)
            self.plans += 1

    def _soon(self, action):
        return self.rng.uniform(0, 3), 0, action

    def _heard(self, fault):
        """Seconds until each sink was told."""
        return self.oracle.found(fault=fault.number)

    def _begins(self, fault):
        fault.begin()
        self.faults[fault.kind] += 1
        fault.number = self.oracle.begin(
            kind=str(fault), alertname=fault.alertname, part=fault.part, place=fault.place,
            begin=fault.at)

    def _ends(self, fault):
        fault.end()
        self.oracle.end(fault=fault.number, at=time.monotonic())

    def _expect(self, fault, what, seconds, seen, since):
        try:
            until(f"{fault} {what}", seconds, seen, [self.oracle], every=0.1)
            self.seconds.append((what, time.monotonic() - since))
        except AssertionError as error:
            self.missed.append(str(error))
            self.say(str(error))

    def _fault(self):
        lab, fabric, kind = self.world.lab, self.world.fabric, self._faults.next()
        if kind == "rnic":
            rnic = self.rng.choice(list(fabric.rnics.values()))
            return RnicDead(lab, rnic, self.rng.choice(list(RNIC_KINDS)))
        if kind == "link":
            return UplinkDead(lab, self.rng.choice(list(RACKS)), self.rng.choice(fabric.spines))
        return SwitchDead(lab, self.rng.choice(fabric.spines)) if kind == "switch" else None

    def _troubles(self):
        """[(when, order, what to do)]: one to three, of different victims."""
        plan, busy = [], set()
        for _ in range(self.rng.randint(1, 3)):
            trouble = self._kinds.next()(self.world, self.rng, busy)
            if trouble.victim is None:
                continue
            busy.add(trouble.victim)
            begins = self.rng.uniform(0, 2)
            lasts = self.rng.uniform(1, self._longest_s)
            plan.append((begins, 1, lambda t=trouble: self._befalls(t)))
            plan.append((begins + lasts, 2, lambda t=trouble: self._heals(t)))
            plan.append((begins + lasts, 3, trouble.wait_well))
        return plan

    def _befalls(self, trouble):
        self.oracle.trouble(name=str(trouble), kind=type(trouble).__name__, begins=True)
        try:
            trouble.begin()
        except CannotHappen:
            return
        self.troubles[type(trouble).__name__] += 1
        self.dear += trouble.victim in DEAR

    def _heals(self, trouble):
        trouble.heal()
        self.oracle.trouble(name=str(trouble), kind=type(trouble).__name__, begins=False)

    def _play(self, plan):
        """Does it all, each at its time; says when all was well again."""
        start = time.monotonic()
        for when, order, action in sorted(plan, key=lambda step: (step[1] == 3, step[:2])):
            self._pass(start + when - time.monotonic())
            action()
        return time.monotonic()

    def _pass(self, seconds):
        """Time passes, and the oracle is still with us."""
        if seconds > 0:
            end = time.monotonic() + seconds
            until("it is time", seconds + 5, lambda: time.monotonic() >= end,
                  [self.oracle], every=0.05)


@pytest.fixture
def stage(tmp_path):
    """(world, oracle, feeder) of so many seconds, everything running."""
    made = []

    def make(seconds):
        world = SoakWorld(
            RACKS, tmp_path, controllers=2, etcd=3, influx=True,
            analyzer={"influx": POLICIES}, aggregator=LOAD)
        made.append(world)
        centre, at = world.fabric.netns("centre"), world.fabric.management["centre"]
        oracle = world.lab.pack.add(Oracle(tmp_path, centre, at, PLAIN_PORT, GROUPED_PORT))
        oracle.start()
        world.start()
        feeder = world.lab.pack.add(Feeder(
            centre, world.lab.books_address, tmp_path, aggregators=FEEDERS,
            summaries=FEED_PER_S * seconds, rate=FEED_PER_S, incidents=seconds,
            incident_rate=1, step_ns=1_000_000_000 // FEED_PER_S,
            seconds=2 * SLOWER * seconds + WRITTEN_S))
        feeder.start()
        return world, oracle, feeder

    yield make
    for world in reversed(made):
        world.close()


def test_an_hour_of_random_faults_loses_no_record_and_names_only_faulty_parts(stage, rng, say, soak):
    seconds = int(os.environ.get("RACKMESH_SOAK_S", SECONDS_SOAK if soak else SECONDS))
    world, oracle, feeder = stage(seconds)
    world.lab.wait_traced(TRACED_S)
    oracle.watch(aggregators=[
        [each.name, each.netns, each.address, each.port]
        for each in world.lab.every_aggregator()])
    run = Soak(world, oracle, feeder, rng, say, LONGEST_S_SOAK if soak else LONGEST_S)
    began = time.monotonic()
    for number in itertools.count(1):
        run.round()
        took = time.monotonic() - began
        enough = (run.troubles.total() >= least(LEAST_TROUBLES, seconds)
                  and run.faults.total() >= least(LEAST_FAULTS, seconds))
        if took >= seconds and (enough or took >= SLOWER * seconds):
            break
        if number % 20 == 0:
            say(f"{number} rounds, {time.monotonic() - began:.0f} s")
    judged(run, world, say, seconds, took)
    assert run.troubles.total() >= least(LEAST_TROUBLES, seconds)
    assert run.faults.total() >= least(LEAST_FAULTS, seconds)
    assert len(run.troubles) >= KINDS_SEEN or seconds < KINDS_SEEN_S


def least(figure, seconds):
    return max(figure[0], int(seconds) // figure[1])


def waiting(analyzer):
    return analyzer.metrics().sum("rackmesh_analyzer_history_waiting_records")


def compared(difference):
    """(lost, invented, altered): records too few, too many, and sums that are wrong although
    the number of records is right."""
    counts = [each[key] for each in difference.values() for key in each if key in COUNTS]
    sums = [
        each[key]
        for each in difference.values()
        for key in each
        if key not in COUNTS and each["count"] == 0
    ]
    few, many = sum(n for n in counts if n < 0), sum(n for n in counts if n > 0)
    return -few, many, sum(map(bool, sums))


def table(run, say, took):
    kinds = ", ".join(f"{n} {kind}" for kind, n in run.troubles.most_common())
    faults = ", ".join(f"{n} {kind}" for kind, n in run.faults.most_common())
    say(f"{took:.0f} s: {run.troubles.total()} troubles ({kinds})")
    say(f"faults: {run.faults.total()} ({faults}), missed {len(run.missed)}")
    for what in ("is found", "is found without", "is over"):
        seconds = [s for word, s in run.seconds if word.split(" agg")[0] == what]
        if seconds:
            say(figures.line(f"fault {what}, after trouble", seconds))
    if run.told:
        say(figures.line("fault told, from its first moment", run.told))


def judged(run, world, say, seconds, took):
    """What the oracle has seen, as a table; fails where it is not as promised."""
    oracle, lab = run.oracle, world.lab
    expected = run.feeder.wait_finished(WRITTEN_S)
    for analyzer in (lab.books, lab.analyzer):
        until(f"{analyzer.name} has written all", WRITTEN_S, lambda: waiting(analyzer) == 0,
              [analyzer], every=0.2)
    database = [world.influx.netns, world.influx.address, world.influx.port]
    difference = oracle.books(database=database, expected=expected)
    told, lost, strange, old = oracle.incidents(database=database)
    looks, wrong, volatile = oracle.accounts()
    heard, alerts = oracle.told()
    false, twice = oracle.false(), oracle.twice()
    counts = compared(difference)
    table(run, say, took)
    say(f"accused without a reason: {len(false)}; notifications {heard}, firing: {alerts};"
        f" {run.alone} faults with one aggregator gone, {len(twice)} told of twice")
    say(f"{expected['points']:,} points acknowledged: {counts[0]} lost, {counts[1]} invented,"
        f" {counts[2]} altered; {run.dear} troubles of their way, {expected['reconnects']}"
        " connections lost")
    say(f"{run.plans} new plans;"
        f" {told} incidents told of: {len(lost)} lost, {len(strange)} invented, {old} of a"
        " clock too far back for the database")
    totals = lab.totals()
    say(f"{looks} looks at accounts: {len(wrong)} wrong, {volatile} not durable;"
        f" {totals['sent']:,.0f} probes since the agents' last starts")
    assert not run.missed
    assert not run.idle, f"never hurt anybody: {run.idle}"
    assert not false, false
    assert not twice, twice
    assert not any(counts), difference
    assert not lost and not strange, (lost, strange)
    assert not wrong, wrong
    assert looks >= took and totals["sent"] > 1000 and told >= run.faults.total()
    assert expected["points"] > 100 * seconds
    assert run.plans > 0
    assert run.dear >= least(LEAST_DEAR, took)
    assert run.alone >= least(LEAST_ALONE, took)
