"""A catalogue of faults with the truth of each, and how each is reported. On virtual time. It
takes long, so it only runs with tests/roce-lab/run.py --clock virtual verdicts-catalogue and in
./dev test --full."""

import dataclasses
import time

import pytest

from lab.faults import (
    AgentFrozen,
    AgentKilled,
    AgentMostlyStill,
    AgentStutters,
    ClassRewritten,
    FlowsBlackholed,
    HostGone,
    ManagementLossy,
    PairSwallowed,
    ProbesBlocked,
    RnicDead,
    RnicLossy,
    RnicMtu,
    RnicOnAndOff,
    SpineLate,
    SwitchDead,
    SwitchLossy,
    UplinkDead,
    UplinkLossy,
    management_late,
    rnic_late,
    uplink_late,
)
from lab.grade import GRADES, grade
from lab.stalls import PATTERNS, Pattern
from lab.story import AGGREGATOR_FLAPPING, FLAPPING
from lab.wait import Overdue, until
from lab.world import World

pytestmark = pytest.mark.virtual

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h1", "h5", "h6"], "tor3": ["h6", "h7"]}
TRACED_S = 60
STAYS_S = 4  # after all are named, later alerts are still received for so long
QUIET_S = 15  # for faults that must not be reported
ENDS_S = 240  # a minute of marks, reported in a summary of a minute
BITES_S = 30
PAUSE_S = 2

STUTTER = Pattern(0.7, 0.3, 0)


@dataclasses.dataclass(frozen=True)
class Case:
    faults: callable  # makes the faults of a world that must be named
    within_s: float = QUIET_S
    beside: callable = lambda world: []  # makes the faults that must not be reported
    grade: str = "right"  # or the best grade that is reached so far
    innocents: int = 0  # number of other parts that are named
    delays: bool = False  # needs a kernel with netem


def rnics(world, kind, *names):
    return [RnicDead(world.lab, world.rnic(name), kind) for name in names]


CASES = {
    "an RNIC dead, of a rack of four": Case(lambda w: rnics(w, "rnic-down", "h3/r0"), 2),
    "an RNIC that cannot send, of three": Case(lambda w: rnics(w, "rnic-send-dead", "h5/r0"), 2),
    "an RNIC that cannot receive, in a rack of two": Case(
        lambda w: rnics(w, "rnic-receive-dead", "h7/r0"), 2
    ),
    "a host's firewall drops all probes": Case(lambda w: [ProbesBlocked(w.lab, w.rnic("h4/r0"))], 3),
    "two RNICs dead, in two racks": Case(lambda w: rnics(w, "rnic-down", "h2/r0", "h5/r0"), 4),
    "two RNICs dead, of a rack of four": Case(lambda w: rnics(w, "rnic-down", "h2/r0", "h4/r0"), 4),
    # The verdict names the ToR, and adds "or both of its RNICs are dead": no probe distinguishes
    # the two.
    "both RNICs dead, in a rack of two": Case(
        lambda w: rnics(w, "rnic-down", "h6/r1", "h7/r0"), 6, grade="missed", innocents=1
    ),
    "an RNIC and a spine dead": Case(
        lambda w: [*rnics(w, "rnic-down", "h3/r0"), SwitchDead(w.lab, "spine1")], 8
    ),
    "an RNIC loses 3 %": Case(lambda w: [RnicLossy(w.lab, w.rnic("h4/r0"), 3, "send")], 20),
    "an RNIC loses 10 %": Case(lambda w: [RnicLossy(w.lab, w.rnic("h2/r0"), 10, "receive")], 8),
    "an RNIC loses 30 %, in a rack of two": Case(
        lambda w: [RnicLossy(w.lab, w.rnic("h7/r0"), 30, "both")], 6
    ),
    "an RNIC loses large packets": Case(
        lambda w: [RnicMtu(w.lab, w.rnic("h3/r0"), 1000, "send")], 3
    ),
    "an RNIC dead for 0.5 s of every 2.5 s": Case(
        lambda w: [RnicOnAndOff(w.lab, w.rnic("h3/r0"), 0.5, 2)], 20
    ),
    "an RNIC dead for 2 s of every 5 s": Case(lambda w: [RnicOnAndOff(w.lab, w.rnic("h3/r0"), 2, 3)], 6),
    "an RNIC is late by 400 ms": Case(
        lambda w: [rnic_late(w.lab, w.rnic("h3/r0"), 400)], 4, delays=True
    ),
    "an RNIC is late by 1.5 s": Case(
        lambda w: [rnic_late(w.lab, w.rnic("h3/r0"), 1500)], 6, delays=True
    ),
    "an agent killed": Case(lambda w: [AgentKilled(w.lab, "h7")], 2),
    "an agent frozen": Case(lambda w: [AgentFrozen(w.lab, "h4")], 3),
    "a host gone": Case(lambda w: [HostGone(w.lab, "h5")], 3),
    "an agent stops for 1.5 s of every 1.8 s": Case(lambda w: [AgentMostlyStill(w.lab, "h3")], 15),
    "an agent stops for moments too short to lose a reply": Case(
        lambda w: [], beside=lambda w: [AgentStutters(w.lab, ["h3"], STUTTER)]
    ),
    "an RNIC dead, its agent stops for such moments": Case(
        lambda w: rnics(w, "rnic-down", "h3/r0"),
        10,
        lambda w: [AgentStutters(w.lab, ["h3"], STUTTER)],
    ),
    "an RNIC dead, all agents stop now and then": Case(
        lambda w: rnics(w, "rnic-down", "h3/r0"),
        10,
        lambda w: [AgentStutters(w.lab, list(w.lab.agents), PATTERNS["now-and-then"])],
    ),
    "a management network loses 30 %": Case(
        lambda w: [], beside=lambda w: [ManagementLossy(w.lab, "h3", 30)]
    ),
    "a management network is late by a second": Case(
        lambda w: [],
        beside=lambda w: [management_late(w.lab, "h3", 1000)],
        delays=True,
    ),
    "a ToR dead": Case(lambda w: [SwitchDead(w.lab, "tor3")], 6),
    "a spine dead": Case(lambda w: [SwitchDead(w.lab, "spine1")], 6),
    "a spine loses 10 %": Case(lambda w: [SwitchLossy(w.lab, "spine2", 10)], 20),
    "a spine loses 30 %": Case(lambda w: [SwitchLossy(w.lab, "spine1", 30)], 12),
    "an uplink dead": Case(lambda w: [UplinkDead(w.lab, "tor1", "spine2")], 6),
    "an uplink dead in the direction down": Case(
        lambda w: [UplinkDead(w.lab, "tor2", "spine1", up=False)], 6
    ),
    "an uplink loses 5 %": Case(lambda w: [UplinkLossy(w.lab, "tor1", "spine1", 5)], 40),
    "an uplink loses 20 % in the direction up": Case(
        lambda w: [UplinkLossy(w.lab, "tor2", "spine2", 20, down=False)], 20
    ),
    "an uplink is late by 400 ms in the direction up": Case(
        lambda w: [uplink_late(w.lab, "tor1", "spine2", 400)], 10, delays=True
    ),
    "an uplink is late by 1.5 s in the direction up": Case(
        lambda w: [uplink_late(w.lab, "tor2", "spine1", 1500)], 12, delays=True
    ),
    "a spine is late by 400 ms": Case(
        lambda w: [SpineLate(w.lab, "spine1", 400)], 12, delays=True
    ),
    "a link drops every second flow": Case(
        lambda w: [FlowsBlackholed(w.lab, "spine1", "tor1", 2, 7)], 8
    ),
    "a spine drops every third flow": Case(
        lambda w: [FlowsBlackholed(w.lab, "spine2", None, 3, 7)], 8
    ),
    "a spine drops the packets of one pair of racks": Case(
        lambda w: [PairSwallowed(w.lab, "spine1", "tor1", "tor2")], 10
    ),
    "a class rewritten": Case(lambda w: [ClassRewritten(w.lab, "tor1")], 90),
}


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("catalogue")
    with World(RACKS, folder, alertmanager=False, analyzer=FLAPPING, aggregator=AGGREGATOR_FLAPPING) as world:
        world.start().lab.wait_traced(TRACED_S)
        yield world


