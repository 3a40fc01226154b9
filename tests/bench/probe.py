"""The cost of probing: two real host-agents over a veth pair, compared with a bare pair.

The prober and the reflector are the daemons themselves, their RNICs in two network
namespaces, with the least aggregator (result_sink) to plan for them and to take every
result. The yardstick, bare_pair, sends the same packets on the same burst grid with the
same kernel stamps over the same veth, in turns with them. Each process is bound to one CPU, the
same CPU in both measurements. What is measured:

asked/sent  results of probes sent in the window, of which there must be rate * time
gap p99     between two probes to the same target, by the agent's own T1
CPU         time of all threads, by /proc/<pid>/task/*/schedstat, softirqs included
memory      Anonymous of /proc/<pid>/smaps_rollup
"""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

PAIRS = 8  # RNIC pairs; all but the search for the maximum use the first
RATES = (100, 1000, 10000)
GATED = 10000
PROBE_BYTES = 128  # as in result_sink.c
REFLECTOR_PORT = 862
SETTLE_S = 0.5  # until a new pace holds
RESULTS_S = 0.9  # probe time-out, batch age, and some
DEADLINE_S = 15
MAX_PAIR_RATE = 20000  # PROBER_MAX_RATE_PER_S
MAX_RATE = 58000  # below RATE_LIMIT_HOST_PACKETS_PER_S

CONFIG = """\
plaintext: true
host: {host}
netns: {netns}
state_folder: ""
limits: {{ cpu_percent: 0, memory_mib: 0 }}
rnics:
{rnics}
aggregators:
  - address: 127.0.0.1:{port}
http:
  listen: ""
  socket: ""
"""


def address(pair, end):
    return f"10.88.{pair}.{end + 1}"


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


@contextlib.contextmanager
def namespaces():
    """Two network namespaces, joined by veth pairs p0-r0, p1-r1, ...; removed afterwards."""
    names = [f"rmbench{os.getpid()}-{end}" for end in "pr"]
    try:
        for name in names:
            ip("netns", "add", name)
        for pair in range(PAIRS):
            ends = [f"{end}{pair}" for end in "pr"]
            peer = ["peer", "name", ends[1], "netns", names[1]]
            ip("link", "add", ends[0], "netns", names[0], "type", "veth", *peer)
            for end in (0, 1):
                inside = ["-n", names[end]]
                ip(*inside, "addr", "add", f"{address(pair, end)}/24", "dev", ends[end])
                ip(*inside, "link", "set", ends[end], "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


class Process:
    """One program, bound to one CPU, which ends with the bench."""

    def __init__(self, command, cpu=None, netns=None, log=None):
        words = [str(word) for word in command]
        if netns:  # ip execs: the process is the program itself
            words = ["ip", "netns", "exec", netns, *words]
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
        self.child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            preexec_fn=pin,
        )
        self.proc = pathlib.Path(f"/proc/{self.child.pid}")
        self.unread = b""

    def line(self):
        """Returns the next line of JSON that it prints."""
        deadline = time.monotonic() + DEADLINE_S
        while b"\n" not in self.unread:
            left = max(deadline - time.monotonic(), 0)
            if not select.select([self.child.stdout], [], [], left)[0]:
                raise RuntimeError(f"{self.child.args[0]}: silent for {DEADLINE_S} s")
            more = os.read(self.child.stdout.fileno(), 65536)
            if not more:
                raise RuntimeError(f"{self.child.args[0]} ended: {self.child.wait()}")
            self.unread += more
        first, self.unread = self.unread.split(b"\n", 1)
        return json.loads(first)

    def ask(self, command):
        self.child.stdin.write(command.encode() + b"\n")
        return self.line()

    def cpu_ns(self):
        stats = [p.read_text() for p in (self.proc / "task").glob("*/schedstat")]
        return sum(int(text.split()[0]) for text in stats)

    def anonymous_kib(self):
        text = (self.proc / "smaps_rollup").read_text()
        return int(re.search(r"^Anonymous:\s+(\d+) kB", text, re.M)[1])

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            out, _ = self.child.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            out, _ = self.child.communicate()
        return out


