"""Traffic by the programs of rdma-core and perftest: RoCE traffic that does not come from our
daemons."""

import contextlib
import json
import subprocess

from lab.netns import run
from lab.process import Pack, Process
from lab.wait import until

GID = 1  # the index of the GID for IPv4
BOTH_S = 20
_ports = iter(range(18600, 60000))


def listening(port):
    """Whether a process listens at this TCP port, by the kernel's own list."""
    wanted = f":{port:04X} "
    with open("/proc/net/tcp") as v4, open("/proc/net/tcp6") as v6:
        return any(wanted in line and " 0A " in line for line in [*v4, *v6])


def pingpong(source, target, messages=100, size=64, seconds=BOTH_S):
    """UD, in both directions. Returns the output at the source; TimeoutExpired if messages are
    lost."""
    line = f"ibv_ud_pingpong -g {GID} -n {messages} -s {size} -d".split()
    return _both([*line, target.rdma], [*line, source.rdma], target.ipv4, seconds)


def send(source, target, qps=1, messages=100, size=64, seconds=BOTH_S, more=()):
    """Sends `messages` over each of `qps` RC connections; each of these is a flow."""
    line = f"ib_send_bw -x {GID} -q {qps} -n {messages} -s {size} -d".split()
    ends = [*line, target.rdma, *more], [*line, source.rdma, *more]
    return _both(*ends, target.ipv4, seconds)


def connections(process):
    """The QPs of a process that have a peer, as rdma shows them: lqpn, rqpn, ifname. A QP that only
    receives stays in the state RTR."""
    shown = json.loads(run("rdma", "-j", "resource", "show", "qp"))
    mine = [qp for qp in shown if qp.get("pid") == process.pid]
    return [qp for qp in mine if qp["state"] in ("RTR", "RTS")]


class Traffic:
    """Two programs that exchange messages until they are stopped or killed; a context manager. They
    send as fast as they can: client.freeze() keeps the connections without traffic."""

    def __init__(self, folder, server, client, address=()):
        self._pack, self._port = Pack(), next(_ports)
        folder.mkdir(parents=True, exist_ok=True)
        self.server = self._end(folder, "server", server)
        self.client = self._end(folder, "client", [*client, *address])

    def _end(self, folder, side, command):
        name = f"{command[0]}-{self._port}-{side}"
        command = [*command[:1], "-p", self._port, *command[1:]]
        return self._pack.add(Process(name, command, None, folder / f"{name}.log"))

    def __enter__(self):
        ends = [self.server, self.client]
        with contextlib.ExitStack() as undo:
            undo.callback(self._pack.close)
            self.server.start()
            until("the server listens", BOTH_S, self._listens, [self.server])
            self.client.start()
            until("they are connected", BOTH_S, lambda: all(map(connections, ends)), ends)
            undo.pop_all()
        return self

    def _listens(self):
        return listening(self._port)

    def kill(self):
        """Kills both with kill -9, as when a job dies."""
        self.client.kill()
        self.server.kill()

    def __exit__(self, *_):
        self._pack.close()


class Stream(Traffic):
    """ib_send_bw over RC connections. It polls, which uses all CPU time: freeze both ends soon."""

    def __init__(self, folder, source, target, qps=1, size=64, more=()):
        line = f"ib_send_bw -x {GID} -q {qps} -s {size} --run_infinitely -d".split()
        ends = [*line, target.rdma, *more], [*line, source.rdma, *more]
        super().__init__(folder, *ends, [target.ipv4])


class Rping(Traffic):
    """An RC connection by the connection manager."""

    def __init__(self, folder, source, target, size=64):
        server = f"rping -s -a {target.ipv4} -S {size}"
        client = f"rping -c -I {source.ipv4} -a {target.ipv4} -S {size}"
        super().__init__(folder, server.split(), client.split())

    def _listens(self):
        shown = json.loads(run("rdma", "-j", "resource", "show", "cm_id"))
        return any(each.get("pid") == self.server.pid for each in shown)


def _both(server, client, address, seconds):
    """Runs two programs that find each other over TCP and end by themselves."""
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
