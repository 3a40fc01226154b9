"""The cost of probing by RoCE: two real agents, one of which probes from four RNICs while the other
replies on four, compared with ib_send_lat over the same RNICs in the same run.

A probe and its reply correspond to one ping-pong of ib_send_lat: two messages of equal size, with
completion events at both ends. ib_send_lat sends as fast as it can, which no prober does, and a
process that never sleeps is cheap to wake. So the ToR of the probing RNICs delays the packets to
them by some milliseconds, both for agents and for ib_send_lat; four pairs of ib_send_lat then make
about as many ping-pongs as the agents make probes. That ratio decides the test. The cost at full
speed without the delay is printed, too: there a probe costs 2 to 3 times as much as a ping-pong,
so the aim of at most twice is missed on a quiet machine.

CPU time is the kernel's clock of each thread, with the softirqs that ran in it. Work outside of any
thread, as for delayed packets, is only in the figure of the whole machine. Emulation makes
everything 10 to 20 times slower: only ratios are meaningful."""

import contextlib
import json
import time

import pytest
import yaml

import table
from guest import usage
from guest.verbs import GID, listening
from lab.places import program
from lab.process import Daemon, Pack, Process
from lab.wait import until

PAIRS = 4
RACKS = {"tor1": ["prober"] * PAIRS, "tor2": ["reflector"] * PAIRS}
SPINES = 1
RATE = 800  # probes a second, of all RNICs together
BYTES, TOR = 64, "bench"  # those of tests/bench/result_sink.c
READY_S = 30
SETTLE_S = 1
RESULTS_S = 1.5  # the probes' time-out, the age of a batch, and a reserve
IDLE_S = 4
PROBING_S = 10
SOAK_S = 60
PACED_S, FAST_S = 3, 1.5
DELAY_MS = 4
IDLE_WAKES = 80  # a process: 40 to detect its own stalls, 4 heartbeats, and a reserve
SOURCE_PORT, AGENT_PORT = 18500, 19471


class Sink:
    """tests/bench/result_sink, a minimal aggregator: it sends a plan, and keeps all results."""

    def __init__(self, pack, folder):
        self._log, self._read = folder / "sink.log", 0
        self.process = pack.add(
            Process("sink", [program("result_sink")], None, self._log, stdin=-1)
        )
        self.process.start()
        self.port = self._answer("port")["port"]

    def _lines(self):
        lines = self._log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def _answer(self, key):
        """The next line of its output with this key."""

        def come():
            fresh = [line for line in self._lines()[self._read :]]
            return next((line for line in fresh if key in line), None)

        line = until(f"the sink says {key}", READY_S, come, [self.process])
        self._read = len(self._lines())
        return line

    def ask(self, command, key):
        self.process.write_line(command)
        return self._answer(key)

    def plan(self, rate):
        assert self.ask(f"plan {rate} {PAIRS if rate else 0}", "planned")["planned"] == 0

    def rnics(self):
        return {line["host"]: line["rnics"] for line in self._lines() if "host" in line}


def agent(pack, fabric, folder, i, host, sink):
    socket = f"/run/{host}.sock"  # the path must be short
    config = folder / f"{host}.yaml"
    rnics = [each for each in fabric.rnics.values() if each.host == host]
    options = {
        "host": host,
        "state_folder": "",
        "plaintext": True,  # the sink does not support TLS
        "limits": {"cpu_percent": 0, "memory_mib": 0},
        "rnics": [{"device": r.device, "tor": TOR, "transport": "roce"} for r in rnics],
        "aggregators": [{"address": f"127.0.0.1:{sink.port}"}],
        "http": {"listen": f"127.0.0.1:{AGENT_PORT + i}", "socket": socket},
    }
    config.write_text(yaml.safe_dump(options))
    command = [program("host-agent"), "--config", config]
    log = folder / f"{host}.log"
    return pack.add(Daemon(host, command, None, log, AGENT_PORT + i, socket=socket)).start()


