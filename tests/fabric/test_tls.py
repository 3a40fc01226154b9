"""Mutual TLS between the real daemons: which certificates are accepted, and how certificates
change while everything runs."""

import contextlib
import shutil
import select
import socket
import ssl
import time

import yaml

from lab import machine
from lab import netns as namespaces
from lab.ca import Authority, ExtendedKeyUsageOID, identity
from lab.places import program
from lab.process import Daemon
from lab.rackmesh import LINK_AGGREGATOR, LINK_ANALYZER, LINK_CONTROLLER, REGION
from lab.wait import PATIENCE_S, in_time, until

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"]}
ROUNDS_GATE, ROUNDS_FULL, ROUNDS_SOAK = 3, 10, 125
LET_GO_S = 6  # RM_TLS_RECHECK_NS, and a second until files are read again
REFUSED_S = 5
DAY_S = 86400
STILL_S = 1  # a longer stall may end connections, which allow 2.5 s of silence
LOOKS, LOOK_S = 10, 0.1  # how often, and how long each time, a port that has accepted a wrong client is watched


def secured(world, **options):
    return world(RACKS, alertmanager=False, analyzer={}, **options)


def tls_daemons(lab):
    return [lab.analyzer, *lab.controllers, *lab.aggregators.values(), *lab.agents.values()]


def tls_sum(lab, what, **labels):
    return sum(
        daemon.metrics().sum(f"rackmesh_tls_{what}", **labels) for daemon in tls_daemons(lab)
    )


def agents_sum(lab, what):
    return sum(agent.metrics().sum(f"rackmesh_agent_{what}") for agent in lab.agents.values())


def test_certificates_change_under_load_and_no_frame_is_lost(world, full, soak, print_line):
    lab = secured(world).start().lab
    daemons = tls_daemons(lab)
    rounds, began = ROUNDS_SOAK if soak else ROUNDS_FULL if full else ROUNDS_GATE, time.monotonic()
    sessions, acked = agents_sum(lab, "sessions_total"), agents_sum(lab, "batches_acked_total")
    assert tls_sum(lab, "plaintext") == 0

    for turn in range(1, rounds + 1):
        for daemon in daemons:
            lab.renew(daemon.name)
        until(
            f"all have taken their certificate no. {turn + 1}",
            REFUSED_S,
            lambda: tls_sum(lab, "rotations_total") >= turn * len(daemons),
            daemons,
        )
    # New connections use the newest certificates of both ends.
    lab.aggregators["tor1"].restart().wait_ready()
    lab.wait_probing()

    taken = agents_sum(lab, "batches_acked_total") - acked
    print_line(f"{rounds * len(daemons)} certificates changed, {taken:,.0f} batches acknowledged")
    assert tls_sum(lab, "bad_files_total") == 0
    assert taken > rounds  # else nothing could have been lost
    assert agents_sum(lab, "frames_refused_total") == 0
    if machine.longest(began) < STILL_S:
        assert agents_sum(lab, "batches_dropped_total") == 0
        # Each agent of the aggregator that was restarted has one session more.
        assert agents_sum(lab, "sessions_total") == sessions + len(RACKS["tor1"])


def test_the_authority_is_replaced_without_losing_a_connection(world, tmp_path):
    lab = secured(world).start().lab
    sessions, began = agents_sum(lab, "sessions_total"), time.monotonic()
    old = lab.authority
    new = Authority(tmp_path / "next", "rackmesh lab, the next")
    both = old.certificate_path.read_bytes() + new.certificate_path.read_bytes()

    old.certificate_path.with_suffix(".new").write_bytes(both)
    old.certificate_path.with_suffix(".new").rename(old.certificate_path)
    daemons = tls_daemons(lab)
    until("all believe both", REFUSED_S, lambda: tls_sum(lab, "rotations_total") == len(daemons))
    for name in (daemon.name for daemon in daemons):
        fresh = new.issue(lab.identities[name], name)
        shutil.move(fresh.key, old.folder / f"{name}.key")
        shutil.move(fresh.certificate, old.folder / f"{name}.pem")
    until(
        "all show a certificate of the new one",
        2 * REFUSED_S,
        lambda: min(d.metrics().sum("rackmesh_tls_rotations_total") for d in daemons) >= 2,
        daemons,
    )
    if machine.longest(began) < STILL_S:
        assert agents_sum(lab, "sessions_total") == sessions
    for daemon in (lab.agents["h1"], lab.aggregators["tor2"]):
        daemon.restart().wait_ready()
    lab.wait_probing()


