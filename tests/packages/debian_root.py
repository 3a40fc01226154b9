"""A Debian root that is thrown away: an overlay over the one that `./dev deb --test` makes.
Commands run in it as in a chroot, or it boots with its own systemd."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

BOOT_S = 120
# Not of the packages: dpkg's own accounts, logs, and what is kept of passwd as it was.
OTHERS = ("proc", "sys", "dev", "tmp", "var/lib/dpkg", "var/log", "var/cache", "var/lib/systemd")
OTHER_FILES = {"etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/.pwd.lock"}


def wait_for(question, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")


class DebianRoot:
    def __init__(self, layers, folder):
        """layers: folders, the top one first."""
        self.path = folder / "root"
        self.layer = folder / "upper"  # what changes; once closed, a layer of another root
        for name in ("upper", "work", "root"):
            (folder / name).mkdir()
        lower = ":".join(map(str, layers))
        options = f"lowerdir={lower},upperdir={self.layer},workdir={folder / 'work'}"
        self._mounts = []
        self._mount("-t", "overlay", "-o", options, "overlay", self.path)
        self._mount("-t", "proc", "proc", self.path / "proc")

    def _mount(self, *words):
        subprocess.run(["mount", *words], check=True)
        self._mounts.append(words[-1])

    def close(self):
        for path in reversed(self._mounts):
            subprocess.run(["umount", path], check=True)

    def run(self, *command, user=None, status=0):
        """What the command says, outputs and errors in one."""
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        done = subprocess.run(
            ["chroot", self.path, *as_user, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"},
            text=True,
        )
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def install(self, debs, *options):
        into = self.path / "tmp"
        names = []
        for deb in debs:
            (into / deb.name).write_bytes(deb.read_bytes())
            names.append(f"/tmp/{deb.name}")
        return self.run("dpkg", "--install", *options, *names)

    def files(self):
        found = set()
        for folder, folders, files in os.walk(self.path):
            at = pathlib.Path(folder).relative_to(self.path)
            folders[:] = [name for name in folders if str(at / name) not in OTHERS]
            found.update(str(at / name) for name in folders + files)
        return found - OTHER_FILES

    @contextlib.contextmanager
    def booted(self):
        """Its systemd, in namespaces of its own. Gives a Machine. No run() afterwards."""
        subprocess.run(["umount", self._mounts.pop()], check=True)  # it brings its own /proc
        (self.path / "etc/machine-id").write_text("")
        console = open(self.path.parent / "console.log", "w")
        name = f"rackmesh-{os.getpid()}"
        nspawn = subprocess.Popen(
            [
                "systemd-nspawn",
                "--quiet",
                "--boot",
                f"--directory={self.path}",
                f"--machine={name}",
                "--register=no",
                "--keep-unit",
                "--private-network",
                "--console=pipe",
            ],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            machine = Machine(nspawn, self.path.parent / "console.log")
            wait_for(machine.is_up, BOOT_S, "the root has booted")
            yield machine
        finally:
            nspawn.send_signal(signal.SIGTERM)
            try:
                nspawn.wait(30)
            except subprocess.TimeoutExpired:
                nspawn.kill()
                nspawn.wait()
            console.close()


class Machine:
    def __init__(self, nspawn, console):
        self._nspawn = nspawn
        self._console = console

    def _leader(self):
        assert self._nspawn.poll() is None, self._console.read_text()
        pid = self._nspawn.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return children[0] if children else None

    def _enter(self, *words):
        return subprocess.run(
            ["nsenter", f"--target={self._leader()}", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command, status=0):
        done = self._enter("--all", "--", *command)
        assert status is None or done.returncode == status, f"{command}:\n{done.stdout}"
        return done.stdout

    def is_up(self):
        if self._leader() is None:
            return False
        state = self._enter("--all", "--", "systemctl", "is-system-running").stdout
        return state.strip() in ("running", "degraded")

    def get(self, url):
        """By the machine's network and this Python: it has none of its own. "": no answer."""
        get = f"import urllib.request as u; print(u.urlopen({url!r}, timeout=10).read().decode())"
        done = self._enter("--net", "--", sys.executable, "-c", get)
        return done.stdout if done.returncode == 0 else ""
