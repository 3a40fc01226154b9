"""An hour of random troubles, and what must be true in it. In `./dev test --full` half a minute.

Everything runs as in a deployment: racks with two aggregators each, two controllers on three
members of etcd, an analyzer, InfluxDB, Alertmanager, mutual TLS. In rounds, at random moments,
daemons and engines are killed, stopped, disconnected, or lose their disk, or their clock jumps,
while parts of the fabric fail and are repaired. The oracle is a process of its own
(lab/oracle.py).

The test proves:
- for every fault there is an alert on the right part, at the webhook and through Alertmanager,
  within FOUND_S after all troubles have ended; and its end is reported, too;
- a fault of an RNIC is also found while one of its ToR's two aggregators is gone, and
  Alertmanager never sends two alerts for one fault of an RNIC;
- there is no alert on an RNIC, ToR, link, switch or path without a fault;
- the records that the second analyzer ("books") has acknowledged to a feeder are in InfluxDB:
  none is lost, invented or altered. What they contain follows from their numbers alone;
- every incident of which any notification was sent is in InfluxDB;
- the accounts of an aggregator add up whenever it is asked for them.

Not tested here: losses of the disk itself (see tests/crash), and jumps of the agents' clocks, as
the kernel's time stamps would not jump, too. A daemon without its disk keeps in memory what it
has acknowledged: it is not killed before the disk is back, because two failures at the same time
are not covered."""

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
from lab.story import AGGREGATOR_FLAPPING, FLAPPING
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
COUNTS = ("count", "opened")  # numbers of records; all other figures are sums over their fields
FEEDERS, FEED_PER_S = 10, 5  # invented racks; summaries per second of each
# If less than this happens, the test proves nothing: (at least, in any run; one in this many
# seconds).
LEAST_TROUBLES, LEAST_FAULTS = (4, 12), (1, 45)
LEAST_DEAR = (0, 60)  # troubles of daemons whose records can be checked
LEAST_ALONE = (0, 240)  # faults with one aggregator gone
HALF = 0.5  # share of the faults of RNICs during which one of the two aggregators is gone
SLOWER = 5  # a machine on which a round takes up to this many times as long gets more time for the counts above
KINDS_SEEN, KINDS_SEEN_S = 8, 600  # all kinds but one, in a run of at least this many seconds


class Fates:
    """Returns kinds in a random order, each as often as it is in the list; then begins anew."""

    def __init__(self, rng, kinds):
        self._rng, self._kinds, self._deck = rng, list(kinds), []

    def next(self):
        if not self._deck:
            self._deck = self._rng.sample(self._kinds, len(self._kinds))
        return self._deck.pop()


class Soak:
    """Causes faults and troubles, and waits for the alerts that must follow."""

    def __init__(self, world, oracle, feeder, rng, print_line, quiet_s):
        self.world, self.oracle, self.feeder = world, oracle, feeder
        self.rng, self.print_line = rng, print_line
        self._longest_s = quiet_s
        self._kinds = Fates(rng, KINDS)
        self._halves = Fates(rng, [Killed, Stopped, PartedOff])
        self._faults = Fates(rng, ["rnic", "rnic", "rnic", "link", "switch", "none"])
        self.troubles, self.faults = collections.Counter(), collections.Counter()
        self.plans = 0  # changes of the topology
        self.dear = 0  # troubles of daemons whose records can be checked
        self.alone = 0  # faults while one of the two aggregators was gone
        self.missed, self.seconds, self.reported, self.idle = [], [], [], []

    # ---- one round ------------------------------------------------------------------

    def round(self):
        """Troubles, and perhaps a fault, until it is found; then troubles and the end of the
        fault, until that is reported."""
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
        self._expect(fault, what, FOUND_S, lambda: None not in self._seconds_to_alerts(fault), since)
        self.reported += [each for each in self._seconds_to_alerts(fault) if each is not None]

    def _found_by_one(self, fault):
        """One of the two aggregators is gone from before the fault until it is found."""
        others = set(self.world.processes()) - self.world.pair(fault.rnic.tor)
        trouble = self._halves.next()(self.world, self.rng, others)
        self._befalls(trouble)
        self._begins(fault)
        self._found(fault, f"is found without {trouble.victim}", fault.at)
        self.alone += 1
        self._heals(trouble)
        trouble.wait_well()

    def _change_plans(self):
        """Gives a spine one more address, so that etcd and the controllers have work, too."""
        content = topology(self.world.fabric)
        spine = next(s for s in content["switches"] if s["role"] == "spine")
        spine["aliases"].append(f"10.99.{self.plans // 250}.{self.plans % 250 + 1}")
        with contextlib.suppress(OSError):  # leadership may be lost just then
            self.world.lab.import_topology(content)
            self.plans += 1

    def _soon(self, action):
        return self.rng.uniform(0, 3), 0, action

    def _seconds_to_alerts(self, fault):
        """Returns the seconds until the alert arrived at each sink."""
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
            self.print_line(str(error))

    def _fault(self):
        lab, fabric, kind = self.world.lab, self.world.fabric, self._faults.next()
        if kind == "rnic":
            rnic = self.rng.choice(list(fabric.rnics.values()))
            return RnicDead(lab, rnic, self.rng.choice(list(RNIC_KINDS)))
        if kind == "link":
            return UplinkDead(lab, self.rng.choice(list(RACKS)), self.rng.choice(fabric.spines))
        return SwitchDead(lab, self.rng.choice(fabric.spines)) if kind == "switch" else None

    def _troubles(self):
        """[(when, order, action)]: one to three troubles of different victims."""
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
        """Runs all actions, each at its time; returns when all troubles had ended."""
        start = time.monotonic()
        for when, order, action in sorted(plan, key=lambda step: (step[1] == 3, step[:2])):
            self._pass(start + when - time.monotonic())
            action()
        return time.monotonic()

    def _pass(self, seconds):
        """Waits, and checks that the oracle still runs."""
        if seconds > 0:
            end = time.monotonic() + seconds
            until("it is time", seconds + 5, lambda: time.monotonic() >= end,
                  [self.oracle], every=0.05)


