"""HTTP from inside a namespace or over a Unix socket, and Prometheus text."""

import dataclasses
import http.client
import json
import re
import socket

from . import netns as namespaces
from .wait import PATIENCE_S

TIMEOUT_S = PATIENCE_S  # a daemon may stand still for some time
_LINE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclasses.dataclass
class Answer:
    status: int
    text: str
    date: str = ""  # by the clock of the server

    @property
    def ok(self):
        return 200 <= self.status < 300

    @property
    def json(self):
        if not self.ok:
            raise OSError(f"status {self.status}: {self.text.strip()}")
        return json.loads(self.text)


class _Connection(http.client.HTTPConnection):
    """A connection over a socket that is already connected."""

    def __init__(self, sock):
        super().__init__("localhost")
        self.sock = sock  # has the time-out that was set for connecting


def _ask(sock, verb, path, body=None, head=None):
    connection = _Connection(sock)
    try:
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        head = {"Connection": "close", **(head or {})}
        if data is not None:
            head["Content-Type"] = "application/json"
        connection.request(verb, path, data, head)
        answer = connection.getresponse()
        return Answer(answer.status, answer.read().decode(), answer.getheader("Date", ""))
    except http.client.HTTPException as error:
        raise OSError(f"{verb} {path}: {error!r}") from error
    finally:
        connection.close()


def _connected(netns, host, port, seconds=TIMEOUT_S):
    with namespaces.inside(netns):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect((host, port))
    except OSError:
        sock.close()
        raise
    return sock


def get(netns, host, port, path, seconds=TIMEOUT_S):
    return _ask(_connected(netns, host, port, seconds), "GET", path)


def post(netns, host, port, path, body=None, head=None, seconds=TIMEOUT_S):
    return _ask(_connected(netns, host, port, seconds), "POST", path, body, head)


def post_unix(path_of_socket, path, body=None):
    """body: an object to send as JSON, or a text to send as it is."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(TIMEOUT_S)
        sock.connect(str(path_of_socket))
    except OSError:
        sock.close()
        raise
    return _ask(sock, "POST", path, {} if body is None else body)


class Metrics:
    """The content of /metrics: {name: [(labels, value), ...]}."""

    def __init__(self, text):
        self.series = {}
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            match = _LINE.match(line)
            if match is None:
                raise ValueError(f"not Prometheus text: {line!r}")
            labels = dict(_LABEL.findall(match[2] or ""))
            self.series.setdefault(match[1], []).append((labels, float(match[3])))

    def sum(self, name, **labels):
        """The sum of all series with these labels; an unknown name is an error."""
        if name not in self.series:
            raise KeyError(f"{name}; there are: {', '.join(sorted(self.series))}")
        return sum(
            value
            for have, value in self.series[name]
            if all(have.get(key) == wanted for key, wanted in labels.items())
        )

    def by(self, name, label):
        """{value of the label: sum}; an unknown name is an error."""
        if name not in self.series:
            raise KeyError(f"{name}; there are: {', '.join(sorted(self.series))}")
        sums = {}
        for labels, value in self.series[name]:
            key = labels.get(label, "")
            sums[key] = sums.get(key, 0) + value
        return sums


def metrics(netns, host, port, seconds=TIMEOUT_S):
    answer = get(netns, host, port, "/metrics", seconds)
    if not answer.ok:
        raise OSError(f"/metrics: status {answer.status}")
    return Metrics(answer.text)
