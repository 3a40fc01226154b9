"""Faults that tests and the demo cause, each with the alert that must follow.

begin() causes the fault and returns the moment just before it; bit() returns whether it had an
effect; end() removes the fault.
"""

import threading
import time

from .stalls import Pattern, Stalls

RNIC_KINDS = {
    "rnic-down": (True, True),
    "rnic-send-dead": (True, False),
    "rnic-receive-dead": (False, True),
}


class Fault:
    """A fault of one part. place: None where an alert must not have one."""

    def __init__(self, kind, alertname, part, place=None):
        self.kind = kind
        self.alertname = alertname
        self.part = part
        self.place = place
        self.at = None

    def __str__(self):
        return f"{self.kind} {self.part}"

    def names(self, arrival):
        """Whether the alert is about this fault's part, and about nothing else."""
        return (
            arrival.alertname == self.alertname
            and arrival.part == self.part
            and arrival.labels.get("place") == self.place
        )

    def fires(self, arrival):
        return arrival.status == "firing" and self.names(arrival)

    def resolves(self, arrival):
        return arrival.status == "resolved" and self.names(arrival)

    def begin(self):
        self.at = time.monotonic()
        self._begin()
        return self.at


class RnicDead(Fault):
    """The RNIC's packets are dropped at its ToR's port, in one direction or both; its link
    stays up."""

    def __init__(self, lab, rnic, kind="rnic-down"):
        super().__init__(kind, "RackmeshRnic", rnic.name, rnic.tor)
        self._fabric, self.rnic = lab.fabric, rnic
        self.send, self.receive = RNIC_KINDS[kind]

    def _begin(self):
        self._fabric.drop(self.rnic, self.send, self.receive)

    def eaten(self):
        """(sent by the part, sent to it): packets dropped so far."""
        return self._fabric.dropped(self.rnic)

    def bit(self):
        sent, received = self.eaten()
        return (sent > 0) == self.send and (received > 0) == self.receive

    def end(self):
        self._fabric.heal(self.rnic)


DIRECTIONS = {"both": (True, True), "send": (True, False), "receive": (False, True)}


class RnicLossy(RnicDead):
    """A random share of the RNIC's packets is dropped at its ToR's port, in one direction or
    both."""

    def __init__(self, lab, rnic, percent, direction):
        super().__init__(lab, rnic)
        self.kind, self.direction = "rnic-lossy", direction
        self.send, self.receive = DIRECTIONS[direction]
        self._which = f"numgen random mod 100 < {percent}"

    def _begin(self):
        self._fabric.drop(self.rnic, self.send, self.receive, self._which)


class RnicMtu(RnicLossy):
    """The RNIC's packets that are longer than this many bytes are dropped."""

    def __init__(self, lab, rnic, longest, direction):
        super().__init__(lab, rnic, 0, direction)
        self.kind = "rnic-mtu"
        self._which = f"meta length > {longest}"


class AgentKilled(Fault):
    """kill -9 of an agent. Its kernel resets the session."""

    def __init__(self, lab, host):
        super().__init__("agent-down", "RackmeshAgent", host)
        self._agent = lab.agents[host]

    def _begin(self):
        self._agent.kill()

    def bit(self):
        return not self._agent.alive

    def end(self):
        self._agent.start()


class AgentFrozen(Fault):
    """SIGSTOP of an agent. Its kernel still acknowledges what it receives."""

    def __init__(self, lab, host):
        super().__init__("agent-frozen", "RackmeshAgent", host)
        self._agent = lab.agents[host]

    def _begin(self):
        self._agent.freeze()

    def bit(self):
        return self._agent.state() == "T"

    def end(self):
        self._agent.thaw()


class HostGone(Fault):
    """Every cable of the host is cut at once, that to the management network, too; nothing
    closes its connections."""

    def __init__(self, lab, host):
        super().__init__("host-down", "RackmeshHost", host)
        self._fabric, self._host = lab.fabric, host

    def _begin(self):
        self._fabric.isolate(self._host)

    def bit(self):
        return not self._fabric.carrier(self._host)

    def end(self):
        self._fabric.rejoin(self._host)


