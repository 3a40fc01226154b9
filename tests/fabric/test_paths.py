"""Traced paths are compared with the truth: the spines' own counts of each flow."""

import ipaddress
import json
import re
import shutil

import pytest

from lab.netns import nft, run
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h1", "h4"], "tor3": ["h2", "h5"]}
SPINES = 4
TRACED_S = 30
MOVED_S = 20
CHOSEN_S = 20
REPORTED_S = 5
INTERVAL_S = 2
MISSED = 0.01
FAMILIES = {"ipv4": ("ip", "ipv4_addr"), "ipv6": ("ip6", "ipv6_addr")}


def watch(fabric, family):
    """From now on every spine records the flows of the probes that it forwards; traces are
    shorter than any probe."""
    ip, kind = FAMILIES[family]
    for spine in fabric.spines:
        nft(
            fabric.netns(spine),
            f"""
            table inet seen {{
                set flows {{
                    type {kind} . {kind} . inet_service
                    size 65535
                    flags dynamic
                }}
                chain forward {{
                    type filter hook forward priority -200;
                    udp dport 862 udp length > 40 \\
                        add @flows {{ {ip} saddr . {ip} daddr . udp sport }}
                }}
            }}
            """,
        )


def forget(fabric):
    for spine in fabric.spines:
        nft(fabric.netns(spine), "flush set inet seen flows\n")


def truth(fabric):
    """{(source, destination, UDP source port): spines that forwarded it}"""
    seen = {}
    for spine in fabric.spines:
        place = f"ip netns exec {fabric.netns(spine)}"
        text = run(*f"{place} nft -j list set inet seen flows".split())
        for item in json.loads(text)["nftables"]:
            for element in item.get("set", {}).get("elem", []):
                element = element.get("elem", {}).get("val", element)
                seen.setdefault(tuple(element["concat"]), set()).add(spine)
    return seen


def paths(lab):
    """The flows of every agent, each with its source address."""
    for host, agent in lab.agents.items():
        rnics = {r["id"]: r for r in agent.get("/v1/rnics").json["rnics"]}
        for path in agent.get("/v1/paths").json["paths"]:
            yield _bare(rnics[path["src"]]["addresses"][0]), path


def _bare(address):
    """"10.0.0.1:862", "[fd00::1]:862": without the port."""
    return re.sub(r"^\[?(.*?)\]?:\d+$", r"\1", address)


def ways(fabric, lab):
    """{flow: the switches in its trace}"""
    switch = {
        str(ipaddress.ip_address(address)): name
        for name in (*fabric.tors, *fabric.spines)
        for address in fabric.addresses(name)
    }
    return {
        (source, _bare(path["address"]), path["src_port"]): [
            switch.get(hop, hop) for hop in path["hops"]
        ]
        for source, path in paths(lab)
    }


def wait_traced(lab):
    return until(
        "every flow that leaves its rack is traced to its end",
        TRACED_S,
        lambda: (all_paths := list(paths(lab)))
        and all(p["complete"] and None not in p["hops"] for _, p in all_paths),
    )


def right(fabric, lab):
    """Number of flows whose path is that of the packets; any other path fails the test."""
    found, seen = ways(fabric, lab), truth(fabric)
    tor = {getattr(r, f): r.tor for r in fabric.rnics.values() for f in FAMILIES}
    for flow, hops in found.items():
        assert len(seen.get(flow, ())) == 1, f"{flow}: seen by {seen.get(flow)}"
        assert hops == [tor[flow[0]], *seen[flow], tor[flow[1]]], f"{flow}: {hops}"
    return len(found)


def total(lab, metric):
    return sum(agent.metrics().sum(metric) for agent in lab.agents.values())


def disturbed(lab):
    """Errors at the sockets of probes: {what: how often}. The kernel may miss the timestamps of
    a few packets, or deliver them late."""
    few = MISSED * total(lab, "rackmesh_agent_probes_sent_total")
    most = {"socket_errors": 0, "stamps_unmatched": few, "stamps_missing": few, "overruns": 0}
    sums = {name: total(lab, f"rackmesh_agent_port_{name}_total") for name in most}
    return {name: count for name, count in sums.items() if count > most[name]}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_traced_path_is_the_path_of_the_packets(world, print_line, family):
    whole = world(RACKS, spines=SPINES, alertmanager=False, family=family)
    watch(whole.fabric, family)
    if family == "ipv6":
        for switch in (*whole.fabric.tors, *whole.fabric.spines):
            place = f"ip netns exec {whole.fabric.netns(switch)}"
            run(*f"{place} sysctl -qw net.ipv6.icmp.ratelimit=0".split())
    whole.start()
    wait_traced(whole.lab)
    until(
        "every flow has been seen by a spine",
        TRACED_S,
        lambda: set(ways(whole.fabric, whole.lab)) <= set(truth(whole.fabric)),
    )

    flows = right(whole.fabric, whole.lab)

    used = {spine for spines in truth(whole.fabric).values() for spine in spines}
    print_line(f"{family}: {flows} flows over {len(used)} spines, each path as the spines saw it")
    assert flows >= 50 and len(used) == SPINES
    whole.lab.wait_traced(TRACED_S)  # and the aggregators know the paths
    assert total(whole.lab, "rackmesh_agent_trace_answers_total") >= 3 * flows
    assert not disturbed(whole.lab)


