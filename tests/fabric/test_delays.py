"""Each delay shows only in its own part: that of the wire in the network RTT, that of a busy
prober in the prober delay, that of a busy responder in the responder delay."""

import struct

import pytest

from lab import figures, places
from lab.relay import Relay
from lab.wait import FULL, Late, until

RACKS = {"tor1": ["h1", "h2"]}
PROBER, RESPONDER = "h1/r0", "h2/r0"
PROBES = 200 if FULL else 60
PLAN = {"mesh_interval_ms": 30, "mesh_max_rate_per_s": 40}
SKIPPED = 5  # sent while the delay was being changed
DRILL_S = 60
TERMS = {
    "rtt": "rtt_ns",
    "prober": "prober_delay_ns",
    "responder": "responder_delay_ns",
}

# In milliseconds: a busy machine alone causes delays up to this.
SLACK_MS = 0.9
CASES = [
    ("rtt", 1),
    ("rtt", 5),
    ("rtt", 20),
    ("prober", 5),
    ("prober", 20),
    ("responder", 5),
    ("responder", 20),
]
# Checked on any machine: the term has grown by the delay, and no term has grown by much more.
CASES_GATE = [("rtt", 20), ("prober", 20), ("responder", 20)]
LEAST, MOST = 0.5, 3.0  # its term must grow by at least and at most this many times the delay


class Held:
    """A mapped file that hold_up.so reads: a delay in microseconds, which may change at any
    time."""

    def __init__(self, path):
        self.path = path
        self.set(0)

    def set(self, microseconds):
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("=I", microseconds))

    @property
    def environment(self):
        shim = places.program("hold_up.so")
        return {"LD_PRELOAD": str(shim), "HOLD_UP_FILE": str(self.path)}


def medians(lab, rnic, other):
    """Medians of the next PROBES complete results from one to the other, in milliseconds."""
    before = max(each["sent"] for each in lab.drill(rnic, other, DRILL_S))

    def fresh():
        results = [
            each
            for each in lab.drill(rnic, other, DRILL_S)
            if each["sent"] > before and each["outcome"] == "ok" and "rtt_ns" in each
        ]
        return results[:PROBES] if len(results) >= PROBES + SKIPPED else None

    results = until(f"{PROBES} probes from {rnic.name} to {other.name}", 60, fresh, every=0.2)
    return {
        term: figures.median([each[key] / 1e6 for each in results])
        for term, key in TERMS.items()
    }


@pytest.fixture
def bench(world, tmp_path):
    """A rack of two, with a relay in the prober's cable, and both agents under hold_up.so."""
    held = {"h1": Held(tmp_path / "held-h1"), "h2": Held(tmp_path / "held-h2")}
    pair = world(
        RACKS,
        spines=0,
        relays=[PROBER],
        alertmanager=False,
        controller={"plan": PLAN},
        environment={host: each.environment for host, each in held.items()},
    )
    relay = Relay(
        pair.fabric, PROBER, places.program("delay_relay"), tmp_path / "log" / "relay.log"
    )
    pair.lab.pack.add(relay).start()
    pair.start()
    return pair, relay, held


def test_each_delay_shows_in_its_own_part_of_the_round_trip(bench, full, print_line):
    pair, relay, held = bench
    prober, responder = pair.rnic(PROBER), pair.rnic(RESPONDER)
    give = {
        "rtt": lambda us: relay.delay(us),
        "prober": held["h1"].set,
        "responder": held["h2"].set,
    }
    base = medians(pair.lab, prober, responder)
    print_line("injected        " + "".join(f"{term:>14}" for term in TERMS) + "   (medians, ms)")
    print_line("nothing         " + "".join(f"{base[term]:14.3f}" for term in TERMS))

    for place, ms in CASES if full else CASES_GATE:
        give[place](1000 * ms)
        seen = medians(pair.lab, prober, responder)
        give[place](0)
        print_line(f"{place:10}{ms:3} ms" + "".join(f"{seen[term]:14.3f}" for term in TERMS))
        added = {term: seen[term] - base[term] for term in TERMS}
        assert max(added, key=added.get) == place, f"{place} +{ms} ms: {added}"
        assert LEAST * ms <= added[place] <= MOST * ms, f"{place} +{ms} ms: {added}"
        for term in TERMS if full else ():
            wanted = ms if term == place else 0
            if abs(added[term] - wanted) > SLACK_MS:
                raise Late(f"{place} +{ms} ms: {added}")
