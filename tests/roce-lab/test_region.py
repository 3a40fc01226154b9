"""The whole system over RoCE: RNICs are probed over verbs, and a dead one is named."""

from lab.faults import RnicDead
from lab.story import run_fault


def test_only_the_dead_rnic_is_named(world, rng, print_line):
    region = world().start()
    fault = RnicDead(region.lab, region.rnic("h4/rxe7"))

    reported = run_fault(region, fault, rng, peer=region.rnic("h1/rxe1"))

    print_line(f"named within {reported.plain:.2f} s")
    assert reported.kind == "rnic-down"
