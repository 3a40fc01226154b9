"""A changed RNIC becomes known to the RNICs that probe it: in its rack at once, in other racks
soon."""

import time


from lab import figures
from lab.netns import batch
from lab.wait import FULL, in_time, until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"], "tor3": ["h6", "h7"]}
ROUNDS = 5 if FULL else 2
OWN_RACK_S, OTHER_RACKS_S = 1.0, 5.0


def move(fabric, rnic, address):
    """Gives the RNIC another address, as if it had been replaced."""
    netns = fabric.hosts[rnic.host].netns
    number = fabric.tors[rnic.tor]
    batch(
        [
            f"addr del {rnic.ipv4}/24 dev {rnic.device}",
            f"addr add {address}/24 dev {rnic.device}",
            f"route replace default via 10.{number}.0.1 dev {rnic.device} metric 100",
        ],
        netns,
    )
    rnic.ipv4 = address


def targets(lab, host):
    """{RNIC id: its address} of the targets of the host's agent."""
    answer = lab.agents[host].get("/v1/pinglist").json
    return {
        each["dst"]: each["address"]
        for pinglist in answer["pinglists"]
        for each in pinglist.get("targets", [])
    }


def probes_it_at(lab, host, rnic_id, address):
    known = targets(lab, host)
    return known.get(rnic_id, "").rpartition(":")[0] == address


def test_a_new_address_reaches_the_rack_and_every_rack_that_probes_it(world, print_line):
    small = world(RACKS, alertmanager=False, controllers=2, etcd=1, family="any").start()
    lab, rnic = small.lab, small.rnic("h5/r0")
    batch([f"addr flush dev {rnic.device} scope global"], small.fabric.netns("h5"), "-6")
    rnic_id = lab.agent_view(rnic)["id"]
    elsewhere = [
        host
        for host, agent in lab.agents.items()
        if small.fabric.hosts[host].rnics[0].tor != rnic.tor and rnic_id in targets(lab, host)
    ]
    assert elsewhere, "no other rack probes it"
    own, others, began = [], [], time.monotonic()

    for i in range(ROUNDS):
        address = f"10.{small.fabric.tors[rnic.tor]}.0.{200 + i}"
        move(small.fabric, rnic, address)
        until(
            "its agent has seen the new address",
            20,
            lambda: any(a.startswith(address) for a in lab.agent_view(rnic)["addresses"]),
        )
        seen = time.monotonic()
        until(
            "its rack probes it there",
            20,
            lambda: probes_it_at(lab, "h4", rnic_id, address),
        )
        own.append(time.monotonic() - seen)
        for host in elsewhere:
            until(
                f"{host} probes it there",
                20,
                lambda host=host: probes_it_at(lab, host, rnic_id, address),
            )
        others.append(time.monotonic() - seen)

    print_line(figures.line("new address in its own rack", own))
    print_line(figures.line("new address in every rack that probes it", others))
    in_time("a new address in its own rack", max(own), OWN_RACK_S, began)
    in_time("a new address elsewhere", max(others), OTHER_RACKS_S, began)
    for host in ("h4", *elsewhere):
        peer = small.fabric.hosts[host].rnics[0]
        until(
            f"{peer.name} gets answers from there",
            10,
            lambda peer=peer: any(
                each["outcome"] == "ok" for each in lab.drill(peer, rnic, 1)
            ),
        )
