"""The unit files: how little they expose, what they forbid, and that the daemons report their
status to the service manager. systemd itself does not run here."""

import contextlib
import errno
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from lab.confined import CONFINE, UNITS, Filter, Unit, endings
from lab.places import ENGINES, program
from lab.wait import until

# Highest exposure that `systemd-analyze security` may report, on its scale up to 10.0.
EXPOSURE = {"host-agent": 2.0, "tor-aggregator": 1.0, "region-controller": 1.0, "analyzer": 1.0}

# None of our daemons needs one of these system calls.
FORBIDDEN = """
    acct add_key adjtimex chown chroot clock_adjtime clock_settime delete_module fchown
    finit_module fsopen init_module io_setup io_uring_setup ioperm iopl kcmp kexec_load
    keyctl lookup_dcookie mount move_mount name_to_handle_at open_tree
    personality pidfd_getfd pivot_root process_vm_readv process_vm_writev ptrace quotactl
    reboot request_key sched_setscheduler setgid setgroups sethostname setpriority
    setresuid settimeofday setuid shmget swapoff swapon symlink umount2 unshare
    userfaultfd vhangup
""".split()
FORBIDDEN_TO_SERVERS = ["bpf", "perf_event_open", "memfd_create", "open_by_handle_at", "setns"]

WATCHDOG_S = 1
PATIENCE_S = 20
SMALL = {"tor1": ["h1", "h2"]}


def analyze(*words):
    """systemd-analyze of the system, or as unpacked with the engines."""
    own = ENGINES / "usr" / "bin" / "systemd-analyze"
    found = shutil.which("systemd-analyze")
    assert found or own.is_file(), "no systemd-analyze; run ./dev test"
    libraries = ENGINES / "usr" / "lib" / f"{os.uname().machine}-linux-gnu" / "systemd"
    environment = dict(os.environ) if found else dict(os.environ, LD_LIBRARY_PATH=libraries)
    return subprocess.run(
        [found or own, *words], capture_output=True, text=True, env=environment
    )


@pytest.mark.smoke
@pytest.mark.parametrize("kind", UNITS)
def test_the_exposure_score_of_a_unit_stays_below_its_limit(kind, print_line):
    threshold = round(10 * EXPOSURE[kind])
    done = analyze(
        "security", "--offline=true", "--no-pager", f"--threshold={threshold}", UNITS[kind]
    )
    level = [line for line in done.stdout.splitlines() if "Overall exposure" in line]
    assert level, done.stderr
    print_line(level[0])
    assert done.returncode == 0, done.stdout
    # The check fails because of the threshold.
    less = analyze(
        "security", "--offline=true", "--no-pager", "--threshold=1", UNITS[kind]
    )
    assert less.returncode != 0


@pytest.mark.parametrize("kind", UNITS)
def test_a_system_call_that_the_unit_does_not_list_kills_the_process(kind):
    forbidden = FORBIDDEN + (FORBIDDEN_TO_SERVERS if kind != "host-agent" else [])
    allowed = ["getppid", "epoll_create1"]
    ended = endings(UNITS[kind], forbidden + allowed)
    assert not [call for call in forbidden if ended[call] != signal.SIGSYS]
    assert not [call for call in allowed if ended[call] is not None]


@pytest.mark.parametrize("kind", UNITS)
def test_a_unit_lists_every_system_call_of_its_daemons_libc_functions(kind):
    """Including those of errors that no test causes."""
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", program(kind)], capture_output=True, text=True
    )
    asked = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
    assert "read" in asked, listed
    number = Filter().number
    calls = {name for name in asked if number(name) >= 0}
    assert len(calls) > 20
    elsewhere = {"eventfd"}  # glibc calls eventfd2 instead
    assert not calls - elsewhere - set(Unit(UNITS[kind]).calls())


