"""A delay relay between an RNIC and its ToR, as if the cable were longer."""

import subprocess

from .process import Process
from .wait import until


class Relay(Process):
    """Runs in the namespace that Fabric(relays=...) made for the RNIC."""

    def __init__(self, fabric, rnic, program, log):
        super().__init__(
            f"relay of {rnic}",
            [program, "near", "far"],
            fabric.netns(fabric.relay(rnic)),
            log,
            stdin=subprocess.PIPE,
        )

    def start(self):
        super().start()
        self._wait_for("0 0")
        return self

    def delay(self, out_us, back_us=0):
        """out: from the RNIC to its ToR. Holds for every packet from now on."""
        delays = f"{out_us} {back_us}"
        self.write_line(delays)
        self._wait_for(delays)

    def _wait_for(self, delays):
        """Waits until the relay reports on its output that it uses the new delays."""
        until(
            f"{self.name} reports the delays {delays}",
            5,
            lambda: self.log.read_text().splitlines()[-1:] == [delays],
            [self],
        )
