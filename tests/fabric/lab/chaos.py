"""Faults of an etcd cluster and of the controllers that use it: begun, seen to have an effect,
and taken back."""

import contextlib

from .wait import until


class Trouble:
    """begin() causes the fault, and asserts that it has an effect; heal() takes it back."""

    def __init__(self, world, rng):
        self.world, self.rng = world, rng
        self.etcd = world.etcd

    def __str__(self):
        return type(self).__name__

    def begin(self):
        raise NotImplementedError

    def heal(self):
        """Takes nothing back, unless a subclass does."""


class _Victims(Trouble):
    """A fault of a few processes."""

    def __init__(self, world, rng):
        super().__init__(world, rng)
        self.victims = self.choose()

    def __str__(self):
        return f"{type(self).__name__} {' '.join(v.name for v in self.victims)}"

    def choose(self):
        pool = list(self.etcd.members.values()) + self.world.lab.controllers
        # Rarely two at once: without a quorum etcd does not answer.
        return self.rng.sample(pool, 2 if self.rng.random() < 0.25 else 1)


class Killed(_Victims):
    def begin(self):
        for victim in self.victims:
            victim.kill()
            assert not victim.alive

    def heal(self):
        for victim in self.victims:
            victim.start()


class Frozen(_Victims):
    def begin(self):
        for victim in self.victims:
            victim.freeze()
            until(f"{victim.name} stands", 5, lambda: victim.state() == "T")

    def heal(self):
        for victim in self.victims:
            victim.thaw()


class CutOff(_Victims):
    """The process's cable to the management network is down."""

    def begin(self):
        for victim in self.victims:
            self.world.fabric.cut_management(victim.name)
            assert not self.world.fabric.carrier_of(victim.name)

    def heal(self):
        for victim in self.victims:
            self.world.fabric.mend_management(victim.name)


class Compacted(Trouble):
    """etcd is compacted to its newest revision: a client that is behind cannot catch up by
    watching."""

    def begin(self):
        self.etcd.compact()


class Replaced(Trouble):
    """A member is lost for good, and an empty one takes its place."""

    def __init__(self, world, rng):
        super().__init__(world, rng)
        self.name = rng.choice(list(self.etcd.members))

    def begin(self):
        self.etcd.replace(self.name)


class Full(Trouble):
    """The database has reached its quota: etcd refuses every put."""

    def begin(self):
        self.etcd.fill()

    def heal(self):
        self.etcd.empty()


class LeaseGone(Trouble):
    """The leader's key is deleted by hand: the controller that led must stop leading at once."""

    def begin(self):
        keys, _ = self.etcd.range("/rackmesh/")
        leaders = [key for key in keys if key.endswith("/leader")]
        assert leaders, "nobody led"
        self.etcd.delete(leaders[0])


class PasswordsChanged(Trouble):
    """A password is changed: any change of users makes all tokens invalid."""

    def begin(self):
        name = f"somebody{self.rng.randrange(1 << 30)}"
        self.etcd.call("/v3/auth/user/add", {"name": name, "password": "x"})
        with contextlib.suppress(OSError):
            self.etcd.call("/v3/auth/user/delete", {"name": name})


TROUBLES = (Killed, Frozen, CutOff, Killed, Frozen, CutOff, Compacted, Replaced, LeaseGone)
TROUBLES += (PasswordsChanged, Compacted, Full)
