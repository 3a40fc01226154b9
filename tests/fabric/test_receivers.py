"""Receivers of alerts with typical mistakes of operators, beside one that is right."""

import contextlib
import http.server
import socket
import ssl
import threading

from lab import netns as namespaces
from lab.ca import Authority
from lab.engines import ALERTMANAGER_PORT
from lab.faults import RnicDead
from lab.wait import PATIENCE_S, until
from test_check import checked, errors

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
MUTE, PAGE, ENDED = 9201, 9202, 9203
LOGIN = b"<!DOCTYPE html><title>Sign in</title>"


class Login(http.server.BaseHTTPRequestHandler):
    """A login in front of an Alertmanager: it answers every request with a web page."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(LOGIN)))
        self.end_headers()
        self.wfile.write(LOGIN)

    do_GET = do_POST

    def log_message(self, *_):
        pass


def listening(netns, address, port):
    with namespaces.inside(netns):
        sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen(64)
    return sock


@contextlib.contextmanager
def wrong_ones(netns, address, ended):
    """Starts receivers: one accepts connections and never answers, one answers with a web page,
    one has an expired certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ended.certificate, ended.key)
    sealed = context.wrap_socket(
        listening(netns, address, ENDED), server_side=True, do_handshake_on_connect=False)
    with contextlib.closing(listening(netns, address, MUTE)):
        servers = []
        for sock in (listening(netns, address, PAGE), sealed):
            server = http.server.ThreadingHTTPServer(("", 0), Login, bind_and_activate=False)
            server.socket.close()
            server.socket, server.daemon_threads = sock, True
            server.handle_error = lambda *_: None
            threading.Thread(target=server.serve_forever, daemon=True).start()
            servers.append(server)
        try:
            yield
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def test_broken_receivers_are_named_and_delay_no_other_receiver(world, tmp_path, print_line):
    authority = Authority(tmp_path / "tls")  # the lab's

    def receivers(fabric):
        centre = fabric.management["centre"]
        return {"alerts": {
            "authorities": str(authority.certificate_path),
            "alertmanagers": [
                f"http://{centre}:{MUTE}",
                f"http://{centre}:{PAGE}/login",
                f"https://{centre}:{ENDED}",
                f"http://{centre}:{ALERTMANAGER_PORT}/prefix/",  # a real Alertmanager answers 404
                f"http://{centre}:{ALERTMANAGER_PORT}/api/v2/alerts/",  # a path that an operator has pasted
            ],
        }}

    whole = world(RACKS, aggregator=receivers)
    centre = whole.fabric.management["centre"]
    ended = authority.issue([], "ended", seconds=-60, hosts=[centre])
    with wrong_ones(whole.fabric.netns("centre"), centre, ended):
        whole.start()
        daemon = whole.lab.aggregators["tor1"]

        def up():
            name = "rackmesh_aggregator_alert_receiver_up"
            metrics = daemon.metrics()
            return [metrics.sum(name, receiver=f"alertmanagers[{i}]") for i in range(5)]

        until("the wrong ones are known", PATIENCE_S, lambda: up() == [0, 0, 0, 0, 1], [daemon])
        mark = whole.mark()
        fault = RnicDead(whole.lab, whole.rnic("h2/r0"))
        fault.begin()
        try:
            reported = whole.grouped.wait_for(lambda each: each.part == "h2/r0", PATIENCE_S, mark[1])
            assert reported.status == "firing"
        finally:
            fault.end()
        ready = daemon.get("/readyz")
        print_line(ready.text)
        assert ready.ok and f"http://{centre}:{MUTE}/api/v2/alerts does not answer" in ready.text
        log = daemon.log.read_text()
        for line in (
            f"http://{centre}:{MUTE}/api/v2/alerts does not answer: ",
            f"http://{centre}:{PAGE}/login/api/v2/alerts answers 200 with a web page",
            f"https://{centre}:{ENDED}/api/v2/alerts does not answer: ",
            f"http://{centre}:{ALERTMANAGER_PORT}/prefix/api/v2/alerts answers 404: look at its prefix",
        ):
            assert log.count(f"alerts: receiver failed: {line}") == 1, line
        found = "\n".join(errors(checked(whole.lab, daemon, "--connect")))
        assert [f"alertmanagers[{i}]: " in found for i in range(5)] == [True] * 4 + [False], found
        assert "it answers with a web page" in found
        assert "expired" in log and "receiver recovered" not in log
        assert up() == [0, 0, 0, 0, 1]
