"""A region of machines. Each machine has its own systemd and sshd, and a namespace in the lab's
fabric. Ansible runs on the control node, which is connected to the management network only."""

import concurrent.futures
import contextlib
import dataclasses
import datetime
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from debian_root import DebianRoot, Machine
from lab.fabric import Fabric
from lab.http import get
from lab.signals import uninterrupted
from lab.sinks import Sink
from lab.wait import Overdue, until
from packages import DAEMONS, DEBS, HTTP, ROOT
from repository import Repository

BASE = ROOT / "build" / "rollout-root"
PLAYBOOK = pathlib.Path("/usr/bin/ansible-playbook")
EXAMPLE = ROOT / "ansible" / "inventory" / "example"
RNIC = "eth1"
ANALYZER = "ctl1"
INFLUX = "ctl1"
ETCD = "ctl1"
NEWCOMER = "h23"
CONTROL = "control"
# Dependencies of the daemons; a machine without a repository gets them from a folder.
FROM_FOLDER = ["libcurl4", "libevent-2.1-7", "libevent-openssl-2.1-7", "libhiredis0.14",
               "libibverbs1", "libjansson4", "libssh-4", "libyaml-0-2"]  # fmt: skip
SINK_PORT = 8081
REPOSITORY_PORT = 8082
PATIENCE_S = 180
# Runs on the analyzer's machine and uses the analyzer's certificate.
ASK_ALERTMANAGER = """
import ssl, urllib.request
tls = "/etc/rackmesh/tls/analyzer/"
context = ssl.create_default_context(cafile=tls + "authorities.pem")
context.load_cert_chain(tls + "certificate.pem", tls + "key.pem")
url = "https://{}:9093/api/v2/alerts"
print(urllib.request.urlopen(url, context=context, timeout=20).read().decode())
"""
# Runs on InfluxDB's machine as its admin. Arguments: password, URL, query.
ASK_INFLUX = """
import base64, json, ssl, sys, urllib.parse, urllib.request
context = ssl.create_default_context(cafile="/etc/influxdb/tls/authorities.pem")
word = base64.b64encode(("admin:" + sys.argv[1]).encode()).decode()
form = urllib.parse.urlencode({"q": sys.argv[3], "db": "rackmesh"}).encode()
query = urllib.request.Request(sys.argv[2] + "/query", form, {"Authorization": "Basic " + word})
print(urllib.request.urlopen(query, context=context, timeout=20).read().decode())
"""
PLAY_LINE = re.compile(r"^(\d\S+ [\d:]+),(\d+) .*\| (?:PLAY \[(.*?)\]|(PLAY RECAP))", re.M)


@dataclasses.dataclass
class Place:
    """A machine of the inventory. tor: the ToR that its RNIC is connected to; None: no RNIC."""

    name: str
    address: str
    tor: str | None


def places_of(inventory):
    """The places of the inventory, as Ansible reads it."""
    command = ["ansible-inventory", "--list", "-i", inventory]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [
        Place(name, given["ansible_host"], given.get("rackmesh_rnics", {}).get(RNIC))
        for name, given in listed["_meta"]["hostvars"].items()
    ]


def control_address(places):
    """The first address of the machines' network."""
    return re.match(r".*[.:]", places[0].address)[0] + "1"


def in_url(address):
    return f"[{address}]" if ":" in address else address


class RegionFabric(Fabric):
    """The management network and the RNICs of the inventory."""

    def __init__(self, places, spines=2):
        self._by_inventory = {place.name: place.address for place in places}
        self._by_inventory[CONTROL] = control_address(places)
        racks = {}
        for place in places:
            if place.tor:
                racks.setdefault(place.tor, []).append(place.name)
        centres = [CONTROL, *(place.name for place in places if not place.tor)]
        super().__init__(racks, spines, centres)

    def management_address(self, name, _number):
        address = self._by_inventory[name]
        # nodad: the address can be used at once, without duplicate address detection.
        return address, "64 nodad" if ":" in address else "24"

    def device(self, n):
        return f"eth{n + 1}"


