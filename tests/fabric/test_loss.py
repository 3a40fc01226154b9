"""What an RNIC loses is told by kind and direction, from what the receivers counted."""

import json

from lab import figures
from lab.faults import DIRECTIONS, RnicLossy, RnicMtu
from lab.story import live_through

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h5", "h6", "h7", "h8"]}
LONGEST = 1000  # a large probe has 1500 bytes
# Few probes are large: three seconds of them name it, more where a machine pauses.
MTU_S, MTU_WORST_S, LOSSY_S = 4.0, 6.0, 9.0


def direction_of(told):
    return json.loads(told.alert.annotations["evidence"])["direction"]


def test_an_mtu_that_is_too_small_is_named(world, rng, say):
    whole = world(RACKS, analyzer={}).start()
    seconds = []

    for direction in DIRECTIONS:
        rnic = rng.choice(list(whole.fabric.rnics.values()))
        told = live_through(whole, RnicMtu(whole.lab, rnic, LONGEST, direction), rng)
        assert told.kind == "rnic-mtu"
        assert "MTU" in told.alert.annotations["summary"]
        assert direction_of(told) in (direction, "")
        seconds.append(told.plain)

    say(figures.line("MTU broken", seconds))
    assert figures.percentile(seconds, 0.5) <= MTU_S
    assert max(seconds) <= MTU_WORST_S


def test_partial_loss_is_named_with_its_direction(world, rng, say):
    whole = world(RACKS, analyzer={}).start()
    seconds = []

    for percent in (20, 10):
        for direction in DIRECTIONS:
            rnic = rng.choice(list(whole.fabric.rnics.values()))
            fault = RnicLossy(whole.lab, rnic, percent, direction)
            told = live_through(whole, fault, rng)
            assert told.kind == "rnic-lossy"
            assert direction_of(told) in (direction, "")
            seconds.append(told.plain)
            say(f"{percent} % lost, {direction}: {told.alert.annotations['summary'][:90]}")

    say(figures.line("partial loss", seconds))
    assert max(seconds) <= LOSSY_S
