"""Peers by name: what the daemons do when a name's address changes, or is not known yet."""

import contextlib

import pytest

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
AGGREGATOR = aggregator_of(TOR)
NAMES = {
    AGGREGATOR: f"{AGGREGATOR}.lab.test",
    "controller1": "controllers.lab.test",
    "analyzer": "analyzer.lab.test",
}
# Of the management network: to be an aggregator's, and nobody's.
MOVED, NOBODY = "192.168.103.250", "192.168.103.251"


@pytest.fixture
def named(world):
    """A rack whose daemons know each other by names, and their hosts files."""
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


def test_a_name_is_resolved_again_when_its_address_has_moved(named, say):
    world, hosts = named
    known = addresses(world)
    aggregator = world.lab.aggregators[TOR]
    agents = list(world.lab.agents.values())

    # No name server, and the aggregator's name is nowhere: the agents say so, and go on.
    hosts.set(addresses(world, AGGREGATOR))
    world.lab.start()
    for agent in agents:
        until(
            f"{agent.name} says that the name has no address",
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

    # The aggregator moves: its old address is nobody's, the name leads to the new one.
    aggregator.stop()
    place, old = world.fabric.netns(AGGREGATOR), known[NAMES[AGGREGATOR]]
    run("ip", "-n", place, "addr", "del", f"{old}/22", "dev", "mgmt0")
    run("ip", "-n", place, "addr", "add", f"{MOVED}/22", "dev", "mgmt0")
    hosts.set({**known, NAMES[AGGREGATOR]: MOVED})
    aggregator.start()
    for agent in agents:
        until(f"{agent.name} is back", PATIENCE_S, lambda: connected(agent) == [True], [agent])
    lookups = agents[0].metrics().sum("rackmesh_name_lookups_total")
    say(f"aggregator at another address: found again after {lookups:.0f} look-ups in all")
