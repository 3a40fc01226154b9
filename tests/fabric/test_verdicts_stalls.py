"""A machine that stands still with all its daemons blames no part of the fabric, and once it
runs again, a dead RNIC is named as usual. On virtual time."""

import pytest

from lab.faults import RnicDead
from lab.oracle import VERDICTS
from lab.stalls import PATTERNS, of_world
from lab.story import AGGREGATOR_FLAPPING, FLAPPING, run_fault
from lab.wait import until
from lab.world import World

pytestmark = pytest.mark.virtual

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h3", "h4"]}
LASTS_S = 11
FEWEST = {"often": 20, "now-and-then": 2, "once": 1}
SETTLES_S = 20
DEAD_S = 2.0


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stalls")
    with World(RACKS, folder, alertmanager=False, analyzer=FLAPPING, aggregator=AGGREGATOR_FLAPPING) as world:
        yield world.start()


@pytest.mark.parametrize("name", PATTERNS)
def test_stalls_name_no_part_and_a_later_fault_is_named(region, rng, print_line, name):
    mark = region.mark()
    with of_world(region, PATTERNS[name]) as stalls:
        lasts_s = LASTS_S + PATTERNS[name].still_s
        region.plain.silence(lasts_s, mark[0], lambda alert: alert.alertname not in VERDICTS)
    arrivals = [str(each) for each in region.plain.since(mark[0])]
    assert stalls.times >= FEWEST[name]

    region.lab.wait_probing()
    until("all that was reported has ended", SETTLES_S, lambda: not open_alerts(region), every=0.2)
    reported = run_fault(region, RnicDead(region.lab, region.rnic("h4/r0")), rng, fires_s=DEAD_S)
    print_line(
        f"{name}: stalled {stalls.times} times; {len(arrivals)} notifications of agents and"
        f" aggregators; afterwards a dead RNIC is reported within {reported.plain:.2f} s"
    )


def open_alerts(region):
    """Label sets of the firing alerts."""
    last = {}
    for each in region.plain.since(0):
        last[tuple(sorted(each.labels.items()))] = each.status
    return [labels for labels, status in last.items() if status == "firing"]
