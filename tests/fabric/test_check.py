"""--check and --check --connect of the real daemons, on which a rollout relies."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
import yaml

from lab.ca import Authority, identity
from lab.places import program
from lab.rackmesh import REGION
from lab.wait import PATIENCE_S, until

RACKS = {"tor1": ["h1", "h2"]}
KINDS = {
    "h1": "host-agent",
    "agg-tor1": "tor-aggregator",
    "controller1": "region-controller",
    "analyzer": "analyzer",
}


def checked(lab, daemon, *words, config=None):
    config = config or lab.folder / "config" / f"{daemon.name}.yaml"
    there = ["ip", "netns", "exec", daemon.netns] if daemon.netns else []
    check = [program(KINDS[daemon.name], lab.build), "--check", "--user", "root", *words]
    return subprocess.run(
        [*there, *map(str, check), "--config", str(config)], capture_output=True, text=True
    )


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("<3>")]


def changed(lab, daemon, folder, **options):
    """The daemon's config with some options changed."""
    config = yaml.safe_load((lab.folder / "config" / f"{daemon.name}.yaml").read_text())
    config.update(options)
    path = folder / f"{daemon.name}.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def test_check_passes_for_running_daemons_and_reaches_their_peers(world, print_line):
    lab = world(RACKS, alertmanager=False, analyzer={}).start().lab
    daemons = {
        "h1": lab.agents["h1"],
        "agg-tor1": lab.aggregators["tor1"],
        "controller1": lab.controllers[0],
        "analyzer": lab.analyzer,
    }
    begun = daemons["agg-tor1"].metrics().sum("rackmesh_aggregator_sessions_total")
    for name, daemon in daemons.items():
        done = checked(lab, daemon, "--connect")
        print_line(done.stdout)
        assert done.returncode == 0 and not errors(done), (name, done)
        assert done.stdout.endswith(f"{name}.yaml: good\n")

    reached = checked(lab, daemons["h1"], "--connect").stdout
    assert re.search(
        r"^aggregators\[0\]\.address: \S+: reached \"agg-tor1\", "
        r"rackmesh://lab/aggregator/agg-tor1/tor1$",
        reached,
        re.M,
    ), reached
    reached = checked(lab, daemons["agg-tor1"], "--connect").stdout
    assert "\ncontrollers[0]: " in f"\n{reached}" and "\nanalyzers[0]: " in f"\n{reached}"

    # The agent with the same name was not disturbed, and no peer was refused.
    metrics = daemons["agg-tor1"].metrics()
    assert metrics.sum("rackmesh_aggregator_sessions_total") == begun
    assert metrics.sum("rackmesh_aggregator_links_refused_total") == 0


def test_check_names_the_option_of_a_peer_that_it_cannot_reach(world, tmp_path):
    lab = world(RACKS, alertmanager=False, analyzer={}).start().lab
    agent, aggregator = lab.agents["h1"], lab.aggregators["tor1"]
    lab.analyzer.stop()
    done = checked(lab, aggregator, "--connect")
    assert done.returncode == 1
    found, total = errors(done)
    assert re.search(r"agg-tor1\.yaml:\d+:\d+: analyzers\[0\]: \S+: Connection refused$", found)
    assert total.endswith("agg-tor1.yaml: 1 error")
    assert "controllers[0]" in done.stdout

    # The path of a webhook may be a secret: only its server is shown.
    hook = {"alerts": {"webhooks": ["http://me:hidden@127.0.0.1:9/hidden"]}}
    done = checked(lab, lab.analyzer, "--connect", config=changed(lab, lab.analyzer, tmp_path, **hook))
    assert "alerts.webhooks[0]: http://127.0.0.1:9/...: " in errors(done)[0], done
    assert "hidden" not in done.stdout + done.stderr

    # A peer that refuses gives the reason, and --check reports an answer of another server.
    foreign = Authority(tmp_path / "foreign")
    (tmp_path / "both.pem").write_bytes(
        foreign.certificate_path.read_bytes() + lab.authority.certificate_path.read_bytes()
    )
    shown = foreign.issue(identity(REGION, "agent", "h1"), "h1").options()
    shown["tls"]["authorities"] = str(tmp_path / "both.pem")
    done = checked(lab, agent, "--connect", config=changed(lab, agent, tmp_path, **shown))
    assert done.returncode == 1
    assert "the peer refused the certificate" in errors(done)[0], done

    true = yaml.safe_load((lab.folder / "config" / "h1.yaml").read_text())
    wrong = {
        "rnics": [dict(rnic, tor="tor9") for rnic in true["rnics"]],
        "aggregators": [dict(each, tors=["tor9"]) for each in true["aggregators"]],
    }
    done = checked(lab, agent, "--connect", config=changed(lab, agent, tmp_path, **wrong))
    assert "may not serve agents for ToR tor9" in errors(done)[0], done


