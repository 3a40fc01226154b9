"""Many made-up racks over the wire to an analyzer, and what a database must hold then."""

import json

from .places import program
from .process import Process
from .wait import until


class Feeder(Process):
    """tests/bench/feed_analyzer: ends when everything is acknowledged."""

    def __init__(self, netns, address, folder, **options):
        words = [w for k, v in options.items() for w in (f"--{k.replace('_', '-')}", v)]
        self._finished = False
        super().__init__(
            "feed_analyzer",
            [program("feed_analyzer"), "--address", address, *words],
            netns,
            folder / "feeder.log",
        )

    def wait_finished(self, seconds):
        """What was acknowledged: {measurement: {"count": ..., field: sum}}."""
        until(f"{self.name} has fed", seconds, lambda: not self.alive, every=0.2)
        said = json.loads(self.log.read_text().splitlines()[-1])
        assert said["complete"], said
        return said
