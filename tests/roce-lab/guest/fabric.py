"""A Clos fabric of Soft-RoCE devices, and the faults that it can have.

Linux 6.1 supports Soft-RoCE in the first namespace only. So all RNICs are there, whatever host they
belong to, each at one end of a veth whose other end is its ToR's port; ToRs and spines are
namespaces. Routing by source forces every packet out through its RNIC and in through the other,
although both addresses belong to this machine. The management network is the loopback device: every
daemon has an address 127.1.0.<n> of its own.

    RNIC n: rxe<n> over e<n>, 10.<tor>.0.<10 + n>, to port p<n> of its ToR"""

import contextlib
import dataclasses
import json
import pathlib

from lab.fabric import Fabric, Host, Rnic, _offset, sweep
from lab.netns import batch, inside, run
from lab.wait import until

MACHINE = pathlib.Path("/run/roce-lab")  # written by guest.sh
MTU = 4200  # for RoCE packets of 4,096 bytes
NARROW_MTU = 1500
TABLES = 1000  # of RNIC n: this + n
ACTIVE_S = 20
GID_OF_IPV4 = 1

# Two rails: the first RNIC of every host is at one ToR, the second at the other.
TWO_RAILS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h1", "h2", "h3", "h4"]}
FOUR_TORS = {"tor1": ["h1", "h2"], "tor2": ["h1", "h2"], "tor3": ["h3", "h4"], "tor4": ["h3", "h4"]}

ROUTER = {
    "ipv4/ip_forward": 1,
    # As 1, but the same for raw packets and for those of sockets.
    "ipv4/fib_multipath_hash_policy": 3,
    "ipv4/fib_multipath_hash_fields": 55,  # addresses, protocol, ports
    "ipv4/conf/all/rp_filter": 0,
    "ipv4/conf/default/rp_filter": 0,
    "ipv4/conf/all/send_redirects": 0,
    "ipv4/conf/default/send_redirects": 0,
    "ipv4/icmp_ratelimit": 0,
    "ipv4/icmp_errors_use_inbound_ifaddr": 1,
}
HERE = {
    "ipv4/conf/all/accept_local": 1,
    "ipv4/conf/all/rp_filter": 0,
    "ipv4/conf/default/rp_filter": 0,
    "ipv4/conf/all/arp_ignore": 1,
    "ipv4/conf/all/arp_announce": 2,
    "ipv4/icmp_msgs_per_sec": 1000000,  # a limit for the whole kernel
    "ipv4/icmp_msgs_burst": 100000,
}


@dataclasses.dataclass
class RoceRnic(Rnic):
    number: int
    rdma: str  # the device names; `device`, by which it is known, is one of the two
    netdev: str
    gateway: str

    @property
    def route(self):
        table = TABLES + self.number
        return f"default via {self.gateway} dev {self.netdev} onlink table {table}"

    @property
    def gid(self):
        return f"::ffff:{self.ipv4}"

    def sysfs(self, name):
        """A value that the kernel has for its port, such as state or gids/1."""
        path = pathlib.Path(f"/sys/class/infiniband/{self.rdma}/ports/1/{name}")
        return path.read_text().strip()

    @property
    def active(self):
        return self.sysfs("state") == "4: ACTIVE"

    def counters(self):
        folder = pathlib.Path(f"/sys/class/infiniband/{self.rdma}/ports/1/hw_counters")
        return {path.name: int(path.read_text()) for path in folder.iterdir()}


