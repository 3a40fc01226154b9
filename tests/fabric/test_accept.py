"""The burn-in of a rack: a healthy rack passes, and a rack with one bad or missing RNIC fails."""

import json

import pytest

from lab.faults import RnicDead, RnicLossy
from lab.wait import until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h1", "h4"]}
FOR = "8s"
MAX_LOSS = 10  # percent: a busy machine loses some
PATIENCE_S = 120
TRACED_S = 60


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accept")
    with World(RACKS, folder, alertmanager=False, agent={"trace": {"interval_s": 1}}) as world:
        world.start().lab.wait_traced(TRACED_S)
        yield world


def accept(fabric, *words):
    """(output of rackmeshctl accept for tor1, its exit status). Repeats it while an RNIC is
    undecided, as it is if a busy machine did not let its agent run."""
    return until("every RNIC is judged", PATIENCE_S, lambda: judged(*once(fabric, *words)))


def judged(report, status):
    verdicts = {report["verdict"], *(each["verdict"] for each in report["rnics"])}
    return None if "not judged" in verdicts else (report, status)


def once(fabric, *words):
    lab = fabric.lab
    done = lab.ctl_run(
        "centre",
        *("--aggregator", f"unix:{lab.aggregators['tor1'].socket}"),
        *("--controller", f"unix:{lab.wait_leader().socket}"),
        *("--json", "accept", "tor1", "--for", FOR, "--max-loss", MAX_LOSS, *words),
    )
    assert done.returncode in (0, 1), done
    assert "probes" in done.stderr, "no progress was reported"
    return json.loads(done.stdout), done.returncode


def wrong(report):
    return [each["seen"] for each in report["findings"] if each["level"] == "wrong"]


def verdicts(report):
    return {each["rnic"]: each["verdict"] for each in report["rnics"]}


def fails_for(fabric, fault, print_line):
    """The verdicts on a rack that has this fault all the time."""
    fault.begin()
    try:
        report, status = accept(fabric)
        assert fault.bit(), "the fault did not happen"
    finally:
        fault.end()
    print_line("; ".join(wrong(report)))
    assert status == 1 and report["verdict"] == "fail"
    until(
        f"{fault.rnic.name} is good again",
        30,
        lambda: fabric.lab.health(fault.rnic) == "good",
    )
    until("no incident is open", 60, lambda: not open_incidents(fabric))
    return verdicts(report)


def open_incidents(fabric):
    answer = fabric.lab.aggregators["tor1"].get("/v1/incidents?open=1").json
    return answer["incidents"]


def test_a_healthy_rack_passes(fabric, print_line):
    report, status = accept(fabric)

    print_line(f"{sum(each['sent'] for each in report['rnics'])} probes")
    assert not wrong(report), report
    assert (status, report["verdict"]) == (0, "pass")
    assert verdicts(report) == {"h1/r0": "pass", "h2/r0": "pass", "h3/r0": "pass"}


def test_a_lossy_rnic_fails(fabric, print_line):
    fault = RnicLossy(fabric.lab, fabric.rnic("h2/r0"), 40, "both")

    reported = fails_for(fabric, fault, print_line)

    assert reported == {"h1/r0": "pass", "h2/r0": "lossy", "h3/r0": "pass"}


def test_a_dead_rnic_fails(fabric, print_line):
    fault = RnicDead(fabric.lab, fabric.rnic("h3/r0"))

    reported = fails_for(fabric, fault, print_line)

    assert reported == {"h1/r0": "pass", "h2/r0": "pass", "h3/r0": "lossy"}


def test_more_rnics_than_there_are_fail(fabric):
    report, status = accept(fabric, "--rnics", 4)

    assert status == 1
    assert wrong(report) == ["3 of 4 expected RNICs are present"], report


def test_an_rnic_whose_agent_does_not_run_fails(fabric, print_line):
    """Comes last, since it stops the agent."""
    fabric.lab.agents["h3"].kill()

    report, status = accept(fabric)

    print_line("; ".join(wrong(report)))
    assert status == 1
    assert verdicts(report) == {"h1/r0": "pass", "h2/r0": "pass", "h3/r0": "not registered"}


def test_a_rack_that_the_aggregator_does_not_have_fails_at_once(fabric):
    """It ran for the whole time before, and then said that the rack has no RNIC."""
    lab = fabric.lab
    done = lab.ctl_run(
        "centre",
        *("--aggregator", f"unix:{lab.aggregators['tor1'].socket}"),
        *("accept", "tor9", "--for", "12h", "--rnics", "1"),
    )

    assert done.returncode == 1, done
    assert "FAIL: tor9" in done.stdout and "no rack tor9; it has tor1" in done.stdout, done
    assert "tor9:" not in done.stderr, "it watched the rack"
