"""A temporary Debian root: an overlay over the one that `./dev deb --test` makes. Commands run in
it as in a chroot, or it boots with its own systemd."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BOOT_S = 120
BUS_S = 300
# Not files of the packages: dpkg's own accounts, logs, and backups of passwd.
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


# Joins the control group $1, then runs the command.
ENTER_GROUP = 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"'


def hierarchies():
    """The control group hierarchies that systemd uses: version 2 (alone or besides others), then
    systemd's own, which systemd-nspawn handles the same way."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, path, kind, options = line.split()[:4]
        if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options.split(",")):
            yield kind, pathlib.Path(path)


class ControlGroup:
    """The control group of one machine. If machines shared a group, they would share their units'
    groups: systemd would not see the end of a unit before the units of that name end on all of
    them."""

    def __init__(self):
        (unified,) = (path for kind, path in hierarchies() if kind == "cgroup2")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="rackmesh-", dir=unified))

    def close(self):
        wait_for(self._is_gone, BOOT_S, f"{self.path} is empty")

    def _is_gone(self):
        """Removes the groups that have no process any more."""
        tops = [path / self.path.name for _, path in hierarchies()]
        for top in tops:
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
        return not any(top.exists() for top in tops)


class DebianRoot:
    def __init__(self, layers, folder):
        """layers: folders, the top one first"""
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
        """The output of the command, stdout and stderr together."""
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

    def boot(self, netns=None):
        """Starts the root's systemd. Returns a Machine; the caller waits until it is up, and must
        not call run() afterwards. netns: the network namespace to use; default: a new one."""
        subprocess.run(["umount", self._mounts.pop()], check=True)  # it brings its own /proc
        (self.path / "etc/machine-id").write_text("")
        return Machine(self.path, netns)

    @contextlib.contextmanager
    def booted(self):
        machine = self.boot()
        try:
            machine.wait_up()
            yield machine
        finally:
            machine.halt()


class Machine:
    """A running machine. It ends with this process, even if this process is killed."""

    CAPABILITIES = "CAP_NET_ADMIN,CAP_NET_RAW,CAP_BPF,CAP_PERFMON"

    def __init__(self, root, netns):
        self._name = netns or f"rackmesh-{os.getpid()}"
        self._console = root.parent / "console.log"
        self._forget()
        self._group = ControlGroup()
        inside, network = [], "--private-network"
        if netns:  # entered before, too: its /sys is of where nspawn is
            inside = ["nsenter", f"--net=/run/netns/{netns}"]
            network = f"--network-namespace-path=/run/netns/{netns}"
        with open(self._console, "w") as console:
            self._nspawn = subprocess.Popen(
                [
                    "sh",
                    "-euc",
                    ENTER_GROUP,
                    "-",
                    self._group.path,
                    "setpriv",
                    "--pdeathsig=KILL",
                    *inside,
                    "systemd-nspawn",
                    "--quiet",
                    "--boot",
                    f"--directory={root}",
                    f"--machine={self._name}",
                    "--register=no",
                    "--keep-unit",
                    network,
                    f"--capability={self.CAPABILITIES}",
                    "--console=pipe",
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # One hierarchy of control groups: only there are IPAddressDeny= and DeviceAllow=
                # enforced.
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            )

    def _forget(self):
        shutil.rmtree(f"/run/systemd/nspawn/propagate/{self._name}", ignore_errors=True)

    def wait_up(self):
        wait_for(self.is_up, BOOT_S, "the root has booted")

    def halt(self):
        self._nspawn.send_signal(signal.SIGTERM)
        try:
            self._nspawn.wait(30)
        except subprocess.TimeoutExpired:
            self._nspawn.kill()
            self._nspawn.wait()
        self._group.close()
        self._forget()

    def control_group(self):
        """The machine's control group, as this host sees it."""
        return pathlib.Path(f"/proc/{self._leader()}/cgroup").read_text()

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
            # systemctl waits 25 s for an answer by default; on a busy host systemd needs longer.
            env={**os.environ, "SYSTEMD_BUS_TIMEOUT": str(BUS_S)},
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
        """Fetches a URL with this host's Python in the machine's network; the machine has no
        Python. "": no answer."""
        get = f"import urllib.request as u; print(u.urlopen({url!r}, timeout=60).read().decode())"
        done = self._enter("--net", "--", sys.executable, "-c", get)
        return done.stdout if done.returncode == 0 else ""