def test_a_moved_path_is_traced_again_and_a_blackhole_deletes_no_path(world, print_line):
    # All flows are probed, so that the spines see those whose paths are the same, too.
    trace = {"interval_s": INTERVAL_S, "one_flow_per_path": "none"}
    whole = world(RACKS, spines=2, alertmanager=False, agent={"trace": trace}).start()
    fabric, lab = whole.fabric, whole.lab
    watch(fabric, "ipv4")
    wait_traced(lab)
    before = ways(fabric, lab)

    dead = fabric.spines[0]
    fabric.kill_switch(dead)
    cut = "rackmesh_agent_traces_incomplete_total"
    count = total(lab, cut)
    until(
        "traces have ended in the dead spine",
        MOVED_S,
        lambda: total(lab, cut) > count + len(before) / 4,
    )
    assert ways(fabric, lab) == before
    assert total(lab, "rackmesh_agent_traces_after_loss_total") > 0
    fabric.heal_switch(dead)

    alive, number = fabric.spines[1], fabric.tors
    for tor in number:
        for other in number:
            if other != tor:
                place = f"ip -n {fabric.netns(tor)}"
                via = f"172.16.{number[tor]}.6"
                run(*f"{place} route replace 10.{number[other]}.0.0/24 via {via}".split())
    until(
        f"every path leads over {alive}",
        MOVED_S,
        lambda: all(hops[1:2] == [alive] for hops in ways(fabric, lab).values()),
    )
    moved = sum(hops[1] != alive for hops in before.values())
    print_line(f"{moved} of {len(before)} paths moved and were followed")
    assert moved > len(before) / 4
    forget(fabric)
    until(
        "every flow has been seen by a spine again",
        TRACED_S,
        lambda: set(ways(fabric, lab)) <= set(truth(fabric)),
    )
    right(fabric, lab)


def chosen(found):
    """For each pair and path: the flow with the smallest port."""
    best = {}
    for (source, destination, port), hops in found.items():
        way = (source, destination, *hops)
        best[way] = min(best.get(way, port), port)
    return {(way[0], way[1], port) for way, port in best.items()}


@pytest.mark.full
def test_after_tracing_one_flow_per_path_is_probed_also_after_a_move(world, print_line):
    trace = {"interval_s": INTERVAL_S, "one_flow_per_path": "all"}
    plan = {"plan": {"witness_below": 0}}  # a witness is probed by all its flows
    whole = world(
        RACKS, spines=2, alertmanager=False, agent={"trace": trace}, controller=plan
    ).start()
    fabric, lab = whole.fabric, whole.lab
    watch(fabric, "ipv4")
    wait_traced(lab)

    def settled():
        """Whether exactly the chosen flows are probed. Their paths may move meanwhile."""
        forget(fabric)
        wanted = chosen(ways(fabric, lab))
        until(
            "all chosen flows are probed",
            CHOSEN_S,
            lambda: wanted <= set(truth(fabric)) or wanted != chosen(ways(fabric, lab)),
        )
        return set(truth(fabric)) == wanted == chosen(ways(fabric, lab))

    until("one flow of each path is probed, and no other", CHOSEN_S, settled)
    found = ways(fabric, lab)
    print_line(f"{len(chosen(found))} of {len(found)} flows probed, a path each")
    assert len(chosen(found)) < len(found)

    # A ToR whose hash uses only addresses sends all flows of a pair along the same path.
    place = f"ip netns exec {fabric.netns(next(iter(fabric.tors)))}"
    for policy in (0, 1):
        before = chosen(ways(fabric, lab))
        run(*f"{place} sysctl -qw net.ipv4.fib_multipath_hash_policy={policy}".split())
        until(
            "paths have moved",
            MOVED_S,
            lambda: (now := chosen(ways(fabric, lab))) != before
            and (len(now) > len(before)) == bool(policy),
        )
        until("again one flow of each path is probed, and no other", MOVED_S, settled)
        print_line(f"hash policy {policy}: {len(truth(fabric))} flows probed")


def test_an_aggregator_without_state_gets_all_paths_again(world):
    rarely = {"trace": {"interval_s": 600}}
    lab = world(RACKS, spines=2, alertmanager=False, agent=rarely).start().lab
    wait_traced(lab)
    lab.wait_traced(TRACED_S)
    traces = total(lab, "rackmesh_agent_traces_total")

    aggregator = lab.aggregators["tor1"]
    aggregator.kill()
    shutil.rmtree(lab.folder / "state" / aggregator.name)
    aggregator.start()

    lab.wait_probing()
    lab.wait_traced(REPORTED_S)
    flows = len(list(paths(lab)))
    again = total(lab, "rackmesh_agent_traces_total") - traces
    assert again < flows, "its agents remembered, and had nothing to find out again"
