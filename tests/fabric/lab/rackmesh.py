"""All daemons of a small region on a fabric: their configs, processes and answers."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import yaml

from .ca import Authority, identity
from .confined import confined
from .places import program
from .process import Daemon, Pack
from .wait import until

REGION = "lab"
AGENT_PORT = 9471
AGGREGATOR_PORT = 9472
CONTROLLER_PORT = 9473
ANALYZER_PORT = 9474
LINK_AGGREGATOR = 7471  # agents connect to this port
LINK_CONTROLLER = 7481  # aggregators connect to this port
LINK_ANALYZER = 7491  # aggregators connect to this port, too
LEADER_S = 15
ANSWERS_S = 5  # for the question who leads; a controller that was stopped does not answer
PROBED_S = 30
DRILL_LIMIT = 10000
# In emulation everything is slow: the share of a core that an agent uses there means nothing, and an
# agent that slows down because of it reports the end of a fault a minute or more late.
EMULATED = os.environ.get("RACKMESH_EMULATED") == "1"


def centres(racks, controllers=1, etcd=0, analyzer=False, influx=False):
    """The places that a Lab needs on the fabric's management network; centre is for sinks."""
    return (
        "centre",
        *(controller_name(i) for i in range(controllers)),
        *(f"etcd{i + 1}" for i in range(etcd)),
        *(["analyzer"] if analyzer else []),
        *(["influx"] if influx else []),
        *(aggregator_of(tor) for tor in racks),
    )


def controller_name(i):
    return f"controller{i + 1}"


def aggregator_of(tor):
    return f"agg-{tor}"


def topology(fabric):
    return {
        "region": REGION,
        "switches": [
            {"name": tor, "role": "tor", "aliases": fabric.addresses(tor)} for tor in fabric.tors
        ]
        + [
            {"name": spine, "role": "spine", "aliases": fabric.addresses(spine)}
            for spine in fabric.spines
        ],
        "links": [[list(fabric.tors), list(fabric.spines)]] if fabric.spines else [],
        "racks": [
            {"tor": tor, "rnics": sum(r.tor == tor for r in fabric.rnics.values())}
            for tor in fabric.tors
        ],
    }