def test_an_aggregator_with_the_certificate_of_another_does_not_start(world, tmp_path):
    """If it started, it would connect several times a second, and be refused each time."""
    lab = world(RACKS, alertmanager=False).start().lab
    aggregator = lab.aggregators["tor1"]
    config = lab.folder / "config" / "agg-tor1.yaml"
    good = config.read_text()
    other = lab.authority.issue(identity(REGION, "aggregator", "agg9", ["tor1"]), "other")
    aggregator.stop()
    config.write_text(changed(lab, aggregator, tmp_path, **other.options()).read_text())

    done = checked(lab, aggregator)
    wrong = "the certificate is of 'agg9', and the config says 'agg-tor1'"
    assert done.returncode == 1 and wrong in errors(done)[0], done
    aggregator.start()
    until("it gives up", PATIENCE_S, lambda: not aggregator.alive)
    assert wrong in aggregator.log.read_text()
    aggregator.stop()
    config.write_text(good)
    aggregator.start()
    aggregator.wait_ready()


# ---- broken configs: what is wrong, where, and what to do ---------------------------------------

ROLES = {
    "host-agent": ("agent", ()),
    "tor-aggregator": ("aggregator", ["tor1"]),
    "region-controller": ("controller", ()),
    "analyzer": ("analyzer", ()),
}
# {option: value}, the option that is named, and a part of the sentence. None: not given.
OF_ALL = [
    ({"nonsense": 1}, "nonsense", 'unknown option "nonsense"; remove it'),
    ({"http.lisen": "x"}, "http.lisen", 'did you mean "http.listen"?'),
    ({"http": ["a"]}, "http", "expected a map"),
    ({"log.level": "loud"}, "log.level", "expected one of error, warning, info, debug"),
    ({"http.listen": "127.0.0.1:99999"}, "http.listen", 'with a port, as 127.0.0.1:7471 or [::1]:7471, found "127.0.0.1:99999"'),
    ({"http.listen": "no.such.host:9"}, "http.listen", "expected a numeric address"),
    ({"http.listen": "203.0.113.7:9"}, "http.listen", "this host does not have that address; give one of its own"),
    ({"http.socket": "/nowhere/at/all.sock"}, "http.socket", "cannot be created in /nowhere: No such file or directory; create it"),
    ({"http.tls_listen": "127.0.0.1:9999", "http.listen": "127.0.0.1:9999"}, "http.tls_listen", "http.listen listens there, too"),
    ({"http.tokens_file": "/nowhere/t"}, "http.tokens_file", "/nowhere/t: No such file or directory"),
    ({"tls.certificate": "/nowhere/c.pem"}, "tls.certificate", "No such file or directory; give tls.certificate"),
    ({"tls.key": "OPEN"}, "tls.key", "has mode 0644, expected 0600 or 0400"),
    ({"tls.key": "ROOTS"}, "tls.key", "Permission denied; user nobody needs to read it"),
    ({"tls.key": "OTHER"}, "tls.key", "is not the key of"),
    ({"tls.authorities": "GARBAGE"}, "tls.authorities", "contains no certificate in PEM"),
    ({"tls.certificate": "EXPIRED", "tls.key": "EXPIRED"}, "tls.certificate", "certificate has expired: renew it"),
    ({"tls.certificate": "LATER", "tls.key": "LATER"}, "tls.certificate", "compare the clocks"),
    ({"tls.certificate": "FOREIGN", "tls.key": "FOREIGN"}, "tls.certificate", "its authority is not in the file"),
    ({"tls.certificate": "ROLE", "tls.key": "ROLE"}, "tls.certificate", "the certificate is of role 'operator'"),
]  # fmt: skip
STATE = [
    ({"state_folder": "READONLY"}, "state_folder", "Permission denied; user nobody needs to write there"),
    ({"state_folder": "/nowhere/at/all"}, "state_folder", "create it, or name another folder"),
    ({"state_folder": "GARBAGE"}, "state_folder", "Not a directory; name another folder"),
]  # fmt: skip
ENDPOINT = "expected name:port or address:port, IPv6 as [fd00::1]:port, found "
BROKEN = {
    "host-agent": STATE + [
        ({"host": "localhost"}, "host", "name the system, or give host here"),
        ({"rnics": []}, "rnics", "expected a list of 1 to 64 maps"),
        ({"rnics": [{"device": "eth0", "tor": "tor9"}]}, "rnics[0].tor", "no aggregator of the list serves this ToR"),
        ({"rnics": [{"device": "eth0", "tor": "tor1", "udp_port": 70000}]}, "rnics[0].udp_port", "between 1 and 65535"),
        ({"rnics": [{"device": "eth0", "tor": "tor1"}, {"device": "eth0", "tor": "tor1"}]}, "rnics[1]", "twice"),
        ({"aggregators": [{"address": "fd00::1:7471"}]}, "aggregators[0].address", ENDPOINT + '"fd00::1:7471"'),
        ({"aggregators": [{"address": "127.0.0.1:0"}]}, "aggregators[0].address", "expected the address and port of one host"),
        ({"probe.timeout_ms": "500ms"}, "probe.timeout_ms", "expected a whole number between 10 and 10000 (ms)"),
    ],
    "tor-aggregator": STATE + [
        ({"tors": []}, "tors", "expected a list of 1 to 64 maps"),
        ({"tors": [{"name": "tor2", "primary": True}]}, "tls.certificate", "does not name ToR 'tor2'"),
        ({"listen": "127.0.0.1:9472"}, "http.listen", "listen listens there, too"),
        ({"controllers": "127.0.0.1:7481"}, "controllers", 'write "- " before each item'),
        ({"controllers": ["127.0.0.1"]}, "controllers[0]", ENDPOINT + '"127.0.0.1"'),
        ({"alerts.alertmanagers": ["127.0.0.1:9093"]}, "alerts.alertmanagers[0]", "expected http://... or https://..."),
        ({"alerts.key": "/x"}, "alerts.key", "give alerts.certificate, too, or neither"),
        ({"plans": ["/nowhere/p"]}, "plans[0]", "No such file or directory"),
    ],
    "region-controller": [
        ({"listen": "127.0.0.1:9473"}, "http.listen", "listen listens there, too"),
        ({"topology": "/nowhere/t.yaml"}, "topology", "No such file or directory"),
        ({"probe_keys.secret_file": "/nowhere/s"}, "probe_keys.secret_file", "No such file or directory"),
        ({"probe_keys.secret_file": "GARBAGE"}, "probe_keys.secret_file", "expected 0600 or 0400"),
        ({"probe_keys.unauthenticated": True}, "probe_keys.unauthenticated", "remove one of the two"),
        ({"probe_keys.epoch_s": 0}, "probe_keys.epoch_s", "between 2 and 2592000"),
        ({"etcd.endpoints": ["127.0.0.1:2379"]}, "etcd.endpoints[0]", "expected a URL without a path"),
        ({"etcd.endpoints": ["https://127.0.0.1:1"], "etcd.certificate": "/x"}, "etcd.certificate", "give etcd.key, too"),
        ({"etcd.endpoints": ["https://127.0.0.1:1"], "etcd.user": "me"}, "etcd.user", "give etcd.password_file, too"),
    ],
    "analyzer": STATE + [
        ({"listen": "[::1:7491"}, "listen", "expected a numeric address"),
        ({"listen": "0.0.0.0:9474"}, "http.listen", "listen listens there, too (0.0.0.0:9474)"),
        ({"influx.url": "127.0.0.1:8086"}, "influx.url", "expected http://... or https://..."),
        ({"influx.url": "http://127.0.0.1:1", "influx.user": "me", "influx.token_file": "/x"}, "influx.token_file", "not both"),
        ({"alerts.webhooks": ["ftp://x/y"]}, "alerts.webhooks[0]", "expected http://... or https://..."),
    ],
}  # fmt: skip


