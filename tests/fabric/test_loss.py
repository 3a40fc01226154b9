"""Loss of an RNIC is reported with its kind and direction, from the receivers' counts."""

import itertools
import json

import pytest

from lab import figures
from lab.faults import DIRECTIONS, RnicLossy, RnicMtu
from lab.story import run_fault

pytestmark = pytest.mark.full

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h5", "h6", "h7", "h8"]}
LONGEST = 1000  # a large probe has 1500 bytes
# Few probes are large: three seconds of them are enough for a verdict, more are needed if the
# machine pauses.
MTU_S, LOSSY_S = 6.0, 9.0


def direction_of(reported):
    return json.loads(reported.alert.annotations["evidence"])["direction"]


def test_an_mtu_that_is_too_small_is_named(world, rng, print_line):
    whole = world(RACKS, analyzer={}).start()
    seconds, rnics = [], rng.sample(list(whole.fabric.rnics.values()), len(DIRECTIONS))

    for direction, rnic in zip(DIRECTIONS, rnics):
        fault = RnicMtu(whole.lab, rnic, LONGEST, direction)
        reported = run_fault(whole, fault, rng, fires_s=MTU_S)
        assert reported.kind == "rnic-mtu"
        assert "MTU" in reported.alert.annotations["summary"]
        assert direction_of(reported) in (direction, "")
        seconds.append(reported.plain)

    print_line(figures.line("MTU broken", seconds))


def test_partial_loss_is_named_with_its_direction(world, rng, print_line):
    whole = world(RACKS, analyzer={}).start()
    seconds, cases = [], list(itertools.product((20, 10), DIRECTIONS))
    rnics = rng.sample(list(whole.fabric.rnics.values()), len(cases))

    for (percent, direction), rnic in zip(cases, rnics):
        fault = RnicLossy(whole.lab, rnic, percent, direction)
        reported = run_fault(whole, fault, rng, fires_s=LOSSY_S)
        assert reported.kind == "rnic-lossy"
        assert direction_of(reported) in (direction, "")
        seconds.append(reported.plain)
        print_line(f"{percent} % lost, {direction}: {reported.alert.annotations['summary'][:90]}")

    print_line(figures.line("partial loss", seconds))
