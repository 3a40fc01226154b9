"""Sends data of many invented racks to an analyzer, and computes what a database must have
afterwards."""

import json

from .places import program
from .process import Process
from .wait import until

ROWS = ("rm_tor_pair", "rm_rnic")
MINE = "WHERE aggregator =~ /^sim-/"


class Feeder(Process):
    """Runs tests/bench/feed_analyzer, which ends when everything is acknowledged."""

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
        result = json.loads(self.log.read_text().splitlines()[-1])
        assert result["complete"], result
        return result


def stored(influx):
    """What a database has, in the same form as wait_finished()."""

    def row(text):
        rows = influx.query(text)
        return rows[0] if rows else {"count": 0, "sum": 0}

    have = {}
    for name, field in (
        ("rm_tor_pair", "sent"),
        ("rm_rnic", "sent"),
        ("rm_rack", "taken"),
        ("rm_path", "lost_unknown"),
    ):
        seen = row(f"SELECT count({field}), sum({field}) FROM raw.{name} {MINE}")
        have[name] = {"count": seen["count"], field: seen["sum"]}
    reported = f"SELECT count(id) FROM incidents.rm_incident {MINE}"
    opened = row(f"{reported} AND state = 'opened'")["count"]
    have["rm_incident"] = {"count": row(reported)["count"], "opened": opened}
    return have
