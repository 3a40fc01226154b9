"""Authenticated probes: keys that rotate lose none, and nobody else gets an answer."""

import socket
import struct
import time

from lab.netns import inside
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h3", "h4"]}
EPOCH_S = 3
EPOCHS = 5
STAMP_PORT = 862
KEYED_BYTES = 176
REFUSALS = ("bad_mac", "unauthenticated", "replayed")


def total(lab, name, **labels):
    return sum(agent.metrics().sum(name, **labels) for agent in lab.agents.values())


def lost(lab):
    return total(lab, "rackmesh_agent_results_total", outcome="no_reply")


def refused(agent, reason):
    return agent.metrics().sum("rackmesh_agent_reflector_refused_total", reason=reason)


def epochs(lab):
    """Of the keys that each RNIC answers with."""
    return [
        each["reflector"]["key_epoch"]
        for agent in lab.agents.values()
        for each in agent.get("/v1/rnics").json["rnics"]
    ]


def everybody_has_keys(lab):
    return all(
        agent.metrics().sum("rackmesh_agent_reflector_authenticated_total") > 0
        for agent in lab.agents.values()
    ) and all(epochs(lab))


def sniff(host, prober, count):
    """Authenticated probes of a prober as they arrive at a host, from the IP header on.

    Without their UDP checksum: between namespaces nobody computes one."""
    found = []
    source = socket.inet_aton(prober.ipv4)
    with inside(host.netns), socket.socket(
        socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)
    ) as tap:
        tap.settimeout(10)
        while len(found) < count:
            packet, (_, _, kind, *_) = tap.recvfrom(2048)
            ports = struct.unpack_from("!HH", packet, 20)
            if kind != 0 or packet[9] != socket.IPPROTO_UDP or ports[1] != STAMP_PORT:
                continue
            if packet[12:16] == source and len(packet) >= 28 + KEYED_BYTES:
                found.append(packet[:26] + bytes(2) + packet[28:])
    return found


def send_raw(host, packets):
    with inside(host.netns), socket.socket(
        socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW
    ) as raw:
        for packet in packets:
            target = socket.inet_ntoa(packet[16:20])
            raw.sendto(packet, (target, 0))


def ask_plainly(host, rnic, count):
    """An outsider at a host that is answered: how many of its probes are."""
    with inside(host.netns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.settimeout(0.3)
        for seq in range(count):
            probe = struct.pack("!IQHH28x", seq, 1 << 32, 0x4001, 0x1234)
            own.sendto(probe, (rnic.ipv4, STAMP_PORT))
        answers = 0
        try:
            while own.recv(2048):
                answers += 1
        except TimeoutError:
            return answers


def test_keys_rotate_and_nobody_else_is_answered(world, say):
    controller = {"probe_keys": {"epoch_s": EPOCH_S}}
    small = world(RACKS, alertmanager=False, controller=controller).start()
    lab = small.lab
    lab.wait_probing()
    until("every RNIC has keys", 20, lambda: everybody_has_keys(lab), lab.agents.values())

    # Everybody has met everybody: from now on nothing may be refused.
    first = max(epochs(lab))
    until("a whole epoch has passed", 3 * EPOCH_S, lambda: min(epochs(lab)) > first + 1)
    before, was_lost = total(lab, "rackmesh_agent_results_total"), lost(lab)
    kept = {(a.name, reason): refused(a, reason) for a in lab.agents.values() for reason in REFUSALS}
    until(
        "keys rotate", 3 * EPOCH_S * EPOCHS, lambda: min(epochs(lab)) > first + 1 + EPOCHS
    )
    probes = total(lab, "rackmesh_agent_results_total") - before
    say(f"{probes:.0f} probes over {EPOCHS} epochs, lost {lost(lab) - was_lost:.0f}")
    assert probes > 200
    assert lost(lab) == was_lost
    for (name, reason), value in kept.items():
        assert refused(lab.agents[name], reason) == value, f"{name}: {reason}"

    # An outsider where a prober is, and what it has heard.
    near, far = small.fabric.hosts["h1"], small.fabric.hosts["h2"]
    agent = lab.agents["h2"]
    assert ask_plainly(near, far.rnics[0], 50) == 0
    until("they were refused", 5, lambda: refused(agent, "unauthenticated") >= 50)
    heard = sniff(far, near.rnics[0], 20)
    was = refused(agent, "replayed")
    send_raw(near, heard * 5)
    until("replays were refused", 5, lambda: refused(agent, "replayed") >= was + 80)
    assert refused(agent, "bad_mac") == 0

    # Without controllers the rack goes on with the keys it has.
    lab.controller.kill()
    was_lost, started = lost(lab), time.monotonic()
    while time.monotonic() < started + 2 * EPOCH_S:
        until("probing goes on", 5, lambda: everybody_has_keys(lab))
    assert lost(lab) == was_lost