class Agents:
    """The two daemons, and the sink that sends their pinglists."""

    def __init__(self, stack, build, names, cpus):
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.log = stack.enter_context(open(folder / "log", "w+"))
        stack.push(self.show_log)
        self.sink = self.start(stack, [build / "tests/bench/result_sink"])
        port = self.sink.line()["port"]
        self.daemons = []
        for end, host in enumerate(("prober", "reflector")):
            rnics = "\n".join(
                f"  - {{ device: {'pr'[end]}{pair}, tor: bench,"
                f" udp_port: {REFLECTOR_PORT} }}"
                for pair in range(PAIRS)
            )
            config = folder / f"{host}.yaml"
            config.write_text(
                CONFIG.format(host=host, netns=names[end], rnics=rnics, port=port)
            )
            command = [build / "host-agent/host-agent", "--config", config]
            self.daemons.append(self.start(stack, command, cpus[end]))
        there = {"prober": 0, "reflector": 0}
        while min(there.values()) < PAIRS:
            line = self.sink.line()
            there[line["host"]] = line["rnics"]

    def show_log(self, kind, error, trace):
        if kind and issubclass(kind, Exception):
            self.log.seek(0)
            sys.stderr.write(self.log.read())

    def start(self, stack, command, cpu=None):
        process = Process(command, cpu, log=self.log)
        stack.callback(process.stop)
        return process

    def plan(self, rate, pairs):
        planned = self.sink.ask(f"plan {rate} {pairs}")["planned"]
        if planned != 0:
            raise RuntimeError(f"cannot plan: {planned}")

    def measure(self, rate, seconds, pairs=1):
        self.plan(rate, pairs)
        time.sleep(SETTLE_S)
        self.sink.ask("report 0 0")  # forget how it began
        start = time.monotonic_ns()
        cpu = [daemon.cpu_ns() for daemon in self.daemons]
        time.sleep(seconds)
        end = time.monotonic_ns()
        cpu = [d.cpu_ns() - before for d, before in zip(self.daemons, cpu)]
        memory = max(daemon.anonymous_kib() for daemon in self.daemons)
        self.plan(0, 0)
        time.sleep(RESULTS_S)
        # Whole periods of every target, so that both edges of the window have the same phase.
        whole = start + (end - start) // 10_000_000 * 10_000_000
        report = self.sink.ask(f"report {start} {whole}")
        report["asked"] = rate * (whole - start) / 1e9
        report["error"] = abs(report["sent"] / report["asked"] - 1)
        report["cpu"] = [
            ns / max(report["sent"], 1) * (whole - start) / (end - start) / 1000
            for ns in cpu
        ]
        report["memory_mib"] = memory / 1024
        return report


def measure_bare(build, names, cpus, rate, seconds):
    program = build / "tests/bench/bare_pair"
    to = f"{address(0, 1)}:7777"
    echo = Process([program, "echo", "r0", to], cpus[1], names[1])
    try:
        time.sleep(0.2)  # it says nothing before its end
        own = f"{address(0, 0)}:7778"
        send = [program, "send", "p0", own, to, rate, seconds, PROBE_BYTES]
        sender = Process(send, cpus[0], names[0])
        report = sender.line()
        sender.stop()
    finally:
        out = echo.stop()
    probes = max(report["sent"], 1)
    report["cpu"] = [
        report["cpu_ns"] / probes / 1000,
        json.loads(out)["cpu_ns"] / probes / 1000,
    ]
    return report


