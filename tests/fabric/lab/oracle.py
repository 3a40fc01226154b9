"""The oracle of the hour of random faults: a process of its own that receives every
notification, is informed of each fault as it happens, asks the daemons for their accounts and the
database for its content, and reports what was lost, invented or wrong.

It judges by what arrives in the end, never by what a daemon reports of itself. The accounts are
an exception: there a daemon's own figures must add up at any time.

As a program: oracle.py SOCKET JOURNAL CENTRE-NETNS ADDRESS PLAIN-PORT GROUPED-PORT
"""

import collections
import contextlib
import dataclasses
import http.server
import itertools
import json
import os
import pathlib
import socketserver
import sys
import threading
import time

from . import http as ask
from .feeder import stored
from .influx import Questions
from .innocents import VERDICTS
from .places import ROOT
from .process import Process
from .sinks import Sink
from .wait import until

# A daemon that was stopped may report a fault again so long after its end.
LINGER_S = 60
SCRAPE_S = 1
ANSWERS_S = 5
STARTS_S = 10
LANES = ("summary", "incident")
RAW = ("windowed", "late", "invalid", "duplicate")


@dataclasses.dataclass
class _Fault:
    kind: str
    alertname: str
    part: str
    place: str
    begin: float
    end: float = None

    def names(self, arrival):
        return (arrival.alertname, arrival.part, arrival.labels.get("place")) == (
            self.alertname,
            self.part,
            self.place,
        )

    def explains(self, arrival):
        until_s = float("inf") if self.end is None else self.end + LINGER_S
        return self.names(arrival) and self.begin <= arrival.at <= until_s


# ---- the process of the oracle -----------------------------------------------------------


class Judge:
    """The state of the oracle. Each public method is a question or a piece of news."""

    def __init__(self, journal, sinks):
        self._sinks = sinks
        self._journal = open(journal, "a", buffering=1, encoding="utf-8")
        self._faults, self._troubles, self._accounts = [], [], []
        self._lock = threading.Lock()

    def _note(self, what, **more):
        self._journal.write(json.dumps({"at": time.monotonic(), "what": what, **more}) + "\n")

    # ---- news

    def begin(self, **fault):
        self._note("fault", **fault)
        self._faults.append(_Fault(**fault))
        return len(self._faults) - 1

    def end(self, fault, at):
        self._faults[fault].end = at
        self._note("fault ends", fault=fault)

    def trouble(self, name, kind, begins):
        self._note("trouble", name=name, begins=begins)
        with self._lock:
            self._troubles.append((time.monotonic(), kind, name, begins))

    def watch(self, aggregators):
        """From now on checks the accounts of these aggregators: [[name, netns, address, port],
        ...]"""
        for place in aggregators:
            account = _Account(self._note, *place)
            self._accounts.append(account)

    # ---- questions

    def found(self, fault):
        """Seconds from the fault to its alert at each sink, or None while there is none."""
        fault = self._faults[fault]
        return [self._first(sink, fault) for sink in self._sinks]

    @staticmethod
    def _first(sink, fault):
        for each in sink.since(0):
            if each.at >= fault.begin and each.status == "firing" and fault.names(each):
                return each.at - fault.begin
        return None

    def resolved(self, fault):
        """Whether the last notification of the fault is its resolution, at each sink."""
        fault = self._faults[fault]
        return [self._last(sink, fault) == "resolved" for sink in self._sinks]

    @staticmethod
    def _last(sink, fault):
        arrivals = [each for each in sink.since(0) if fault.names(each) and each.at >= fault.begin]
        return arrivals[-1].status if arrivals else None

    def false(self):
        """Alerts that no fault explains."""
        wrong = collections.Counter(
            f"{each.alertname} {each.part}: {each.annotations.get('summary', '')}"
            for sink in self._sinks
            for each in sink.since(0)
            if each.alertname in VERDICTS
            and each.status == "firing"
            and not any(fault.explains(each) for fault in self._faults)
        )
        return [f"{count} x {what}" for what, count in wrong.items()]

    def twice(self):
        """Faults of RNICs for which Alertmanager, the last of the sinks, notified of more than
        one alert. Repeated notifications of an alert that still fires do not count."""
        wrong = []
        for i, fault in enumerate(self._faults):
            if fault.alertname != "RackmeshRnic":
                continue
            later = (each.begin for each in self._faults[i + 1 :] if each.part == fault.part)
            end = next(later, float("inf"))
            arrivals = [
                each
                for each in self._sinks[-1].since(0)
                if fault.names(each) and fault.begin <= each.at < end
            ]
            words = [status for status, _ in itertools.groupby(each.status for each in arrivals)]
            if len(words) > 2:
                when = [f"{each.status} {each.at - fault.begin:.1f}" for each in arrivals]
                wrong.append(f"{fault.kind} at {fault.begin:.1f}: {', '.join(when)}")
        return wrong

    def reported(self):
        """({sink: notifications}, {alertname: number of firing ones at either sink})"""
        each = collections.Counter(
            a.alertname for s in self._sinks for a in s.since(0) if a.status == "firing"
        )
        return [[len(sink.since(0)) for sink in self._sinks], dict(each)]

    def books(self, database, expected):
        """Returns what the database lacks, or has too much, compared with what was acknowledged
        to the feeder: {measurement: {figure: difference}}."""
        have = stored(_Database(*database))
        return {
            name: {key: have[name][key] - expected[name][key] for key in have[name]}
            for name in have
        }

    def incidents(self, database):
        """(number of incidents in all notifications; those that the database lacks; those that it
        has on parts that never had a fault; those that it lacks because a clock was years behind
        when they were reported: InfluxDB refuses points that are older than its retention)"""
        reported = {
            each.annotations["incident"]: each
            for sink in self._sinks
            for each in sink.since(0)
        }
        rows = _Database(*database).query(
            "SELECT id, sentence FROM incidents.rm_incident WHERE aggregator !~ /^sim-/"
            " GROUP BY part_type, part, place, state"
        )
        stated = {row["id"] for row in rows}
        parts = {fault.part for fault in self._faults}
        types = {name.removeprefix("Rackmesh").lower() for name in VERDICTS}
        strange = [
            str(row)
            for row in rows
            if row["part_type"] in types and row["part"] not in parts
        ]
        absent = [each for which, each in reported.items() if which not in stated]
        old = [each for each in absent if self._years_back(each.at)]
        lost = [f"{each} at {each.at:.1f}" for each in absent if each not in old]
        return [len(reported), lost, strange, len(old)]

    def _years_back(self, at):
        """Whether a clock was years behind at that time, or just before."""
        since = {}
        for when, kind, name, begins in self._troubles:
            if kind != "ClockJumped" or not name.endswith("-10y"):
                continue
            if begins:
                since[name] = when
            elif since.pop(name, when) <= at <= when + STARTS_S:
                return True
        return any(when <= at for when in since.values())

    def accounts(self):
        """Results of the checks of accounts: number of checks, errors, checks of a lane that
        was not durable."""
        return [
            sum(account.looks for account in self._accounts),
            [wrong for account in self._accounts for wrong in account.wrong],
            sum(account.volatile for account in self._accounts),
        ]


