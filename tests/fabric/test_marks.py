"""The DSCP and ECN marks with which probes arrive: a class that the network rewrites is named,
and its probes do not count as lost."""

import pytest

from lab.faults import ClassRewritten
from lab.innocents import accused
from lab.wait import PATIENCE_S, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2"], "tor2": ["h3", "h4"], "tor3": ["h5", "h6"]}
OFTEN = {"summary": {"interval_s": 2, "rnic_interval_s": 10}}
ROCE, BULK = 26, 8


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marks")
    with World(RACKS, folder, alertmanager=False, analyzer={}, aggregator=OFTEN) as world:
        world.start()
        yield world


def pairs(region):
    """{(from, to): (arrived, rewritten, congested)} of the last hour's rows, in class ROCE."""
    names = "src_tor,dst_tor,arrived,rewritten,congested,arrived_dscp"
    answer = region.lab.analyzer.get(
        f"/v1/history/rm_tor_pair?dscp={ROCE}&columns={names}&limit=10000", 20).json
    found = {}
    for row in (dict(zip(answer["columns"], row)) for row in answer["rows"]):
        if row["arrived"] is None:
            continue
        each = found.setdefault((row["src_tor"], row["dst_tor"]), [0, 0, 0])
        for i, name in enumerate(("arrived", "rewritten", "congested")):
            each[i] += row[name]
        if row["rewritten"]:
            assert row["arrived_dscp"] == BULK
    return found


def test_a_rewritten_class_is_reported_with_its_place_and_not_as_loss(region, print_line):
    until("all pairs have the DSCP and ECN of arrivals", PATIENCE_S,
          lambda: len(pairs(region)) == len(RACKS) ** 2, [region.lab.analyzer], every=0.5)
    assert not any(rewritten for _, rewritten, _ in pairs(region).values())
    fault, mark = ClassRewritten(region.lab, "tor1", ROCE, BULK), region.plain.mark()
    at = fault.begin()
    try:
        reported = region.plain.wait_for(fault.fires, 2 * PATIENCE_S, mark, f"{fault}")
        assert fault.bit()
        assert reported.labels["severity"] == "warning"
        assert f"({BULK} in the last one)" in reported.annotations["summary"], reported.annotations
        for (src, dst), (arrived, rewritten, _) in pairs(region).items():
            assert (rewritten > 0) == (src == "tor1" != dst), (src, dst, arrived, rewritten)
        assert not accused(region.plain.since(mark), at, fault.names), "nobody else is at fault"
        print_line(f"{fault}: reported after {reported.at - at:.0f} s")
    finally:
        fault.end()


def marked_paths(region):
    """[(path, arrived, congested)] of the last hour's rows of paths."""
    names = ["path", "arrived", "congested"]
    answer = region.lab.analyzer.get(
        f"/v1/history/rm_path?columns={','.join(names)}&limit=10000", 20).json
    rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
    return [tuple(row[name] for name in names) for row in rows if row["congested"]]


def test_congestion_marks_are_counted_for_the_path_on_which_they_were_set(region, print_line):
    fabric, spine = region.lab.fabric, region.lab.fabric.spines[0]
    fabric.mark_congestion(spine)
    try:
        until("rows of its paths have marks", PATIENCE_S,
              lambda: [path for path, _, _ in marked_paths(region) if spine in path],
              [region.lab.analyzer], every=0.5)
    finally:
        fabric.heal_congestion(spine)
    found = marked_paths(region)
    print_line(f"{spine} set {sum(row[2] for row in found)} marks of {sum(row[1] for row in found)} arrivals")
    for path, arrived, congested in found:
        assert 0 < congested <= arrived
        assert spine in path or path in ("", "*"), (path, arrived, congested)
