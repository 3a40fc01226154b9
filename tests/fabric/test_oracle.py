"""The oracle of the hour of random faults finds errors: else it would prove nothing that it
reports none."""

import pytest

from lab import oracle
from lab.http import Metrics
from lab.sinks import Arrival

NAME = "rackmesh_aggregator_"
ACCOUNT = """\
{n}results_taken_total 10
{n}results_windowed_total {windowed}
{n}results_late_total 1
{n}results_invalid_total 0
{n}results_duplicate_total 0
"""
LANE = """\
{n}lane_in_total{{lane="{lane}"}} 7
{n}lane_delivered_total{{lane="{lane}"}} {delivered}
{n}lane_spooled{{lane="{lane}"}} 2
{n}lane_dropped_total{{lane="{lane}",reason="full"}} 1
{n}spool_durable{{lane="{lane}"}} {durable}
"""


class FilledSink:
    """A sink that has received these notifications."""

    def __init__(self, *arrivals):
        self.arrivals = list(arrivals)

    def since(self, mark):
        return self.arrivals[mark:]


def arrival(at, part, status="firing", place="tor1", which="1"):
    labels = {"alertname": "RackmeshRnic", "part": part, "place": place}
    return Arrival(at, status, labels, {"summary": "it is dead", "incident": which})


def judge_of(folder, *arrivals):
    judge = oracle.Judge(folder / "journal", [FilledSink(*arrivals)])
    fault = judge.begin(
        kind="rnic-down", alertname="RackmeshRnic", part="h1/r0", place="tor1", begin=10.0
    )
    return judge, fault


def test_an_alert_on_another_part_is_false(tmp_path):
    judge, fault = judge_of(tmp_path, arrival(9, "h1/r0"), arrival(11, "h1/r0"), arrival(12, "h2/r0"),
                            arrival(13, "h1/r0", place="tor2"))
    assert judge.found(fault) == [1.0]
    assert len(judge.false()) == 2  # one was before the fault or in another place, the other one is on another part
    assert sum(int(each.split()[0]) for each in judge.false()) == 3


def test_an_alert_long_after_the_end_of_the_fault_is_false(tmp_path):
    late = 20 + oracle.LINGER_S
    judge, fault = judge_of(tmp_path, arrival(11, "h1/r0"), arrival(21, "h1/r0", "resolved"))
    judge.end(fault=fault, at=20.0)
    assert judge.resolved(fault) == [True]
    assert not judge.false()
    judge, fault = judge_of(tmp_path, arrival(11, "h1/r0"), arrival(late + 1, "h1/r0"))
    judge.end(fault=fault, at=20.0)
    assert judge.resolved(fault) == [False]
    assert judge.false()


def test_a_missing_or_additional_record_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(oracle, "stored", lambda _: {"rm_rack": {"count": 9, "taken": 101}})
    judge, _ = judge_of(tmp_path)
    expected = {"rm_rack": {"count": 10, "taken": 100}}
    database = ["nowhere", "127.0.0.1", 1]
    assert judge.books(database, expected) == {"rm_rack": {"count": -1, "taken": 1}}


def test_an_incident_that_the_database_lacks_is_lost(tmp_path, monkeypatch):
    rows = [
        {"id": "2", "part_type": "rnic", "part": "h9/r0"},
        {"id": "3", "part_type": "agent", "part": "h9"},
    ]
    monkeypatch.setattr(oracle.Questions, "query", lambda *_: rows)
    judge, _ = judge_of(tmp_path, arrival(11, "h1/r0", which="1"))
    reported, lost, strange, old = judge.incidents(["nowhere", "127.0.0.1", 1])
    assert reported == 1 and len(lost) == 1 and old == 0
    assert len(strange) == 1 and "h9/r0" in strange[0]


def test_incidents_reported_while_a_clock_stood_years_back_do_not_count_as_lost(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(oracle.Questions, "query", lambda *_: [])
    monkeypatch.setattr(oracle.time, "monotonic", lambda: now[0])
    arrivals = [arrival(at, "h1/r0", which=str(at)) for at in (9, 15, 29, 31, 45)]
    judge, _ = judge_of(tmp_path, *arrivals)
    for now[0], name, begins in [
        (10.0, "ClockJumped analyzer -10y", True),
        (20.0, "ClockJumped analyzer -10y", False),
        (40.0, "ClockJumped analyzer +10y", True),
    ]:
        judge.trouble(name=name, kind="ClockJumped", begins=begins)
    reported, lost, _, old = judge.incidents(["nowhere", "127.0.0.1", 1])
    assert (reported, len(lost), old) == (5, 3, 2)
    assert "at 9.0" in lost[0] and "at 31.0" in lost[1] and "at 45.0" in lost[2]


@pytest.mark.parametrize("windowed, delivered, wrong", [(9, 4, 0), (8, 4, 1), (9, 5, 2)])
def test_an_account_that_does_not_add_up_is_found(monkeypatch, windowed, delivered, wrong):
    monkeypatch.setattr(oracle._Account, "_look", lambda _: None)
    account = oracle._Account(lambda *_, **__: None, "agg-tor1")
    text = ACCOUNT.format(n=NAME, windowed=windowed)
    for lane, durable in zip(oracle.LANES, (1, 0)):
        text += LANE.format(n=NAME, lane=lane, delivered=delivered, durable=durable)
    account._check(Metrics(text))
    assert len(account.wrong) == wrong
    assert account.volatile == 1
