"""Imitates a SONiC switch as far as its counters go: a real Redis, filled with SONiC's tables."""

import pathlib
import socket

from .process import Process
from .wait import PATIENCE_S, until

REDIS_PORT = 6379
APPL_DB, COUNTERS_DB, CONFIG_DB, STATE_DB = 0, 2, 4, 6
# The package redis-tools also has the server, without a service: redis-check-rdb is the same program,
# and becomes the server if its name is redis-server.
_SERVER = 'exec -a redis-server /usr/bin/redis-check-rdb "$@"'


class Sonic(Process):
    """Redis at address:6379, with a password; the test writes over a Unix socket."""

    def __init__(self, netns, address, folder, password, port=REDIS_PORT):
        folder = pathlib.Path(folder)
        self._socket, self._password = folder / "redis.sock", password
        config = folder / "redis.conf"
        config.touch(0o600)
        config.write_text(
            f'bind {address}\nport {port}\nrequirepass "{password}"\n'
            f"unixsocket {self._socket}\ndir {folder}\nsave \"\"\ndaemonize no\n")
        super().__init__(
            "redis", [config], netns, folder / "redis.log",
            wrap=["bash", "-c", _SERVER, "redis-server"])

    def wait_ready(self, seconds=15):
        until("Redis is ready", seconds, lambda: self.tell_redis(0, "PING") == ["+PONG"], [self])
        return self

    def tell_redis(self, database, *words):
        """Sends a command; returns the lines of the answer."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE_S)
            link.connect(str(self._socket))
            lines = link.makefile("rb")

            def ask(*words):
                parts = [str(word).encode() for word in words]
                link.sendall(b"*%d\r\n" % len(parts) + b"".join(
                    b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
                return lines.readline().decode().strip()

            assert ask("AUTH", self._password) == "+OK"
            assert ask("SELECT", database) == "+OK"
            return [ask(*words)]

    def set(self, database, key, **fields):
        answer, = self.tell_redis(
            database, "HSET", key, *(word for pair in fields.items() for word in pair))
        assert answer.startswith(":"), answer

    def fill(self, ports, queues=8, first=0):
        """Fills the tables as after the switch's start: all counters are 0."""
        for p in range(first, first + ports):
            port = f"Ethernet{4 * p}"
            self.set(COUNTERS_DB, "COUNTERS_PORT_NAME_MAP", **{port: self.oid(port)})
            self.set(APPL_DB, f"PORT_TABLE:{port}", oper_status="up", speed=100000, mtu=9100)
            self.count(port, SAI_PORT_STAT_IF_IN_OCTETS=0, SAI_PORT_STAT_PFC_3_RX_PKTS=0)
            for q in range(queues):
                queue = f"{port}:{q}"
                self.set(COUNTERS_DB, "COUNTERS_QUEUE_NAME_MAP", **{queue: self.oid(queue)})
                self.count(queue, SAI_QUEUE_STAT_PACKETS=0, PFC_WD_STATUS="operational")
                group = self.oid(queue, "1a")
                self.set(COUNTERS_DB, "COUNTERS_PG_NAME_MAP", **{queue: group})
                self.set(COUNTERS_DB, f"COUNTERS:{group}",
                         SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS=0)

    def configure(self, port, pfc, **fields):
        """Sets the port's configuration: PFC for these priorities, DSCP 26 in class 3."""
        self.set(CONFIG_DB, f"PORT|{port}", **fields)
        self.set(CONFIG_DB, f"PORT_QOS_MAP|{port}", pfc_enable=pfc, dscp_to_tc_map="AZURE")
        self.set(CONFIG_DB, "DSCP_TO_TC_MAP|AZURE", **{"26": 3, "48": 6})

    def neighbor(self, port, name, port_id, description=""):
        """Sets the neighbour that LLDP reports."""
        self.set(APPL_DB, f"LLDP_ENTRY_TABLE:{port}", lldp_rem_sys_name=name,
                 lldp_rem_port_id=port_id, lldp_rem_port_desc=description)

    @staticmethod
    def oid(name, kind=None):
        """The object id of a port ("Ethernet4"), or of a queue ("Ethernet4:3")."""
        port, _, queue = name.removeprefix("Ethernet").partition(":")
        kind = kind or ("15" if queue else "10")
        return f"oid:0x{kind}{int(port):06x}{int(queue or 0) + 1:04x}"

    def count(self, name, **counters):
        self.set(COUNTERS_DB, f"COUNTERS:{self.oid(name)}", **counters)
