"""All daemons on the Soft-RoCE fabric: one region controller, one aggregator per ToR, one
agent per host that has only this host's RNICs, and a webhook that listens."""

from lab.rackmesh import Lab
from lab.world import World


class RoceLab(Lab):
    """As every Lab; its agents share a namespace, and each is told its RNICs."""

    def _rnic(self, rnic):
        return {**super()._rnic(rnic), "transport": self.fabric.transport}


class RoceWorld(World):
    """fabric: one that is laid, and stays when this closes. Options: see World, Lab."""

    LAB = RoceLab

    def __init__(self, fabric, folder, **options):
        self._given = fabric
        super().__init__(
            fabric.racks, folder, len(fabric.spines), **{"alertmanager": False, **options}
        )

    def _lay(self, undo, racks, spines, names, relays):
        return self._given
