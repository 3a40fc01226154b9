"""The site's apt repository: a folder of packages, served on the control node."""

import contextlib
import functools
import http.server
import shutil
import socket
import subprocess
import threading

from lab.netns import inside
from packages import debs


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class Repository:
    """Serves the repository at address:port inside the namespace until it is closed."""

    def __init__(self, netns, address, port, folder):
        folder.mkdir()
        self.folder = folder
        self.source = f"deb [trusted=yes] http://{address}:{port} ./"
        handler = functools.partial(_Handler, directory=folder)
        self._server = _Server((address, port), handler, bind_and_activate=False)
        with contextlib.ExitStack() as undo:
            undo.callback(self._server.server_close)
            self._server.socket.close()
            with inside(netns):
                self._server.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._server.server_bind()
            self._server.server_activate()
            undo.pop_all()
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def add(self, folder):
        """Adds packages. Older versions stay, because a rollback needs the previous one."""
        for deb in debs(folder):
            shutil.copy(deb, self.folder)
        self._write_index()

    @contextlib.contextmanager
    def offers(self, folder):
        """Offers the packages for a while only, so that later tests do not find a newer version."""
        self.add(folder)
        try:
            yield
        finally:
            for deb in debs(folder):
                (self.folder / deb.name).unlink()
            self._write_index()

    def _write_index(self):
        command = ["dpkg-scanpackages", "--multiversion", "."]
        index = subprocess.run(command, cwd=self.folder, check=True, capture_output=True).stdout
        (self.folder / "Packages").write_bytes(index)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