def cpu_rows(rate, agents, bares):
    """The best of the rounds for each figure, since noise only adds."""
    gate = {"gate": "ratio <= 2"} if rate == GATED else {}
    rows = []
    for name, pick in (
        ("prober", lambda r: r["cpu"][0]),
        ("reflector", lambda r: r["cpu"][1]),
        ("both", lambda r: sum(r["cpu"])),
    ):
        rows.append(
            {
                "name": f"{rate:,}/s: CPU per probe, {name}",
                "unit": "us",
                "value": min(map(pick, agents)),
                "yardstick": min(map(pick, bares)),
                "yardstick_is": "bare pair",
                **gate,
            }
        )
    return rows


def rate_rows(rate, agents, bares):
    gated = rate == GATED
    lost = sum(r["no_reply"] + r["late_reply"] + r["sent_late"] for r in agents)
    own = sum(r["self_loss"] + r["overruns"] + r["send_failed"] for r in agents)
    sent = sum(r["sent"] for r in agents)

    def row(name, unit, value, gate=None, **more):
        found = {"name": f"{rate:,}/s: {name}", "unit": unit, "value": value, **more}
        return {**found, "gate": gate} if gate and gated else found

    best = min(agents, key=lambda r: r["error"])
    return [
        row("asked", "probes", best["asked"]),
        row("sent", "probes", best["sent"]),
        row("asked against sent", "%", best["error"] * 100, "value <= 0.1"),
        row(
            f"gap p99 (asked {1e6 / min(rate, 100):,.0f} us)",
            "us",
            min(r["gap_p99_us"] for r in agents),
            yardstick=min(r["gap_p99_us"] for r in bares),
            yardstick_is="bare pair",
        ),
        row(f"lost of {sent:,}", "probes", lost),
        row(f"self-loss of {sent:,}", "probes", own, "value <= 0"),
        row("split in three terms", "%", 100 * best["split"] / max(best["sent"], 1)),
        *cpu_rows(rate, agents, bares),
    ]


def clean(report):
    whole = report["ok"] == report["sent"] and report["overruns"] == 0
    return whole and report["error"] <= 0.001


def loss_free_maximum(agents, seconds):
    """Uses all pairs, since one RNIC has a rate limit; doubles the rate, then bisects."""
    seen = []

    def holds(rate):
        before = agents.measure(100, 0.2)["overruns"]
        report = agents.measure(rate, seconds, PAIRS)
        report["overruns"] -= before
        seen.append((clean(report), rate))
        return seen[-1][0]

    good, step = GATED, PAIRS * 100
    bad = min(PAIRS * MAX_PAIR_RATE, MAX_RATE) + step
    while good * 2 < bad and holds(good * 2):
        good *= 2
    bad = min([rate for held, rate in seen if not held], default=bad)
    while bad - good > max(good // 10, step):
        middle = (good + bad) // 2 // step * step
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good


def run(options):
    seconds = 2 if options.smoke else 4
    rounds = {rate: 1 if options.smoke else 3 for rate in RATES}
    rounds[GATED] = 3 if options.smoke else 6
    allowed = sorted(os.sched_getaffinity(0))
    cpus = (allowed[0], allowed[-1])
    rows, memory = [], 0
    with contextlib.ExitStack() as stack:
        names = stack.enter_context(namespaces())
        agents = Agents(stack, options.build, names, cpus)
        for rate in RATES:
            of_agents, of_bares = [], []
            for _ in range(rounds[rate]):
                of_agents.append(agents.measure(rate, seconds))
                of_bares.append(
                    measure_bare(options.build, names, cpus, rate, seconds)
                )
                memory = max(memory, of_agents[-1]["memory_mib"])
            rows += rate_rows(rate, of_agents, of_bares)
        rows.append(
            {
                "name": "resident anonymous memory",
                "unit": "MiB",
                "value": memory,
                "gate": "value <= 8",
            }
        )
        if not options.smoke:
            rows.append(
                {
                    "name": f"loss-free maximum, {PAIRS} RNICs of at most "
                    f"{MAX_PAIR_RATE:,}/s",
                    "unit": "probes/s",
                    "value": loss_free_maximum(agents, 2),
                }
            )
    return rows
