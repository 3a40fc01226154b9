"""Raw results never leave the rack: how much a healthy rack of eight sends upstream."""

import pytest

pytestmark = pytest.mark.full

RACKS = {"tor1": ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"]}
MEASURED_S = 25  # a little more than two rounds of summaries of healthy rows


def test_a_healthy_rack_sends_few_bytes_upstream(world, print_line):
    rack = world(RACKS, spines=0, alertmanager=False).start()

    before = rack.lab.upstream()["tor1"]
    rack.plain.silence(MEASURED_S, rack.plain.mark())
    after = rack.lab.upstream()["tor1"]

    raw, up = after[0] - before[0], after[1] - before[1]
    print_line(f"8 RNICs, {MEASURED_S} s: {raw:,.0f} bytes raw, {up:,.0f} upstream: {raw / up:.0f} to 1")
    assert 0 < up < raw / 20