class SwitchDead(Fault):
    """A ToR or a spine drops all packets."""

    def __init__(self, lab, switch):
        is_tor = switch in lab.fabric.tors
        super().__init__(
            "tor-down" if is_tor else "switch-down",
            "RackmeshTor" if is_tor else "RackmeshSwitch",
            switch,
        )
        self._fabric, self._switch = lab.fabric, switch

    def _begin(self):
        self._fabric.kill_switch(self._switch)

    def bit(self):
        return self._fabric.switch_dropped(self._switch) > 0

    def end(self):
        self._fabric.heal_switch(self._switch)


class SwitchLossy(SwitchDead):
    """A switch drops a random share of the packets that it forwards."""

    def __init__(self, lab, switch, percent):
        super().__init__(lab, switch)
        self.kind, self.alertname = "switch-lossy", "RackmeshSwitch"
        self._which = f"numgen random mod 100 < {percent}"

    def _begin(self):
        self._fabric.kill_switch(self._switch, self._which)


class PairSwallowed(SwitchDead):
    """A spine drops all packets from one rack to another one."""

    def __init__(self, lab, spine, src, dst):
        super().__init__(lab, spine)
        self.kind = "flows-blackholed"
        net = {tor: f"10.{lab.fabric.tors[tor]}.0.0/24" for tor in (src, dst)}
        self._which = f"ip saddr {net[src]} ip daddr {net[dst]}"

    def _begin(self):
        self._fabric.kill_switch(self._switch, self._which)


class UplinkDead(Fault):
    """A link between a ToR and a spine drops all packets, in one direction or both."""

    def __init__(self, lab, tor, spine, up=True, down=True):
        super().__init__("link-down", "RackmeshLink", "--".join(sorted((tor, spine))))
        self._fabric, self._ends, self._ways = lab.fabric, (tor, spine), (up, down)

    def _begin(self):
        self._fabric.kill_link(*self._ends, *self._ways)

    def bit(self):
        return self._fabric.link_dropped(*self._ends) > 0

    def end(self):
        self._fabric.heal_link(*self._ends)


class UplinkLossy(UplinkDead):
    """A link between a ToR and a spine drops a random share of the packets."""

    def __init__(self, lab, tor, spine, percent, up=True, down=True):
        super().__init__(lab, tor, spine, up, down)
        self.kind, self._which = "link-lossy", f"numgen random mod 100 < {percent}"

    def _begin(self):
        self._fabric.kill_link(*self._ends, *self._ways, self._which)


class FlowsBlackholed(Fault):
    """A spine drops all packets of some flows, everywhere or on their way to one ToR; other
    flows pass."""

    def __init__(self, lab, spine, tor=None, of=2, seed=0):
        part = spine if tor is None else "--".join(sorted((tor, spine)))
        name = "RackmeshSwitch" if tor is None else "RackmeshLink"
        super().__init__("flows-blackholed", name, part)
        self._fabric, self._place, self._share = lab.fabric, (spine, tor), (of, seed)

    def _begin(self):
        self._fabric.blackhole(*self._place, *self._share)

    def bit(self):
        return self._fabric.blackholed(*self._place) > 0

    def end(self):
        self._fabric.heal_blackhole(*self._place)


class ClassRewritten(Fault):
    """A ToR gives the packets of one class that leave its rack another DSCP; nothing is lost."""

    def __init__(self, lab, tor, dscp=26, to=8):
        part = f"dscp{dscp}-out-of-{tor}"
        super().__init__("class-rewritten", "RackmeshClass", part, tor)
        self._fabric, self._what = lab.fabric, (tor, dscp, to)

    def _begin(self):
        self._fabric.rewrite_class(*self._what)

    def bit(self):
        return self._fabric.rewritten(self._what[0]) > 0

    def end(self):
        self._fabric.heal_class(self._what[0])


