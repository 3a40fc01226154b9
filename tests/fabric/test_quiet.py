"""Faults of Rackmesh's own daemons cause no false alert, and afterwards real faults are found."""

import time

import pytest

from lab.faults import AgentFrozen, RnicDead
from lab.innocents import accused
from lab.story import run_fault
from lab.wait import PATIENCE_S, in_time, until
from lab.world import RACKS

pytestmark = pytest.mark.full

QUIET_S, QUIET_SOAK_S = 40, 600
FROZEN_S = 5
FROZEN = "h7"


def restart_everything(world, seconds, allowed, mark):
    """Restarts one daemon after the other, spread over the time."""
    daemons = [
        world.lab.controller,
        *world.lab.aggregators.values(),
        *world.lab.agents.values(),
    ]
    end = time.monotonic() + seconds
    for i, daemon in enumerate(daemons):
        daemon.restart().wait_ready()
        left = end - time.monotonic()
        world.plain.silence(max(0, left / (len(daemons) - i)), mark[0], allowed)
    for daemon in daemons:
        assert daemon.started == 2


def test_without_faults_nothing_is_named_and_later_faults_are_found(world, rng, print_line, soak):
    whole = world(RACKS).start()
    seconds = QUIET_SOAK_S if soak else QUIET_S
    mark = whole.mark()
    sent = {name: whole.lab.sent(rnic) for name, rnic in whole.fabric.rnics.items()}
    frozen = AgentFrozen(whole.lab, FROZEN)

    frozen.begin()
    try:
        alert = whole.plain.wait_for(frozen.fires, FROZEN_S, mark[0], str(frozen))
        in_time(str(frozen), alert.at - frozen.at, FROZEN_S, frozen.at)
        whole.plain.silence(frozen.at + FROZEN_S - time.monotonic(), mark[0], frozen.names)
        assert frozen.bit()
    finally:
        frozen.end()
    whole.plain.wait_for(frozen.resolves, 30, mark[0], f"the end of {frozen}")
    for name, rnic in whole.fabric.rnics.items():
        until(f"{name} probes", PATIENCE_S, lambda: whole.lab.sent(rnic) - sent[name] > 100)

    restart_everything(whole, seconds - (time.monotonic() - frozen.at), frozen.names, mark)

    others = accused(whole.since(mark), frozen.at, frozen.names)
    print_line(
        f"{seconds} s, {len(whole.lab.agents) + len(whole.lab.aggregators) + 1} daemons"
        f" restarted: {len(others)} false alerts; frozen agent reported after"
        f" {alert.at - frozen.at:.2f} s"
    )
    assert not others
    whole.lab.wait_probing()
    reported = run_fault(whole, RnicDead(whole.lab, whole.rnic("h13/r0")), rng)
    print_line(f"the kill at its end: found after {reported.plain:.2f} s")
