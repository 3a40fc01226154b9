"""Imitates a kubelet as far as its list of pods goes: GET /pods over https for clients with the
token. It sends the PodList of tests/fuzz/corpus/pod_list/kubelet.json."""

import contextlib
import http.server
import pathlib
import socket
import ssl
import threading

from . import netns as namespaces

KUBELET_PORT = 10250
ADDRESS = "127.0.0.1"
BACKLOG = 64
PODS = pathlib.Path(__file__).parents[2] / "fuzz/corpus/pod_list/kubelet.json"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self):
        kubelet = self.server.kubelet
        if kubelet.stopped:  # this connection is older
            self.close_connection = True
            return
        kubelet.asked += 1
        if kubelet.hangs:
            kubelet.awake.wait(60)
        if self.headers.get("Authorization") != f"Bearer {kubelet.token}":
            self.reply(401, b"Unauthorized")
        elif not kubelet.allows:
            self.reply(403, b"Forbidden (user=agent, verb=get, resource=nodes, subresource=pods)")
        elif self.path != "/pods":
            self.reply(404, b"404 page not found")
        else:
            self.reply(200, PODS.read_bytes() if kubelet.raw is None else kubelet.raw)

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, kubelet, sock):
        self.kubelet = kubelet
        super().__init__(sock.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = sock

    def handle_error(self, *_):
        pass  # tests have clients that give up in the middle of an answer


class Kubelet:
    """Listens at 127.0.0.1:10250 inside the namespace until stopped. Its certificate is from
    the authority."""

    def __init__(self, netns, authority, token):
        self.token, self.allows = token, True
        self.asked, self.stopped = 0, False
        self.hangs, self.awake = False, threading.Event()
        self.raw = None  # bytes to send instead of the pods
        files = authority.issue([], "kubelet", hosts=[ADDRESS])
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.show(files)
        with namespaces.inside(netns):
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with contextlib.ExitStack() as undo:
            undo.callback(sock.close)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((ADDRESS, KUBELET_PORT))
            sock.listen(BACKLOG)
            # The thread of the connection makes the handshake, so that a slow client delays no other.
            sock = self._context.wrap_socket(
                sock, server_side=True, do_handshake_on_connect=False)
            self._server = _Server(self, sock)
            undo.pop_all()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def show(self, files):
        """Uses this certificate for new connections."""
        self._context.load_cert_chain(files.certificate, files.key)

    def hang(self):
        self.hangs = True
        self.awake.clear()

    def wake(self):
        self.hangs = False
        self.awake.set()

    def stop(self):
        self.stopped = True
        self.wake()
        self._server.shutdown()
        self._server.server_close()
