"""A proxy between agents and an aggregator that may hold back, repeat or forge what passes,
frame by frame."""

import contextlib
import select
import socket
import struct
import threading
import zlib

from . import netns as namespaces

_HEAD = struct.Struct(">II")  # length, CRC-32 of the payload
_CHUNK = 1 << 16
BATCH = b"RMB1"


def kind(payload):
    """The type of a frame: the identifier follows the size prefix and the offset of the root."""
    return payload[8:12]


class Tap:
    """Listens at address:port inside the namespace; every connection is forwarded to target.

    on_frame(payload) returns the payloads to forward instead, for frames on their way to the
    target; None: the frame itself. on_answer(payload) sees frames in the other direction.
    Frames of the kind given to hold() are kept until release().
    """

    def __init__(self, netns, address, port, target):
        self.address = f"{address}:{port}"
        self.on_frame = self.on_answer = None
        self.held = None
        self.lock = threading.Lock()
        self._netns, self._target = netns, target
        self._wires = set()
        with namespaces.inside(netns):
            self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((address, port))
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def hold(self, frame_kind):
        with self.lock:
            self.held = frame_kind

    def kept(self):
        """Number of frames that are held back now."""
        with self.lock:
            return sum(len(wire.kept) for wire in self._wires)

    def release(self):
        """Forwards at once what was held back."""
        with self.lock:
            self.held = None
            for wire in self._wires:
                wire.release()

    def close(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self.lock:
            for wire in self._wires:
                wire.cut()
        self._thread.join()

    def _accept(self):
        while True:
            try:
                down, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(down,), daemon=True).start()

    def _serve(self, down):
        with namespaces.inside(self._netns):
            up = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        wire = _Wire(self, down, up)
        with down, up, contextlib.suppress(OSError):
            up.connect(self._target)
            with self.lock:
                self._wires.add(wire)
            try:
                wire.relay()
            finally:
                with self.lock:
                    self._wires.discard(wire)


def _whole(buffer):
    """The payload of the first frame, or None if it is not complete."""
    if len(buffer) < _HEAD.size:
        return None
    end = _HEAD.size + _HEAD.unpack_from(buffer)[0]
    return buffer[_HEAD.size : end] if len(buffer) >= end else None


class _Wire:
    """One connection. Frames to the target are sent under the tap's lock, in order."""

    def __init__(self, tap, down, up):
        self.kept = []
        self._tap, self._down, self._up = tap, down, up
        self._buffer = self._answers = b""
        for sock in (down, up):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def relay(self):
        poller = select.poll()
        poller.register(self._down, select.POLLIN)
        poller.register(self._up, select.POLLIN)
        while True:
            for fd, _ in poller.poll():
                upward = fd == self._down.fileno()
                data = (self._down if upward else self._up).recv(_CHUNK)
                if not data:
                    return
                if upward:
                    self._buffer += data
                    with self._tap.lock:
                        self._pass_frames()
                else:
                    self._answers += data
                    self._read_answers()
                    self._down.sendall(data)

    def release(self):
        for payload in self.kept:
            self._send(payload)
        self.kept.clear()

    def cut(self):
        for sock in (self._down, self._up):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _read_answers(self):
        while (payload := _whole(self._answers)) is not None:
            self._answers = self._answers[_HEAD.size + len(payload) :]
            if self._tap.on_answer:
                self._tap.on_answer(payload)

    def _pass_frames(self):
        while (payload := _whole(self._buffer)) is not None:
            self._buffer = self._buffer[_HEAD.size + len(payload) :]
            if self._tap.held is not None and kind(payload) == self._tap.held:
                self.kept.append(payload)
                continue
            instead = self._tap.on_frame(payload) if self._tap.on_frame else None
            for each in [payload] if instead is None else instead:
                self._send(each)

    def _send(self, payload):
        self._up.sendall(_HEAD.pack(len(payload), zlib.crc32(payload)) + payload)
