"""Faults of Rackmesh itself and of its engines in the hour of random faults. Each fault names
its victim, is seen to happen, and is taken back; afterwards its victim must recover."""

import contextlib
import datetime
import email.utils

from .chaos import Compacted, LeaseGone, Trouble
from .wait import until

WELL_S = 40
JUMPS = ("+10y", "-10y", "+1h", "-1h")
HAPPENS_S = 5
RIGHT_S = 60  # a clock with at most this error counts as right
# The analyzer whose records can be checked to the last one gets more faults than the others.
DEAR, DEAR_SHARE = ("books", "influxd"), 0.3


class CannotHappen(Exception):
    """Another fault prevents this one."""


class OneTrouble(Trouble):
    """A fault of one victim, given by name. busy: names that already have a fault."""

    def __init__(self, world, rng, busy=()):
        super().__init__(world, rng)
        free = sorted(set(self.pool()) - set(busy))
        dear = [name for name in free if name in DEAR]
        pool = dear if dear and rng.random() < DEAR_SHARE else free
        self.victim = rng.choice(pool) if pool else None

    def __str__(self):
        return f"{type(self).__name__} {self.victim}"

    def pool(self):
        return self.world.processes()

    @property
    def process(self):
        return self.world.processes()[self.victim]

    def is_well(self):
        return self.world.is_up(self.process)

    def wait_well(self):
        until(f"{self.victim} is well after {self}", WELL_S, self.is_well, every=0.1)


class Killed(OneTrouble):
    def pool(self):
        # When it is killed, it forgets which alerts it has sent, and never resolves them.
        return set(super().pool()) - {"alertmanager"}

    def begin(self):
        self.process.kill()
        assert not self.process.alive

    def heal(self):
        self.process.start()


class EngineRestarted(OneTrouble):
    def pool(self):
        return self.world.engines()

    def begin(self):
        self.process.stop()
        assert not self.process.alive

    def heal(self):
        self.process.start()


class Stopped(OneTrouble):
    def begin(self):
        self.process.freeze()
        until(f"{self.victim} stands", HAPPENS_S, lambda: self.process.state() == "T")

    def heal(self):
        self.process.thaw()


class PartedOff(OneTrouble):
    """All packets to it and from it on the management network are dropped."""

    def pool(self):
        return self.world.places()

    def begin(self):
        self.world.part_off(self.world.places()[self.victim])

    def heal(self):
        self.world.join_again(self.world.places()[self.victim])


class _OnDisk(OneTrouble):
    def pool(self):
        return self.world.lab.disks

    @property
    def disk(self):
        return self.world.lab.disks[self.victim]

    def is_well(self):
        """Also waits until what was kept in memory is on the disk. Before that the process must
        not be killed: what it has acknowledged meanwhile would be lost."""
        return super().is_well() and self.world.durable(self.process)


class DiskFull(_OnDisk):
    def begin(self):
        self.disk.fill()

    def heal(self):
        self.disk.empty()


class DiskReadOnly(_OnDisk):
    """The disk is read-only when the daemon starts, as after a reboot with a damaged disk."""

    def begin(self):
        self.process.kill()
        self.disk.read_only(True)
        self.process.start()

    def heal(self):
        self.disk.read_only(False)


class ClockJumped(OneTrouble):
    """The clock jumps, and jumps back later."""

    def __init__(self, world, rng, busy=()):
        super().__init__(world, rng, busy)
        self.offset = rng.choice(JUMPS)

    def __str__(self):
        return f"{super().__str__()} {self.offset}"

    def pool(self):
        return self.world.lab.clocks

    def off_s(self):
        """The error of its clock in seconds."""
        date = email.utils.parsedate_to_datetime(self.process.get("/healthz").date)
        return abs((date - datetime.datetime.now(datetime.timezone.utc)).total_seconds())

    def begin(self):
        self.world.lab.clocks[self.victim].set(self.offset)
        until(f"{self}", HAPPENS_S, lambda: self.off_s() > RIGHT_S, every=0.1)

    def heal(self):
        self.world.lab.clocks[self.victim].set("+0")

    def is_well(self):
        return super().is_well() and self.off_s() < RIGHT_S


class _OfEtcd(OneTrouble):
    """A fault of etcd as a whole, without a victim."""

    KIND = None

    def __init__(self, world, rng, busy=()):
        super().__init__(world, rng, busy)
        self._kind = self.KIND(world, rng)

    def pool(self):
        return {"etcd"}

    def begin(self):
        try:
            self._kind.begin()
        except (OSError, AssertionError) as error:  # there is no quorum or no leader
            raise CannotHappen(f"{self}: {error}") from error

    def heal(self):
        self._kind.heal()

    def is_well(self):
        return self.world.lab.leader() is not None


class HistoryCompacted(_OfEtcd):
    KIND = Compacted

    def begin(self):
        with contextlib.suppress(OSError):
            self.etcd.put("/soak", str(self.rng.random()))  # something to compact
        super().begin()


class LeaseDeleted(_OfEtcd):
    KIND = LeaseGone


KINDS = (Killed, Stopped, PartedOff, DiskFull, ClockJumped, EngineRestarted, DiskReadOnly)
KINDS += (Killed, Stopped, PartedOff, ClockJumped, HistoryCompacted, LeaseDeleted)
