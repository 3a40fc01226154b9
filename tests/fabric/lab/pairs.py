"""A world with two of everything: two aggregators of each ToR, two analyzers."""

from .rackmesh import (
    AGGREGATOR_PORT,
    ANALYZER_PORT,
    LINK_AGGREGATOR,
    LINK_ANALYZER,
    LINK_CONTROLLER,
    REGION,
    Lab,
    aggregator_of,
    merged,
)
from .netns import nft
from .world import World


def second_of(tor):
    return f"{aggregator_of(tor)}b"


class PairLab(Lab):
    """aggregators: the primaries by ToR; seconds: those on standby. analyzers: 2 if there is
    one, unless ANALYZERS has another number."""

    ANALYZERS = 2

    def has_second(self, tor):
        """Whether this ToR has two aggregators; all have by default."""
        return True

    def __init__(self, fabric, folder, **options):
        self.seconds = {}
        self.second_analyzer = None
        super().__init__(fabric, folder, **options)

    def _analyzer(self, alertmanagers, webhooks, influx, more):
        first = super()._analyzer(alertmanagers, webhooks, influx, more)
        if self.ANALYZERS == 1:
            return first
        name = "analyzer2"
        options = {
            "name": name,
            "primary": False,
            "listen": f"{self.fabric.management[name]}:{LINK_ANALYZER}",
            "state_folder": str(self.folder / "state" / name),
            "alerts": {"alertmanagers": alertmanagers, "webhooks": webhooks},
            **self.credentials("analyzer", name),
        }
        self.second_analyzer = self._daemon(
            "analyzer", name, self.fabric.netns(name), ANALYZER_PORT, merged(options, more)
        )
        return first

    def _aggregator(self, tor, alertmanagers, webhooks, more):
        first, second = aggregator_of(tor), second_of(tor)
        both = {name: f"{self.fabric.management[name]}:{LINK_AGGREGATOR}"
                for name in (first, second)}
        if self.analyzer is not None:
            names = ("analyzer", "analyzer2")[:self.ANALYZERS]
            places = [self.fabric.management[name] for name in names]
            more = merged(more, {"analyzers": [f"{at}:{LINK_ANALYZER}" for at in places]})
        if not self.has_second(tor):
            return super()._aggregator(tor, alertmanagers, webhooks, more)
        options = {
            "name": second,
            "region": REGION,
            "tors": [{"name": tor, "primary": False,
                      "peer": {"name": first, "address": both[first]}}],
            "listen": both[second],
            "controllers": [
                f"{self.fabric.management[each.name]}:{LINK_CONTROLLER}"
                for each in self.controllers
            ],
            "state_folder": str(self.folder / "state" / second),
            "alerts": {"alertmanagers": alertmanagers, "webhooks": webhooks},
            **self.credentials("aggregator", second, [tor]),
        }
        self.seconds[tor] = self._daemon(
            "tor-aggregator", second, self.fabric.netns(second), AGGREGATOR_PORT,
            merged(options, more),
        )
        mine = {"tors": [{"name": tor, "peer": {"name": second, "address": both[second]}}]}
        return super()._aggregator(tor, alertmanagers, webhooks, merged(more, mine))

    def _agent(self, host, dial, more, variables):
        tors = list(dict.fromkeys(rnic.tor for rnic in host.rnics))
        both = [
            {"address": f"{self.fabric.management[name]}:{LINK_AGGREGATOR}", "tors": [tor]}
            for tor in tors
            for name in (aggregator_of(tor), second_of(tor))
            if name == aggregator_of(tor) or self.has_second(tor)
        ]
        return super()._agent(host, dial, merged(more, {"aggregators": both}), variables)

    def aggregator_daemons(self):
        return [*super().aggregator_daemons(), *self.seconds.values()]

    def start(self):
        self._sockets.mkdir(exist_ok=True)
        for daemon in (self.second_analyzer, *self.seconds.values()):
            if daemon is not None:
                daemon.start()
        return super().start()

    def active_aggregators(self, tor):
        """The names of the ToR's aggregators that answer and report that they are active."""
        found = []
        for daemon in (self.aggregators[tor], self.seconds[tor]):
            if daemon.alive and daemon.state() != "T":
                [rack] = daemon.get("/v1/racks").json["racks"]
                if rack["active"]:
                    found.append(daemon.name)
        return found


class PairWorld(World):
    LAB = PairLab

    def _lay(self, undo, racks, spines, names, relays):
        more = [second_of(tor) for tor in racks]
        if "analyzer" in names and self.LAB.ANALYZERS == 2:
            more.append("analyzer2")
        return super()._lay(undo, racks, spines, (*names, *more), relays)

    # ---- faults of one of the two ------------------------------------------------

    def cut(self, name, *others):
        """Drops all packets between this place and the others on the management network."""
        addresses = ", ".join(self.fabric.management[other] for other in others)
        rules = [
            f"chain {hook} {{ type filter hook {hook} device mgmt0 priority 0;"
            f" ip {side} {{ {addresses} }} counter drop; }}"
            for hook, side in (("ingress", "saddr"), ("egress", "daddr"))
        ]
        nft(self.fabric.netns(name), "table netdev cut {\n" + "\n".join(rules) + "\n}\n")

    def mend(self, name):
        nft(self.fabric.netns(name), "delete table netdev cut\n")
