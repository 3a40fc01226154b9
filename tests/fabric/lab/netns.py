"""Network namespaces: makes them, lets one thread enter one for a moment, deletes them."""

import contextlib
import ctypes
import os
import subprocess
import threading

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_lock = threading.Lock()


def run(*command, check=True, **options):
    """Runs a command; if it fails, the exception has its output."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, **options
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def batch(lines, netns, *family):
    """Runs many ip(8) commands in one process. netns None: in this namespace."""
    place = ["-n", netns] if netns else []
    run("ip", *family, *place, "-batch", "-", input="\n".join(lines) + "\n")


def sysctl(netns, **values):
    """Keys have '/' in place of '.', as in net/ipv4/ip_forward."""
    script = "\n".join(f"echo {v} > /proc/sys/{k}" for k, v in values.items())
    run("ip", "netns", "exec", netns, "sh", "-ec", script)


def nft(netns, ruleset):
    run("ip", "netns", "exec", netns, "nft", "-f", "-", input=ruleset)


@contextlib.contextmanager
def inside(netns):
    """A context in which this thread is in the namespace: sockets that it makes stay there.
    None: the thread does not move."""
    if netns is None:
        yield
        return
    with _lock:
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{netns}", os.O_RDONLY)
        try:
            if _libc.setns(there, _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns {netns}")
            try:
                yield
            finally:
                if _libc.setns(home, _CLONE_NEWNET) != 0:
                    os.abort()  # the thread cannot return from the other namespace, and must not continue there
        finally:
            os.close(home)
            os.close(there)
