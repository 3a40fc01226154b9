"""CNPs on the wire: the analyzer reports for the region whether the CNPs that receivers send
arrive at the senders.

The CNPs are real packets of RoCE (UDP to port 4791, a BTH with opcode 0x81, DSCP 48) from one
rack to the other, through the switches. The agents read the numbers of CNPs that were sent and
that arrived as counters of their RNICs (tests/support/counter_replay.c). Not imitated: RDMA data,
switches that mark them, an RNIC that answers marks, and one that slows down. The counts of RDMA
packets are made up."""

import contextlib
import os
import socket
import struct
import threading
import time

import pytest

from lab import netns as namespaces
from lab.netns import nft
from lab.wait import until
from lab.world import World

RACKS = {"tor1": ["h1", "h2"], "tor2": ["h3", "h4"]}
OFTEN = {"summary": {"interval_s": 1, "rnic_interval_s": 10}}
ROCE_PORT, CNP, CNP_DSCP = 4791, 0x81, 48
RATE, DATA_RATE, ACK_RATE = 500, 100_000, 1000  # a second; with fewer than 167 CNPs none is judged
EVERY_S = 0.1
MINUTES_S = 180  # readings are at least 30 s apart, and a minute of them is needed
LOST_S = 360


class Cnps:
    """Sends CNPs from one RNIC, a receiver of marked data, to another one, the sender of that
    data; and writes what the RNICs count."""

    def __init__(self, folder, hosts):
        self._paths = {host: folder / f"{host}.counters" for host in hosts}
        self.sent = self.arrived = 0
        self._over, self._thread, self._sockets = threading.Event(), None, ()

    def environment(self):
        return {host: {"COUNTER_REPLAY": str(path)} for host, path in self._paths.items()}

    def start(self, fabric, receiver, sender):
        with namespaces.inside(fabric.hosts[receiver.host].netns):
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        out.bind((receiver.ipv4, 0))
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, CNP_DSCP << 2)
        out.connect((sender.ipv4, ROCE_PORT))
        with namespaces.inside(fabric.hosts[sender.host].netns):
            back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        back.bind((sender.ipv4, ROCE_PORT))
        back.setblocking(False)
        self._sockets = out, back
        self._thread = threading.Thread(target=self._run, args=(receiver.host, sender.host), daemon=True)
        self._thread.start()

    def stop(self):
        self._over.set()
        if self._thread:
            self._thread.join()
        for each in self._sockets:
            each.close()

    def _run(self, receiver, sender):
        (out, back), began = self._sockets, time.monotonic()
        # BECN is set in byte 4; 16 bytes are reserved; no program here checks the ICRC.
        packet = struct.pack(">BBHBxHI16xI", CNP, 0x40, 0xFFFF, 0x40, 7, 0, 0)
        while not self._over.wait(EVERY_S):
            passed = time.monotonic() - began
            for _ in range(int(RATE * passed) - self.sent):
                out.send(packet)
                self.sent += 1
            with contextlib.suppress(BlockingIOError):
                while True:
                    self.arrived += back.recv(64)[0] == CNP
            for host in self._paths:
                self._write(host, cnp_tx=self.sent if host == receiver else 0,
                            cnp_rx_handled=self.arrived if host == sender else 0,
                            rdma_tx_pkts=int(passed * (DATA_RATE if host == sender else ACK_RATE)),
                            rdma_rx_pkts=int(passed * (DATA_RATE if host == receiver else ACK_RATE)))

    def _write(self, host, **counters):
        fresh = self._paths[host].with_suffix(".new")
        fresh.write_text("".join(f"{name} {value}\n" for name, value in counters.items()))
        os.replace(fresh, self._paths[host])


@pytest.fixture
def region(tmp_path):
    cnps = Cnps(tmp_path, [host for hosts in RACKS.values() for host in hosts])
    with World(RACKS, tmp_path / "world", alertmanager=False, analyzer={}, aggregator=OFTEN, replay=True,
               environment=cnps.environment()) as world:
        try:
            world.start()
            cnps.start(world.fabric, world.rnic("h3/r0"), world.rnic("h1/r0"))
            world.cnps = cnps
            yield world
        finally:
            cnps.stop()


def drop_class(region, tor, dscp):
    rule = f"type filter hook forward priority 0; ip dscp {dscp} counter drop;"
    nft(region.fabric.netns(tor), f"table inet fault_cnps {{ chain drops {{ {rule} }}\n}}\n")


@pytest.mark.full  # minutes of counters before a verdict
def test_cnps_that_a_switch_drops_are_missed_by_the_region(region, print_line):
    def judged(state, part):
        cnps = region.lab.analyzer.get("/v1/health").json["regions"][0]["cnps"]
        return (cnps["state"], part in cnps["sentence"]) == (state, True) and cnps

    def wait_judged(state, part, seconds=MINUTES_S):
        return until(f"CNPs are {state}: {part}", seconds, lambda: judged(state, part), [region.lab.analyzer])

    cnps = wait_judged("working", "arrived at the senders")
    assert (cnps["rnics"], cnps["rnics_counting"], cnps["uncounted"]) == (4, 4, ""), cnps
    assert RATE * 60 * 0.5 < cnps["sent"] < RATE * 60 * 2, cnps
    assert region.cnps.arrived > 0
    print_line(cnps["sentence"])

    mark, arrived = region.plain.mark(), region.cnps.arrived
    drop_class(region, "tor2", CNP_DSCP)
    cnps = wait_judged("failing", "CNPs are lost: of", LOST_S)
    result = region.lab.ctl_run("centre", "--analyzer", f"unix:{region.lab.analyzer.socket}", "health")
    assert "CNPs are lost" in result.stdout, result
    print_line(cnps["sentence"])
    assert region.cnps.sent > region.cnps.arrived >= arrived
    assert not region.plain.since(mark), "no probe was lost"
