"""The cost of an analyzer of 1,000 racks, compared with that of its database.

feed_analyzer takes the place of the aggregators: every summary has eight rows and sixteen
RNICs, as a rack's does when all of it becomes bad. feed_analyzer first sends as fast as the
analyzer acknowledges, then at the rate of a healthy region. The yardstick is influxd's CPU time
for the same points; without an unpacked influxd the history goes into files, and there is no
yardstick. CPU time is that of all threads in /proc/<pid>/stat; memory is Anonymous in
smaps_rollup.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

RACKS = 1000
BURST = 10  # summaries of each rack, at once
PACE = 0.1  # summaries of each rack and second: the healthy row interval
PACED_S = 20
LINK, HTTP, INFLUX = 17491, 19474, 18186
DEADLINE_S = 120
TICKS = os.sysconf("SC_CLK_TCK")

INFLUX_CONFIG = """\
reporting-disabled = true
bind-address = "127.0.0.1:{backup}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  index-version = "tsi1"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
"""

ANALYZER_CONFIG = """\
plaintext: true
name: bench
listen: 127.0.0.1:{link}
state_folder: {folder}/state
influx:
  url: "{url}"
http:
  listen: 127.0.0.1:{http}
  socket: ""
"""


@contextlib.contextmanager
def running(command, log):
    with open(log, "wb") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return answer.read().decode()


def until(what, check):
    deadline = time.monotonic() + DEADLINE_S
    while True:
        with contextlib.suppress(OSError):
            if check():
                return
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {DEADLINE_S} s")
        time.sleep(0.05)


def cpu_s(pid):
    if pid is None:
        return 0
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def anonymous_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Anonymous:\s+(\d+)", text, re.M)[1]) / 1024


def metric(name):
    found = re.findall(
        rf"^rackmesh_analyzer_history_{name}(?:{{.*}})? (\S+)$", get(HTTP, "/metrics"), re.M
    )
    return sum(float(value) for value in found)


def feed(options, racks, **arguments):
    command = [options.build / "tests/bench/feed_analyzer", "--address", f"127.0.0.1:{LINK}"]
    command += ["--aggregators", racks, "--seconds", DEADLINE_S]
    command += [w for k, v in arguments.items() for w in (f"--{k.replace('_', '-')}", v)]
    done = subprocess.run([str(w) for w in command], stdout=subprocess.PIPE, text=True)
    said = json.loads(done.stdout)
    if not said["complete"]:
        raise RuntimeError(f"the analyzer did not take it all: {said}")
    until("all points are written", lambda: metric("waiting_records") == 0)
    return said


def measure(options, analyzer, influx, racks, **arguments):
    """Returns the seconds until all points were written, their number, and the CPU seconds of
    analyzer and influxd."""
    before = cpu_s(analyzer), cpu_s(influx)
    begun, written = time.monotonic(), metric("points_delivered_total")
    feed(options, racks, **arguments)
    seconds = time.monotonic() - begun
    points = metric("points_delivered_total") - written
    return seconds, points, cpu_s(analyzer) - before[0], cpu_s(influx) - before[1]


def figures(options, analyzer, influx):
    racks = 100 if options.smoke else RACKS
    paced_s = 5 if options.smoke else PACED_S
    pace = 1 if options.smoke else PACE
    yardstick = {} if influx is None else {"yardstick_is": "influxd"}
    rows = []

    def row(name, unit, value, other=None, gate=None):
        one = {"name": name, "unit": unit, "value": value}
        if other is not None and yardstick:
            one.update(yardstick, yardstick=other)
            if gate:
                one["gate"] = gate
        rows.append(one)

    seconds, points, own, theirs = measure(
        options, analyzer, influx, racks, summaries=BURST, step_ns=1_000_000_000
    )
    row(f"{racks} racks at once: written", "points/s", points / seconds)
    row(
        f"{racks} racks at once: CPU of a million points",
        "s",
        own * 1e6 / points,
        theirs * 1e6 / points,
        "ratio <= 1",
    )
    seconds, points, own, theirs = measure(
        options,
        analyzer,
        influx,
        racks,
        summaries=max(1, int(pace * paced_s)),
        rate=pace,
        incarnation=8,
        step_ns=int(1e9 / pace),
    )
    row(f"{racks} racks at their pace: written", "points/s", points / seconds)
    row(f"{racks} racks at their pace: CPU", "%", 100 * own / seconds, 100 * theirs / seconds)
    row("memory", "MiB", anonymous_mb(analyzer), influx and anonymous_mb(influx))
    row("points refused", "", metric("points_refused_total"))
    return rows


def run(options):
    engines = os.environ.get("RACKMESH_ENGINES", options.build.parent / "engines")
    influxd = pathlib.Path(engines) / "usr/bin/influxd"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as undo:
        folder = pathlib.Path(folder)
        (folder / "state").mkdir()
        influx, url = None, ""
        if influxd.is_file():
            config = folder / "influx.conf"
            config.write_text(
                INFLUX_CONFIG.format(folder=folder, port=INFLUX, backup=INFLUX + 1)
            )
            influx = undo.enter_context(
                running([influxd, "run", "-config", config], folder / "influxd.log")
            )
            url = f"http://127.0.0.1:{INFLUX}"
            until("influxd answers", lambda: get(INFLUX, "/ping") == "")
            urllib.request.urlopen(f"{url}/query", b"q=CREATE+DATABASE+rackmesh").close()
        config = folder / "analyzer.yaml"
        config.write_text(ANALYZER_CONFIG.format(folder=folder, link=LINK, http=HTTP, url=url))
        analyzer = undo.enter_context(
            running(
                [options.build / "analyzer/analyzer", "--config", config], folder / "analyzer.log"
            )
        )
        until("the analyzer answers", lambda: get(HTTP, "/healthz") is not None)
        return figures(options, analyzer, influx)
