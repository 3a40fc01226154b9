"""Authenticated probes: changes of keys and secrets lose no probe, and packets without the
right key get no answer."""

import signal
import socket
import struct
import time
from datetime import datetime, timezone

from lab import machine
from lab.netns import inside
from lab.wait import FULL, PATIENCE_S, comes_true, until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h3", "h4"]}
EPOCH_S = 3
EPOCHS = 5 if FULL else 2
STILL_S = 1  # a machine that stands still for longer may miss an epoch
STAMP_PORT = 862
KEYED_BYTES = 176
MEANT = 200  # probes that the test needs: fewer prove nothing
SECOND_SECRET = "another secret of the lab, forty-seven characters"
REFUSALS = ("bad_mac", "unauthenticated", "replayed")


def total(lab, name, **labels):
    return sum(agent.metrics().sum(name, **labels) for agent in lab.agents.values())


def lost(lab):
    return total(lab, "rackmesh_agent_results_total", outcome="no_reply")


def refused(agent, reason):
    return agent.metrics().sum("rackmesh_agent_reflector_refused_total", reason=reason)


def epochs(lab):
    """The epochs of the keys with which each RNIC answers."""
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
    """The authenticated probes of a prober as they arrive at a host, from the IP header on.

    Their UDP checksum is removed: between namespaces it is not computed.
    """
    found = []
    source = socket.inet_aton(prober.ipv4)
    with inside(host.netns), socket.socket(
        socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)
    ) as tap:
        tap.settimeout(PATIENCE_S)
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
    """Returns how many unauthenticated probes from outside the host answers."""
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


def replays_are_refused(agent, near, far):
    """Captured packets are sent again at once, while their key is still valid."""
    captured = sniff(far, near.rnics[0], 20)
    was = refused(agent, "replayed")
    send_raw(near, captured * 5)
    return comes_true(2, lambda: refused(agent, "replayed") >= was + 80)


def assert_none_lost(lab, before, since):
    """A probe is lost if its prober or responder could not run in time: this is allowed."""
    if machine.lost(since) < machine.CLEAN_S:
        assert lost(lab) == before


def change_secret(lab, epoch):
    """Waits until the controller has read that another secret is used from this epoch on."""
    begins = datetime.fromtimestamp((epoch - 1) * EPOCH_S, timezone.utc)
    file = lab.folder / "config" / "probe-secret"
    with file.open("a") as end:
        end.write(f"{SECOND_SECRET} from {begins:%Y-%m-%dT%H:%M:%SZ}\n")
    def reloads():
        return lab.controller.metrics().sum("rackmesh_config_reloads_total")

    before = reloads()
    lab.controller.signal(signal.SIGHUP)
    until("the controller has read it", PATIENCE_S, lambda: reloads() > before)
    assert "the next secret is used from" in lab.controller.log.read_text()


def test_keys_rotate_and_probes_with_other_keys_get_no_answer(world, print_line):
    controller = {"probe_keys": {"epoch_s": EPOCH_S}}
    small = world(RACKS, alertmanager=False, controller=controller).start()
    lab = small.lab
    lab.wait_probing()
    until("every RNIC has keys", 20, lambda: everybody_has_keys(lab), lab.agents.values())

    # All pairs have authenticated: from now on no probe may be refused.
    first = max(epochs(lab))
    change_secret(lab, first + 2 + EPOCHS)
    until("a whole epoch has passed", 3 * EPOCH_S, lambda: min(epochs(lab)) > first + 1)
    began = time.monotonic()
    before, was_lost = total(lab, "rackmesh_agent_results_total"), lost(lab)
    kept = {(a.name, reason): refused(a, reason) for a in lab.agents.values() for reason in REFUSALS}
    until(
        "keys rotate", 3 * EPOCH_S * EPOCHS, lambda: min(epochs(lab)) > first + 1 + EPOCHS
    )
    probes = total(lab, "rackmesh_agent_results_total") - before
    print_line(f"{probes:.0f} probes over {EPOCHS} epochs and two secrets, lost {lost(lab) - was_lost:.0f}")
    assert probes > MEANT
    assert_none_lost(lab, was_lost, began)
    if machine.longest(began) < STILL_S:
        for (name, reason), value in kept.items():
            assert refused(lab.agents[name], reason) == value, f"{name}: {reason}"

    # An outsider on the prober's host, with packets that it captured.
    near, far = small.fabric.hosts["h1"], small.fabric.hosts["h2"]
    agent = lab.agents["h2"]
    assert ask_plainly(near, far.rnics[0], 50) == 0
    until("they were refused", 5, lambda: refused(agent, "unauthenticated") >= 50)
    until("replays were refused", 15, lambda: replays_are_refused(agent, near, far))
    if machine.longest(began) < STILL_S:
        assert refused(agent, "bad_mac") == 0

    # Without controllers the rack continues with the keys that it has.
    lab.controller.kill()
    was_lost, began = lost(lab), time.monotonic()
    done = total(lab, "rackmesh_agent_results_total")
    until(
        "probing goes on for two epochs",
        3 * EPOCH_S,
        lambda: time.monotonic() >= began + 2 * EPOCH_S
        and total(lab, "rackmesh_agent_results_total") >= done + MEANT,
        every=0.1,
    )
    assert_none_lost(lab, was_lost, began)