class Run:
    """A run of a playbook: its output, its duration, the duration of its plays, and each host's
    counts."""

    def __init__(self, output, took_s, log):
        self.output, self.took_s = output, took_s
        began = [
            (datetime.datetime.fromisoformat(second).timestamp() + int(ms) / 1000, name)
            for second, ms, name, _ in PLAY_LINE.findall(log)
        ]
        self.plays = [(name, end - begin) for (begin, name), (end, _) in itertools.pairwise(began)]
        self.recap = {}
        for host, counts in re.findall(r"^(\S+) +: (ok=.*)$", output, re.M):
            self.recap[host] = {key: int(n) for key, n in re.findall(r"(\w+)=(\d+)", counts)}

    def counts(self):
        """The sums over all hosts, as text."""
        keys = dict.fromkeys(key for counts in self.recap.values() for key in counts)
        sums = {key: sum(counts[key] for counts in self.recap.values()) for key in keys}
        return " ".join(f"{key}={n}" for key, n in sums.items())

    def steps(self):
        """The duration of each play, as text."""
        return ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.plays)

    def hosts(self, count):
        """The hosts whose count of this kind is not 0."""
        return {host for host, counts in self.recap.items() if counts[count]}


class Region:
    """Removes everything in reverse order of creation, even after a failure. packages: a folder
    with all packages that the machines need; the machines then have no repository."""

    def __init__(self, places, folder, inventory=EXAMPLE, packages=None):
        self.folder = pathlib.Path(folder)
        self.inventory = self.folder / "inventory"  # of its own, to be changed
        self.variables = {  # of every play
            "rackmesh_packages_folder": str(packages or ""),
            "rackmesh_apt_update": not packages,
            "rackmesh_agent_options": {"limits": {"cpu_percent": 0}},  # of a shared machine
        }
        shutil.copytree(inventory, self.inventory)
        self._places = list(places)
        self._left_out = {}  # {machine: its line}
        self.names = [place.name for place in places]
        self.began = time.monotonic()
        self._machines = {}
        with contextlib.ExitStack() as undo:
            self.fabric = undo.enter_context(RegionFabric(places))
            address = control_address(places)
            self.sink = Sink(self.fabric.netns(CONTROL), address, SINK_PORT)
            undo.callback(self.sink.close)
            self.variables["rackmesh_webhooks"] = [self.sink.url]
            if not packages:
                self.repository = Repository(
                    self.fabric.netns(CONTROL), address, REPOSITORY_PORT, self.folder / "apt"
                )
                undo.callback(self.repository.close)
                self.repository.add(DEBS)
                self.variables["rackmesh_repository"] = self.repository.source
            self._layers = [self._lay_bare(), BASE] if packages else [BASE]
            self._key = self._make_key()
            for name in self.names:
                root = self._lay_root(name)
                undo.callback(root.close)
                self._machines[name] = root.boot(self.fabric.netns(name))
                undo.callback(self._machines[name].halt)
            undo.callback(self._each, Machine.halt)  # side by side
            undo.callback(self._hang_up)
            self._each(Machine.wait_up)
            self._undo = undo.pop_all()

    def _make_key(self):
        key = self.folder / "key"
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
        subprocess.run(command, check=True)
        return key

    def _lay_bare(self):
        """Makes a layer over the base without a repository and without the folder's packages."""
        folder = self.folder / "bare"
        folder.mkdir()
        root = DebianRoot([BASE], folder)
        try:
            root.run("apt-get", "-y", "purge", *FROM_FOLDER)
            root.run("rm", "-r", "/etc/apt/sources.list", "/srv/debian", "/var/lib/apt/lists")
        finally:
            root.close()
        return root.layer

    def _lay_root(self, name):
        folder = self.folder / name
        folder.mkdir()
        root = DebianRoot(self._layers, folder)
        (root.path / "etc/hostname").write_text(f"{name}\n")
        ssh = root.path / "root/.ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self._key.with_suffix(".pub"), ssh / "authorized_keys")
        return root

    def _each(self, do):
        with concurrent.futures.ThreadPoolExecutor(len(self._machines)) as pool:
            return dict(zip(self._machines, pool.map(do, self._machines.values()), strict=True))

    def _hang_up(self):
        """Ends the connections that ssh keeps open for reuse."""
        for socket in self.folder.glob("ssh/*"):
            subprocess.run(["ssh", "-q", "-S", socket, "-O", "exit", "any"], check=False)

    def close(self):
        with uninterrupted():
            self._undo.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- commands on the machines --------------------------------------------------------------

    def on(self, name, *command, status=0):
        return self._machines[name].run(*command, status=status)

    def control_group(self, name):
        return self._machines[name].control_group()

    def get(self, name, port, path, address="127.0.0.1"):
        return get(self.fabric.netns(name), address, port, path)

    # ---- the state of the region ---------------------------------------------------------------

    def places(self):
        """Names of the machines that are in the inventory now."""
        return set(self.names) - self._left_out.keys()

    def leave_out(self, name):
        """Removes a machine from the inventory. The machine itself keeps running."""
        hosts = self.inventory / "hosts.yaml"
        self._left_out[name] = re.search(rf"^ *{name}: .*\n", hosts.read_text(), re.M)[0]
        hosts.write_text(hosts.read_text().replace(self._left_out[name], ""))

    def take_in(self, name, after):
        """Puts a removed machine back into the inventory, after another host of its rack."""
        hosts, line = self.inventory / "hosts.yaml", self._left_out.pop(name)
        hosts.write_text(re.sub(rf"^ *{after}: {{.*\n", rf"\g<0>{line}", hosts.read_text(),
                                count=1, flags=re.M))  # fmt: skip

    def rnics(self):
        """The RNICs that are in the inventory now, as host/device."""
        return {f"{name}/{RNIC}" for name in self._with_rnic()}

    def _with_rnic(self):
        """Asks the places given at the start: ansible-inventory takes seconds, and a wait looks
        every second."""
        return {place.name for place in self._places if place.tor} - self._left_out.keys()

    def machines_of(self, daemon):
        """The machines on which the example runs this daemon, of those that exist."""
        return set(self.names) & {
            "host-agent": self._with_rnic(),
            "tor-aggregator": {"h11", "h12", "h21", "h22"},
            "region-controller": {"ctl1", "ctl2"},
            "analyzer": {ANALYZER},
        }[daemon]

    def daemons(self):
        """{machine: the daemons whose units are enabled}"""
        return {name: self.enabled(name) for name in self.names}

    def enabled(self, name):
        listed = self.on(name, "systemctl", "list-unit-files", "--state=enabled", "--no-legend")
        units = {line.split()[0].removesuffix(".service") for line in listed.splitlines()}
        return [daemon for daemon in DAEMONS if daemon in units]

    def property(self, name, unit, key):
        return self.on(name, "systemctl", "show", "--value", f"--property={key}", unit).strip()

    def main_pids(self, name):
        return {daemon: self.property(name, daemon, "MainPID") for daemon in self.enabled(name)}

    def version(self, name):
        query = ("dpkg-query", "--show", "--showformat=${Version}\n", "rackmesh*")
        versions = set(self.on(name, *query).split())
        assert len(versions) == 1, f"{name} has {versions}"
        return versions.pop()

    def started(self, name, unit):
        """The start time of the unit, by the monotonic clock that all machines share."""
        return int(self.property(name, unit, "ActiveEnterTimestampMonotonic"))

    def health(self):
        """The output of rackmeshctl on the analyzer's machine. None: no answer yet."""
        output = self.on(ANALYZER, "rackmeshctl", "health", "--json", status=None)
        try:
            return json.loads(output)
        except ValueError:
            return None

    def is_healthy(self, but=()):
        """True: all racks and all RNICs of the inventory are healthy, and there is no suspect."""
        health = self.health()
        if health is None or len(health["regions"]) != 1:
            return False
        region = health["regions"][0]
        found = (region["state"], region["rnics"], region["rnics_good"], region["incidents_open"])
        expected = len(self.rnics() - set(but))
        return found == ("ok", expected, expected, 0)

    def wait_healthy(self, but=()):
        """but: RNICs of the inventory that are absent at present."""
        try:
            until("the region has no incident", PATIENCE_S, lambda: self.is_healthy(but), every=1)
        except Overdue as error:
            raise Overdue(f"{error}\n{json.dumps(self.health(), indent=1)}") from None

    def alerts(self):
        """(alertname, part) of the alerts that Alertmanager has now."""
        ask = ASK_ALERTMANAGER.format(in_url(self.fabric.management[ANALYZER]))
        output = self.on(ANALYZER, "/usr/bin/python3", "-c", ask)
        labels = [alert["labels"] for alert in json.loads(output)]
        return {(each["alertname"], each["part"]) for each in labels}

    def ask_influx(self, question):
        """The rows of all series in the answer to InfluxDB's admin."""
        password = (self.inventory / "secrets/influx-admin.password").read_text().strip()
        url = f"https://{in_url(self.fabric.management[INFLUX])}:8086"
        output = self.on(INFLUX, "/usr/bin/python3", "-c", ASK_INFLUX, password, url, question)
        (result,) = json.loads(output)["results"]
        return [dict(zip(series["columns"], row, strict=True))
                for series in result.get("series", []) for row in series.get("values", [])]  # fmt: skip

    def in_etcd(self, key):
        """The value of a key, as the controllers' user reads it."""
        command = (
            "ETCDCTL_API=3 etcdctl --print-value-only --command-timeout=10s"
            f" --endpoints=https://{in_url(self.fabric.management[ETCD])}:2379"
            ' --user "rackmesh:$(cat /etc/rackmesh/etcd.password)" --cacert=$0/authorities.pem'
            " --cert=$0/certificate.pem --key=$0/key.pem get $1"
        )
        return self.on(ETCD, "sh", "-euc", command, "/etc/rackmesh/tls/region-controller", key)

    def serial(self, name, daemon):
        """The serial number of the certificate that Ansible installed."""
        return self._certificate(name, daemon, "-serial")

    def issuer(self, name, daemon):
        return self._certificate(name, daemon, "-issuer")

    def _certificate(self, name, daemon, what):
        file = f"/etc/rackmesh/tls/{daemon}/certificate.pem"
        return self.on(name, "openssl", "x509", "-noout", what, "-in", file)

    def authorities(self, name, daemon):
        """The number of authorities that the daemon trusts."""
        text = self.on(name, "cat", f"/etc/rackmesh/tls/{daemon}/authorities.pem")
        return text.count("BEGIN CERTIFICATE")

    def served_serial(self, name, port):
        """The serial number of the certificate that the daemon presents to clients."""
        address = in_url(self.fabric.management[name])
        ask = f"openssl s_client -connect {address}:{port} </dev/null 2>/dev/null"
        return self.on(name, "sh", "-c", f"{ask} | openssl x509 -noout -serial")

    def seen_by(self, name):
        """The RNICs of this machine's racks, as its aggregator sees them."""
        return self.get(name, HTTP["tor-aggregator"], "/v1/rnics").json["rnics"]

    def probed(self):
        """The RNICs that all aggregators of their racks probed and found healthy in the last
        window."""
        good, bad = set(), set()
        for name in self.machines_of("tor-aggregator"):
            for rnic in self.seen_by(name):
                probed = rnic["health"] == "good" and rnic["sent"] > 0
                (good if probed else bad).add(f"{rnic['host']}/{rnic['device']}")
        return good - bad

    # ---- the control node ---------------------------------------------------------------------

    def control(self, *command, status=0, **environment):
        """The output of the command on the control node. status None: any exit status is
        accepted."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.fabric.netns(CONTROL), "setpriv", "--pdeathsig=KILL",
             *map(str, command)],  # fmt: skip
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT / "ansible",
            env={**os.environ, **self._environment(), **environment},
            start_new_session=True,
            text=True,
        )
        try:
            output, _ = process.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started, too
            process.wait()
        assert status in (None, process.returncode), f"{command}: {process.returncode}\n{output}"
        return output

    def play(self, playbook, *options, status=0, **variables):
        """Runs ansible/NAME.yaml. Returns a Run."""
        began, log = time.monotonic(), self.folder / "ansible.log"
        before = len(log.read_text()) if log.exists() else 0
        output = self.control(
            PLAYBOOK,
            "-i",
            self.inventory,
            "-e",
            json.dumps({**self.variables, **variables}),
            *options,
            f"{playbook}.yaml",
            status=status,
        )
        return Run(output, time.monotonic() - began, log.read_text()[before:])

    def _environment(self):
        return {
            "HOME": str(self.folder),
            "ANSIBLE_PRIVATE_KEY_FILE": str(self._key),
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_SSH_EXTRA_ARGS": "-o UserKnownHostsFile=/dev/null",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "ssh"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOG_PATH": str(self.folder / "ansible.log"),
            "ANSIBLE_FORKS": "8",
            "ANSIBLE_REMOTE_USER": "root",
        }
