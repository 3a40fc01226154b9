"""Two aggregators of a ToR: one is killed in the middle of a fault, the other one takes over
within seconds, and the fault stays one alert. On virtual time."""

import itertools
import time

import pytest

from lab.faults import RnicDead
from lab.innocents import accused
from lab.pairs import PairWorld, second_of
from lab.rackmesh import aggregator_of
from lab.story import run_fault
from lab.wait import in_time, until

pytestmark = pytest.mark.virtual

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
DEAD_S = 2.0
TAKES_OVER_S = 5.0  # after 3 s of silence on their link
SEES_S = 30


@pytest.fixture
def pair(tmp_path):
    with PairWorld(RACKS, tmp_path, alertmanager=False) as world:
        yield world.start()


def is_active(world, name):
    return world.lab.active_aggregators("tor1") == [name]


def reported(world, fault, mark):
    """The states of the fault at a receiver, without repetitions; and its label sets."""
    every = [each for each in world.plain.since(mark[0]) if fault.names(each)]
    states = [state for state, _ in itertools.groupby(each.status for each in every)]
    return states, {tuple(sorted(each.labels.items())) for each in every}


def test_the_standby_takes_over_and_the_fault_stays_one_alert(pair, rng, print_line):
    first, second = aggregator_of("tor1"), second_of("tor1")
    until("the first one is active", SEES_S, lambda: is_active(pair, first))
    mark, began = pair.mark(), time.monotonic()
    fault = RnicDead(pair.lab, pair.rnic("h3/r0"))
    fault.begin()
    alert = pair.plain.wait_for(fault.fires, SEES_S, mark[0], str(fault))
    in_time(str(fault), alert.at - fault.at, DEAD_S)

    killed = time.monotonic()
    pair.lab.aggregators["tor1"].kill()
    until("the second one is active", SEES_S, lambda: is_active(pair, second))
    took = time.monotonic() - killed
    in_time("the second one is active", took, TAKES_OVER_S)
    fault.end()
    pair.plain.wait_for(fault.resolves, SEES_S, mark[0], f"the end of {fault}")

    states, labels = reported(pair, fault, mark)
    print_line(f"reported after {alert.at - fault.at:.2f} s; taken over after {took:.2f} s; {states}")
    assert states == ["firing", "resolved"]
    assert len(labels) == 1
    others = accused(pair.plain.since(mark[0]), began, fault.names)
    assert not [each for each in others if first not in each], others

    another = run_fault(pair, RnicDead(pair.lab, pair.rnic("h1/r0")), rng, fires_s=DEAD_S)
    print_line(f"the second one alone: a dead RNIC is reported after {another.plain:.2f} s")
    pair.lab.aggregators["tor1"].start()
    until("the first one is active again", SEES_S, lambda: is_active(pair, first))
