"""Peers by host name: what the daemons do when the address of a name changes, or is not known
yet."""

import contextlib
import signal
import time

import pytest
import yaml

from lab.hosts import Hosts, NameServer
from lab.netns import run
from lab.rackmesh import (
    LINK_AGGREGATOR,
    LINK_ANALYZER,
    LINK_CONTROLLER,
    aggregator_of,
)
from lab.wait import PATIENCE_S, until

TOR = "tor1"
RACKS = {TOR: ["h1", "h2"]}
RAILS = {"tor1": ["h1", "h2"], "tor2": ["h1", "h2"]}
AGGREGATOR = aggregator_of(TOR)
NAMES = {
    AGGREGATOR: f"{AGGREGATOR}.lab.test",
    "controller1": "controllers.lab.test",
    "analyzer": "analyzer.lab.test",
}
# Addresses of the management network: one for an aggregator, and one that is not used.
MOVED, NOBODY = "192.168.103.250", "192.168.103.251"


@pytest.fixture
def named(world):
    """A rack whose daemons know each other by name, and their hosts files."""
    made = world(
        RACKS,
        spines=0,
        alertmanager=False,
        analyzer={},
        uplinks={host: {TOR: f"{NAMES[AGGREGATOR]}:{LINK_AGGREGATOR}"} for host in RACKS[TOR]},
        aggregator={
            "listen": f"0.0.0.0:{LINK_AGGREGATOR}",
            "controllers": [f"{NAMES['controller1']}:{LINK_CONTROLLER}"],
            "analyzers": [f"{NAMES['analyzer']}:{LINK_ANALYZER}"],
        },
    )
    hosts = Hosts(made.fabric, [*RACKS[TOR], AGGREGATOR])
    with contextlib.closing(hosts):
        yield made, hosts


def addresses(world, *without):
    return {
        name: world.fabric.management[place]
        for place, name in NAMES.items()
        if place not in without
    }


def connected(agent):
    return [each["connected"] for each in agent.get("/v1/aggregators").json["aggregators"]]


def analyzers(world):
    return world.lab.analyzer.get("/v1/aggregators").json["aggregators"]


def asks_where_it_belongs(lab, host):
    """The agent's config has neither its aggregators nor the ToRs of its RNICs."""
    path = lab.folder / "config" / f"{host}.yaml"
    config = yaml.safe_load(path.read_text())
    del config["aggregators"]
    for rnic in config["rnics"]:
        del rnic["tor"]
    config["controllers"] = [
        f"{lab.fabric.management[each.name]}:{LINK_CONTROLLER}" for each in lab.controllers
    ]
    path.write_text(yaml.safe_dump(config))


def topologies_read(lab):
    return lab.controller.metrics().sum("rackmesh_controller_topology_reloads_total")


def test_agents_learn_their_tors_and_aggregators_from_the_controller(world, print_line):
    made = world(RAILS, spines=1, alertmanager=False)
    lab = made.lab
    path = lab.folder / "config" / "topology.yaml"
    places = yaml.safe_load(path.read_text())
    for rack in places["racks"]:
        tor = rack["tor"]
        rack["aggregators"] = ["{}:{}".format(*lab.uplink_of(tor))]
        rack["members"] = [
            f"{rnic.host}/{rnic.device}"
            for rnic in made.fabric.rnics.values()
            if rnic.tor == tor
        ]
    nobody = places["racks"][0]["members"].pop()  # of h1 or h2: its agent learns it
    path.write_text(yaml.safe_dump(places))
    for host in RAILS["tor1"]:
        asks_where_it_belongs(lab, host)

    begun = time.monotonic()
    lab.start()
    lost = lab.agents[nobody.split("/")[0]]
    until(
        f"{lost.name} reports which RNIC has no ToR",
        PATIENCE_S,
        lambda: "its ToR is not known" in lost.log.read_text(),
        [lost],
    )
    # If its place changes while it runs, it starts anew in the same process.
    pid = lost.pid
    places["racks"][0]["members"].append(nobody)
    path.write_text(yaml.safe_dump(places))
    lab.controller.wait_ready(PATIENCE_S)  # it may answer agents before it answers HTTP
    reloads = topologies_read(lab)
    lab.controller.signal(signal.SIGHUP)
    until("the topology is read", PATIENCE_S, lambda: topologies_read(lab) > reloads)
    lost.restart()  # so it asks at once, and not after a quarter of a minute
    assert lost.pid != pid
    lab.wait_probing()
    print_line(
        f"nothing but the controller in the config: all is probed after {time.monotonic() - begun:.1f} s"
    )

    # Without a controller a host starts with its saved answer.
    lab.controller.stop()
    again = lab.agents["h1"]
    again.restart()
    until("h1 is back", PATIENCE_S, lambda: connected(again) == [True, True], [again])


def test_every_address_of_a_name_server_is_tried(named):
    """The daemons run under their units' lists of system calls, as always."""
    world, hosts = named
    centre = world.fabric.management["centre"]
    known = {name: [NOBODY, address] for name, address in addresses(world).items()}
    server = NameServer(world.fabric.netns("centre"), centre, known)
    with contextlib.closing(server):
        hosts.server(centre)
        world.start()
        until("the analyzer is found", PATIENCE_S, lambda: analyzers(world))
        assert server.asked > 0


def test_a_name_is_resolved_again_when_its_address_has_moved(named, print_line):
    world, hosts = named
    known = addresses(world)
    aggregator = world.lab.aggregators[TOR]
    agents = list(world.lab.agents.values())

    # Without a name server and without the aggregator's name, the agents report it and continue.
    hosts.set(addresses(world, AGGREGATOR))
    world.lab.start()
    for agent in agents:
        until(
            f"{agent.name} reports that the name has no address",
            PATIENCE_S,
            lambda: f"cannot resolve {NAMES[AGGREGATOR]}: " in agent.log.read_text(),
            [agent],
        )
        assert connected(agent) == [False]
        assert agent.metrics().sum("rackmesh_name_lookups_failed_total") > 0

    hosts.set(known)
    world.lab.wait_probing()
    until("the analyzer is found", PATIENCE_S, lambda: analyzers(world), [aggregator])
    for agent in agents:
        assert agent.log.read_text().count("trying again until it has an address") == 1

    # The aggregator moves: its old address is not used any more, and the name has the new one.
    aggregator.stop()
    place, old = world.fabric.netns(AGGREGATOR), known[NAMES[AGGREGATOR]]
    run("ip", "-n", place, "addr", "del", f"{old}/22", "dev", "mgmt0")
    run("ip", "-n", place, "addr", "add", f"{MOVED}/22", "dev", "mgmt0")
    hosts.set({**known, NAMES[AGGREGATOR]: MOVED})
    aggregator.start()
    for agent in agents:
        until(f"{agent.name} is back", PATIENCE_S, lambda: connected(agent) == [True], [agent])
    lookups = agents[0].metrics().sum("rackmesh_name_lookups_total")
    print_line(f"aggregator at another address: found again after {lookups:.0f} look-ups in all")