class RoceFabric(Fabric):
    """racks: {tor: [host, ...]}, as for Fabric: a host has one RNIC for each time that it is
    listed, numbered in the order of hosts. Fabric's own faults work here too, except those of
    the management network and of whole hosts."""

    def __init__(self, racks=TWO_RAILS, spines=2, transport="roce", laid=False):
        """transport: how RNICs are probed, which also sets their names: roce (h1/rxe0) or udp
        (h1/e0). laid: the fabric exists, as lay.py leaves it, and is taken over."""
        assert MACHINE.exists(), "this would turn the routing of a real machine upside down"
        self.transport, self._laid = transport, laid
        super().__init__(racks, spines, ())

    def netns(self, name):
        """The namespace of a switch has the switch's name. None, the present one, for all others."""
        return name if name in self.tors or name in self.spines else None

    def face(self, name):
        """The address at which a daemon serves HTTP."""
        return self.management[name]

    @property
    def switches(self):
        return [*self.tors, *self.spines]

    # ---- building the fabric --------------------------------------------------

    def _lay(self, racks, centres):
        hosts = list(dict.fromkeys(host for under in racks.values() for host in under))
        self.management = Loopback()
        for host in hosts:
            self.hosts[host] = Host(host, None, self.management[host], [])
            for tor, under in racks.items():
                for _ in range(under.count(host)):
                    self._add_rnic(self.hosts[host], tor)
        self._namespaces = [self.netns(name) for name in self.switches]
        if self._laid:
            return
        sweep_here()
        batch(self._devices(), None)
        for name in self.switches:
            set_sysctls(self.netns(name), ROUTER)
        for tor in self.tors:
            batch(self._tor_lines(tor), self.netns(tor))
        for spine in self.spines:
            batch(self._spine_lines(spine), self.netns(spine))
        set_sysctls(None, HERE)
        batch(self._lines_here(), None)
        for rnic in self.rnics.values():
            queue(rnic.netdev)
        lines = [f"link add {r.rdma} type rxe netdev {r.netdev}" for r in self.rnics.values()]
        run("rdma", "-b", "-", input="\n".join(lines) + "\n")
        for rnic in self.rnics.values():
            self.wait_active(rnic)

    def _add_rnic(self, host, tor):
        n, net = len(self.rnics), self.tors[tor]
        rnic = RoceRnic(
            host=host.name,
            device=f"rxe{n}" if self.transport == "roce" else f"e{n}",
            tor=tor,
            port=f"p{n}",
            mac=f"02:00:00:{net:02x}:00:{10 + n:02x}",
            ipv4=f"10.{net}.0.{10 + n}",
            ipv6=None,
            number=n,
            rdma=f"rxe{n}",
            netdev=f"e{n}",
            gateway=f"10.{net}.0.1",
        )
        host.rnics.append(rnic)
        self.rnics[rnic.name] = rnic

    def _devices(self):
        """Creates namespaces, and cables between them."""
        lines = [f"netns add {netns}" for netns in self._namespaces]
        for r in self.rnics.values():
            lines.append(
                f"link add {r.netdev} address {r.mac} mtu {MTU} type veth"
                f" peer name {r.port} mtu {MTU} netns {self.netns(r.tor)}"
            )
        for tor in self.tors:
            for spine in self.spines:
                lines.append(
                    f"link add {self.uplink(tor, spine)} netns {self.netns(tor)} mtu {MTU}"
                    f" type veth peer name {tor} mtu {MTU} netns {self.netns(spine)}"
                )
        return lines

    def _tor_lines(self, tor):
        lines = [
            "link set lo up",
            "link add rack type bridge mcast_snooping 0",
            f"link set rack mtu {MTU} up",
            f"addr add 10.{self.tors[tor]}.0.1/24 dev rack",
        ]
        for rnic in self.rnics.values():
            if rnic.tor == tor:
                lines.append(f"link set {rnic.port} master rack up")
        for spine in self.spines:
            up = self.uplink(tor, spine)
            lines += [f"addr add {self._end(tor, spine, 1)}/30 dev {up}", f"link set {up} up"]
        return lines + self._routes(tor)

    def _spine_lines(self, spine):
        lines = ["link set lo up"]
        for tor in self.tors:
            lines += [f"addr add {self._end(tor, spine, 2)}/30 dev {tor}", f"link set {tor} up"]
        for tor, n in self.tors.items():
            lines.append(f"route add 10.{n}.0.0/24 via {self._end(tor, spine, 1)}")
        return lines

    def _lines_here(self):
        """The rule for local addresses comes last: otherwise all packets would use the loopback
        device."""
        lines = []
        for r in self.rnics.values():
            lines += [
                f"addr add {r.ipv4}/24 dev {r.netdev}",
                f"link set {r.netdev} up",
                f"route add {r.route}",
                f"rule add pref 10 iif {r.netdev} lookup local",
                f"rule add pref 100 from {r.ipv4} lookup {TABLES + r.number}",
            ]
        return [*lines, "rule add pref 200 lookup local", "rule del pref 0"]

    def _end(self, tor, spine, side):
        """Address at an end of the link between a ToR and a spine: side 1 is the ToR's, 2 the
        spine's."""
        return _offset(f"172.16.{self.tors[tor]}.{4 * self.spines.index(spine)}", side)

    def _routes(self, tor, verb="replace", without=()):
        """Routes to every other rack, over the spines that still reach it."""
        lines = []
        for other, n in self.tors.items():
            hops = " ".join(
                f"nexthop via {self._end(tor, spine, 2)}"
                for spine in self.spines
                if (tor, spine) not in without and (other, spine) not in without
            )
            if other != tor and hops:
                lines.append(f"route {verb} 10.{n}.0.0/24 {hops}")
        return lines

    def wait_active(self, rnic, seconds=ACTIVE_S):
        """Waits until its port is up and has the GID of its IPv4 address, which RoCE v2 uses."""
        none = "0000:0000:0000:0000:0000:0000:0000:0000"

        def active():
            return rnic.active and rnic.sysfs(f"gids/{GID_OF_IPV4}") != none

        until(f"{rnic.rdma} is active", seconds, active)

    def close(self):
        self._namespaces.clear()
        sweep_here()

    # ---- faults of an RNIC --------------------------------------------------------

    def rnic_down(self, rnic):
        """Sets its interface down, as an operator would on the host; its routes are removed by
        that."""
        batch([f"link set {rnic.netdev} down"], None)

    def rnic_up(self, rnic):
        batch([f"link set {rnic.netdev} up", f"route replace {rnic.route}"], None)

    def unplug(self, rnic):
        """Sets its port at the ToR down: the RNIC loses its carrier."""
        batch([f"link set {rnic.port} down"], self.netns(rnic.tor))

    def plug(self, rnic):
        batch([f"link set {rnic.port} up"], self.netns(rnic.tor))

    def set_port_mtu(self, rnic, mtu):
        """The MTU of the ToR's port only: longer packets are lost there, in both directions."""
        batch([f"link set {rnic.port} mtu {mtu}"], self.netns(rnic.tor))

    def port_mtu(self, rnic):
        place = ["ip", "-n", self.netns(rnic.tor), "-j"]
        return json.loads(run(*place, "link", "show", "dev", rnic.port))[0]["mtu"]

    def impair(self, rnic, towards=None, away=None):
        """netem options ("loss 20%", "delay 20ms") for packets to the RNIC, and for packets from
        it."""
        netem(self.netns(rnic.tor), rnic.port, towards)
        netem(None, rnic.netdev, away)
        if away is None:
            queue(rnic.netdev)

    def repair(self, rnic):
        self.impair(rnic)

    def impaired(self, rnic):
        """Packets that impair() has dropped: (to the RNIC, from the RNIC)."""
        return eaten(self.netns(rnic.tor), rnic.port), eaten(None, rnic.netdev)

    # ---- faults of a link ---------------------------------------------------------

    def impair_link(self, tor, spine, up=None, down=None):
        netem(self.netns(tor), self.uplink(tor, spine), up)
        netem(self.netns(spine), tor, down)

    def repair_link(self, tor, spine):
        self.impair_link(tor, spine)

    def link_impaired(self, tor, spine):
        """Packets dropped on the link: (upward, downward)."""
        up = eaten(self.netns(tor), self.uplink(tor, spine))
        return up, eaten(self.netns(spine), tor)

    def uplink_down(self, tor, spine):
        """Sets the link down, as an operator would: all ToRs route around it, as a routing protocol
        would do."""
        self._reroute({(tor, spine)})
        batch([f"link set {self.uplink(tor, spine)} down"], self.netns(tor))

    def uplink_up(self, tor, spine):
        batch([f"link set {self.uplink(tor, spine)} up"], self.netns(tor))
        lines = [f"route replace 10.{self.tors[tor]}.0.0/24 via {self._end(tor, spine, 1)}"]
        batch(lines, self.netns(spine))
        self._reroute(set())

    def _reroute(self, without):
        for tor in self.tors:
            batch(self._routes(tor, without=without), self.netns(tor))

    # ---- counts on the wire ---------------------------------------------------------

    def link_packets(self):
        """{(tor, spine): (up, down)}: packets that have crossed the link so far."""
        counts = {}
        for tor in self.tors:
            text = run("ip", "-n", self.netns(tor), "-s", "-j", "link", "show")
            stats = {each["ifname"]: each["stats64"] for each in json.loads(text)}
            for spine in self.spines:
                s = stats[self.uplink(tor, spine)]
                counts[tor, spine] = s["tx"]["packets"], s["rx"]["packets"]
        return counts

    def count_flows(self):
        """From now on, starting at zero, every spine counts the packets of every UDP flow, and so
        do the RNICs' ends for packets that arrive."""
        for netns in [None, *map(self.netns, self.spines)]:
            there = ["ip", "netns", "exec", netns] if netns else []
            run(*there, "nft", "-f", "-", input=FLOWS)

    def flows(self):
        """{(from, to, source port, destination port): {spine: packets}}"""
        found = {}
        for spine in self.spines:
            for flow, packets in self._counted(self.netns(spine)).items():
                found.setdefault(flow, {})[spine] = packets
        return found

    def arrived(self):
        """{(from, to, source port, destination port): packets}"""
        return self._counted(None)

    def _counted(self, netns):
        there = ["ip", "netns", "exec", netns] if netns else []
        shown = json.loads(run(*there, "nft", "-j", "list", "set", "ip", "flows", "seen"))
        elements = shown["nftables"][1]["set"].get("elem", [])
        return {
            tuple(each["elem"]["val"]["concat"]): each["elem"]["counter"]["packets"]
            for each in elements
        }


