"""A Clos fabric of network namespaces: hosts, ToRs, spines, a management network.

Each ToR is a bridge with a routed interface. It has one link to each spine, and spreads flows
over these links by a hash of the 5-tuple (ECMP). A host has one veth per RNIC, to the RNIC's
ToR, and one veth to the management bridge.

    management: 192.168.100.0/22, RNICs: 10.<tor>.0.<n>/24 and fd00:<tor>::<n>/64
"""

import dataclasses
import itertools
import os
import pathlib
import re
import shutil

from .netns import batch, nft, run, sysctl

_OURS = re.compile(r"rmlab([0-9a-f]+)-")


@dataclasses.dataclass
class Rnic:
    host: str
    device: str
    tor: str
    port: str  # the ToR's end of the RNIC's cable
    mac: str
    ipv4: str
    ipv6: str

    @property
    def name(self):
        return f"{self.host}/{self.device}"


@dataclasses.dataclass
class Host:
    name: str
    netns: str
    management: str
    rnics: list


class Fabric:
    """racks: {tor: [host, host, ...]}; a host in two lists has two RNICs.

    centres: places with a cable to the management network only. relays: names of RNICs whose
    cable leads through a namespace of its own, where a relay can delay packets (see relay()).
    """

    def __init__(self, racks, spines=2, centres=("centre",), relays=()):
        sweep()
        self.prefix = f"rmlab{os.getpid():x}"
        self.racks = racks
        self.relays = set(relays)
        self.tors = {tor: i + 1 for i, tor in enumerate(racks)}
        self.spines = [f"spine{i + 1}" for i in range(spines)]
        self.hosts = {}
        self.rnics = {}
        self.management = {}
        self._management_ports = {}
        self._namespaces = []
        self._numbers = itertools.count(2)
        try:
            self._lay(racks, centres)
        except BaseException:
            self.close()
            raise

    def netns(self, name):
        return f"{self.prefix}-{name}"

    def _add_netns(self, name):
        full = self.netns(name)
        run("ip", "netns", "add", full)
        self._namespaces.append(full)
        run("ip", "-n", full, "link", "set", "lo", "up")
        return full

    # ---- making it ----------------------------------------------------------

    def _lay(self, racks, centres):
        bridge = self._add_netns("mgmt")
        batch(["link add br0 type bridge", "link set br0 up"], bridge)
        for spine in self.spines:
            self._lay_router(spine)
        for tor, number in self.tors.items():
            self._lay_tor(tor, number)
        self._route()
        for name in centres:
            self._add_netns(name)
            self._join_management(name)
        for tor, hosts in racks.items():
            for host in hosts:
                self._lay_rnic(host, tor)

    def _lay_router(self, name):
        full = self._add_netns(name)
        sysctl(
            full,
            **{
                "net/ipv4/ip_forward": 1,
                "net/ipv6/conf/all/forwarding": 1,
                "net/ipv4/fib_multipath_hash_policy": 1,
                "net/ipv6/fib_multipath_hash_policy": 1,
                "net/ipv4/conf/all/rp_filter": 0,
                "net/ipv4/conf/default/rp_filter": 0,
                "net/ipv6/conf/default/accept_dad": 0,
                "net/ipv4/icmp_ratelimit": 0,
                "net/ipv4/icmp_ratemask": 0,  # the only other limit is for the whole kernel
                "net/ipv4/icmp_errors_use_inbound_ifaddr": 1,
            },
        )
        return full

    def _lay_tor(self, tor, number):
        full = self._lay_router(tor)
        batch(
            [
                "link add rack type bridge mcast_snooping 0",
                "link set rack up",
                f"addr add 10.{number}.0.1/24 dev rack",
                f"addr add fd00:{number}::1/64 dev rack nodad",
            ],
            full,
        )
        for i, spine in enumerate(self.spines):
            up, down = f"up{i + 1}", f"{tor}"[:15]
            run(
                *f"ip -n {full} link add {up} type veth peer name {down}"
                f" netns {self.netns(spine)}".split()
            )
            net = f"172.16.{number}.{4 * i}"
            first, second = _offset(net, 1), _offset(net, 2)
            batch(
                [
                    f"addr add {first}/30 dev {up}",
                    f"addr add fd01:{number}:{i}::1/64 dev {up} nodad",
                    f"link set {up} up",
                ],
                full,
            )
            batch(
                [
                    f"addr add {second}/30 dev {down}",
                    f"addr add fd01:{number}:{i}::2/64 dev {down} nodad",
                    f"link set {down} up",
                ],
                self.netns(spine),
            )

    def _route(self):
        """Adds routes: ToRs reach each other over all spines; spines know every rack."""
        if not self.spines:
            return
        for tor, number in self.tors.items():
            hops4 = " ".join(
                f"nexthop via {_offset(f'172.16.{number}.{4 * i}', 2)}"
                for i in range(len(self.spines))
            )
            hops6 = " ".join(
                f"nexthop via fd01:{number}:{i}::2" for i in range(len(self.spines))
            )
            others = [n for other, n in self.tors.items() if other != tor]
            full = self.netns(tor)
            batch([f"route add 10.{n}.0.0/24 {hops4}" for n in others], full)
            batch([f"route add fd00:{n}::/64 {hops6}" for n in others], full, "-6")
        for i, spine in enumerate(self.spines):
            full = self.netns(spine)
            tors = self.tors.values()
            via = {n: _offset(f"172.16.{n}.{4 * i}", 1) for n in tors}
            batch([f"route add 10.{n}.0.0/24 via {via[n]}" for n in tors], full)
            batch([f"route add fd00:{n}::/64 via fd01:{n}:{i}::1" for n in tors], full, "-6")

    def _join_management(self, name):
        number = next(self._numbers)
        full, bridge = self.netns(name), self.netns("mgmt")
        run(
            *f"ip -n {full} link add mgmt0 type veth peer name m{number}"
            f" netns {bridge}".split()
        )
        batch([f"link set m{number} master br0", f"link set m{number} up"], bridge)
        address, length = self.management_address(name, number)
        batch([f"addr add {address}/{length} dev mgmt0", "link set mgmt0 up"], full)
        self.management[name] = address
        self._management_ports[name] = f"m{number}"
        return address

    def management_address(self, name, number):
        """With the length of its network's prefix."""
        return f"192.168.{100 + number // 250}.{number % 250 + 1}", 22

    def device(self, n):
        """The name of a host's n-th RNIC."""
        return f"r{n}"

    def _lay_rnic(self, host, tor):
        if host not in self.hosts:
            full = self._add_netns(host)
            sysctl(
                full,
                **{
                    "net/ipv4/conf/all/rp_filter": 0,
                    "net/ipv4/conf/default/rp_filter": 0,
                    "net/ipv4/conf/all/arp_ignore": 1,
                    "net/ipv4/conf/all/arp_announce": 2,
                    "net/ipv6/conf/default/accept_dad": 0,
                },
            )
            self.hosts[host] = Host(host, full, self._join_management(host), [])
        entry = self.hosts[host]
        number = self.tors[tor]
        n = 10 + sum(rnic.tor == tor for rnic in self.rnics.values())
        device, port = self.device(len(entry.rnics)), f"p{n - 10}"
        mac = f"02:00:00:{number:02x}:00:{n:02x}"
        rnic = Rnic(
            host, device, tor, port, mac, f"10.{number}.0.{n}", f"fd00:{number}::{n:x}"
        )
        entry.rnics.append(rnic)
        self.rnics[rnic.name] = rnic
        self._plug(rnic)

    def _plug(self, rnic):
        """Connects the RNIC to its ToR, with its addresses and its routes to the other racks."""
        netns, tor = self.hosts[rnic.host].netns, self.netns(rnic.tor)
        end = (netns, f"{rnic.device} address {rnic.mac}")
        if rnic.name in self.relays:
            end = self._lay_relay(rnic.name, *end)
        _cable(*end, tor, rnic.port)
        if end[1] == "far":
            _no_offload(*end)
            _no_offload(tor, rnic.port)
        batch([f"link set {rnic.port} master rack"], tor)
        batch(self._addresses(rnic), netns)
        batch([self._route6(rnic)], netns, "-6")

    def swap(self, rnic, mac):
        """Replaces the RNIC by another one with the same name and addresses and a different MAC
        address.

        The new one is prepared first, so that there is no RNIC for a moment only.
        """
        netns, tor = self.hosts[rnic.host].netns, self.netns(rnic.tor)
        device, port = rnic.device, f"{rnic.port}s"
        notify = ("ipv4/conf/default/arp_notify", "ipv6/conf/default/ndisc_notify")
        sysctl(netns, **{f"net/{key}": 1 for key in notify})
        spare = f"spare address {mac} type veth peer name {port}"
        run(*f"ip -n {netns} link add {spare} netns {tor}".split())
        batch([f"link set {port} up", f"link set {port} master rack"], tor)
        rnic.mac, rnic.port = mac, port
        plug = [f"link del {device}", f"link set spare name {device}", f"link set {device} up"]
        batch([*plug, *self._addresses(rnic)], netns)
        batch([self._route6(rnic)], netns, "-6")

    def _addresses(self, rnic):
        return [
            f"addr add {rnic.ipv4}/24 dev {rnic.device}",
            f"addr add {rnic.ipv6}/64 dev {rnic.device} nodad",
            f"route add default via 10.{self.tors[rnic.tor]}.0.1 {self._metric(rnic)}",
        ]

    def _route6(self, rnic):
        return f"route add default via fd00:{self.tors[rnic.tor]}::1 {self._metric(rnic)}"

    def _metric(self, rnic):
        place = self.hosts[rnic.host].rnics.index(rnic)
        return f"dev {rnic.device} metric {100 * (place + 1)}"

    def _lay_relay(self, rnic, netns, device):
        """Makes a namespace with two ends: near (towards the host) and far (towards the ToR)."""
        full = self._add_netns(self.relay(rnic))
        _cable(netns, device, full, "near")
        _no_offload(netns, device.split()[0])
        _no_offload(full, "near")
        return full, "far"

    def face(self, name):
        """The address at which a daemon listens for HTTP, in its own namespace."""
        return "127.0.0.1"

    def relay(self, rnic):
        """The name of the place where the RNIC's relay runs, for netns(); its interfaces are
        near and far."""
        return "relay-" + rnic.replace("/", "-")

    def carrier_of(self, name):
        """Whether the place's cable to the management network has a carrier."""
        shown = run("ip", "-n", self.netns(name), "-br", "link", "show", "mgmt0")
        return "LOWER_UP" in shown

    # ---- faults -------------------------------------------------------------

    def drop(self, rnic, send=True, receive=True, which=""):
        """Drops the RNIC's packets at its ToR port; its link stays up.

        send: packets that the RNIC sends; receive: packets that are sent to it; which: only
        those that this nft expression matches. They are counted, so that a test can assert that
        the fault had an effect: see dropped().
        """
        rules, rule = [], f"{which} counter drop".strip()
        if send:
            rules.append(_chain("from_rnic", "ingress", rnic.port, 0, [rule]))
        if receive:
            rules.append(_chain("to_rnic", "egress", rnic.port, 0, [rule]))
        nft(self.netns(rnic.tor), _table(f"fault_{rnic.port}", rules))

    def dropped(self, rnic):
        """(sent by the RNIC, sent to it): packets that the fault has dropped."""
        counts = _packets(self.netns(rnic.tor), f"fault_{rnic.port}")
        return counts.get("from_rnic", 0), counts.get("to_rnic", 0)

    def heal(self, rnic):
        nft(self.netns(rnic.tor), f"delete table netdev fault_{rnic.port}\n")

    def isolate(self, host):
        """Cuts every cable of the host at once; nothing closes its connections."""
        for rnic in self.hosts[host].rnics:
            run("ip", "-n", self.netns(rnic.tor), "link", "set", rnic.port, "down")
        self.cut_management(host)

    def rejoin(self, host):
        for rnic in self.hosts[host].rnics:
            run("ip", "-n", self.netns(rnic.tor), "link", "set", rnic.port, "up")
        self.mend_management(host)

    def carrier(self, host):
        """Whether any cable of the host has a carrier."""
        states = run("ip", "-n", self.hosts[host].netns, "-br", "link", "show", "up")
        lines = [line for line in states.splitlines() if not line.startswith("lo ")]
        return any("LOWER_UP" in line for line in lines)

    def cut_management(self, name):
        run("ip", "-n", self.netns("mgmt"), "link", "set", self._management_ports[name], "down")

    def mend_management(self, name):
        run("ip", "-n", self.netns("mgmt"), "link", "set", self._management_ports[name], "up")

    def addresses(self, switch):
        """Addresses of all the switch's interfaces: a trace may contain any of them."""
        if switch in self.tors:
            n = self.tors[switch]
            found = [f"10.{n}.0.1", f"fd00:{n}::1"]
            for i in range(len(self.spines)):
                found += [_offset(f"172.16.{n}.{4 * i}", 1), f"fd01:{n}:{i}::1"]
            return found
        i = self.spines.index(switch)
        return [
            address
            for n in self.tors.values()
            for address in (_offset(f"172.16.{n}.{4 * i}", 2), f"fd01:{n}:{i}::2")
        ]

    def uplink(self, tor, spine):
        """The ToR's end of its link to the spine; the spine's end has the ToR's name."""
        assert tor in self.tors
        return f"up{self.spines.index(spine) + 1}"

    def kill_switch(self, switch, which=""):
        """The switch drops all packets, or those that this nft expression matches; its links
        stay up."""
        chain = f"type filter hook {{}} priority -300; {which} counter drop;"
        rules = [
            f"chain through {{ {chain.format('forward')} }}",
            f"chain into {{ {chain.format('input')} }}",
        ]
        text = "table inet fault_switch {\n" + "\n".join(rules) + "\n}\n"
        if switch in self.tors:  # inside the rack it is a bridge
            bridge = f"chain within {{ {chain.format('forward')} }}"
            text += f"table bridge fault_switch {{\n{bridge}\n}}\n"
        nft(self.netns(switch), text)

    def heal_switch(self, switch):
        families = ["inet", "bridge"] if switch in self.tors else ["inet"]
        nft(
            self.netns(switch),
            "".join(f"delete table {family} fault_switch\n" for family in families),
        )

    def switch_dropped(self, switch):
        family = "bridge" if switch in self.tors else "inet"
        return sum(_packets(self.netns(switch), "fault_switch", family).values())

    def kill_link(self, tor, spine, up=True, down=True, which=""):
        """The link drops all packets, only those up from the ToR, or only those down to it;
        `which` selects some by an nft expression. The link keeps its carrier."""
        device, rules, rule = self.uplink(tor, spine), [], f"{which} counter drop".strip()
        if up:
            rules.append(_chain("up", "egress", device, 0, [rule]))
        if down:
            rules.append(_chain("down", "ingress", device, 0, [rule]))
        nft(self.netns(tor), _table(f"fault_{device}", rules))

    def heal_link(self, tor, spine):
        nft(self.netns(tor), f"delete table netdev fault_{self.uplink(tor, spine)}\n")

    def link_dropped(self, tor, spine):
        return sum(_packets(self.netns(tor), f"fault_{self.uplink(tor, spine)}").values())

    def rewrite_class(self, tor, dscp, to):
        """Packets of this class that leave the rack get another DSCP at the ToR."""
        devices = ", ".join(self.uplink(tor, spine) for spine in self.spines)
        hook = "type filter hook postrouting priority -150;"
        rule = f"oifname {{ {devices} }} ip dscp {dscp} counter ip dscp set {to}"
        nft(self.netns(tor), f"table inet fault_class {{ chain out {{ {hook} {rule}; }}\n}}\n")

    def heal_class(self, tor):
        nft(self.netns(tor), "delete table inet fault_class\n")

    def mark_congestion(self, switch):
        """The switch sets the congestion mark (ECN CE) in all UDP packets that it forwards."""
        hook = "type filter hook forward priority -300;"
        rule = "meta l4proto udp counter ip ecn set ce"
        nft(self.netns(switch), f"table inet fault_marks {{ chain some {{ {hook} {rule}; }}\n}}\n")

    def heal_congestion(self, switch):
        nft(self.netns(switch), "delete table inet fault_marks\n")

    def rewritten(self, tor):
        return sum(_packets(self.netns(tor), "fault_class", "inet").values())

    def blackhole(self, spine, tor=None, of=2, seed=0):
        """The spine drops one of `of` flows, chosen by a hash of addresses and ports: only on
        their way to that ToR, or all."""
        rule = (
            f"meta l4proto udp jhash ip saddr . ip daddr . udp sport . udp dport mod {of}"
            f" seed {seed:#x} 0 counter drop"
        )
        if tor is None:
            hook = "type filter hook forward priority -300;"
            text = f"table inet fault_flows {{ chain some {{ {hook} {rule}; }}\n}}\n"
        else:
            text = _table("fault_flows", [_chain("some", "egress", tor, 0, [rule])])
        nft(self.netns(spine), text)

    def heal_blackhole(self, spine, tor=None):
        family = "inet" if tor is None else "netdev"
        nft(self.netns(spine), f"delete table {family} fault_flows\n")

    def blackholed(self, spine, tor=None):
        family = "inet" if tor is None else "netdev"
        return sum(_packets(self.netns(spine), "fault_flows", family).values())

    def block_probes(self, host, udp_port=862):
        """The host's own firewall drops all probes that it receives."""
        rule = f"type filter hook input priority 0; udp dport {udp_port} counter drop"
        nft(self.netns(host), f"table inet fault_firewall {{ chain in {{ {rule}; }}\n}}\n")

    def unblock_probes(self, host):
        nft(self.netns(host), "delete table inet fault_firewall\n")

    def blocked_probes(self, host):
        return sum(_packets(self.netns(host), "fault_firewall", "inet").values())

    def lose_management(self, host, percent):
        """Drops so many percent of the packets that the management network sends to the host."""
        rule = f"numgen random mod 100 < {percent} counter drop"
        port = self._management_ports[host]
        nft(self.netns("mgmt"), _table(f"fault_{port}", [_chain("to", "egress", port, 0, [rule])]))

    def management_lost(self, host):
        port = self._management_ports[host]
        return sum(_packets(self.netns("mgmt"), f"fault_{port}").values())

    def keep_management(self, host):
        port = self._management_ports[host]
        nft(self.netns("mgmt"), f"delete table netdev fault_{port}\n")

    def delay(self, place, device, ms):
        """Delays all packets that leave the place by this device, by netem, which not every
        kernel has."""
        how = f"root netem delay {ms}ms limit 10000"
        run(*f"ip netns exec {place} tc qdisc add dev {device} {how}".split())

    def delayed(self, place, device):
        """Number of packets that have left through the delay."""
        text = run(*f"ip netns exec {place} tc -s qdisc show dev {device} root".split())
        return sum(map(int, re.findall(r"(?: (\d+) pkt)", text)))

    def undelay(self, place, device):
        run(*f"ip netns exec {place} tc qdisc del dev {device} root".split())

    def can_delay(self):
        """Whether this kernel has netem."""
        place, device = self.management_end(next(iter(self.hosts)))
        try:
            self.delay(place, device, 0)
        except RuntimeError:
            return False
        self.undelay(place, device)
        return True

    def management_end(self, host):
        """The management network's end of the host's cable: packets to the host leave there."""
        return self.netns("mgmt"), self._management_ports[host]

    # ---- the wire ------------------------------------------------------------

    def count(self, udp_port=862):
        """From now on, counts at the ToR what each RNIC sends: probes (to the reflectors' port)
        and replies (from it). A trace of a path is shorter than any probe, and is not counted."""
        for tor in self.tors:
            for rnic in self.rnics.values():
                if rnic.tor != tor:
                    continue
                rules = [
                    f"udp dport {udp_port} udp length > 40 counter",
                    f"udp sport {udp_port} counter",
                ]
                chains = [
                    _chain("probes", "ingress", rnic.port, -10, rules[:1]),
                    _chain("replies", "ingress", rnic.port, -9, rules[1:]),
                ]
                nft(self.netns(tor), _table(f"wire_{rnic.port}", chains))

    def counted(self, rnic):
        """(probes, replies) that the RNIC has sent."""
        counts = _packets(self.netns(rnic.tor), f"wire_{rnic.port}")
        return counts["probes"], counts["replies"]

    # ---- end ----------------------------------------------------------------

    def close(self):
        while self._namespaces:
            run("ip", "netns", "del", self._namespaces.pop(), check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _offset(net, n):
    head, _, last = net.rpartition(".")
    return f"{head}.{int(last) + n}"


def _cable(netns, device, other, port):
    """Makes a veth pair between two namespaces; device may contain options of `ip link add`."""
    run(*f"ip -n {netns} link add {device} type veth peer name {port} netns {other}".split())
    run(*f"ip -n {netns} link set dev {device.split()[0]} up".split())
    run(*f"ip -n {other} link set dev {port} up".split())


def _no_offload(netns, device):
    """Turns checksum offload off: packets that a relay's socket forwards would otherwise have
    no checksum."""
    run(*f"ip netns exec {netns} ethtool -K {device} tx off".split())


def _chain(name, hook, device, priority, rules):
    head = f"type filter hook {hook} device {device} priority {priority};"
    return "\n".join([f"chain {name} {{", head, *rules, "}"])


def _table(name, chains):
    return "\n".join([f"table netdev {name} {{", *chains, "}"]) + "\n"


def _packets(netns, table, family="netdev"):
    """{chain: packets} of a table whose chains have one counter each."""
    text = run(*f"ip netns exec {netns} nft list table {family} {table}".split())
    pattern = r"chain (\w+) \{.*?counter packets (\d+)"
    return {name: int(n) for name, n in re.findall(pattern, text, re.DOTALL)}


def sweep():
    """Deletes the namespaces of processes that were killed before they could do it."""
    for entry in pathlib.Path("/run/netns").glob("rmlab*-*"):
        owner = _OURS.match(entry.name)
        if owner and not pathlib.Path(f"/proc/{int(owner[1], 16)}").exists():
            run("ip", "netns", "del", entry.name, check=False)
            shutil.rmtree(f"/run/{owner[0][:-1]}", ignore_errors=True)
