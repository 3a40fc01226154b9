"""A fabric with everything on it: daemons, a plain webhook, a private Alertmanager."""

import contextlib
import pathlib

from . import places
from .engines import Alertmanager, one_receiver
from .etcd import Etcd
from .fabric import Fabric
from .influx import Influx
from .process import end
from .rackmesh import Lab, centres
from .signals import uninterrupted
from .sinks import Sink

PLAIN_PORT = 8081
GROUPED_PORT = 8082

# Racks of 8, 4, 3 and 2 RNICs; h1, h2, h3 and h12 have two, in different ToRs.
RACKS = {
    "tor1": ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"],
    "tor2": ["h1", "h2", "h9", "h10"],
    "tor3": ["h3", "h11", "h12"],
    "tor4": ["h12", "h13"],
}


class World:
    """Closes everything in the reverse order of its making, whatever has failed.

    etcd: number of members, 0: the controller reads the topology file. token_s: see Etcd.
    analyzer: its options ({}: the usual ones), or None. influx: whether its history is written
    to InfluxDB. routes: see Alertmanager's configure.
    """

    opened = []  # worlds that are not closed yet
    LAB = Lab
    SINK = Sink  # or a class that only has the address of another receiver

    def __init__(
        self,
        racks,
        folder,
        spines=2,
        relays=(),
        alertmanager=True,
        engines=None,
        controllers=1,
        etcd=0,
        token_s=None,
        analyzer=None,
        influx=False,
        routes=one_receiver,
        **options,
    ):
        folder = pathlib.Path(folder)
        engines = engines or places.ENGINES
        names = centres(racks, controllers, etcd, analyzer is not None, influx)
        with contextlib.ExitStack() as undo:
            self.fabric = self._lay(undo, racks, spines, names, relays)
            centre = self.fabric.netns("centre")
            address = self.fabric.management["centre"]
            self.plain = self.SINK(centre, address, PLAIN_PORT)
            undo.callback(self.plain.close)
            self.grouped = self.SINK(centre, address, GROUPED_PORT)
            undo.callback(self.grouped.close)
            self.alertmanager = None
            if alertmanager:
                self.alertmanager = Alertmanager(
                    engines, centre, address, folder, self.grouped.url, routes
                )
                undo.callback(end, [self.alertmanager])
                self.alertmanager.start()
            self.etcd = None
            if etcd:
                self.etcd = Etcd(engines, self.fabric, folder / "etcd", etcd, token_s)
                undo.callback(self.etcd.stop)
                self.etcd.start()
            self.influx = None
            if influx:
                place = self.fabric.netns("influx")
                self.influx = Influx(engines, place, self.fabric.management["influx"], folder)
                undo.callback(end, [self.influx])
                self.influx.start()
                self.influx.wait_ready()
            for name, value in options.items():
                if callable(value):  # a function of the fabric, whose addresses it needs
                    options[name] = value(self.fabric)
            self.lab = undo.enter_context(
                self.LAB(
                    self.fabric,
                    folder,
                    alertmanagers=[self.alertmanager.url] if alertmanager else [],
                    webhooks=[self.plain.url],
                    controllers=controllers,
                    etcd=self.etcd,
                    analyzer=analyzer,
                    influx=self.influx,
                    **options,
                )
            )
            self._undo = undo.pop_all()
        self.opened.append(self)

    def _lay(self, undo, racks, spines, names, relays):
        return undo.enter_context(Fabric(racks, spines, names, relays))

    def start(self):
        """Starts everything, and waits until every RNIC is probed."""
        if self.alertmanager is not None:
            self.alertmanager.wait_ready()
        if self.influx is not None:
            self.lab.ctl("influx", "history", "init", "--url", self.influx.url)
        self.lab.start().wait_probing()
        return self

    def is_up(self, process):
        """Whether a daemon reports that it is ready, or an engine answers."""
        if not process.alive:
            return False
        if process is self.alertmanager:
            return process.get("/-/ready").ok
        if process is self.influx:
            return process.ask("/ping").ok
        if self.etcd and process in self.etcd.members.values():
            return process.healthy()
        return process.get("/healthz").ok

    def rnic(self, name):
        return self.fabric.rnics[name]

    def mark(self):
        """The current position in both streams of alerts."""
        return self.plain.mark(), self.grouped.mark()

    def since(self, mark):
        """The alerts that have arrived at either sink since then."""
        return self.plain.since(mark[0]) + self.grouped.since(mark[1])

    def close(self):
        if self in self.opened:
            self.opened.remove(self)
        with uninterrupted():
            self._undo.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
