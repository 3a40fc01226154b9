"""How lab/grade.py grades alerts."""

import pytest

from lab.faults import Fault
from lab.grade import grade
from lab.sinks import Arrival

DEAD = Fault("rnic-down", "RackmeshRnic", "h1/r0", "tor1")


def arrival(at, part="h1/r0", kind="rnic-down", status="firing", place="tor1", incident="i1"):
    labels = {"alertname": "RackmeshRnic", "part": part, "place": place}
    return Arrival(at, status, labels, {"kind": kind, "incident": incident, "summary": ""})


@pytest.mark.parametrize(
    ("reported", "name", "innocents"),
    [
        ([arrival(11)], "right", 0),
        ([arrival(13)], "late", 0),
        ([arrival(11, "h1/r0 or h2/r0")], "vague", 0),
        ([arrival(11, "h2/r0")], "missed", 1),
        ([arrival(11, kind="rnic-lossy")], "wrong", 0),
        ([arrival(11, kind="rnic-lossy"), arrival(12)], "right", 0),
        ([arrival(11), arrival(11, "h2/r0")], "right", 1),
        ([], "missed", 0),
    ],
)
def test_the_alerts_of_a_fault_are_graded(reported, name, innocents):
    result = grade([DEAD], reported, 10, 2)
    assert (result.name, len(result.innocents)) == (name, innocents)


def test_each_incident_of_a_fault_is_counted_and_the_worst_of_several_counts():
    other = Fault("rnic-down", "RackmeshRnic", "h2/r0", "tor1")
    reported = [arrival(11), arrival(12), arrival(14, incident="i2"), arrival(13, "h2/r0")]
    result = grade([DEAD, other], reported, 10, 2)
    assert (result.name, result.seconds, result.alerts) == ("late", 3, 2)


def test_without_a_fault_every_named_part_is_innocent():
    assert grade([], [], 10, 2).name == "right"
    assert len(grade([], [arrival(11)], 10, 2).innocents) == 1
