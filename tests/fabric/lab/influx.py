"""Debian's databases, unpacked and not installed: InfluxDB, VictoriaMetrics."""

import json
import pathlib
import urllib.parse

from . import http
from .process import Daemon
from .wait import until

INFLUX_PORT = 8086
VICTORIA_PORT = 8428

_INFLUX = """\
reporting-disabled = true
bind-address = "127.0.0.1:{backup}"
[meta]
  dir = "{data}/meta"
[data]
  dir = "{data}/data"
  wal-dir = "{data}/wal"
  index-version = "tsi1"
[monitor]
  store-enabled = false
[http]
  bind-address = "{address}:{port}"
  log-enabled = false
"""


class Questions:
    """Queries to a database with a known netns, address and port."""

    def ask(self, path):
        return http.get(self.netns, self.address, self.port, path)

    def query(self, text, database="rackmesh"):
        """The rows of one InfluxQL statement, as a list of {column: value}."""
        return _rows(self.ask(_statement(text, database)).json)

    def put(self, policy, *lines, database="rackmesh"):
        """Writes points in line protocol."""
        path = f"/write?{urllib.parse.urlencode({'db': database, 'rp': policy})}"
        answer = http.post(self.netns, self.address, self.port, path, "\n".join(lines))
        assert answer.status == 204, answer

    def change(self, text, database="rackmesh"):
        """As query(), for a statement that changes something."""
        path = _statement(text, database)
        return _rows(http.post(self.netns, self.address, self.port, path).json)


def _statement(text, database):
    words = urllib.parse.urlencode({"db": database, "q": text, "epoch": "ns"})
    return f"/query?{words}"


def _rows(answer):
    result = answer["results"][0]
    if "error" in result:
        raise OSError(result["error"])
    return [
        dict(zip(series["columns"], row), **series.get("tags", {}))
        for series in result.get("series", [])
        for row in series["values"]
    ]


class Influx(Questions, Daemon):
    """InfluxDB 1.6 at address:8086; its data stay after a kill."""

    def __init__(self, engines, netns, address, folder, port=INFLUX_PORT):
        folder = pathlib.Path(folder)
        data = folder / "influx"
        data.mkdir(parents=True, exist_ok=True)
        config = folder / "influx.conf"
        config.write_text(
            _INFLUX.format(data=data, address=address, port=port, backup=port + 2)
        )
        super().__init__(
            "influxd",
            [pathlib.Path(engines).resolve() / "usr/bin/influxd", "run", "-config", config],
            netns,
            folder / "influxd.log",
            port,
        )
        self.address = address
        self.url = f"http://{address}:{port}"

    def wait_ready(self, seconds=15):
        return until("InfluxDB answers", seconds, lambda: self.ask("/ping").ok, [self])


class Victoria(Daemon):
    """VictoriaMetrics at address:8428; it accepts InfluxDB's line protocol."""

    def __init__(self, engines, netns, address, folder, port=VICTORIA_PORT):
        folder = pathlib.Path(folder)
        super().__init__(
            "victoria",
            [
                pathlib.Path(engines).resolve() / "usr/bin/victoria-metrics",
                f"-storageDataPath={folder / 'victoria'}",
                f"-httpListenAddr={address}:{port}",
                "-retentionPeriod=1",
                "-search.latencyOffset=0s",
            ],
            netns,
            folder / "victoria.log",
            port,
        )
        self.address = address
        self.url = f"http://{address}:{port}"

    def ask(self, path):
        return http.get(self.netns, self.address, self.port, path)

    def wait_ready(self, seconds=15):
        return until("VictoriaMetrics answers", seconds, lambda: self.ask("/health").ok, [self])

    def export(self, match):
        """All series that match, in the form of VictoriaMetrics' export; buffered points are
        flushed first."""
        self.ask("/internal/force_flush")
        words = urllib.parse.urlencode({"match[]": match})
        text = self.ask(f"/api/v1/export?{words}").text
        return [json.loads(line) for line in text.splitlines()]

    def wait_values(self, name, count, seconds=30):
        """Waits until a metric has so many values, and returns them: a search finds new points
        only some time after they were accepted, flushed or not."""

        def enough():
            series = self.export(f'{{__name__="{name}"}}')
            values = [value for each in series for value in each["values"]]
            return values if len(values) >= count else None

        return until(f"VictoriaMetrics shows {count} of {name}", seconds, enough, [self])