def test_an_agent_without_the_drop_in_is_refused_another_namespace():
    """It logs this and continues: if it ended, it would be restarted for ever."""
    enter = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); " \
            "libc.setns(os.open('/proc/self/ns/net', 0), 0x40000000); print(ctypes.get_errno())"
    done = subprocess.run([sys.executable, CONFINE, UNITS["host-agent"], "--", sys.executable,
                           "-c", enter], capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"{errno.EPERM}\n"), done


@pytest.mark.parametrize("kind", UNITS)
def test_a_daemon_checks_its_example_under_its_list(kind):
    unit = UNITS[kind]
    done = subprocess.run(
        [sys.executable, CONFINE, unit, "--", program(kind), "--help-config"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    done = subprocess.run(
        [
            *(sys.executable, CONFINE, unit, "--", program(kind)),
            *("--check", "--config", unit.with_suffix(".yaml")),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode >= 0, done


# ---- messages to the service manager ---------------------------------------------------


class Manager:
    """systemd's end of the notification socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self.socket.bind(str(path))
        self.path = path
        self.lines = []

    def listen(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.lines += self.socket.recv(4096, socket.MSG_DONTWAIT).decode().split("\n")
        return self.lines

    def count(self, text):
        return self.listen().count(text)


@pytest.fixture
def managed(world, tmp_path):
    """A small lab with every daemon, each with a manager of its own."""
    small = world(SMALL, analyzer={}, alertmanager=False)
    lab = small.lab
    daemons = {
        "host-agent": lab.agents["h1"],
        "tor-aggregator": lab.aggregators["tor1"],
        "region-controller": lab.controllers[0],
        "analyzer": lab.analyzer,
    }
    managers = {}
    # The path of a socket must be short.
    folder = pathlib.Path("/run") / f"{small.fabric.prefix}-notify"
    folder.mkdir()
    for kind, daemon in daemons.items():
        managers[kind] = Manager(folder / kind)
        daemon.variables(
            NOTIFY_SOCKET=str(folder / kind), WATCHDOG_USEC=str(WATCHDOG_S * 1_000_000)
        )
    small.start()
    yield daemons, managers
    for manager in managers.values():
        manager.socket.close()
    shutil.rmtree(folder)


def test_daemons_report_their_status_and_feed_the_watchdog_only_while_they_work(managed):
    daemons, managers = managed
    for kind, manager in managers.items():
        until(f"{kind} is ready", PATIENCE_S, lambda: manager.count("READY=1") == 1)
        until(f"{kind} feeds", PATIENCE_S, lambda: manager.count("WATCHDOG=1") >= 4)
    for kind, daemon in daemons.items():
        status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
        assert "Seccomp:\t2" in status, f"{kind} runs under no list"
    for kind, daemon in daemons.items():
        manager = managers[kind]
        daemon.signal(signal.SIGHUP)
        until(f"{kind} reloads", PATIENCE_S, lambda: manager.count("RELOADING=1") == 1)
        until(f"{kind} is ready again", PATIENCE_S, lambda: manager.count("READY=1") == 2)

    for daemon in daemons.values():
        daemon.freeze()
    for kind, daemon in daemons.items():
        until(f"{kind} stands still", PATIENCE_S, lambda: daemon.state() == "T")
    fed = {kind: manager.count("WATCHDOG=1") for kind, manager in managers.items()}
    # No message for two intervals: after that time systemd would end them.
    ears = [manager.socket for manager in managers.values()]
    assert select.select(ears, [], [], 2 * WATCHDOG_S)[0] == []
    for kind, manager in managers.items():
        assert manager.count("WATCHDOG=1") == fed[kind], kind
    for kind, daemon in daemons.items():
        daemon.thaw()
        until(
            f"{kind} feeds again",
            PATIENCE_S,
            lambda: managers[kind].count("WATCHDOG=1") > fed[kind],
        )
    for kind, daemon in daemons.items():
        assert daemon.stop() == 0
        assert managers[kind].count("STOPPING=1") == 1, kind
