"""After any fault of etcd and the controllers, every agent has the newest plan."""

import contextlib
import itertools
import json
import time


from lab import figures
from lab.chaos import TROUBLES, Compacted, Frozen, Full, Killed, LeaseGone
from lab.innocents import accused
from lab.rackmesh import topology
from lab.wait import in_time, until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h3", "h4"]}
TROUBLES_GATE = (Killed, Frozen, Compacted, LeaseGone)
TROUBLES_FULL, TROUBLES_SOAK = 20, 200
TOKENS, TOKEN_S = 3, 5
CONVERGED_S = 5.0
HEALED_S = 30
PINGLISTS = "/rackmesh/lab/pinglist/"
LEADER = "/rackmesh/lab/leader"


class Versions:
    """The plan versions that agents have applied; none may go back."""

    def __init__(self, lab):
        self._lab, self._seen = lab, {}

    def now(self):
        """{(host, tor): version}"""
        found = {}
        for host, agent in self._lab.agents.items():
            for each in agent.get("/v1/pinglist?limit=1").json["pinglists"]:
                found[host, each["tor"]] = each.get("version", 0)
        for key, version in found.items():
            assert version >= self._seen.get(key, 0), f"{key} went back to {version}"
            self._seen[key] = version
        return found


def newest(etcd):
    """{tor: version} in etcd, from a linearizable read."""
    keys, _ = etcd.range(PINGLISTS)
    return {
        key.removeprefix(PINGLISTS): json.loads(value).get("base", 0) + revision
        for key, (value, revision) in keys.items()
    }


def authentications(controller):
    """Number of tokens that the controller has fetched since its start."""
    return controller.metrics().sum("rackmesh_controller_etcd_authentications_total")


def leadership(world):
    """The number of the current leadership, when a controller and etcd agree on the leader."""
    key = world.etcd.range(LEADER)[0].get(LEADER)
    return key[1] if key and world.lab.leader() else None


def converged(world, versions):
    want = newest(world.etcd)
    have = versions.now()
    return len(want) == len(RACKS) and all(
        version == want[tor] for (_, tor), version in have.items()
    )


def changed_topology(world, number):
    """Returns a topology that differs each time, and changes the plans: a spine has one more
    address."""
    content = topology(world.fabric)
    spine = next(s for s in content["switches"] if s["role"] == "spine")
    spine["aliases"].append(f"10.99.{number // 250}.{number % 250 + 1}")
    return content


def take_new(world, numbers):
    """Imports a new topology; if leadership is lost at that moment, tries again, as an operator
    would."""
    world.lab.import_topology(changed_topology(world, next(numbers)))
    return True


def change_plans(world, numbers, seconds):
    """Changes plans as often as a controller accepts it, for this many seconds; returns the
    number of changes."""
    taken, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        leader = world.lab.leader()
        if leader is not None:
            with contextlib.suppress(OSError):
                world.lab.import_topology(changed_topology(world, next(numbers)), leader)
                taken += 1
        world.plain.silence(0.3, world.plain.mark())
    return taken


def test_every_agent_has_the_newest_plan_after_every_fault_of_etcd_and_controllers(world, rng, print_line, full, soak):
    small = world(RACKS, alertmanager=False, controllers=2, etcd=3, token_s=TOKEN_S).start()
    versions, numbers = Versions(small.lab), itertools.count()
    troubles = list(TROUBLES_GATE)
    if full:
        count = TROUBLES_SOAK if soak else TROUBLES_FULL
        troubles = list(itertools.islice(itertools.cycle(TROUBLES), count))
    until("the first plans are everywhere", 15, lambda: converged(small, versions))
    mark, began, seconds, taken = small.mark(), time.monotonic(), [], 0
    leaderships = {until("somebody leads", HEALED_S, lambda: leadership(small))}
    rng.shuffle(troubles)
    # Full comes last. A member that replaces another one replays the writes that once filled the
    # database, exceeds the quota itself, and never agrees with the others again: this is an error
    # of etcd.
    troubles.sort(key=lambda kind: kind is Full)

    for kind in troubles:
        trouble = kind(small, rng)
        before = newest(small.etcd)
        trouble.begin()
        taken += change_plans(small, numbers, rng.uniform(0.5, 3))
        trouble.heal()
        healed = time.monotonic()
        until(f"etcd answers after {trouble}", HEALED_S, lambda: newest(small.etcd), every=0.05)
        back = time.monotonic()
        leaderships.add(
            until(f"somebody leads after {trouble}", HEALED_S, lambda: leadership(small))
        )
        until(
            f"every agent has the newest plan after {trouble}",
            HEALED_S,
            lambda: converged(small, versions),
            every=0.05,
        )
        # The time is measured from etcd's first answer: members that were stopped or cut off
        # first elect a leader, which takes seconds.
        seconds.append(time.monotonic() - back)
        if seconds[-1] > CONVERGED_S:
            print_line(f"{trouble}: {seconds[-1]:.1f} s, and {back - healed:.1f} s of etcd's before")
        small.etcd.wait_healthy(HEALED_S)
        # A new plan also reaches all agents.
        until("a new topology is taken", HEALED_S, lambda: take_new(small, numbers))
        until(
            f"a new plan reaches every agent after {trouble}",
            CONVERGED_S,
            lambda: newest(small.etcd) != before and converged(small, versions),
            every=0.1,
        )

    until(
        "tokens have expired, and others were fetched",
        TOKENS * TOKEN_S,
        lambda: authentications(small.lab.wait_leader()) >= TOKENS,
        every=0.5,
    )

    count = len(troubles)
    print_line(f"{count} troubles, {taken} changes of plans meanwhile, {len(leaderships)} leaderships")
    print_line(figures.line("every agent on the newest plan once etcd answers", seconds))
    assert taken >= count
    assert len(leaderships) >= 2
    in_time("the newest plan everywhere", max(seconds), CONVERGED_S, began)
    others = accused(small.since(mark), began, lambda _: False)
    assert not others, "nobody was at fault"
