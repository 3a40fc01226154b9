"""Probes and replies over RoCE, seen from outside: nftables count them as they leave an RNIC, in
every spine, and as they arrive, by flow, kind, length, class and label. No daemon is involved."""

import dataclasses
import json

from lab.netns import run

# UDP's length field: the UDP header, BTH, DETH, the message, and ICRC.
AROUND = 8 + 12 + 8 + 4

# The mark of a packet has room for one number: the flow label of the probe in the order of its
# bytes, which leaves the lowest byte free for the flags.
REPLY, SMALL, FULL, LOSSLESS, BEST_EFFORT = 1, 2, 4, 8, 16

# UD messages with the first bytes of our probes: see roce_packet.h. Traces do not have them.
TABLE = """
table ip {table}
delete table ip {table}
table ip {table} {{
    set seen {{
        type ipv4_addr . ipv4_addr . inet_service . mark
        size 65536
        flags dynamic
        counter
    }}
    chain through {{
        type filter hook {hook} priority -300;
        udp dport != 4791 return
        @th,64,8 != 0x64 return
        @th,224,24 != 0x724d01 return
        meta mark set @th,416,32
        @th,248,8 2 meta mark set meta mark | {reply}
        udp length {small} meta mark set meta mark | {small_bit}
        udp length {full} meta mark set meta mark | {full_bit}
        ip dscp {lossless} meta mark set meta mark | {lossless_bit}
        ip dscp {best_effort} meta mark set meta mark | {best_effort_bit}
        update @seen {{ ip saddr . ip daddr . udp sport . meta mark }}
        meta mark set 0
    }}
}}
"""


@dataclasses.dataclass(frozen=True)
class Packet:
    source: str  # names of RNICs
    target: str
    port: int  # the source port
    label: int
    reply: bool
    size: str  # small, full or other
    dscp: int  # None: of another class


class Wire:
    """sizes: of small messages (64 bytes, 80 with a MAC) and full ones. classes: DSCPs, lossless
    and best effort."""

    def __init__(self, fabric, sizes=(80, 4096), classes=(26, 0)):
        self._fabric, self._sizes, self._classes = fabric, sizes, classes
        self._names = {rnic.ipv4: name for name, rnic in fabric.rnics.items()}

    def count(self):
        """Counts from now on, starting at zero."""
        self._lay(None, "left", "output")
        self._lay(None, "arrived", "prerouting")
        for spine in self._fabric.spines:
            self._lay(spine, "through", "prerouting")

    def left(self):
        """{Packet: number} of packets that RNICs have sent."""
        return self._seen(None, "left")

    def arrived(self):
        return self._seen(None, "arrived")

    def through(self, spine):
        return self._seen(spine, "through")

    def _there(self, place):
        netns = self._fabric.netns(place)
        return ["ip", "netns", "exec", netns] if netns else []

    def _lay(self, place, table, hook):
        rules = TABLE.format(
            table=table,
            hook=hook,
            small=self._sizes[0] + AROUND,
            full=self._sizes[1] + AROUND,
            lossless=self._classes[0],
            best_effort=self._classes[1],
            reply=REPLY,
            small_bit=SMALL,
            full_bit=FULL,
            lossless_bit=LOSSLESS,
            best_effort_bit=BEST_EFFORT,
        )
        run(*self._there(place), "nft", "-f", "-", input=rules)

    def _seen(self, place, table):
        words = f"nft -j list set ip {table} seen".split()
        shown = json.loads(run(*self._there(place), *words))
        found = {}
        for each in shown["nftables"][1]["set"].get("elem", []):
            packet = self._packet(*each["elem"]["val"]["concat"])
            found[packet] = found.get(packet, 0) + each["elem"]["counter"]["packets"]
        return found

    def _packet(self, source, target, port, mark):
        lossless, best_effort = self._classes
        return Packet(
            self._names[source],
            self._names[target],
            port,
            label=int.from_bytes((mark & ~0xFF).to_bytes(4, "little"), "big"),
            reply=bool(mark & REPLY),
            size="small" if mark & SMALL else "full" if mark & FULL else "other",
            dscp=lossless if mark & LOSSLESS else best_effort if mark & BEST_EFFORT else None,
        )


def total(packets, **like):
    """The number of packets with these values."""
    return sum(
        count
        for packet, count in packets.items()
        if all(getattr(packet, name) == value for name, value in like.items())
    )


def grouped(packets, *names, **like):
    """{values of these names: number}, over the packets with these values."""
    sums = {}
    for packet, count in packets.items():
        if all(getattr(packet, name) == value for name, value in like.items()):
            key = tuple(getattr(packet, name) for name in names)
            sums[key] = sums.get(key, 0) + count
    return sums
