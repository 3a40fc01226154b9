"""Processes in namespaces: started, watched, and stopped by their own handle, never by name.
Namespace None: this process's own.

Every process ends with this one, even if this one is killed: the kernel sends it SIGKILL. Start
processes from the main thread only, since the kernel does this when the starting thread ends.
"""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import time

from . import http
from .wait import PATIENCE_S, until

READY_S = 15
STOP_S = 5  # for processes whose result does not matter any more


def _state(path):
    return pathlib.Path(path).read_text().rpartition(")")[2].split()[0]


class Process:
    """One program in a network namespace, with its log in a file."""

    def __init__(self, name, command, netns, log, environment=None, wrap=(), stdin=None):
        self.name = name
        self.netns = netns
        self.log = pathlib.Path(log)
        self.started = 0  # number of starts
        self.pidfd = -1
        self._command = [str(word) for word in command]
        self._wrap = [str(word) for word in wrap]
        self._environment = dict(os.environ, **(environment or {}))
        self._stdin = subprocess.DEVNULL if stdin is None else stdin
        self._popen = None

    def start(self):
        """ip and setpriv replace themselves by the program, so the pid stays the same."""
        assert self._popen is None, f"{self.name} runs already"
        there = ["ip", "netns", "exec", self.netns] if self.netns else []
        line = [*there, "setpriv", "--pdeathsig", "KILL", "--"]
        with open(self.log, "ab") as log:
            self._popen = subprocess.Popen(
                line + self._wrap + self._command,
                stdin=self._stdin,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )
        self.pidfd = os.pidfd_open(self._popen.pid)
        self.started += 1
        return self

    @property
    def pid(self):
        return self._popen.pid if self._popen else None

    @property
    def alive(self):
        return self._popen is not None and self._popen.poll() is None

    def variables(self, **more):
        """Sets environment variables from the next start on."""
        self._environment.update(more)

    def signal(self, number):
        signal.pidfd_send_signal(self.pidfd, number)

    def write_line(self, line):
        """Writes a line to its stdin, if that is a pipe."""
        self._popen.stdin.write(f"{line}\n".encode())
        self._popen.stdin.flush()

    def freeze(self):
        """Returns when no thread of it runs any more. One of its threads must get a processor
        to stop the others: on a busy machine these run on for some tenths of a second."""
        self.signal(signal.SIGSTOP)
        until(f"all threads of {self.name} are stopped", STOP_S, self._is_stopped, [self])

    def _is_stopped(self):
        threads = pathlib.Path(f"/proc/{self.pid}/task").iterdir()
        return all(_state(each / "stat") in "TtZX" for each in threads)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9, and waits for its end."""
        self.signal(signal.SIGKILL)
        self._reap()

    def stop(self, seconds=PATIENCE_S):
        """Sends SIGTERM, and SIGKILL after so many seconds; returns the exit status."""
        if self._popen is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGTERM)
            self.signal(signal.SIGCONT)
        if not self._gone_within(seconds):
            with contextlib.suppress(ProcessLookupError):
                self.signal(signal.SIGKILL)
        return self._reap()

    def restart(self):
        if self._popen is not None:
            self.stop()
        return self.start()

    def _gone_within(self, seconds):
        poller = select.poll()
        poller.register(self.pidfd, select.POLLIN)
        return bool(poller.poll(1000 * seconds))

    def _reap(self):
        status = self._popen.wait()
        if self._popen.stdin is not None:
            self._popen.stdin.close()
        os.close(self.pidfd)
        self._popen, self.pidfd = None, -1
        return status

    def obituary(self):
        """How the process ended, with the end of its log."""
        status = self._popen.poll() if self._popen else None
        return f"{self.name} ended with {status}; the end of {self.log}:\n{self.tail()}"

    def tail(self, lines=15, width=None):
        with contextlib.suppress(OSError):
            last = self.log.read_text(errors="replace").splitlines()[-lines:]
            return "\n".join(line[:width] for line in last)
        return "(no log)"

    def state(self):
        """The state letter of the kernel: R, S, D, or T when it is stopped."""
        return _state(f"/proc/{self.pid}/stat")


class Daemon(Process):
    """A process with the HTTP API that every daemon has."""

    def __init__(
        self, name, command, netns, log, port, socket=None, address="127.0.0.1", **options
    ):
        super().__init__(name, command, netns, log, **options)
        self.address = address
        self.port = port
        self.socket = socket

    def get(self, path, seconds=http.TIMEOUT_S):
        return http.get(self.netns, self.address, self.port, path, seconds)

    def post(self, path, body=None):
        """Requests that change something go over the Unix socket."""
        return http.post_unix(self.socket, path, body)

    def metrics(self):
        return http.metrics(self.netns, self.address, self.port)

    def wait_ready(self, seconds=READY_S):
        return until(
            f"{self.name} is ready", seconds, lambda: self.get("/readyz").ok, [self]
        )


def end(processes):
    """Stops those that run, in this order, with one deadline for all of them."""
    running = [process for process in processes if process.alive]
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            process.signal(signal.SIGTERM)
            process.signal(signal.SIGCONT)
    deadline = time.monotonic() + STOP_S
    for process in running:
        process.stop(max(0, deadline - time.monotonic()))


class Pack:
    """All processes of a test: they are stopped together, the last started first."""

    def __init__(self):
        self._processes = []

    def add(self, process):
        self._processes.append(process)
        return process

    def close(self):
        end(reversed(self._processes))
        self._processes.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
