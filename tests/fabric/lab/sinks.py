"""Receivers of alerts: a thread that listens inside a namespace and records the time of each
arrival."""

import contextlib
import dataclasses
import http.server
import json
import socket
import threading
import time

from . import netns as namespaces
from .innocents import is_held
from .wait import Overdue, patience

BACKLOG = 64


@dataclasses.dataclass(frozen=True)
class Arrival:
    """One alert, as a webhook received it (Alertmanager's format, version 4)."""

    at: float  # time.monotonic()
    status: str  # firing, resolved
    labels: dict
    annotations: dict
    receiver: str = ""  # Alertmanager's receiver
    link: str = ""  # generatorURL

    @property
    def alertname(self):
        return self.labels.get("alertname", "")

    @property
    def part(self):
        return self.labels.get("part", "")

    def __str__(self):
        kind, why = (self.annotations.get(key, "") for key in ("kind", "summary"))
        return f"{self.status} {self.alertname} {self.part} ({kind}: {why})"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        at = time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.sink.take(at, body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, sink, sock):
        self.sink = sink
        super().__init__(sock.getsockname(), sink.HANDLER, bind_and_activate=False)
        self.socket.close()
        self.socket = sock

    def handle_error(self, *_):
        pass  # the sender was killed while it sent


class Sink:
    """Listens at address:port inside the namespace until closed."""

    HANDLER = _Handler

    def __init__(self, netns, address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{port}/"
        self.arrivals = []
        self._changed = threading.Condition()
        with namespaces.inside(netns):
            sock = socket.socket(family, socket.SOCK_STREAM)
        with contextlib.ExitStack() as undo:
            undo.callback(sock.close)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address, port))
            sock.listen(BACKLOG)
            self._server = _Server(self, sock)
            undo.pop_all()
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def take(self, at, body):
        """Each alert of a notification becomes an arrival of its own."""
        page = json.loads(body)
        with self._changed:
            for alert in page["alerts"]:
                self.arrivals.append(
                    Arrival(
                        at,
                        alert["status"],
                        alert["labels"],
                        alert["annotations"],
                        page.get("receiver", ""),
                        alert.get("generatorURL", ""),
                    )
                )
            self._changed.notify_all()

    def mark(self):
        """The current position in the stream, for since=."""
        with self._changed:
            return len(self.arrivals)

    def since(self, mark):
        with self._changed:
            return self.arrivals[mark:]

    def wait_for(self, predicate, seconds, since=0, what="an alert"):
        """The first arrival after the mark for which predicate(arrival) is true. seconds: how
        long that usually takes; it waits patience(seconds)."""
        return self._wait_for(predicate, patience(seconds), since, what)

    def _wait_for(self, predicate, seconds, since, what):
        deadline = time.monotonic() + seconds
        at = since
        with self._changed:
            while True:
                while at < len(self.arrivals):
                    if predicate(self.arrivals[at]):
                        return self.arrivals[at]
                    at += 1
                left = deadline - time.monotonic()
                if left <= 0:
                    came = "; ".join(map(str, self.arrivals[since:])) or "nothing"
                    raise Overdue(f"{what}: not within {seconds:g} s; came: {came}")
                self._changed.wait(left)

    def silence(self, seconds, since, allow=lambda arrival: False):
        """Waits for so long, and fails at once if an alert arrives that is not allowed, unless
        the machine caused it."""
        began = time.monotonic()

        def wrong(arrival):
            return not allow(arrival) and is_held(arrival, began)

        try:
            came = self._wait_for(wrong, seconds, since, "")
        except Overdue:
            return
        raise AssertionError(f"nobody should have been named, but: {came}")

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
