"""Compares our STAMP bytes with scapy's: base packets in both directions, TLVs one by one.

scapy 2.5.0 builds packets with TLVs, but does not dissect them: the first 44 bytes are
dissected as a packet, the rest TLV by TLV.
"""

import json
import random
import subprocess
import warnings

import pytest

from lab.places import BUILD

warnings.filterwarnings("ignore")
stamp = pytest.importorskip("scapy.contrib.stamp")

TOOL = BUILD / "tests" / "support" / "stamp_bytes"
PTP = {"S": 0, "Z": 1, "scale": 0, "multiplier": 1}
U, M = 0x80, 0x40


def tool(*args):
    done = subprocess.run([str(TOOL), *map(str, args)], capture_output=True, text=True,
                          check=True)
    return done.stdout.strip()


def tlv(kind, value, flags=U):
    return bytes(stamp.STAMPTestTLV(flags=flags, type=kind, len=len(value), value=value))


def tlvs(data):
    found = []
    while data:
        one = stamp.STAMPTestTLV(data)
        size = 4 + one.len
        found.append((int(one.flags), one.type, data[4:size]))
        data = data[size:]
    return found


def dissect(kind, base):
    """Dissects the 44 bytes inside a UDP packet, since scapy needs to know where the TLVs end."""
    udp = stamp.UDP(sport=862, dport=862, len=8 + 44)
    packet = kind()
    packet.parent = udp
    packet.add_parent(udp)
    packet.do_dissect(base)
    return packet


def build(kind, **fields):
    # The error estimate comes first: its Z bit defines the format of the time stamps that are
    # passed to scapy.
    packet = kind(err_estimate=stamp.ErrorEstimate(**PTP))
    if "ts_sender" in fields:
        packet.err_estimate_sender = stamp.ErrorEstimate(**PTP)
    for name, value in fields.items():
        setattr(packet, name, value)
    return bytes(packet)


def sender(seq, ts, ssid):
    return build(stamp.STAMPSessionSenderTestUnauthenticated, seq=seq, ts=ts, ssid=ssid)


def reflector(seq, ts, ssid, ts_rx, seq_sender, ts_sender, ttl):
    return build(stamp.STAMPSessionReflectorTestUnauthenticated, seq=seq, ts=ts, ssid=ssid,
                 ts_rx=ts_rx, seq_sender=seq_sender, ts_sender=ts_sender, ttl_sender=ttl)


@pytest.fixture
def choice():
    return random.Random(8762)


def u32(choice):
    return choice.randrange(1 << 32)


def when(choice):
    return u32(choice) << 32 | choice.randrange(10**9)


def our_tlvs(dscp, tx, padding):
    parts = [tlv(4, bytes([dscp << 2, 0, 0, 0])), tlv(5, tx.to_bytes(4, "big") + bytes(8)),
             tlv(7, bytes(16))]
    if padding is not None:
        parts.append(tlv(1, bytes(padding)))
    return b"".join(parts)


def test_a_probe_is_the_bytes_scapy_builds(choice):
    for size in (88, 92, 93, 1472) * 5:
        seq, ts, ssid = u32(choice), when(choice), choice.randrange(1, 1 << 16)
        dscp, tx = choice.randrange(64), u32(choice)
        padding = None if size == 88 else size - 92
        assert tool("probe", seq, ts, ssid, dscp, tx, size) == (
            sender(seq, ts, ssid) + our_tlvs(dscp, tx, padding)).hex()


def test_scapy_dissects_our_probe(choice):
    for _ in range(20):
        seq, ts, ssid = u32(choice), when(choice), choice.randrange(1, 1 << 16)
        data = bytes.fromhex(tool("probe", seq, ts, ssid, 26, 7, 200))
        base = dissect(stamp.STAMPSessionSenderTestUnauthenticated, data[:44])
        assert (base.seq, base.ts, base.ssid, base.mbz) == (seq, ts, ssid, 0)
        assert (base.err_estimate.S, base.err_estimate.Z) == (0, 1)
        assert [(flags, kind, len(value)) for flags, kind, value in tlvs(data[44:])] == [
            (U, 4, 4), (U, 5, 12), (U, 7, 16), (U, 1, 108)]


def test_the_parser_reads_the_probe_that_scapy_builds(choice):
    for _ in range(20):
        seq, ts, ssid, tx = u32(choice), when(choice), choice.randrange(1 << 16), u32(choice)
        base = sender(seq, ts, ssid)
        plain = json.loads(tool("read-probe", base.hex()))
        assert plain == {"seq": seq, "timestamp": ts, "error_estimate": 0x4001,
                         "ssid": ssid, "has_class": 0, "dscp": 0, "tx_count": 0}
        full = json.loads(tool("read-probe", (base + our_tlvs(41, tx, 9)).hex()))
        assert full == {**plain, "has_class": 1, "dscp": 41, "tx_count": tx}