class Agents:
    """The two agents and the sink; a context manager."""

    def __init__(self, fabric, folder):
        self._pack, self._fabric, self._folder = Pack(), fabric, folder

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            undo.callback(self._pack.close)
            self.sink = Sink(self._pack, self._folder)
            self.daemons = [
                agent(self._pack, self._fabric, self._folder, i, host, self.sink)
                for i, host in enumerate(("prober", "reflector"))
            ]
            self.pids = [each.pid for each in self.daemons]
            until("both have registered their RNICs", READY_S, self._registered, self.daemons)
            undo.pop_all()
        return self

    def _registered(self):
        reported = self.sink.rnics()
        return all(reported.get(host) == PAIRS for host in ("prober", "reflector"))

    def __exit__(self, *_):
        self._pack.close()

    def pause(self, paused):
        for each in self.daemons:
            assert each.post("/v1/pause" if paused else "/v1/resume").ok

    def probe(self, seconds):
        """Returns the CPU time and memory used in this many seconds, and the outcomes of the probes."""
        time.sleep(SETTLE_S)
        self.sink.ask("report 0 0", "sent")  # drop the results of the start
        began = time.monotonic_ns()
        used = usage.during(self.pids, lambda: time.sleep(seconds))
        ended = time.monotonic_ns()
        memory = [usage.memory_of(pid) for pid in self.pids]
        time.sleep(RESULTS_S)
        report = self.sink.ask(f"report {began} {ended}", "sent")
        return used, memory, report


class Yardstick:
    """ib_send_lat over every pair; both ends sleep until an event. A context manager."""

    def __init__(self, fabric, folder):
        self._pack, self._folder = Pack(), folder
        rnics = list(fabric.rnics.values())
        self.pairs = list(zip(rnics[:PAIRS], rnics[PAIRS:]))

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            undo.callback(self._pack.close)
            self.ends = [self._pair(i) for i in range(PAIRS)]
            before = self._messages()
            until("all talk", READY_S, lambda: self._have_moved(before))
            undo.pop_all()
        return self

    def _pair(self, i):
        source, target = self.pairs[i]
        port = SOURCE_PORT + i
        line = f"ib_send_lat -c UD -e -x {GID} -s {BYTES} -n 1000000 -p {port} -d".split()
        server = self._end(f"server{i}", [*line, target.rdma])
        until("it listens", READY_S, lambda: listening(port), [server])
        return server, self._end(f"client{i}", [*line, source.rdma, target.ipv4])

    def _end(self, name, command):
        log = self._folder / f"lat-{name}.log"
        return self._pack.add(Process(name, command, None, log)).start()

    def _messages(self):
        """From each client to its server."""
        return [source.counters()["sent_pkts"] for source, _ in self.pairs]

    def _have_moved(self, before):
        return all(now > then + 20 for now, then in zip(self._messages(), before))

    def measure(self, seconds):
        """Returns the CPU time and memory that were used meanwhile, and the number of
        ping-pongs."""
        before = self._messages()
        pids = [end.pid for pair in self.ends for end in pair]
        used = usage.during(pids, lambda: time.sleep(seconds))
        assert self._have_moved(before), "ib_send_lat has lost a message, and waits for ever"
        return used, sum(self._messages()) - sum(before)

    def freeze(self):
        for pair in self.ends:
            for end in pair:
                end.freeze()

    def thaw(self):
        for pair in self.ends:
            for end in pair:
                end.thaw()

    def __exit__(self, *_):
        self._pack.close()


class Costs:
    """Seconds of CPU for each ping-pong: the least of all rounds, since noise only adds."""

    def __init__(self, rounds):
        self.rate = rounds[0][1] / rounds[0][0].seconds
        self.ends = min(used.cpu_s() / n for used, n in rounds)
        self.machine = min(used.busy_s() / n for used, n in rounds)
        self.unowned = min(used.machine.threads_s / n for used, n in rounds)
        self.sleeps = min(sum(p.sleeps for p in used.processes) / n for used, n in rounds)