class Loopback(dict):
    """Gives each requested name an address of its own."""

    def __missing__(self, name):
        self[name] = f"127.1.0.{len(self) + 1}"
        return self[name]


# Before routing, so that packets whose TTL ends here count, too.
FLOWS = """
table ip flows
delete table ip flows
table ip flows {
    set seen {
        type ipv4_addr . ipv4_addr . inet_service . inet_service
        size 65536
        flags dynamic
        counter
    }
    chain through {
        type filter hook prerouting priority -400;
        update @seen { ip saddr . ip daddr . udp sport . udp dport }
    }
}
"""


def netem(netns, device, words):
    """None removes it, if there is one."""
    place = ["-n", netns] if netns else []
    if words is None:
        run("tc", *place, "qdisc", "del", "dev", device, "root", check=False)
        return
    head = f"qdisc replace dev {device} root netem limit 10000 {words}"
    run("tc", *place, *head.split())


def queue(device):
    """A queue, which every NIC has and no veth. Without it Soft-RoCE learns that the other end has
    dropped a packet, and repeats it for ever inside the sender's system call."""
    run("tc", *f"qdisc replace dev {device} root pfifo limit 1000".split())


def eaten(netns, device):
    place = ["-n", netns] if netns else []
    shown = json.loads(run("tc", *place, "-s", "-j", "qdisc", "show", "dev", device))
    return sum(each["drops"] for each in shown if each["kind"] == "netem")


def set_sysctls(netns, values):
    """Keys below /proc/sys/net; an older kernel may not have all of them."""
    with inside(netns):
        for key, value in values.items():
            with contextlib.suppress(FileNotFoundError):
                pathlib.Path("/proc/sys/net", key).write_text(f"{value}\n")


def sweep_here():
    """Restores the kernel's initial routing, whatever a fabric has left."""
    sweep()
    links = json.loads(run("rdma", "-j", "link", "show"))
    lines = "".join(f"link del {each['ifname']}\n" for each in links)
    run("rdma", "-f", "-b", "-", input=lines, check=False)
    # The cables of a namespace would only be removed some time after it.
    veths = json.loads(run("ip", "-j", "link", "show", "type", "veth"))
    lines = [f"link del {each['ifname']}" for each in veths]
    left = [path.name for path in pathlib.Path("/run/netns").iterdir()]
    lines += [f"netns del {name}" for name in left if not name.startswith("rmlab")]
    rules = json.loads(run("ip", "-j", "rule", "show"))
    if all(rule["priority"] != 0 for rule in rules):
        lines.append("rule add pref 0 lookup local")
    lines += [f"rule del pref {r['priority']}" for r in rules if r["priority"] in (10, 100, 200)]
    batch(lines, None)
