"""A tap on the wire between agents and an aggregator: a proxy that may hold back,
repeat or forge what passes, frame by frame, and counts it."""

import contextlib
import select
import socket
import struct
import threading
import zlib

from . import netns as namespaces

_HEAD = struct.Struct(">II")  # length, CRC-32 of the payload
BATCH = b"RMB1"
HEARTBEAT = b"RMT1"
_CHUNK = 1 << 16


def kind(payload):
    """FlatBuffers puts the identifier behind the root's offset."""
    return payload[4:8]


def frame(payload):
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


class Tap:
    """Listens at address:port inside the namespace; every connection goes on to target.

    on_frame(payload) -> the payloads to pass on instead, for frames on their way up;
    None passes it on as it is. What hold() names is kept back until release()."""

    def __init__(self, netns, address, port, target):
        self.address = f"{address}:{port}"
        self.on_frame = None
        self.passed = {}  # {kind: frames passed up}
        self._netns, self._target = netns, target
        self._held = None  # a kind, while it is held back
        self._lock = threading.Lock()
        self._pairs = set()
        self._closing = False
        with namespaces.inside(netns):
            self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((address, port))
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def hold(self, frame_kind):
        with self._lock:
            self._held = frame_kind

    def release(self):
        """What was held goes on, with the next frame that passes."""
        self.hold(None)

    def cut(self):
        """Resets every connection: what is on the way is lost."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            for sock in pair:
                with contextlib.suppress(OSError):
                    sock.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
                    sock.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._closing = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._thread.join()

    def _accept(self):
        while not self._closing:
            try:
                down, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(down,), daemon=True).start()

    def _serve(self, down):
        with namespaces.inside(self._netns):
            up = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            up.connect(self._target)
        except OSError:
            up.close()
            down.close()
            return
        for sock in (up, down):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (down, up)
        with self._lock:
            self._pairs.add(pair)
        try:
            self._relay(down, up)
        except OSError:
            pass
        finally:
            with self._lock:
                self._pairs.discard(pair)
            down.close()
            up.close()

    def _relay(self, down, up):
        poller = select.poll()
        poller.register(down, select.POLLIN)
        poller.register(up, select.POLLIN)
        buffer, kept = b"", []
        while True:
            for fd, _ in poller.poll():
                data = (down if fd == down.fileno() else up).recv(_CHUNK)
                if not data:
                    return
                if fd == up.fileno():
                    down.sendall(data)
                    continue
                buffer += data
                buffer = self._pass_frames(buffer, kept, up)

    def _pass_frames(self, buffer, kept, up):
        while len(buffer) >= _HEAD.size:
            length, _ = _HEAD.unpack_from(buffer)
            end = _HEAD.size + length
            if len(buffer) < end:
                break
            payload, buffer = buffer[_HEAD.size : end], buffer[end:]
            with self._lock:
                held, on_frame = self._held, self.on_frame
            if held is not None and kind(payload) == held:
                kept.append(payload)
                continue
            if held is None and kept:
                for old in kept:
                    self._pass(old, None, up)
                kept.clear()
            self._pass(payload, on_frame, up)
        return buffer

    def _pass(self, payload, on_frame, up):
        instead = on_frame(payload) if on_frame is not None else None
        for each in [payload] if instead is None else instead:
            up.sendall(frame(each))
            with self._lock:
                self.passed[kind(each)] = self.passed.get(kind(each), 0) + 1