@pytest.fixture
def stage(tmp_path):
    """(world, oracle, feeder), all running."""
    made = []

    def make(seconds):
        world = SoakWorld(
            RACKS, tmp_path, controllers=2, etcd=3, influx=True,
            analyzer={"influx": POLICIES, **FLAPPING}, aggregator={**LOAD, **AGGREGATOR_FLAPPING})
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


def test_an_hour_of_random_faults_loses_no_record_and_names_only_faulty_parts(stage, rng, print_line, soak):
    seconds = int(os.environ.get("RACKMESH_SOAK_S", SECONDS_SOAK if soak else SECONDS))
    world, oracle, feeder = stage(seconds)
    world.lab.wait_traced(TRACED_S)
    oracle.watch(aggregators=[
        [each.name, each.netns, each.address, each.port]
        for each in world.lab.every_aggregator()])
    run = Soak(world, oracle, feeder, rng, print_line, LONGEST_S_SOAK if soak else LONGEST_S)
    began = time.monotonic()
    for number in itertools.count(1):
        run.round()
        took = time.monotonic() - began
        enough = (run.troubles.total() >= least(LEAST_TROUBLES, seconds)
                  and run.faults.total() >= least(LEAST_FAULTS, seconds))
        if took >= seconds and (enough or took >= SLOWER * seconds):
            break
        if number % 20 == 0:
            print_line(f"{number} rounds, {time.monotonic() - began:.0f} s")
    judged(run, world, print_line, seconds, took)
    assert run.troubles.total() >= least(LEAST_TROUBLES, seconds)
    assert run.faults.total() >= least(LEAST_FAULTS, seconds)
    assert len(run.troubles) >= KINDS_SEEN or seconds < KINDS_SEEN_S


def least(figure, seconds):
    return max(figure[0], int(seconds) // figure[1])


def waiting(analyzer):
    return analyzer.metrics().sum("rackmesh_analyzer_history_waiting_records")


def compared(difference):
    """(lost, invented, altered): the number of missing records, of superfluous ones, and of sums
    that are wrong although the number of records is right."""
    counts = [each[key] for each in difference.values() for key in each if key in COUNTS]
    sums = [
        each[key]
        for each in difference.values()
        for key in each
        if key not in COUNTS and each["count"] == 0
    ]
    few, many = sum(n for n in counts if n < 0), sum(n for n in counts if n > 0)
    return -few, many, sum(map(bool, sums))


def table(run, print_line, took):
    kinds = ", ".join(f"{n} {kind}" for kind, n in run.troubles.most_common())
    faults = ", ".join(f"{n} {kind}" for kind, n in run.faults.most_common())
    print_line(f"{took:.0f} s: {run.troubles.total()} troubles ({kinds})")
    print_line(f"faults: {run.faults.total()} ({faults}), missed {len(run.missed)}")
    for what in ("is found", "is found without", "is over"):
        seconds = [s for word, s in run.seconds if word.split(" agg")[0] == what]
        if seconds:
            print_line(figures.line(f"fault {what}, after trouble", seconds))
    if run.reported:
        print_line(figures.line("fault reported, from its first moment", run.reported))


def judged(run, world, print_line, seconds, took):
    """Prints as a table what the oracle has seen; fails if the rules above are broken."""
    oracle, lab = run.oracle, world.lab
    expected = run.feeder.wait_finished(WRITTEN_S)
    for analyzer in (lab.books, lab.analyzer):
        until(f"{analyzer.name} has written all", WRITTEN_S, lambda: waiting(analyzer) == 0,
              [analyzer], every=0.2)
    database = [world.influx.netns, world.influx.address, world.influx.port]
    difference = oracle.books(database=database, expected=expected)
    reported, lost, strange, old = oracle.incidents(database=database)
    looks, wrong, volatile = oracle.accounts()
    heard, alerts = oracle.reported()
    false, twice = oracle.false(), oracle.twice()
    counts = compared(difference)
    table(run, print_line, took)
    print_line(f"accused without a reason: {len(false)}; notifications {heard}, firing: {alerts};"
        f" {run.alone} faults with one aggregator gone, {len(twice)} reported twice")
    print_line(f"{expected['points']:,} points acknowledged: {counts[0]} lost, {counts[1]} invented,"
        f" {counts[2]} altered; {run.dear} troubles of their way, {expected['reconnects']}"
        " connections lost")
    print_line(f"{run.plans} new plans;"
        f" {reported} incidents reported: {len(lost)} lost, {len(strange)} invented, {old} of a"
        " clock too far back for the database")
    totals = lab.totals()
    print_line(f"{looks} looks at accounts: {len(wrong)} wrong, {volatile} not durable;"
        f" {totals['sent']:,.0f} probes since the agents' last starts")
    assert not run.missed
    assert not run.idle, f"never hurt anybody: {run.idle}"
    assert not false, false
    assert not twice, twice
    assert not any(counts), difference
    assert not lost and not strange, (lost, strange)
    assert not wrong, wrong
    assert looks >= took and totals["sent"] > 1000 and reported >= run.faults.total()
    assert expected["points"] > 100 * seconds
    assert run.plans > 0
    assert run.dear >= least(LEAST_DEAR, took)
    assert run.alone >= least(LEAST_ALONE, took)
