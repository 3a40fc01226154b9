"""The world of the hour of random faults: two aggregators per ToR, state on small disks, clocks
that can jump, and beside the analyzer of the racks a second one with a feeder, whose history
can be checked to the last point."""

import contextlib
import pathlib

from . import disk, fakeclock
from .ca import Authority
from .netns import nft
from .pairs import PairLab, PairWorld, second_of
from .rackmesh import ANALYZER_PORT, LINK_ANALYZER, aggregator_of

YEAR_S = 365 * 86400
# A daemon whose clock is ten years off rejects certificates of a usual validity, and its connections
# end, as they must; tests/unit checks that. Here certificates are valid after every jump, to test the
# rest; and also ten years later none is about to expire.
CERTIFICATES = {"begins_s": -11 * YEAR_S, "seconds": 80 * YEAR_S}
BOOKS = "books"
POLICIES = {"retention_policy": "raw", "incident_retention_policy": "incidents"}
JUMPING = ("tor-aggregator", "region-controller", "analyzer")


class SoakLab(PairLab):
    """books: an analyzer without TLS, for a feeder. clocks: {name: FakeClock} of all daemons
    but the agents, whose kernel timestamps would not jump with them. disks: {name: SmallDisk}."""

    ANALYZERS = 1

    def __init__(self, fabric, folder, **options):
        self.clocks, self.disks, self.books = {}, {}, None
        self._closing = contextlib.ExitStack()
        disk.sweep()
        Authority(pathlib.Path(folder) / "tls", **CERTIFICATES)
        try:
            super().__init__(fabric, folder, **options)
            for daemon in (self.analyzer, self.books, *self.every_aggregator()):
                small = disk.SmallDisk(self.folder / "state" / daemon.name)
                self._closing.callback(small.close)
                self.disks[daemon.name] = small
        except BaseException:
            self._closing.close()
            raise

    def credentials(self, role, name, tors=(), **terms):
        return super().credentials(role, name, tors, **CERTIFICATES, **terms)

    def _daemon(self, kind, name, place, port, options, variables=None):
        if kind in JUMPING:
            self.clocks[name] = fakeclock.FakeClock(self.folder / "clocks", name)
            variables = {**(variables or {}), **self.clocks[name].variables()}
        return super()._daemon(kind, name, place, port, options, variables)

    def _analyzer(self, alertmanagers, webhooks, influx, more):
        self.books = self._daemon(
            "analyzer",
            BOOKS,
            self.fabric.netns(BOOKS),
            ANALYZER_PORT,
            {
                "name": BOOKS,
                "listen": self.books_address,
                "state_folder": str(self.folder / "state" / BOOKS),
                "influx": {"url": influx.url, **POLICIES},
                "plaintext": True,  # the feeder knows no certificates
            },
        )
        return super()._analyzer(alertmanagers, webhooks, influx, more)

    def every_aggregator(self):
        return [*self.aggregators.values(), *self.seconds.values()]

    @property
    def books_address(self):
        return f"{self.fabric.management[BOOKS]}:{LINK_ANALYZER}"

    def start(self):
        self._sockets.mkdir(exist_ok=True)
        self.books.start()
        return super().start()

    def close(self):
        super().close()
        self._closing.close()
        fakeclock.sweep()


class FarSink:
    """The address of a sink at which the oracle listens."""

    def __init__(self, netns, address, port):
        self.port = port
        self.url = f"http://{address}:{port}/"

    def close(self):
        """Does nothing: the oracle owns the sink."""


class SoakWorld(PairWorld):
    LAB = SoakLab
    SINK = FarSink

    def _lay(self, undo, racks, spines, names, relays):
        return super()._lay(undo, racks, spines, (*names, BOOKS), relays)

    def part_off(self, name):
        """Drops all packets of this place on the management network; its cable stays up."""
        chains = [
            f"chain {hook} {{ type filter hook {hook} device mgmt0 priority 0; counter drop; }}"
            for hook in ("ingress", "egress")
        ]
        nft(self.fabric.netns(name), "table netdev apart {\n" + "\n".join(chains) + "\n}\n")

    def join_again(self, name):
        nft(self.fabric.netns(name), "delete table netdev apart\n")

    # ---- its processes -----------------------------------------------------------

    def engines(self):
        """{name: process}"""
        every = [*self.etcd.members.values(), self.influx, self.alertmanager]
        return {each.name: each for each in every}

    def daemons(self):
        lab = self.lab
        every = [lab.analyzer, lab.books, *lab.controllers]
        every += [*lab.every_aggregator(), *lab.agents.values()]
        return {each.name: each for each in every}

    @staticmethod
    def pair(tor):
        """The names of the ToR's two aggregators."""
        return {aggregator_of(tor), second_of(tor)}

    def processes(self):
        return {**self.daemons(), **self.engines()}

    def places(self):
        """{process: the place that it has for itself}; the centre also has the sinks."""
        known = self.fabric.management
        names = {name: "influx" if name == "influxd" else name for name in self.processes()}
        return {name: place for name, place in names.items() if place in known}

    @staticmethod
    def durable(daemon):
        """Whether everything that an aggregator or an analyzer has acknowledged is on its disk."""
        metrics = daemon.metrics()
        name = next(name for name in metrics.series if name.endswith("_spool_durable"))
        return all(value == 1 for _, value in metrics.series[name])
