"""Agents above their own limits probe less, and their racks do not blame them."""

from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"]}
SLOWED_S = 30
FLOOR = 0.1
SETTLE_S = 3


def rates(small, seconds):
    """{RNIC: probes per second} on the wire, in the next so many seconds."""
    fabric = small.fabric
    before = {name: fabric.counted(rnic)[0] for name, rnic in fabric.rnics.items()}
    small.plain.silence(seconds, small.plain.mark())
    return {
        name: (fabric.counted(rnic)[0] - before[name]) / seconds
        for name, rnic in fabric.rnics.items()
    }


def test_agents_above_their_memory_limit_probe_at_a_tenth_and_are_reported(world, print_line):
    """The limit is 1 MiB, so all processes are above it from the start."""
    small = world(
        RACKS, alertmanager=False, analyzer={}, agent={"limits": {"memory_mib": 1}}
    ).start()
    small.fabric.count()
    lab, mark = small.lab, small.plain.mark()
    full = rates(small, 2)

    def slowed():
        hosts = [
            host
            for aggregator in lab.aggregators.values()
            for host in aggregator.get("/v1/hosts").json["hosts"]
        ]
        return len(hosts) == 5 and all(
            (host["slowed"], host["slowed_permille"]) == ("memory", 100) for host in hosts
        )

    until("all hosts are at the floor", SLOWED_S, slowed)
    until(
        "the analyzer calls both racks slowed",
        SLOWED_S,
        lambda: {
            rack["tor"]: rack["hosts_slowed"]
            for rack in lab.analyzer.get("/v1/racks").json["racks"]
            if rack["state"] == "slowed"
        }
        == {"tor1": 3, "tor2": 2},
    )
    health = lab.ctl_run("analyzer", "health")
    assert health.returncode == 1 and "2 slowed" in health.stdout, health

    fabric = small.fabric
    was = {name: fabric.counted(rnic)[0] for name, rnic in fabric.rnics.items()}
    floor = rates(small, SETTLE_S)
    until(
        "everybody probes on",
        SETTLE_S,
        lambda: all(fabric.counted(fabric.rnics[name])[0] > was[name] for name in was),
    )
    print_line(f"probes per second at the start {min(full.values()):.0f} and more, at the floor"
        f" {min(floor.values()):.1f} to {max(floor.values()):.1f}")
    small.plain.silence(SETTLE_S, mark)  # no alert is sent
