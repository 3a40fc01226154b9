"""A rack decides without a controller, from its files. Over IPv6."""

import time

from lab.faults import RnicDead
from lab.innocents import accused
from lab.story import run_fault
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"]}


def test_a_rack_without_controller_keeps_probing_and_alerting(world, rng, print_line):
    small = world(RACKS, family="ipv6").start()
    lab = small.lab
    mark, began = small.mark(), time.monotonic()

    lab.controller.kill()
    for aggregator in lab.aggregators.values():
        aggregator.kill()
    for agent in lab.agents.values():
        agent.restart()
    for rnic in small.fabric.rnics.values():
        until(
            f"{rnic.name} probes from its last pinglist, with nobody else there",
            10,
            lambda: lab.probes(rnic) and lab.sent(rnic) > 100,
            [lab.agents[rnic.host]],
        )

    for aggregator in lab.aggregators.values():
        aggregator.start()
    lab.wait_probing()
    assert not lab.controller.alive
    others = accused(small.since(mark), began, lambda _: False)
    assert not others, "nobody is at fault yet"

    reported = run_fault(small, RnicDead(lab, small.rnic("h5/r0")), rng)
    print_line(f"no controller, restarted from disk: found after {reported.plain:.2f} s")
