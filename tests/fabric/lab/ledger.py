"""Records the summaries and incidents on their way to an analyzer, and those that it has
acknowledged. Reads the FlatBuffers frames with code of its own."""

import struct
import threading

from .tap import kind

LANES = {b"RMS1": "summary", b"RMI1": "incident"}
_ACK_LANES = {2: "summary", 3: "incident"}


class Table:
    """A FlatBuffers table: its numbers and tables, by field id."""

    def __init__(self, data, at):
        self._data, self._at = data, at
        self._fields = at - struct.unpack_from("<i", data, at)[0]

    @classmethod
    def root(cls, payload):
        """The root table, which follows the size prefix."""
        return cls(payload, 4 + struct.unpack_from("<I", payload, 4)[0])

    def _place(self, field):
        size = struct.unpack_from("<H", self._data, self._fields)[0]
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self._data, self._fields + entry)[0]
        return self._at + offset if entry < size and offset else None

    def number(self, field, layout="<Q"):
        place = self._place(field)
        return 0 if place is None else struct.unpack_from(layout, self._data, place)[0]

    def text(self, field):
        place = self._place(field)
        if place is None:
            return ""
        place += struct.unpack_from("<I", self._data, place)[0]
        length = struct.unpack_from("<I", self._data, place)[0]
        return self._data[place + 4 : place + 4 + length].decode()

    def table(self, field):
        place = self._place(field)
        return Table(self._data, place + struct.unpack_from("<I", self._data, place)[0])


STATES = {1: "opened", 2: "updated", 3: "resolved"}


def essence(lane, message):
    """What identifies a message in the history: (tor, time) of a summary, (incident, state,
    time) of an incident."""
    if lane == "summary":
        return message.text(1), message.number(3)
    return f"{message.number(1):016x}", STATES[message.number(2, "<B")], message.number(11)


class Ledger:
    """Reads the frames of a tap between aggregators and an analyzer."""

    def __init__(self, tap):
        self._lock = threading.Lock()
        self._sent, self._acked = {}, {}  # (lane, incarnation, seq): essence
        tap.on_frame = self._up
        tap.on_answer = self._down

    def _up(self, payload):
        lane = LANES.get(kind(payload))
        if lane:
            message = Table.root(payload)
            head = message.table(0)
            with self._lock:
                key = (lane, head.number(2), head.number(3))
                self._sent[key] = essence(lane, message)

    def _down(self, payload):
        """Handles an acknowledgement, which also covers all messages before."""
        if kind(payload) != b"RMK1":
            return
        ack = Table.root(payload)
        lane = (_ACK_LANES[ack.number(0, "<B")], ack.number(1))
        with self._lock:
            for key in [k for k in self._sent if k[:2] == lane and k[2] <= ack.number(2)]:
                self._acked[key] = self._sent.pop(key)

    def acknowledged(self, lane):
        """The essences of all acknowledged messages, one per message."""
        with self._lock:
            return [value for key, value in self._acked.items() if key[0] == lane]