class RnicOnAndOff(RnicDead):
    """An RNIC is dead for a while and works for a while, again and again."""

    def __init__(self, lab, rnic, dead_s, works_s):
        super().__init__(lab, rnic)
        self._spans, self._over = (dead_s, works_s), threading.Event()
        self._turns, self._thread = 0, threading.Thread(target=self._turn, daemon=True)

    def _begin(self):
        self._thread.start()

    def _turn(self):
        dead_s, works_s = self._spans
        while not self._over.is_set():
            self._fabric.drop(self.rnic)
            self._over.wait(dead_s)
            self._turns += any(self.eaten())
            self._fabric.heal(self.rnic)
            self._over.wait(works_s)

    def bit(self):
        return self._turns > 1

    def end(self):
        self._over.set()
        self._thread.join()


class ProbesBlocked(Fault):
    """A host's own firewall drops all probes that it receives, as if its RNICs received
    nothing."""

    def __init__(self, lab, rnic):
        super().__init__("rnic-receive-dead", "RackmeshRnic", rnic.name, rnic.tor)
        self._fabric, self._host = lab.fabric, rnic.host

    def _begin(self):
        self._fabric.block_probes(self._host)

    def bit(self):
        return self._fabric.blocked_probes(self._host) > 0

    def end(self):
        self._fabric.unblock_probes(self._host)


class ManagementLossy(Fault):
    """A host's management network loses packets; the RDMA fabric is well. No part is down."""

    def __init__(self, lab, host, percent):
        super().__init__("none", "none", host)
        self._fabric, self._percent = lab.fabric, percent

    def _begin(self):
        self._fabric.lose_management(self.part, self._percent)

    def bit(self):
        return self._fabric.management_lost(self.part) > 0

    def end(self):
        self._fabric.keep_management(self.part)


class Late(Fault):
    """All packets that leave by a device are delayed; none is lost."""

    def __init__(self, lab, end, ms, kind="none", alertname="none", part="", place=None):
        super().__init__(kind, alertname, part, place)
        self._fabric, self._end, self._ms = lab.fabric, end, ms

    def _begin(self):
        self._fabric.delay(*self._end, self._ms)

    def bit(self):
        return self._fabric.delayed(*self._end) > 0

    def end(self):
        self._fabric.undelay(*self._end)


def management_late(lab, host, ms):
    """The host's management network delays its packets. No part is down."""
    return Late(lab, lab.fabric.management_end(host), ms, part=host)


def rnic_late(lab, rnic, ms):
    """All packets to the RNIC are delayed."""
    end = (lab.fabric.netns(rnic.tor), rnic.port)
    return Late(lab, end, ms, "rnic-late", "RackmeshRnic", rnic.name, rnic.tor)


def uplink_late(lab, tor, spine, ms):
    """All packets from the ToR to the spine are delayed."""
    end = (lab.fabric.netns(tor), lab.fabric.uplink(tor, spine))
    return Late(lab, end, ms, "link-late", "RackmeshLink", "--".join(sorted((tor, spine))))


class SpineLate(Fault):
    """All packets that cross a spine are delayed; none is lost."""

    def __init__(self, lab, spine, ms):
        super().__init__("switch-late", "RackmeshSwitch", spine)
        self._fabric, self._ms = lab.fabric, ms
        self._ends = [(lab.fabric.netns(t), lab.fabric.uplink(t, spine)) for t in lab.fabric.tors]

    def _begin(self):
        for end in self._ends:
            self._fabric.delay(*end, self._ms)

    def bit(self):
        return sum(self._fabric.delayed(*end) for end in self._ends) > 0

    def end(self):
        for end in self._ends:
            self._fabric.undelay(*end)


class AgentStutters(Fault):
    """An agent is stopped for a moment, again and again. No alert has to follow."""

    def __init__(self, lab, hosts, pattern):
        super().__init__("none", "none", ",".join(hosts))
        self._stalls = Stalls(pattern, lambda: [lab.agents[host].pid for host in hosts])

    def _begin(self):
        self._stalls.__enter__()

    def bit(self):
        return self._stalls.times > 1

    def end(self):
        self._stalls.__exit__(None, None, None)


class AgentMostlyStill(AgentStutters):
    """An agent is stopped for 1.5 s of every 1.8 s, which counts as frozen."""

    def __init__(self, lab, host):
        super().__init__(lab, [host], Pattern(0.3, 1.5, 0))
        self.kind, self.alertname = "agent-frozen", "RackmeshAgent"