@dataclasses.dataclass
class _Database(Questions):
    netns: str
    address: str
    port: int


class _Account:
    """Asks one aggregator again and again whether its figures add up."""

    def __init__(self, note, name, *place):
        self._note, self._name, self._place = note, name, place
        self.looks = self.volatile = 0
        self.wrong = []
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self):
        rest = threading.Event()
        while not rest.wait(SCRAPE_S):
            with contextlib.suppress(OSError):  # the daemon is down, which happens here
                self._check(ask.metrics(*self._place, seconds=ANSWERS_S))

    def _check(self, metrics):
        self.looks += 1
        name = "rackmesh_aggregator_{}".format
        for lane in LANES:
            came = metrics.sum(name("lane_in_total"), lane=lane)
            parts = [
                metrics.sum(name(each), lane=lane)
                for each in ("lane_delivered_total", "lane_spooled", "lane_dropped_total")
            ]
            self._must(came == sum(parts), f"{lane} lane: {came} in, {parts}")
        taken = metrics.sum(name("results_taken_total"))
        parts = [metrics.sum(name(f"results_{each}_total")) for each in RAW]
        self._must(taken == sum(parts), f"raw: {taken} taken, {parts}")
        self.volatile += any(value == 0 for _, value in metrics.series[name("spool_durable")])

    def _must(self, good, what):
        if not good:
            self.wrong.append(f"{self._name}: {what}")
            self._note("wrong account", name=self._name, figures=what)


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = getattr(self.server.judge, self.path.strip("/"))(**body)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def main(socket, journal, netns, address, *ports):
    sinks = [Sink(netns, address, int(port)) for port in ports]
    with _Server(socket, _Handler) as server:
        server.judge = Judge(journal, sinks)
        server.serve_forever()


# ---- the test's side -------------------------------------------------------------------


class Oracle(Process):
    """The oracle, from the test's process: oracle.found(fault=...) and so on call the methods
    of Judge."""

    def __init__(self, folder, netns, address, *ports):
        folder = pathlib.Path(folder)
        self._socket = folder / "oracle.sock"
        if len(str(self._socket)) > 100:
            self._socket = pathlib.Path("/run") / f"{netns}.oracle"
        words = [self._socket, folder / "oracle.jsonl", netns, address, *ports]
        super().__init__(
            "oracle",
            [sys.executable, "-m", "lab.oracle", *words],
            None,
            folder / "oracle.log",
            {"PYTHONPATH": str(ROOT / "tests" / "fabric"), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def start(self):
        super().start()
        until("the oracle listens", STARTS_S, lambda: self.reported(), [self])
        return self

    def stop(self, *seconds):
        super().stop(*seconds)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._socket)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **body: ask.post_unix(self._socket, f"/{name}", body).json


if __name__ == "__main__":
    main(*sys.argv[1:])
