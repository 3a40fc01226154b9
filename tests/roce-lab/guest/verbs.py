"""Traffic by the programs of rdma-core and perftest: RoCE that is none of ours."""

import subprocess

from lab.wait import until

GID = 1  # the one over IPv4
BOTH_S = 20
_ports = iter(range(18600, 60000))


def listening(port):
    """Whether somebody waits for TCP there, by the kernel's own list."""
    wanted = f":{port:04X} "
    with open("/proc/net/tcp") as v4, open("/proc/net/tcp6") as v6:
        return any(wanted in line and " 0A " in line for line in [*v4, *v6])


def pingpong(source, target, messages=100, size=64, seconds=BOTH_S):
    """UD, both ways. What it says at the source; TimeoutExpired when messages are lost."""
    line = f"ibv_ud_pingpong -g {GID} -n {messages} -s {size} -d".split()
    return _both([*line, target.rdma], [*line, source.rdma], target.ipv4, seconds)


def send(source, target, qps=1, messages=100, size=64, seconds=BOTH_S, more=()):
    """So many messages over each of so many RC connections, every one a flow."""
    line = f"ib_send_bw -x {GID} -q {qps} -n {messages} -s {size} -d".split()
    ends = [*line, target.rdma, *more], [*line, source.rdma, *more]
    return _both(*ends, target.ipv4, seconds)


def _both(server, client, address, seconds):
    """Two ends that find each other over TCP, and end by themselves."""
    port = next(_ports)
    waiting = subprocess.Popen(
        [*server, "-p", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until(f"{server[0]} listens", seconds, lambda: listening(port))
        done = subprocess.run(
            [*client, "-p", str(port), address],
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{client[0]}: {done.stdout}{done.stderr}")
        waiting.wait(seconds)
        return done.stdout
    finally:
        waiting.kill()
        waiting.communicate()
