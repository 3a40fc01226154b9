"""Faults of the Soft-RoCE fabric, each with the report that it must cause; see lab.faults."""

from lab.faults import Fault
from lab.wait import until

from .fabric import MTU, NARROW_MTU

DOWN_S = 5


class RnicFault(Fault):
    """A fault of an attachment: the RNIC, its cable or its port."""

    def __init__(self, lab, rnic, kind):
        super().__init__(kind, "RackmeshRnic", rnic.name, rnic.tor)
        self.fabric, self.rnic = lab.fabric, rnic


class InterfaceDown(RnicFault):
    """An operator sets the RNIC's interface down: its QPs go to the state ERR, its routes are
    removed."""

    def __init__(self, lab, rnic):
        super().__init__(lab, rnic, "rnic-down")

    def _begin(self):
        self.fabric.rnic_down(self.rnic)

    def bit(self):
        return not self.rnic.active

    def end(self):
        self.fabric.rnic_up(self.rnic)


class CarrierLost(RnicFault):
    """The ToR's port goes down. Sends still "succeed": Soft-RoCE notices only the carrier."""

    def __init__(self, lab, rnic):
        super().__init__(lab, rnic, "rnic-down")

    def _begin(self):
        self.fabric.unplug(self.rnic)

    def bit(self):
        return not self.rnic.active

    def end(self):
        self.fabric.plug(self.rnic)


class OneWayLoss(RnicFault):
    """Loss on the RNIC's link in one direction: of packets to it (forward, as its peers see it), or
    of packets from it (reverse)."""

    def __init__(self, lab, rnic, percent, towards):
        whole = "rnic-receive-dead" if towards else "rnic-send-dead"
        super().__init__(lab, rnic, whole if percent == 100 else "rnic-lossy")
        self.percent, self.towards = percent, towards

    def __str__(self):
        way = "to" if self.towards else "from"
        return f"{self.percent} % of what goes {way} {self.part} lost"

    def _begin(self):
        words = f"loss {self.percent}%"
        self.fabric.impair(self.rnic, **{"towards" if self.towards else "away": words})

    def bit(self):
        to_it, from_it = self.fabric.impaired(self.rnic)
        return (to_it > 0) == self.towards and (from_it > 0) != self.towards

    def end(self):
        self.fabric.repair(self.rnic)


class MtuBroken(RnicFault):
    """Its ToR's port carries no more than 1,500 bytes: longer packets are lost."""

    def __init__(self, lab, rnic):
        super().__init__(lab, rnic, "rnic-mtu")

    def _begin(self):
        self.fabric.set_port_mtu(self.rnic, NARROW_MTU)

    def bit(self):
        return self.fabric.port_mtu(self.rnic) == NARROW_MTU

    def end(self):
        self.fabric.set_port_mtu(self.rnic, MTU)


class UplinkSilent(Fault):
    """Packets that a ToR sends over one uplink are lost; the link stays up, and no device reports
    it."""

    def __init__(self, lab, tor, spine):
        super().__init__("link-down", "RackmeshLink", "--".join(sorted((tor, spine))))
        self.fabric, self.ends = lab.fabric, (tor, spine)

    def _begin(self):
        self.fabric.impair_link(*self.ends, up="loss 100%")

    def bit(self):
        return self.fabric.link_impaired(*self.ends)[0] > 0

    def end(self):
        self.fabric.repair_link(*self.ends)


class SpineSwallows(Fault):
    """A spine forwards no packets."""

    def __init__(self, lab, spine):
        super().__init__("switch-down", "RackmeshSwitch", spine)
        self.fabric, self.spine = lab.fabric, spine

    def _begin(self):
        self.fabric.kill_switch(self.spine)

    def bit(self):
        return self.fabric.switch_dropped(self.spine) > 0

    def end(self):
        self.fabric.heal_switch(self.spine)


def wait_active(fabric, rnic):
    """Waits until the device is back, after a fault that took it away from its port."""
    until(f"{rnic.rdma} is up again", DOWN_S, lambda: rnic.active)
    fabric.wait_active(rnic)
