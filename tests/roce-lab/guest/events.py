"""The kernel's events of QPs, as the host-agent's tracer gets them: runs the program qp_events."""

import pathlib

from lab.places import BUILD
from lab.process import Process
from lab.wait import until

PROGRAM = BUILD / "tests" / "roce-lab" / "qp_events"
TRACES_S = 30


def fields(line):
    return dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)


class Events:
    """A context manager. way: the method of attachment: any, fexit or kprobe."""

    def __init__(self, folder, way="any", wrap=()):
        self._log = pathlib.Path(folder) / "events.log"
        self.process = Process("events", [PROGRAM, way], None, self._log, wrap=wrap)

    def __enter__(self):
        self.process.start()
        until("it traces, or reports why it cannot", TRACES_S,
              lambda: self.of("traces") or self.of("unable"), [self.process])
        assert self.of("traces"), self._log.read_text()
        return self

    def of(self, kind):
        """The output lines of a kind, as dictionaries."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [fields(line) for line in lines if line.startswith(f"{kind} ")]

    def by_pid(self, kind, pid):
        return [each for each in self.of(kind) if each["tgid"] == str(pid)]

    def stop(self):
        """The counts that the program prints."""
        self.process.stop()
        return {key: int(value) for key, value in self.of("counts")[-1].items()}

    def __exit__(self, *_):
        self.process.stop()