class Lab:
    """Makes the daemons; start() starts them, in the order of a first rollout.

    alertmanagers, webhooks: URLs. agent, aggregator, controller: options that override the
    defaults. uplinks: {host: {tor: "address:port"}} for agents that dial another address than
    the aggregator's. environment: {host: variables of its agent}. family: of the addresses to
    probe: ipv4, ipv6 or any. etcd: an Etcd; without it the controller reads the topology file.
    analyzer: its options; None: there is no analyzer. influx: the database for the history;
    without it the analyzer writes files. plaintext: no TLS between daemons. replay: agents
    have the counters of the files $COUNTER_REPLAY of their environment.
    """

    def __init__(
        self,
        fabric,
        folder,
        build=None,
        alertmanagers=(),
        webhooks=(),
        agent=None,
        aggregator=None,
        controller=None,
        uplinks=None,
        environment=None,
        family="ipv4",
        controllers=1,
        etcd=None,
        analyzer=None,
        influx=None,
        plaintext=False,
        replay=False,
    ):
        self.fabric = fabric
        self.folder = pathlib.Path(folder)
        self.pack = Pack()
        self.aggregators, self.agents = {}, {}
        self.build = build
        self._family = family
        self._agent_program = "host-agent-replay" if replay else "host-agent"
        self.authority = None if plaintext else Authority(self.folder / "tls")
        self.identities = {}  # {daemon: its URI}
        for place in ("config", "log", "state"):
            (self.folder / place).mkdir(parents=True, exist_ok=True)
        # The path of a socket must be short, for any folder.
        self._sockets = pathlib.Path("/run") / fabric.prefix
        self._write("topology", topology(fabric))
        self._etcd = etcd
        self.controllers = [self._controller(i, controller or {}) for i in range(controllers)]
        self.analyzer = None
        if analyzer is not None:
            self.analyzer = self._analyzer(list(alertmanagers), list(webhooks), influx, analyzer)
        for tor in fabric.tors:
            self.aggregators[tor] = self._aggregator(
                tor, list(alertmanagers), list(webhooks), aggregator or {}
            )
        for host in fabric.hosts.values():
            dial = (uplinks or {}).get(host.name, {})
            variables = (environment or {}).get(host.name)
            self.agents[host.name] = self._agent(host, dial, agent or {}, variables)

    # ---- configs --------------------------------------------------------------

    def _write(self, name, content):
        path = self.folder / "config" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    def credentials(self, role, name, tors=(), **terms):
        """New certificate files for a daemon, as options for its config. terms: see Authority."""
        if self.authority is None:
            return {"plaintext": True}
        region = "*" if role == "analyzer" else REGION
        self.identities[name] = identity(region, role, name, tors)
        return self.renew(name, **terms).options()

    def renew(self, name, **terms):
        """Replaces the certificate files of a daemon."""
        return self.authority.issue(self.identities[name], name, **terms)

    def _daemon(self, kind, name, place, port, options, variables=None, runs=None):
        face = self.fabric.face(name)
        options.setdefault("http", {}).update(
            listen=f"{face}:{port}", socket=str(self._sockets / f"{name}.sock")
        )
        config = self._write(name, options)
        daemon = Daemon(
            name,
            [program(runs or kind, self.build), "--config", config],
            place,
            self.folder / "log" / f"{name}.log",
            port,
            socket=options["http"]["socket"],
            address=face,
            environment=variables,
            wrap=confined(kind, program(runs or kind, self.build), variables),
        )
        return self.pack.add(daemon)

    @property
    def controller(self):
        """The first controller; most labs have only one."""
        return self.controllers[0]

    def _probe_secret(self):
        """The secret from which the controllers derive the keys of probes."""
        path = self.folder / "config" / "probe-secret"
        path.touch(0o600)
        path.write_text("a secret of the lab, forty characters long\n")
        return path

    def _controller(self, i, more):
        name = controller_name(i)
        options = {
            "name": name,
            "region": REGION,
            "listen": f"{self.fabric.management[name]}:{LINK_CONTROLLER}",
            **self.credentials("controller", name),
            "probe_keys": {"secret_file": str(self._probe_secret())},
        }
        if self._etcd is None:
            options["topology"] = str(self.folder / "config" / "topology.yaml")
        else:
            options["etcd"] = {"endpoints": self._etcd.endpoints, **self._etcd.login()}
        return self._daemon(
            "region-controller",
            name,
            self.fabric.netns(name),
            CONTROLLER_PORT,
            merged(options, more),
        )

    def _analyzer(self, alertmanagers, webhooks, influx, more):
        """The inputs of its judge are recorded in the folder "recordings", for `sim --replay`."""
        recordings = self.folder / "recordings"
        recordings.mkdir(exist_ok=True)
        options = {
            "name": "analyzer",
            "listen": f"{self.fabric.management['analyzer']}:{LINK_ANALYZER}",
            "state_folder": str(self.folder / "state" / "analyzer"),
            "record": {"folder": str(recordings), "max_mib": 64},
            "alerts": {"alertmanagers": alertmanagers, "webhooks": webhooks},
            **self.credentials("analyzer", "analyzer"),
        }
        if influx is not None:
            options["influx"] = {"url": influx.url}
        return self._daemon(
            "analyzer",
            "analyzer",
            self.fabric.netns("analyzer"),
            ANALYZER_PORT,
            merged(options, more),
        )

    def _aggregator(self, tor, alertmanagers, webhooks, more):
        name = aggregator_of(tor)
        options = {
            "name": name,
            "region": REGION,
            "tors": [{"name": tor}],
            "listen": f"{self.fabric.management[name]}:{LINK_AGGREGATOR}",
            "controllers": [
                f"{self.fabric.management[each.name]}:{LINK_CONTROLLER}"
                for each in self.controllers
            ],
            "state_folder": str(self.folder / "state" / name),
            "alerts": {"alertmanagers": alertmanagers, "webhooks": webhooks},
            **self.credentials("aggregator", name, [tor]),
        }
        if self.analyzer is not None:
            address = self.fabric.management["analyzer"]
            options["analyzers"] = [f"{address}:{LINK_ANALYZER}"]
        return self._daemon(
            "tor-aggregator",
            name,
            self.fabric.netns(name),
            AGGREGATOR_PORT,
            merged(options, more),
        )

    def uplink_of(self, tor):
        """(address, port) at which the ToR's aggregator listens for agents."""
        return self.fabric.management[aggregator_of(tor)], LINK_AGGREGATOR

    def _rnic(self, rnic):
        entry = {"device": rnic.device, "tor": rnic.tor}
        if self._family != "any":
            entry["address"] = getattr(rnic, self._family)
        return entry

    def _agent(self, host, dial, more, variables):
        tors = list(dict.fromkeys(rnic.tor for rnic in host.rnics))
        usual = {tor: "{}:{}".format(*self.uplink_of(tor)) for tor in tors}
        options = {
            "host": host.name,
            "region": REGION,
            "state_folder": str(self.folder / "state" / host.name),
            "rnics": [self._rnic(rnic) for rnic in host.rnics],
            "aggregators": [
                {"address": dial.get(tor, usual[tor]), "tors": [tor]} for tor in tors
            ],
            **self.credentials("agent", host.name),
        }
        if EMULATED:
            options["limits"] = {"cpu_percent": 0}
        return self._daemon(
            "host-agent",
            host.name,
            host.netns,
            AGENT_PORT,
            merged(options, more),
            variables,
            self._agent_program,
        )

    # ---- start and stop -----------------------------------------------------------

    def start(self):
        self._sockets.mkdir(exist_ok=True)
        if self.analyzer is not None:
            self.analyzer.start()
        for controller in self.controllers:
            controller.start()
        if self._etcd is not None:
            self.import_topology()
        for daemon in (*self.aggregators.values(), *self.agents.values()):
            daemon.start()
        return self

    def leader(self):
        """The controller that leads, or None."""
        for controller in self.controllers:
            with contextlib.suppress(OSError):
                if not controller.alive:
                    continue
                if controller.get("/v1/leader", ANSWERS_S).json["leading"]:
                    return controller
        return None

    def wait_leader(self, seconds=LEADER_S):
        return until("a controller leads", seconds, self.leader)

    def aggregator_daemons(self):
        return list(self.aggregators.values())

    def import_topology(self, content=None, leader=None):
        """Imports the topology through the leader, as an operator does."""
        text = yaml.safe_dump(content or topology(self.fabric), sort_keys=False)
        answer = (leader or self.wait_leader()).post("/v1/topology/import", text)
        if not answer.ok:
            raise OSError(f"the topology is refused: {answer.text}")

    def wait_probing(self, seconds=PROBED_S):
        """Waits until every RNIC probes and is probed, and its rack's aggregator judges it
        good."""
        for daemon in (*self.aggregators.values(), *self.agents.values()):
            daemon.wait_ready(seconds)
        for rnic in self.fabric.rnics.values():
            until(
                f"{rnic.name} probes and is probed",
                seconds,
                lambda: self.probes(rnic),
                [self.agents[rnic.host]],
            )
            until(
                f"{rnic.name} is good in the eyes of its rack",
                seconds,
                lambda: self.health(rnic) == "good",
                [self.aggregators[rnic.tor]],
            )

    def ctl_run(self, place, *words):
        """Runs rackmeshctl at that daemon, and returns the completed process."""
        command = [program("rackmeshctl", self.build), *words]
        netns = self.fabric.netns(place)
        there = ["ip", "netns", "exec", netns] if netns else []
        return subprocess.run([*there, *map(str, command)], capture_output=True, text=True)

    def ctl(self, place, *words, news=False):
        """Runs rackmeshctl at that daemon, and returns its output. news: also if its exit
        status reports trouble."""
        done = self.ctl_run(place, *words)
        if done.returncode not in ((0, 1) if news else (0,)):
            raise OSError(f"rackmeshctl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def wait_traced(self, seconds):
        """Waits until every aggregator knows the path of every flow that leaves its rack."""
        for tor, aggregator in self.aggregators.items():
            until(
                f"the flows out of {tor} are traced",
                seconds,
                lambda: self.untraced(aggregator) == 0,
                [aggregator],
                every=0.2,
            )

    def untraced(self, aggregator):
        """Number of flows out of the rack without a known path; None while there are no flows."""
        flows = aggregator.get("/v1/paths").json["flows"]
        return sum(not flow["path"] for flow in flows) if flows else None

    def close(self):
        self.pack.close()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- their answers --------------------------------------------------------------

    def rack_size(self, tor):
        return sum(rnic.tor == tor for rnic in self.fabric.rnics.values())

    def agent_view(self, rnic):
        """The RNIC in the answer of its host's agent."""
        for each in self.agents[rnic.host].get("/v1/rnics").json["rnics"]:
            if each["device"] == rnic.device:
                return each
        raise OSError(f"{rnic.name} is not known to its agent")

    def probes(self, rnic):
        view = self.agent_view(rnic)
        return (
            view["up"]
            and view["prober"]["targets"] >= self.rack_size(rnic.tor) - 1
            and view["prober"]["results"]["ok"] > 0
            and view["reflector"]["replied"] > 0
        )

    def sent(self, rnic):
        """Number of probes that the RNIC has sent so far, from its agent."""
        return self.agent_view(rnic)["prober"]["sent"]

    def health(self, rnic):
        """The RNIC in the answer of its rack's aggregator."""
        listed = self.aggregators[rnic.tor].get("/v1/rnics").json["rnics"]
        health = {(each["host"], each["device"]): each["health"] for each in listed}
        return health.get((rnic.host, rnic.device), "absent")

    def drill(self, rnic, other, seconds):
        """Raw results of the last seconds from one RNIC to the other, newest first."""
        answer = self.aggregators[rnic.tor].get(
            f"/v1/drill/{rnic.name}?seconds={seconds}&limit={DRILL_LIMIT}"
        )
        return [
            each
            for each in answer.json["results"]
            if (each["from"], each["to"]) == (rnic.name, other.name)
        ]

    def upstream(self):
        """{tor: (bytes that its aggregator received from agents, bytes that it sent to the
        analyzer)}"""
        flows = {}
        for tor, aggregator in self.aggregators.items():
            metrics = aggregator.metrics()
            flows[tor] = (
                metrics.sum("rackmesh_aggregator_agents_bytes_in_total"),
                metrics.sum("rackmesh_aggregator_upstream_bytes_total"),
            )
        return flows

    def probe_counts(self, host):
        """Sums over all RNICs of a host, from its agent's metrics."""
        metrics = self.agents[host].metrics()
        return {
            "sent": metrics.sum("rackmesh_agent_probes_sent_total"),
            "send_failed": metrics.sum("rackmesh_agent_probes_send_failed_total"),
            "results": metrics.sum("rackmesh_agent_results_total"),
            "no_reply": metrics.sum("rackmesh_agent_results_total", outcome="no_reply"),
        }

    def totals(self):
        """Sums over the whole region, in the form of probe_counts()."""
        every = [self.probe_counts(host) for host in self.agents]
        return {key: sum(each[key] for each in every) for key in every[0]}

    def outbox(self, host):
        """Counts of the host's batches by their fate, from its agent's metrics."""
        metrics = self.agents[host].metrics()
        return {
            "made": metrics.sum("rackmesh_agent_batches_made_total"),
            "acked": metrics.sum("rackmesh_agent_batches_acked_total"),
            "dropped": metrics.by("rackmesh_agent_batches_dropped_total", "reason"),
            "waiting": metrics.sum("rackmesh_agent_batches_waiting"),
            "unconfirmed": metrics.sum("rackmesh_agent_batches_unconfirmed"),
            "made_results": metrics.sum("rackmesh_agent_results_batched_total"),
            "acked_results": metrics.sum("rackmesh_agent_results_acked_total"),
        }

def merged(options, more):
    """A new mapping: `options`, overridden at any depth by `more`."""
    both = dict(options)
    for key, value in more.items():
        old = both.get(key)
        both[key] = merged(old, value) if isinstance(old, dict) else value
    return both
