"""A faulty proxy to a database: it passes requests on, but not every answer comes back whole."""

import collections
import contextlib
import http.client
import http.server
import threading

from . import netns as namespaces
from .wait import PATIENCE_S


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self):
        self._pass_on()

    def do_POST(self):
        self._pass_on()

    def _pass_on(self):
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fate = proxy.fate()
        try:
            answer = self._ask(body)
            if fate == "duplicated":
                answer = self._ask(body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # the database is down: closes the connection, as it would
            proxy.count("unanswered")
            return
        proxy.count(fate)
        if fate == "dropped":
            self.close_connection = True
            return
        if fate == "cut":
            answer = answer[: len(answer) // 3]
            self.close_connection = True
        self.wfile.write(answer)

    def _ask(self, body):
        proxy = self.server.proxy
        with namespaces.inside(proxy.netns):
            connection = http.client.HTTPConnection(*proxy.upstream, timeout=PATIENCE_S)
            connection.connect()
        with contextlib.closing(connection):
            headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        head = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        head += [
            f"{k}: {v}"
            for k, v in answer.getheaders()
            if k.lower() not in ("transfer-encoding", "content-length", "connection")
        ]
        if answer.status != 204:
            head.append(f"Content-Length: {len(data)}")
        return "\r\n".join(head).encode() + b"\r\n\r\n" + data

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_):
        pass  # the client has disconnected


class Proxy:
    """share: the share of answers that are dropped, cut, or belong to a request that was sent
    twice."""

    def __init__(self, netns, port, upstream, rng, share=0.2):
        self.netns = netns
        self.upstream = upstream
        self.url = f"http://127.0.0.1:{port}"
        self.counts = collections.Counter()
        self._rng, self._share = rng, share
        self._lock = threading.Lock()
        with namespaces.inside(netns):
            self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def fate(self):
        with self._lock:
            if self._rng.random() >= self._share:
                return "passed"
            return self._rng.choice(("dropped", "duplicated", "cut"))

    def behave(self):
        """From now on every request is sent once, and every answer comes back whole."""
        with self._lock:
            self._share = 0

    def count(self, what):
        with self._lock:
            self.counts[what] += 1

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