def test_a_revoked_certificate_ends_its_connection_and_no_other(world, tmp_path):
    revoked = tmp_path / "tls" / "revoked.pem"
    lab = secured(world, aggregator={"tls": {"revoked": str(revoked)}})
    lab.lab.authority.revoke()
    lab = lab.start().lab
    before = {host: agent.metrics() for host, agent in lab.agents.items()}
    lab.authority.revoke(lab.authority.folder / "h2.pem")
    began = time.monotonic()

    def connected(host):
        return lab.agents[host].metrics().sum("rackmesh_agent_aggregator_connected")

    until("h2 is shut out", LET_GO_S, lambda: connected("h2") == 0, [lab.agents["h2"]])
    in_time("h2 is shut out", time.monotonic() - began, LET_GO_S, began)
    for host in ("h1", "h3", "h4", "h5") if machine.longest(began) < STILL_S else ():
        assert connected(host) == 1
        now = lab.agents[host].metrics().sum("rackmesh_agent_sessions_total")
        assert now == before[host].sum("rackmesh_agent_sessions_total")
    # With a new certificate it is accepted again.
    lab.renew("h2")
    until("h2 is back", 15, lambda: connected("h2") == 1, [lab.agents["h2"]])


class Stranger:
    """A client at the centre of the management network, with some certificate."""

    def __init__(self, lab):
        self.netns = lab.fabric.netns("centre")

    def is_let_in(self, door, address, port, context):
        """Whether the peer still listens after the handshake. In TLS 1.3 a client completes the
        handshake before its certificate is checked, so the first read shows it. An accepted
        client that sends nothing waits for a welcome: the daemon (door) has had enough time to
        disconnect it, since it has answered others meanwhile."""
        with namespaces.inside(self.netns):
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE_S)
        with contextlib.closing(sock):
            try:
                sock.connect((address, port))
                with context.wrap_socket(sock) as wrapped:
                    return all(self._stays(door, wrapped) for _ in range(LOOKS))
            except TimeoutError:
                raise
            except OSError:  # ssl.SSLError is one
                return False

    @staticmethod
    def _stays(door, wrapped):
        """Whether nothing has arrived by the time that the daemon has answered another client."""
        wrapped.setblocking(False)
        select.select([wrapped], [], [], LOOK_S)
        assert door.get("/healthz").status
        try:
            return wrapped.recv(1) != b""
        except (ssl.SSLWantReadError, BlockingIOError):
            return True


def client(authority, credentials=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(authority.certificate_path)
    if credentials is not None:
        context.load_cert_chain(credentials.certificate, credentials.key)
    return context


def bad_certificates(lab, folder):
    """{what is wrong with it: a context that presents it}."""
    ours, h1 = lab.authority, identity(REGION, "agent", "h1")
    foreign = Authority(folder / "foreign", "somebody else")
    server_only = [ExtendedKeyUsageOID.SERVER_AUTH]
    made = {
        "ended": ours.issue(h1, "ended", seconds=-60),
        "not yet valid": ours.issue(h1, "early", begins_s=DAY_S),
        "two URIs": ours.issue([h1, identity(REGION, "agent", "h2")], "two"),
        "no URI": ours.issue([], "none", hosts=["h1"]),
        "for servers only": ours.issue(h1, "server", sides=server_only),
        "of a foreign authority": foreign.issue(h1, "foreign"),
    }
    contexts = {what: client(ours, each) for what, each in made.items()}
    contexts["none at all"] = client(ours)
    contexts["TLS 1.2"] = client(ours, ours.issue(h1, "older"))
    contexts["TLS 1.2"].maximum_version = ssl.TLSVersion.TLSv1_2
    return contexts


def test_every_server_refuses_bad_certificates(world, tmp_path, print_line):
    whole = secured(world).start()
    lab, stranger = whole.lab, Stranger(whole.lab)
    doors = {
        "aggregator": (lab.aggregators["tor1"], lab.fabric.management["agg-tor1"], LINK_AGGREGATOR),
        "controller": (lab.controller, lab.fabric.management["controller1"], LINK_CONTROLLER),
        "analyzer": (lab.analyzer, lab.fabric.management["analyzer"], LINK_ANALYZER),
    }
    good = client(lab.authority, lab.authority.issue(identity(REGION, "agent", "h1"), "good"))
    for door, place in doors.items():
        until(f"the {door} lets one of us in", 5, lambda: stranger.is_let_in(*place, good))
    wrong = [
        f"{what} at the {door}"
        for what, context in bad_certificates(lab, tmp_path).items()
        for door, place in doors.items()
        if stranger.is_let_in(*place, context)
    ]
    print_line(f"{8 * len(doors)} bad certificates shown, {len(wrong)} let in")
    assert not wrong
    assert tls_sum(lab, "refused_total") >= 8 * len(doors)


def show(made, folder):
    """Copies the certificate to the paths in an impostor's config."""
    for path, name in ((made.certificate, "certificate.pem"), (made.key, "key.pem")):
        shutil.copy(path, folder / name)


def impostor(lab, like, folder):
    """The config of a daemon whose certificate has the same identity, from an authority that
    only this daemon trusts: with a certificate of another identity it would not start."""
    options = yaml.safe_load((lab.folder / "config" / f"{like.name}.yaml").read_text())
    foreign = Authority(folder / "foreign")
    show(foreign.issue(TRUE[like.name], "true"), folder)
    (folder / "authorities.pem").write_bytes(
        foreign.certificate_path.read_bytes() + lab.authority.certificate_path.read_bytes()
    )
    files = {key: str(folder / f"{key}.pem") for key in ("certificate", "key", "authorities")}
    options.update(tls=files, state_folder=str(folder / "state"))
    options["http"]["socket"] = ""
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(options))
    return config