def open_alerts(region, since):
    """Label sets of the firing alerts."""
    last = {}
    for each in region.plain.since(since):
        last[tuple(sorted(each.labels.items()))] = each.status
    return [labels for labels, status in last.items() if status == "firing"]


def wait_named(region, faults, mark, seconds):
    def named(alert):
        reported = [each for each in region.plain.since(mark) if each.status == "firing"]
        return all(any(map(fault.names, reported)) for fault in faults)

    try:
        region.plain.wait_for(named, seconds, mark, "all of them")
    except Overdue:
        pass  # the grade shows it


def listen(region, seconds):
    over = time.monotonic() + seconds
    until("later notifications have arrived", 2 * seconds, lambda: time.monotonic() >= over, every=0.1)


@pytest.mark.parametrize("what", CASES)
def test_a_fault_gets_its_kind_and_no_other_part_is_named(region, rng, print_line, what):
    case, mark = CASES[what], region.plain.mark()
    if case.delays and not region.fabric.can_delay():
        pytest.skip("this kernel has no netem")
    faults, beside = case.faults(region), case.beside(region)
    listen(region, PAUSE_S + rng.uniform(0, 1))
    begun = []
    try:
        for fault in [*beside, *faults]:
            begun.append((fault, fault.begin()))
        at = begun[-1][1]
        if faults:
            wait_named(region, faults, mark, 2 * case.within_s + 5)
            listen(region, STAYS_S)
        else:
            listen(region, QUIET_S)
        for fault in [*beside, *faults]:
            until(f"{fault} hurts somebody", BITES_S, fault.bit, every=0.1)
    finally:
        for fault, _ in reversed(begun):
            fault.end()
    until("all that was reported has ended", ENDS_S, lambda: not open_alerts(region, mark), every=0.2)
    reported = region.plain.since(mark)
    result = grade(faults, reported, at, case.within_s)
    print_line(f"{what}: {result.row()}")
    for each in dict.fromkeys(f"{arrival.part}: {arrival.annotations['summary']}"[:160]
                              for arrival in reported if arrival.status == "firing"):
        print_line(f"  {each}")
    assert len(result.innocents) <= case.innocents, result
    assert GRADES.index(result.name) <= GRADES.index(case.grade), result