class Broken:
    """Configs of one daemon that are good except for one change."""

    def __init__(self, kind, folder):
        self.program, self.folder = program(kind), folder
        folder.chmod(0o755)
        role, tors = ROLES[kind]
        ours, other = Authority(folder / "ca"), Authority(folder / "foreign")
        uri = identity(REGION, role, "n1", tors)

        def issue(name, authority=ours, uri=uri, **times):
            return self.readable(authority.issue(uri, name, **times).options()["tls"])

        own = issue("own")
        self.files = {
            "EXPIRED": issue("expired", begins_s=-7200, seconds=3600),
            "LATER": issue("later", begins_s=7200),
            "FOREIGN": issue("other", other),
            "ROLE": issue("role", uri=identity(REGION, "operator", "n1")),
            "OTHER": issue("another"),
            "OPEN": {"key": self.copy(own["key"], "open", 0o644)},
            "ROOTS": {"key": self.copy(own["key"], "roots", 0o600, owner="root")},
        }
        garbage = folder / "garbage"
        garbage.write_text("nothing of use\n")
        self.files["GARBAGE"] = {"authorities": str(garbage)}
        for name in ("state", "readonly"):
            (folder / name).mkdir(mode=0o755)
        shutil.chown(folder / "state", "nobody")
        secret = folder / "secret"
        secret.write_text("0123456789" * 4 + "\n")
        secret.chmod(0o600)
        self.readable({"secret": str(secret)})
        (folder / "topology.yaml").write_text(
            f"region: {REGION}\nswitches: [{{name: tor1, role: tor}}]\n")
        self.good = {"region": REGION, "name": "n1", "tls": own, "http": {"socket": ""},
                     "state_folder": str(folder / "state")}  # fmt: skip
        self.good.update({
            "host-agent": {"rnics": [{"device": "eth0", "tor": "tor1"}],
                           "aggregators": [{"address": "127.0.0.1:7471", "tors": ["tor1"]}],
                           "host": "n1"},
            "tor-aggregator": {"tors": [{"name": "tor1", "primary": True}]},
            "region-controller": {"topology": str(folder / "topology.yaml"),
                                  "probe_keys": {"secret_file": str(secret)}},
            "analyzer": {},
        }[kind])  # fmt: skip
        for option in {"host-agent": ["name"], "region-controller": ["state_folder"],
                       "analyzer": ["region"]}.get(kind, []):  # fmt: skip
            del self.good[option]

    def readable(self, files):
        for file in files.values():
            shutil.chown(file, "nobody")
            for parent in pathlib.Path(file).parents:
                if self.folder in (parent, *parent.parents):
                    parent.chmod(0o755)
        return files

    def copy(self, file, name, mode, owner="nobody"):
        path = self.folder / name
        shutil.copy(file, path)
        path.chmod(mode)
        shutil.chown(path, owner)
        return str(path)

    def value(self, option, value):
        if value == "READONLY":
            return str(self.folder / "readonly")
        files = self.files.get(value) if isinstance(value, str) else None
        if files is None:
            return value
        return files.get(option.split(".")[-1]) or next(iter(files.values()))

    def check(self, changes):
        config = json.loads(json.dumps(self.good))
        for option, value in changes.items():
            *above, last = option.split(".")
            place = config
            for key in above:
                place = place.setdefault(key, {})
            place[last] = self.value(option, value)
        path = self.folder / "daemon.yaml"
        path.write_text(yaml.safe_dump(config))
        path.chmod(0o644)
        return subprocess.run([self.program, "--check", "--user", "nobody", "--config", path],
                              capture_output=True, text=True)  # fmt: skip


@pytest.fixture
def open_folder():
    """One that nobody may enter, as no folder below tmp_path is."""
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("kind", BROKEN)
def test_check_names_what_is_broken_with_its_place_and_remedy(kind, open_folder):
    broken = Broken(kind, open_folder)
    done = broken.check({})
    assert done.returncode == 0 and not errors(done), done
    wrong = []
    for changes, option, sentence in OF_ALL + BROKEN[kind]:
        done = broken.check(changes)
        place = re.compile(rf"daemon\.yaml:\d+:\d+: .*{re.escape(option)}")
        lines = [line for line in errors(done) if sentence in line and place.search(line)]
        if done.returncode != 1 or len(lines) != 1:
            wrong.append((changes, option, sentence, done.returncode, done.stderr))
    assert wrong == []
