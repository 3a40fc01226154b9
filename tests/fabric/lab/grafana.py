"""Does what Grafana does with the queries of a dashboard: fills variables by their own queries,
replaces macros for a range of time, and runs the queries of every panel."""

import dataclasses
import json
import re

from .places import ROOT

DASHBOARDS = ROOT / "analyzer" / "dashboards"
INTERVAL = "2s"  # $__interval: a test lasts only some seconds
RATE_S = 15  # $__rate_interval, of a Prometheus that scrapes every second


@dataclasses.dataclass
class Target:
    dashboard: str
    panel: dict
    text: str  # the query as in the file
    legend: str  # "": a table, which has none

    def __str__(self):
        return f"{self.dashboard}: {self.panel['title']}: {self.text}"


class Dashboard:
    def __init__(self, path):
        self.path = path
        self.name = f"{path.parent.name}/{path.stem}"
        self.json = json.loads(path.read_text())
        self.variables = {each["name"]: each for each in self.json["templating"]["list"]}

    @property
    def panels(self):
        return self.json["panels"]

    def targets(self):
        """The queries of all panels and of the annotations."""
        for panel in self.panels:
            for target in panel["targets"]:
                text = target.get("query") or target["expr"]
                legend = target.get("alias") or target.get("legendFormat") or ""
                yield Target(self.name, panel, text, legend)
        for note in self.json["annotations"]["list"]:
            panel = {"title": f"annotation {note['name']}", "type": "annotation"}
            yield Target(self.name, panel, note.get("query") or note["expr"], "")


def dashboards(source):
    found = [Dashboard(path) for path in sorted((DASHBOARDS / source).glob("*.json"))]
    assert found, source
    return found


def filled(text, values):
    """Replaces $name and ${name} of the known variables, longer names first."""
    for name in sorted(values, key=len, reverse=True):
        text = re.sub(rf"\$(?:{name}\b|{{{name}}})", lambda _: values[name], text)
    return text


class OfInflux:
    """Queries an InfluxDB (lab/influx.py) as its data source would."""

    def __init__(self, influx, from_ns, to_ns):
        self._influx = influx
        self.range = from_ns, to_ns
        self._time = f"time >= {from_ns} AND time <= {to_ns}"

    def values(self, dashboard):
        """{variable: the text that replaces it if every value is chosen}"""
        chosen = {}
        for name, variable in dashboard.variables.items():
            if variable["type"] == "constant":
                chosen[name] = variable["query"]
            elif variable["type"] == "query":
                rows = self._influx.query(filled(variable["query"], chosen))
                assert rows, f"{dashboard.name}: ${name} has no values"
                chosen[name] = f"({'|'.join(sorted(row['value'] for row in rows))})"
        return chosen

    def ask(self, target, chosen):
        """The rows of the answer that have a value."""
        macros = {"timeFilter": self._time, "__interval": INTERVAL}
        text = filled(target.text, {**chosen, **macros})
        tags = {"time", *re.findall(r'"(\w+)"', text.partition(" GROUP BY ")[2])}
        return [
            row
            for row in self._influx.query(text)
            if any(value is not None for key, value in row.items() if key not in tags)
        ]


class OfPrometheus:
    """Queries a Prometheus (lab/prometheus.py) as its data source would."""

    def __init__(self, prometheus, from_s, to_s):
        self._prometheus = prometheus
        self._range = {"start": from_s, "end": to_s, "step": 1}

    def values(self, dashboard):
        chosen = {}
        for name, variable in dashboard.variables.items():
            if variable["type"] != "query":
                continue
            asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            match = {"match[]": filled(asked[1], chosen)}
            found = self._prometheus.api(f"label/{asked[2]}/values", **match)
            assert found, f"{dashboard.name}: ${name} has no values"
            chosen[name] = "|".join(found)
        return chosen

    def ask(self, target, chosen):
        text = filled(target.text, {**chosen, "__rate_interval": f"{RATE_S}s"})
        result = self._prometheus.api("query_range", query=text, **self._range)["result"]
        return [series for series in result if any(v != "NaN" for _, v in series["values"])]