def test_our_reply_is_the_bytes_scapy_builds(choice):
    for _ in range(20):
        seq, ts, ssid = u32(choice), when(choice), choice.randrange(1, 1 << 16)
        rx_at, now, follow_at = when(choice), when(choice), when(choice)
        tx, rx, sent, follow_seq = (u32(choice) for _ in range(4))
        probe = sender(seq, ts, ssid) + our_tlvs(26, tx, 20)
        reply = bytes.fromhex(tool("reply", probe.hex(), rx_at, now, 61, 18, 3, rx, sent,
                                   follow_seq, follow_at))
        four = [n.to_bytes(4, "big") for n in (tx, rx, sent, follow_seq)]
        expected = (
            reflector(seq, now, ssid, rx_at, seq, ts, 61)
            # DSCP1 26, DSCP2 18, ECN 3, RP 0
            + tlv(4, (26 << 26 | 18 << 20 | 3 << 18).to_bytes(4, "big"), 0)
            + tlv(5, b"".join(four[:3]), 0)
            + tlv(7, four[3] + follow_at.to_bytes(8, "big") + bytes([2, 0, 0, 0]), 0)
            + tlv(1, bytes(20), 0))
        assert reply.hex() == expected.hex()
        assert len(reply) == len(probe)

        base = dissect(stamp.STAMPSessionReflectorTestUnauthenticated, reply[:44])
        assert (base.seq, base.ts, base.ssid) == (seq, now, ssid)
        assert (base.ts_rx, base.seq_sender, base.ts_sender) == (rx_at, seq, ts)
        assert base.ttl_sender == 61


def test_a_plain_probe_gets_the_plain_reply_scapy_builds(choice):
    seq, ts = u32(choice), when(choice)
    reply = tool("reply", sender(seq, ts, 0).hex(), 5, 6, 64, 0, 0, 1, 1, 0, 0)
    assert reply == reflector(seq, 6, 0, 5, seq, ts, 64).hex()


def test_the_parser_reads_the_reply_that_scapy_builds(choice):
    for _ in range(20):
        own, seq, ssid = u32(choice), u32(choice), choice.randrange(1 << 16)
        times = [when(choice) for _ in range(4)]
        base = reflector(own, times[0], ssid, times[1], seq, times[2], 60)
        read = json.loads(tool("read-reply", base.hex()))
        assert {key: read[key] for key in (
            "seq", "timestamp", "error_estimate", "ssid", "receive_timestamp",
            "sender_seq", "sender_timestamp", "sender_error_estimate", "sender_ttl",
        )} == {"seq": own, "timestamp": times[0], "error_estimate": 0x4001, "ssid": ssid,
               "receive_timestamp": times[1], "sender_seq": seq,
               "sender_timestamp": times[2], "sender_error_estimate": 0x4001,
               "sender_ttl": 60}
        assert not (read["has_class"] or read["has_counts"] or read["has_follow_up"])

        counts = [u32(choice) or 1 for _ in range(3)]
        more = (tlv(4, (26 << 26 | 18 << 20 | 3 << 18).to_bytes(4, "big"), 0)
                + tlv(5, b"".join(n.to_bytes(4, "big") for n in counts), 0)
                + tlv(99, b"?", U)
                + tlv(7, (7).to_bytes(4, "big") + times[3].to_bytes(8, "big")
                      + bytes([2, 0, 0, 0]), 0))
        read = json.loads(tool("read-reply", (base + more).hex()))
        assert (read["dscp"], read["ecn"]) == (18, 3)
        assert [read["tx_count"], read["rx_count"], read["reflector_tx_count"]] == counts
        assert (read["follow_up_seq"], read["follow_up_timestamp"]) == (7, times[3])


def test_unknown_malformed_and_too_long_tlvs_are_handled():
    base = sender(1, 2 << 32, 3)
    probe = base + tlv(99, b"abc") + tlv(5, b"short") + tlv(7, bytes(16))
    reply = bytes.fromhex(tool("reply", probe.hex(), 5, 6, 64, 0, 0, 1, 1, 9, 9))
    assert tlvs(reply[44:]) == [(U, 99, b"abc"), (M, 5, b"short"), (U, 7, bytes(16))]

    overlong = base + tlv(99, b"abc")[:-1]
    assert tool("read-probe", overlong.hex()) == "refused"
    assert tool("read-reply", overlong.hex()) == "refused"
    assert tool("read-probe", base[:43].hex()) == "refused"