@pytest.fixture
def measured(fabric, tmp_path, soak):
    """Returns the use of the agents while idle and while probing, and the use of ib_send_lat:
    before and after that at the same rate, and at full speed."""
    paced, fast = [], []

    def delay(words):
        for rnic in list(fabric.rnics.values())[:PAIRS]:
            fabric.impair(rnic, towards=words)

    with Agents(fabric, tmp_path) as agents, contextlib.ExitStack() as undo:
        agents.pause(True)
        with Yardstick(fabric, tmp_path) as lat:
            fast.append(lat.measure(FAST_S))
        undo.callback(delay, None)
        delay(f"delay {DELAY_MS}ms")  # this drops packets under way: do it while nothing is sent
        with Yardstick(fabric, tmp_path) as lat:
            paced.append(lat.measure(PACED_S))
            lat.freeze()
            time.sleep(SETTLE_S)
            idle = usage.during(agents.pids, lambda: time.sleep(IDLE_S))
            agents.sink.plan(RATE)
            agents.pause(False)
            probing = agents.probe(SOAK_S if soak else PROBING_S)
            agents.pause(True)
            lat.thaw()
            time.sleep(SETTLE_S)
            paced.append(lat.measure(PACED_S))
    return idle, probing, Costs(paced), Costs(fast)


def test_a_probe_costs_at_most_two_ping_pongs(measured, print_line):
    idle, (used, memory, report), paced, fast = measured
    rows = [
        *rows_of_cpu(idle, used, report, paced, fast),
        *rows_of_agents(idle, used, memory, report),
    ]
    print_line(table.HEADER)
    for row in rows:
        table.judge(row)
        print_line(table.line(row))
    failed = [row["name"] for row in rows if row["verdict"] == "FAIL"]
    assert not failed


def rows_of_cpu(idle, used, report, paced, fast):
    """The use of the agents beyond that without probing."""
    share = used.seconds / idle.seconds
    prober, reflector = (
        busy.cpu_s - still.cpu_s * share for busy, still in zip(used.processes, idle.processes)
    )
    machine = used.busy_s() - idle.busy_s() * share
    unowned = used.machine.threads_s - idle.machine.threads_s * share

    def row(name, cpu_s, cost, **more):
        return {
            "name": f"CPU per probe, {name}",
            "unit": "us",
            "value": cpu_s / report["sent"] * 1e6,
            "yardstick": cost * 1e6,
            **more,
        }

    same, full = {"yardstick_is": "ib_send_lat"}, {"yardstick_is": "at full speed"}
    sleeps = sum(busy.sleeps for busy in used.processes) / report["sent"]
    return [
        row("prober", prober, paced.ends / 2, **same),
        row("reflector", reflector, paced.ends / 2, **same),
        row("both", prober + reflector, paced.ends, **same, gate="ratio <= 2"),
        row("whole machine", machine, paced.machine, **same, gate="aim ratio <= 2"),
        row("ksoftirqd", unowned, paced.unowned, **same),
        row("both", prober + reflector, fast.ends, **full, gate="aim ratio <= 2"),
        row("whole machine", machine, fast.machine, **full),
        {
            "name": "sleeps per probe, both",
            "unit": "",
            "value": sleeps,
            "yardstick": paced.sleeps,
            **same,
        },
        {
            "name": "sent",
            "unit": "per s",
            "value": report["sent"] / used.seconds,
            "yardstick": paced.rate,
            **same,
        },
        figure("ib_send_lat at full speed", fast.rate, "per s"),
    ]


def rows_of_agents(idle, used, memory, report):
    rows = [figure("without a valid round trip", report["sent"] - report["ok"], "probes")]
    for i, name in enumerate(("prober", "reflector")):
        busy, still, held = used.processes[i], idle.processes[i], memory[i]
        rows += [
            figure(f"{name}: of one core", 100 * busy.cpu_s / used.seconds, "%"),
            figure(f"{name}: the kernel's part", 100 * busy.system_s / busy.cpu_s, "%"),
            figure(f"{name}: sleeps", busy.sleeps / report["sent"], "per probe"),
            figure(f"{name}: of one core, paused", 100 * still.cpu_s / idle.seconds, "%"),
            figure(f"{name}: wake-ups, paused", still.sleeps / idle.seconds, "per s", IDLE_WAKES),
            figure(f"{name}: anonymous memory", held.anonymous_kib / 1024, "MiB"),
            figure(f"{name}: pinned, per RNIC", held.pinned_kib / 1024 / PAIRS, "MiB"),
            figure(f"{name}: locked, per RNIC", held.locked_kib / 1024 / PAIRS, "MiB"),
        ]
    return rows


def figure(name, value, unit, limit=None):
    row = {"name": name, "unit": unit, "value": value}
    return {**row, "gate": f"value <= {limit}"} if limit else row