IMPOSTORS = (  # (their role, name and ToRs; the daemon whose config they use; the daemon that detects them)
    ("agent", "h2", (), "h1", "agg-tor1"),
    ("aggregator", "agg-tor1", ("tor2",), "agg-tor1", "controller1"),
    ("aggregator", "agg-tor2", ("tor1",), "agg-tor1", "controller1"),
    ("viewer", "agg-tor1", (), "agg-tor1", "controller1"),
)
REFUSED = {
    "agg-tor1": ("rackmesh_aggregator_links_refused_total", {"reason": "wrong_identity"}),
    "controller1": ("rackmesh_controller_connections_refused_total", {"reason": "hello"}),
}
KINDS = {"h1": "host-agent", "agg-tor1": "tor-aggregator"}
TRUE = {
    "h1": identity(REGION, "agent", "h1"),
    "agg-tor1": identity(REGION, "aggregator", "agg-tor1", ["tor1"]),
}


def test_a_daemon_cannot_take_the_name_of_another(world, tmp_path):
    """The victim's daemon does not run, so its name is free."""
    lab = secured(world).start().lab
    named = {each.name: each for each in tls_daemons(lab)}
    for i, (role, name, tors, victim, judge) in enumerate(IMPOSTORS):
        folder = tmp_path / f"false{i}"
        folder.mkdir()
        like, judge_of = named[victim], named[judge]
        config = impostor(lab, like, folder)
        metric, labels = REFUSED[judge]

        def refused():
            return judge_of.metrics().sum(metric, **labels)

        before = refused()
        like.stop()
        false = Daemon(
            "impostor",
            [program(KINDS[victim], lab.build), "--config", config],
            like.netns,
            folder / "log",
            like.port,
            address=like.address,
        )
        lab.pack.add(false)
        false.start()
        until("it has read its files", 10, lambda: "identity: " in false.log.read_text())
        show(lab.authority.issue(identity(REGION, role, name, tors), f"false{i}"), folder)
        until(f"{role} {name} is refused", 10, lambda: refused() > before, [false, judge_of])
        until("it came again", 10, lambda: refused() > before + 1, [false, judge_of])
        reported = judge_of.log.read_text().count(f"{role} '{name}' of region 'lab' may not")
        assert reported == 1, f"{role} {name}: reported {reported} times"
        false.stop()
        # Its next start would fail even earlier.
        false.start()
        until("it gives up", 10, lambda: not false.alive)
        assert "tls.certificate: the certificate " in false.log.read_text()
        false.stop()
        like.start()
        like.wait_ready()


HTTPS_PORT = 9573


def test_over_https_viewers_read_and_operators_change(world, tmp_path):
    def controller(fabric):
        return {"http": {"tls_listen": f"{fabric.management['controller1']}:{HTTPS_PORT}"}}

    lab = secured(world, controller=controller).start().lab
    place = f"https://{lab.fabric.management['controller1']}:{HTTPS_PORT}"

    def asked_by(role, *words, region=REGION, authority=lab.authority):
        shown = authority.issue(identity(region, role, "ann"), f"{role}-{region}")
        files = ("--certificate", shown.certificate, "--key", shown.key)
        believed = ("--authorities", lab.authority.certificate_path)
        return lab.ctl_run("centre", "--controller", place, *files, *believed, *words)

    assert asked_by("viewer", "brake").returncode == 0
    assert asked_by("viewer", "brake", region="*").returncode == 0
    refused = asked_by("viewer", "brake", "on")
    assert refused.returncode == 3 and "may not change things" in refused.stderr, refused
    done = asked_by("operator", "brake", "rate", "50")
    assert done.returncode in (0, 1), done
    assert "50" in asked_by("viewer", "brake").stdout
    assert asked_by("operator", "brake", "off", region="sea").returncode == 3
    assert asked_by("agent", "brake").returncode == 3
    foreign = Authority(tmp_path / "other", "somebody else")
    assert asked_by("operator", "brake", "off", authority=foreign).returncode == 3
    assert "50" in asked_by("viewer", "brake").stdout
