"""Host names of a fabric: a hosts file per namespace, and at most one name server.

ip netns exec mounts /etc/netns/NAME/* over /etc, so running daemons see later changes of these
files.
"""

import contextlib
import pathlib
import shutil
import socket
import struct
import threading

from .netns import inside

FOLDER = pathlib.Path("/etc/netns")
DNS_PORT, TYPE_A, NO_SUCH_NAME = 53, 1, 3


class Hosts:
    """The names in the namespaces of these places. Call set() before their daemons start."""

    def __init__(self, fabric, places):
        self._folders = [FOLDER / fabric.netns(place) for place in places]
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        self.server("127.0.0.1")  # no server listens there
        self.set({})

    def server(self, address):
        for folder in self._folders:
            (folder / "resolv.conf").write_text(
                f"nameserver {address}\noptions timeout:1 attempts:1\n"
            )

    def set(self, names):
        """names: {name: address, or a list of them}. Replaces all names."""
        lines = ["127.0.0.1 localhost"]
        for name, addresses in names.items():
            for address in [addresses] if isinstance(addresses, str) else addresses:
                lines.append(f"{address} {name}")
        for folder in self._folders:
            (folder / "hosts").write_text("\n".join(lines) + "\n")

    def close(self):
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # other namespaces still have files there
            FOLDER.rmdir()


class NameServer:
    """Answers queries for IPv4 addresses. names: {name: [address]}, may be changed at any time."""

    def __init__(self, netns, address, names):
        self.names = names
        self.asked = 0
        with inside(netns):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, DNS_PORT))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                question, who = self._socket.recvfrom(512)
                if question == b"end":
                    return
                self._socket.sendto(self._answer(question), who)

    def _answer(self, question):
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1 : at + 1 + question[at]].decode())
            at += 1 + question[at]
        name = ".".join(labels).lower()
        (kind,) = struct.unpack_from(">H", question, at + 1)
        found = self.names.get(name, []) if kind == TYPE_A else []
        flags = 0x8580 | (0 if name in self.names else NO_SUCH_NAME)
        head = question[:2] + struct.pack(">5H", flags, 1, len(found), 0, 0)
        records = [
            struct.pack(">3HIH", 0xC00C, TYPE_A, 1, 1, 4) + socket.inet_aton(each)
            for each in found
        ]
        self.asked += 1
        return head + question[12 : at + 5] + b"".join(records)

    def close(self):
        self._socket.sendto(b"end", self._socket.getsockname())
        self._thread.join()
        self._socket.close()
