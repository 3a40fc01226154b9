"""All daemons on the Soft-RoCE fabric: one region controller, one aggregator per ToR, one agent per
host with the RNICs of this host only, and a webhook."""

from lab.rackmesh import Lab
from lab.wait import until
from lab.world import World


class RoceLab(Lab):
    """A Lab whose agents share a namespace, and whose configs list each agent's RNICs."""

    def _rnic(self, rnic):
        return {**super()._rnic(rnic), "transport": self.fabric.transport}

    def close(self):
        """Stops agents one after the other: each removes its hooks from functions that others would
        be using, which emulation does not always survive (README.md)."""
        for agent in self.agents.values():
            agent.stop()
        super().close()

    def agent_ctl(self, host, *words):
        """The output of rackmeshctl that asks this host's agent."""
        asked = ["--through", "agent", "--agent", f"unix:{self.agents[host].socket}"]
        return self.ctl(host, *asked, *words)

    def wait_traced(self, seconds):
        """Waits until every agent has traced all its flows between racks, and the aggregators have
        the paths. The ports of a plan are only requested ones: agents alone know the real flows."""
        for host, agent in self.agents.items():
            until(
                f"the flows of {host} are traced",
                seconds,
                lambda: all_traced(agent),
                [agent],
                every=0.2,
            )
        super().wait_traced(seconds)

    def services(self, host):
        """The service flows that the host's agent knows."""
        return self.agents[host].get("/v1/services").json["services"]


def all_traced(agent):
    paths = agent.get("/v1/paths").json["paths"]
    return paths and all(path["traced"] for path in paths)


class RoceWorld(World):
    """fabric: exists already, and stays when this closes. Options: see World, Lab."""

    LAB = RoceLab

    def __init__(self, fabric, folder, **options):
        self._given = fabric
        super().__init__(
            fabric.racks, folder, len(fabric.spines), **{"alertmanager": False, **options}
        )

    def _lay(self, undo, racks, spines, names, relays):
        return self._given
