"""The lab itself: its RNICs are real, its paths are those of a real fabric, and its faults have
effect."""

import contextlib
import json
import re
import socket
import subprocess

import pytest

from guest.fabric import MTU, NARROW_MTU
from guest.verbs import Rping, Stream, connections, pingpong, send
from lab.netns import run
from lab.wait import comes_true, until

ROCE = 4791
SOME = 20  # packets
PORTS = 16


@pytest.fixture
def pair(fabric):
    """Two RNICs in different racks, of different hosts."""
    return fabric.rnics["h1/rxe0"], fabric.rnics["h2/rxe3"]


def probe(source, target, port, ttl=64, count=1):
    """Sends plain UDP, as a trace of the RoCE flow with this source port does."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
        sock.bind((source.ipv4, port))
        for _ in range(count):
            sock.sendto(b"trace", (target.ipv4, ROCE))


def spines_of(fabric, source, target):
    """{source port: {spine: packets}} of the RoCE flows between the two RNICs."""
    ends = (source.ipv4, target.ipv4)
    return {key[2]: seen for key, seen in fabric.flows().items() if key[:2] == ends}


@pytest.mark.every_kernel
def test_eight_devices_are_active_and_have_their_gids(fabric):
    assert [r.rdma for r in fabric.rnics.values()] == [f"rxe{i}" for i in range(8)]
    for rnic in fabric.rnics.values():
        parts = [int(part) for part in rnic.ipv4.split(".")]
        low = f"{parts[0]:02x}{parts[1]:02x}:{parts[2]:02x}{parts[3]:02x}"
        assert rnic.active
        assert rnic.sysfs("gids/1") == f"0000:0000:0000:0000:0000:ffff:{low}"
        assert rnic.sysfs("gid_attrs/types/1") == "RoCE v2"
        assert rnic.sysfs("gid_attrs/ndevs/1") == rnic.netdev


@pytest.mark.every_kernel
def test_datagrams_go_through_both_tors_and_a_spine(fabric, pair):
    fabric.count_flows()
    before = fabric.link_packets()

    said = pingpong(*pair, messages=200)

    after = fabric.link_packets()
    up = sum(after["tor1", spine][0] - before["tor1", spine][0] for spine in fabric.spines)
    down = sum(after["tor2", spine][1] - before["tor2", spine][1] for spine in fabric.spines)
    assert "200 iters" in said
    assert min(up, down) >= 200
    there = spines_of(fabric, *pair)
    back = spines_of(fabric, *reversed(pair))
    assert [sum(seen.values()) for seen in (*there.values(), *back.values())] == [200, 200]


def test_a_rack_mate_is_reached_through_the_tor_alone(fabric):
    source, target = fabric.rnics["h1/rxe0"], fabric.rnics["h3/rxe4"]
    fabric.count_flows()

    assert "100 iters" in pingpong(source, target, messages=100)

    assert not spines_of(fabric, source, target)


@pytest.mark.every_kernel
def test_a_trace_goes_where_the_roce_flow_of_its_source_port_goes(fabric, pair, print_line):
    fabric.count_flows()
    send(*pair, qps=PORTS, messages=SOME)
    roce = spines_of(fabric, *pair)
    assert len(roce) >= PORTS
    assert all(len(seen) == 1 for seen in roce.values()), "a flow takes one way"

    same = 0
    for ttl in (64, 2):  # the first arrives; the second expires at the spine
        fabric.count_flows()
        for port in roce:
            probe(*pair, port, ttl)
        traced = spines_of(fabric, *pair)
        assert traced.keys() == roce.keys()
        same += sum(traced[port].keys() == roce[port].keys() for port in roce)

    used = {spine for seen in roce.values() for spine in seen}
    print_line(f"{same} of {2 * len(roce)} traces took the way of their flow, over {len(used)} spines")
    assert same == 2 * len(roce)
    assert used == set(fabric.spines)


def test_a_traced_switch_answers_from_the_interface_that_it_was_asked_at(fabric, pair):
    source, target = pair
    line = f"traceroute -n -q 1 -w 2 -s {source.ipv4} {target.ipv4}"
    hops = re.findall(r"^ *\d+ +([\d.]+)", run(*line.split()), re.MULTILINE)

    aliases = {
        address: switch for switch in fabric.switches for address in fabric.addresses(switch)
    }
    names = [aliases.get(hop, hop) for hop in hops]
    assert names[0] == "tor1" and names[1] in fabric.spines
    assert names[2:] == ["tor2", target.ipv4]
    assert hops[0] == source.gateway


@pytest.mark.parametrize("kind", [Rping, Stream])
def test_traffic_of_others_lasts_until_it_is_killed(fabric, pair, tmp_path, kind):
    with kind(tmp_path, *pair) as traffic:
        (mine,) = connections(traffic.client)
        assert mine["ifname"] == pair[0].rdma
        fabric.count_flows()
        until("it goes over one spine", 5, lambda: spines_of(fabric, *pair))
        (seen,) = spines_of(fabric, *pair).values()
        assert len(seen) == 1
        traffic.kill()
    left = json.loads(run("rdma", "-j", "resource", "show", "qp"))
    assert all(qp.get("lqpn") != mine["lqpn"] for qp in left if qp["ifname"] == pair[0].rdma)


# ---- faults ------------------------------------------------------------------------


def arrives(fabric, source, target, count=SOME, port=50000):
    """How many of `count` probes reach the target."""
    flow = (source.ipv4, target.ipv4, port, ROCE)
    fabric.count_flows()
    probe(source, target, port, count=count)
    comes_true(1, lambda: fabric.arrived().get(flow) == count)
    return fabric.arrived().get(flow, 0)


def test_an_interface_set_down_is_seen_by_verbs_and_comes_back(fabric, pair):
    source, target = pair
    fabric.rnic_down(target)
    until("its port is down", 5, lambda: target.sysfs("state") == "1: DOWN")
    assert arrives(fabric, source, target) == 0

    fabric.rnic_up(target)
    fabric.wait_active(target)
    assert "50 iters" in pingpong(*pair, messages=50)
    assert "50 iters" in pingpong(*reversed(pair), messages=50)


def test_a_lost_carrier_is_seen_by_verbs_and_heals_by_itself(fabric, pair):
    source, target = pair
    fabric.unplug(target)
    until("its port is down", 5, lambda: target.sysfs("state") == "1: DOWN")

    fabric.plug(target)
    fabric.wait_active(target)
    assert "50 iters" in pingpong(*reversed(pair), messages=50)


@pytest.mark.parametrize("way", ["towards", "away"])
def test_loss_on_a_cable_has_a_direction(fabric, pair, way):
    source, target = pair
    fabric.impair(target, **{way: "loss 100%"})
    try:
        there = arrives(fabric, source, target)
        back = arrives(fabric, target, source)
        towards, away = fabric.impaired(target)
    finally:
        fabric.repair(target)
    if way == "towards":
        assert there == 0 and back == SOME and towards >= SOME and away == 0
    else:
        assert there == SOME and back == 0 and away >= SOME and towards == 0
    assert arrives(fabric, source, target) == SOME


def ways(fabric, source, target):
    """{spine: a source port whose flow crosses it}"""
    fabric.count_flows()
    for port in range(50000, 50000 + PORTS):
        probe(source, target, port)
    found = {}
    for port, seen in spines_of(fabric, source, target).items():
        found[next(iter(seen))] = port
    assert found.keys() == set(fabric.spines)
    return found


def test_silent_loss_on_an_uplink_affects_only_the_flows_over_it(fabric, pair):
    way = ways(fabric, *pair)
    fabric.impair_link("tor1", "spine1", up="loss 100%")
    try:
        assert arrives(fabric, *pair, port=way["spine1"]) == 0
        assert arrives(fabric, *pair, port=way["spine2"]) == SOME
        up, down = fabric.link_impaired("tor1", "spine1")
        assert up >= SOME and down == 0
    finally:
        fabric.repair_link("tor1", "spine1")
    assert arrives(fabric, *pair, port=way["spine1"]) == SOME


def test_loss_in_a_spine_affects_only_the_flows_through_it(fabric, pair):
    way = ways(fabric, *pair)
    fabric.kill_switch("spine2")
    try:
        assert arrives(fabric, *pair, port=way["spine1"]) == SOME
        assert arrives(fabric, *pair, port=way["spine2"]) == 0
        assert fabric.switch_dropped("spine2") >= SOME
    finally:
        fabric.heal_switch("spine2")


def test_nothing_is_lost_over_an_uplink_that_a_person_sets_down(fabric, pair):
    way = ways(fabric, *pair)
    before = fabric.link_packets()
    fabric.uplink_down("tor2", "spine1")
    try:
        for port in way.values():
            assert arrives(fabric, *pair, port=port) == SOME
            assert arrives(fabric, *reversed(pair), port=port) == SOME
        after = fabric.link_packets()
        assert after["tor2", "spine1"] == before["tor2", "spine1"]
    finally:
        fabric.uplink_up("tor2", "spine1")
    assert ways(fabric, *pair).keys() == set(fabric.spines)


def test_a_port_with_a_small_mtu_drops_only_large_messages(fabric, pair):
    source, target = pair
    assert "50 iters" in pingpong(*pair, messages=50, size=4096)
    fabric.set_port_mtu(target, NARROW_MTU)
    try:
        assert "50 iters" in pingpong(*pair, messages=50, size=64)
        with pytest.raises(subprocess.TimeoutExpired):
            pingpong(*pair, messages=50, size=4096, seconds=3)
    finally:
        fabric.set_port_mtu(target, MTU)
    assert "50 iters" in pingpong(*pair, messages=50, size=4096)
