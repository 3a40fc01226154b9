#!/usr/bin/env python3
"""Two controllers over a real etcd with a large region in it: does leadership settle?

Not part of CI: `region_size.py BUILD ETCD` with a build folder and the etcd program. Prints
which controller led when, how long planning took, and the longest time that the loop was blocked.
"""

import argparse
import base64
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

REGION = "large"
PLANNED_S = 180  # all plans are in etcd by then, or it has failed


def post(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def get(port, path):
    """Returns the text of the answer, also of a refusal, and the time that it took."""
    begun = time.monotonic()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    except OSError:
        return None, time.monotonic() - begun
    return text, time.monotonic() - begun


def b64(text):
    return base64.b64encode(text.encode()).decode()


def topology(tors, spines):
    lines = [f"region: {REGION}", "switches:"]
    lines += [f"- {{name: tor{i}, role: tor}}" for i in range(1, tors + 1)]
    lines += [f"- {{name: spine{i}, role: spine}}" for i in range(1, spines + 1)]
    lines += ["links:"]
    lines += [f"- [tor{i}, spine{s}]" for i in range(1, tors + 1) for s in range(1, spines + 1)]
    return "\n".join(lines) + "\n"


def rnic(number, tors):
    text = f"{number:012x}"
    name = ":".join(text[i : i + 2] for i in range(0, 12, 2))
    value = {
        "id": name,
        "host": f"h{number}",
        "device": "rnic0",
        "driver": "mlx5",
        "tors": [f"tor{number % tors + 1}"],
        "addresses": [f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}:862"],
        "mtu_bytes": 1500,
        "incarnation": f"{7:016x}",
        "aggregator": "made",
    }
    return f"/rackmesh/{REGION}/rnic/{name}", json.dumps(value)


def fill(url, args):
    pairs = [rnic(i, args.tors) for i in range(1, args.rnics + 1)]
    pairs.append((f"/rackmesh/{REGION}/topology/region", topology(args.tors, args.spines)))
    for i in range(0, len(pairs), 100):
        puts = [{"request_put": {"key": b64(k), "value": b64(v)}} for k, v in pairs[i : i + 100]]
        post(url, "/v3/kv/txn", {"success": puts})


def controller(folder, args, url, i):
    config = folder / f"c{i}.yaml"
    config.write_text(
        f"name: c{i}\nregion: {REGION}\nplaintext: true\nlisten: 127.0.0.1:{args.port + 10 + i}\n"
        f"etcd: {{endpoints: ['{url}'], lease_ttl_s: 2}}\n"
        f"http: {{listen: '127.0.0.1:{args.port + 20 + i}', socket: {folder}/c{i}.sock}}\n"
    )
    program = pathlib.Path(args.build) / "region-controller" / "region-controller"
    log = open(folder / f"c{i}.log", "wb")
    return subprocess.Popen([program, "--config", config], stderr=log, stdout=log)


def metric(text, name):
    name = "rackmesh_controller_" + name
    lines = [line for line in (text or "").splitlines() if line.startswith(name)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def watch(url, args, ports, seconds, planned):
    """Polls every half second; ends when all plans exist, or after the time-out."""
    slowest, begun, last = 0.0, time.monotonic(), None
    while time.monotonic() - begun < seconds:
        now = []
        for port in ports:
            text, took = get(port, "/v1/leader")
            slowest = max(slowest, took)
            now.append(json.loads(text)["leading"] if text else None)
        if now != last:
            print(f"{time.monotonic() - begun:6.1f} s leading: {now}", flush=True)
            last = now
        prefix = f"/rackmesh/{REGION}/pinglist/"
        end = prefix[:-1] + "0"
        body = {"key": b64(prefix), "range_end": b64(end), "count_only": True}
        count = int(post(url, "/v3/kv/range", body).get("count", 0))
        if planned and count >= args.tors:
            break
        time.sleep(0.5)
    print(f"{time.monotonic() - begun:6.1f} s, {count} plans, slowest answer {slowest:.2f} s")
    return slowest


def report(ports):
    won = 0
    for port in ports:
        text, _ = get(port, "/metrics")
        won += metric(text, "etcd_leaderships_won_total")
        print(
            f"{port}: won {metric(text, 'etcd_leaderships_won_total'):.0f},"
            f" lost {metric(text, 'etcd_leaderships_lost_total'):.0f},"
            f" plannings {metric(text, 'plannings_total'):.0f},"
            f" restarts {metric(text, 'planning_restarts_total'):.0f},"
            f" planning {metric(text, 'planning_seconds'):.2f} s,"
            f" longest slice {metric(text, 'planning_slice_seconds') * 1e3:.0f} ms,"
            f" deferred {metric(text, 'etcd_inbox_deferred_total'):.0f}"
        )
    return won


def measure(folder, args):
    url = f"http://127.0.0.1:{args.port}"
    peer = f"http://127.0.0.1:{args.port + 1}"
    arguments = [args.etcd, "--data-dir", folder / "etcd", "--listen-client-urls", url]
    arguments += ["--advertise-client-urls", url, "--listen-peer-urls", peer]
    arguments += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    log = open(folder / "etcd.log", "wb")
    processes = [subprocess.Popen(arguments, stdout=log, stderr=log)]
    try:
        for _ in range(100):
            try:
                post(url, "/v3/kv/range", {"key": b64("x")})
                break
            except OSError:
                time.sleep(0.1)
        fill(url, args)
        for _ in range(args.load):
            processes.append(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
        processes += [controller(folder, args, url, i) for i in range(2)]
        ports = [args.port + 20, args.port + 21]
        watch(url, args, ports, PLANNED_S, True)
        watch(url, args, ports, args.seconds, False)
        won = report(ports)
        print("all over again, with the plans in etcd:")
        for process in processes[-2:]:
            process.kill()
            process.wait()
        processes[-2:] = [controller(folder, args, url, i) for i in range(2)]
        watch(url, args, ports, args.seconds, False)
        again = report(ports)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return won == 1 and again == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("etcd")
    parser.add_argument("--rnics", type=int, default=20000)
    parser.add_argument("--tors", type=int, default=312)
    parser.add_argument("--spines", type=int, default=8)
    parser.add_argument("--load", type=int, default=2, help="busy loops beside them")
    parser.add_argument("--seconds", type=int, default=30, help="watched after the plans are there")
    parser.add_argument("--port", type=int, default=23790)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rackmesh-size-") as folder:
        settled = measure(pathlib.Path(folder), args)
    print("settled" if settled else "leadership has changed hands")
    return 0 if settled else 1


if __name__ == "__main__":
    raise SystemExit(main())
