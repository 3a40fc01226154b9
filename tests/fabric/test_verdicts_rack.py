"""What a rack decides alone, in racks of 4, 3 and 2: exactly the faulty part is named, in time.
On virtual time (tests/roce-lab/run.py --clock virtual verdicts-rack)."""

import json
import pathlib

import pytest

from lab import places
from lab.faults import (
    DIRECTIONS,
    AgentFrozen,
    AgentKilled,
    HostGone,
    RnicDead,
    RnicLossy,
    RnicMtu,
)
from lab.stalls import Pattern, Stalls
from lab.story import AGGREGATOR_FLAPPING, run_fault
from lab.wait import in_time
from lab.world import World

pytestmark = pytest.mark.virtual

# h1 and h6 are in two racks.
RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h1", "h5", "h6"], "tor3": ["h6", "h7"]}
DEAD_S = 2.0  # the limit in DESIGN from the start of a window to its verdict
AGENT_S = 2.0
FROZEN_S = 3.0  # the first two seconds count as a stall
LOSSY_S = 6.0  # the limit of the simulator's marks
LONGEST = 1000  # bytes; a large probe has 1500
STALLED_S = 10.0
QUIET_S = 5
COST_S = 10
# Of an optimised build. Measured in November 2026: 171,000 and 22,000, with little variation.
MOST_INSTRUCTIONS = {"agent": 200_000, "aggregator": 28_000}
OPTIMISED = ":STRING=RelWithDebInfo" in (places.BUILD / "CMakeCache.txt").read_text()


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rack")
    with World(RACKS, folder, alertmanager=False, aggregator=AGGREGATOR_FLAPPING) as world:
        yield world.start()


def print_result(print_line, fault, reported):
    print_line(f"{fault}: reported after {reported.plain:.2f} s: {reported.alert.annotations['summary'][:110]}")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("h3/r0", "rnic-down"),
        ("h5/r0", "rnic-send-dead"),
        ("h7/r0", "rnic-receive-dead"),
        ("h6/r1", "rnic-down"),
        ("h1/r1", "rnic-receive-dead"),
        ("h2/r0", "rnic-send-dead"),
    ],
)
def test_a_dead_rnic_is_named_with_its_direction(region, rng, print_line, name, kind):
    rnic = region.rnic(name)
    peer = next(
        each
        for each in region.fabric.rnics.values()
        if each.tor == rnic.tor and each.host != rnic.host
    )
    fault = RnicDead(region.lab, rnic, kind)
    reported = run_fault(region, fault, rng, peer, DEAD_S)
    print_result(print_line, fault, reported)
    assert reported.kind == kind


@pytest.mark.parametrize(
    ("kind", "host"), [(AgentFrozen, "h6"), (AgentKilled, "h7"), (HostGone, "h5"), (HostGone, "h1")]
)
def test_a_dead_agent_or_host_is_not_called_a_dead_rnic(region, rng, print_line, kind, host):
    fault = kind(region.lab, host)
    reported = run_fault(region, fault, rng, fires_s=FROZEN_S if kind is AgentFrozen else AGENT_S)
    print_result(print_line, fault, reported)
    assert reported.kind == fault.kind
    region.lab.wait_probing()


def direction_of(reported):
    return json.loads(reported.alert.annotations["evidence"])["direction"]


@pytest.mark.parametrize(
    ("name", "percent", "direction"), [("h4/r0", 20, "send"), ("h2/r0", 10, "receive")]
)
def test_partial_loss_is_named_with_its_direction(region, rng, print_line, name, percent, direction):
    fault = RnicLossy(region.lab, region.rnic(name), percent, direction)
    reported = run_fault(region, fault, rng, fires_s=LOSSY_S)
    print_result(print_line, fault, reported)
    assert reported.kind == fault.kind
    assert direction_of(reported) in (direction, "")


@pytest.mark.parametrize("direction", list(DIRECTIONS)[1:])
def test_an_mtu_that_is_too_small_is_named(region, rng, print_line, direction):
    fault = RnicMtu(region.lab, region.rnic("h3/r0"), LONGEST, direction)
    reported = run_fault(region, fault, rng, fires_s=LOSSY_S)
    print_result(print_line, fault, reported)
    assert reported.kind == fault.kind
    assert "MTU" in reported.alert.annotations["summary"]
    assert direction_of(reported) in (direction, "")


@pytest.mark.parametrize(
    ("pattern", "hosts"),
    [(Pattern(0.8, 0.2, 0), RACKS["tor1"]), (Pattern(0.133, 0.2, 0), ["h4"])],
    ids=["of all hosts", "of the victim"],
)
def test_a_dead_rnic_is_named_while_agents_are_often_stopped(region, rng, print_line, pattern, hosts):
    fault = RnicDead(region.lab, region.rnic("h4/r0"))
    with Stalls(pattern, lambda: [region.lab.agents[each].pid for each in hosts]) as stalls:
        region.plain.silence(3, region.mark()[0])
        reported = run_fault(region, fault, rng, fires_s=STALLED_S)
    print_line(f"agents were stopped {stalls.times} times")
    print_result(print_line, fault, reported)
    assert reported.kind == fault.kind == "rnic-down"
    assert stalls.times > 1
    region.lab.wait_probing()


def test_restarts_of_all_daemons_name_nothing_and_a_later_kill_is_named(region, rng, print_line):
    lab, mark = region.lab, region.mark()
    daemons = [lab.controller, *lab.aggregators.values(), *lab.agents.values()]
    before = [daemon.started for daemon in daemons]
    for daemon in daemons:
        daemon.restart().wait_ready()
    region.plain.silence(QUIET_S, mark[0])
    assert [daemon.started for daemon in daemons] == [count + 1 for count in before]
    lab.wait_probing()
    fault = RnicDead(lab, region.rnic("h7/r0"))
    reported = run_fault(region, fault, rng, region.rnic("h6/r1"), DEAD_S)
    print_line(f"{len(daemons)} daemons restarted, no alert")
    print_result(print_line, fault, reported)
    in_time(str(fault), reported.plain, DEAD_S)


def ran_ns(daemon):
    """Processor time of the process: on this clock, the number of its instructions."""
    threads = pathlib.Path(f"/proc/{daemon.pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads)


def test_the_instructions_per_probe_stay_below_their_limit(region, print_line):
    lab = region.lab
    groups = {"agent": list(lab.agents.values()), "aggregator": list(lab.aggregators.values())}
    before = {name: sum(map(ran_ns, group)) for name, group in groups.items()}
    sent = lab.totals()["sent"]
    region.plain.silence(COST_S, region.mark()[0])
    probes = lab.totals()["sent"] - sent
    for name, group in groups.items():
        each = (sum(map(ran_ns, group)) - before[name]) / probes
        print_line(f"{name}: {each:,.0f} instructions a probe, all that it does included")
        assert each <= MOST_INSTRUCTIONS[name] or not OPTIMISED
    assert probes > 100 * len(region.fabric.rnics)
