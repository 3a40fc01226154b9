"""One boot: runs a command in the machine, and returns its exit status.

The machine reads the root of the host, as it was when the machine started, and writes to memory.
Only its folder `out` is shared in both directions, under the same path.

Its clock is the host's, or virtual: then it counts instructions, 1 ns each, on one processor, and
jumps to the next timer when there is nothing to run. A host that stalls or is slow only costs real
time: programs inside cannot notice."""

import contextlib
import glob
import os
import pathlib
import re
import select
import shlex
import shutil
import subprocess
import sys
import time

from . import initramfs

LAB = pathlib.Path(__file__).resolve().parents[3] / "build" / "roce-lab"
SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "support"
GUEST = pathlib.Path(__file__).with_name("guest.sh")
MEMORY_MB = 2048
LOOK_S = 5
CLOCKS = {
    "host": "-accel tcg,thread=multi -smp 2",
    "virtual": "-accel tcg,thread=single -icount shift=0,sleep=off -smp 1",
}
# The fastest processor to emulate: REP strings byte by byte, a fifth level of page tables, and
# checks at every copy to and from a process cost instructions, and no test needs them.
PROCESSOR = "max,-erms,-la57,-smap,-smep,-pku,-umip"
DAEMONS = ("host-agent", "tor-aggregator", "region-controller", "analyzer")
# norandmaps: a program is at the same addresses each time, so that its translated code is used
# again. Otherwise four tenths of a machine's time are spent on translation.
APPEND = (
    "console=ttyS0 quiet loglevel=5 panic=-1 mitigations=off tsc=reliable norandmaps"
    " random.trust_cpu=on nokaslr audit=0 selinux=0 apparmor=0 module.sig_enforce=0"
    " softlockup_panic=1 softlockup_all_cpu_backtrace=1 watchdog_thresh=15"
    # Without it the kernel panics if a slow host delays its first ticks: "timer doesn't work".
    " no_timer_check"
)
OURS = {"job", "initrd", "console", "qemu", "status"}
PASSED_ON = (
    *("TERM", "COLORTERM"),
    *("RACKMESH_BUILD", "RACKMESH_ENGINES", "RACKMESH_SEED", "RACKMESH_SOAK", "RACKMESH_FULL"),
)


def kernel(name):
    """Returns the folder of a kernel: usual and backports are those of ./dev; otherwise name is a
    folder made by kernel.py."""
    folder = {"usual": LAB / "kernel", "backports": LAB / "kernel-backports"}.get(name, name)
    if not (pathlib.Path(folder) / "vmlinux").exists():
        raise FileNotFoundError(f"no kernel in {folder}; ./dev lab --kernel {name} makes one")
    return pathlib.Path(folder).resolve()


# Programs that run, beside our own, while a test measures time, and the files that they load.
TOOLS = "bash cat env ethtool head ip nft /usr/bin/python3 rdma rping setpriv sh tc unshare"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as in guest.sh
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
LOADED_LATER = (
    f"{LIBRARIES}/libibverbs/*",
    f"{LIBRARIES}/ossl-modules/*",
    f"{LIBRARIES}/gconv/gconv-modules.cache",
    "/usr/lib/locale/C.utf8/*",
    "/usr/lib/ssl/*",
    "/usr/share/zoneinfo/Etc/UTC",
    # tests/support/confine.py starts every daemon.
    f"{SUPPORT}/confine.py",
    f"{SUPPORT.parents[1]}/*/*.service",
    f"{LIBRARIES}/libseccomp.so.2",
    f"{LIBRARIES}/libffi.so.8",
    "/usr/lib/python3.*/lib-dynload/_ctypes.*",
    "/usr/lib/python3.*/__pycache__/*",
    "/usr/lib/python3.*/ctypes/__pycache__/*",
    "/usr/lib/python3.*/encodings/__pycache__/*",
)
DEBIAN_LINKS = ("/bin", "/sbin", "/lib", "/lib64")


def on_the_way(path):
    """Yields every symbolic link on the way to the file, and the file."""
    path = pathlib.Path(path)
    while path.is_symlink():
        yield path
        path = path.parent / path.readlink()
    if path.is_file():
        yield path


def programs(build):
    return [*(build / name / name for name in DAEMONS), build / "ctl" / "rackmeshctl"]


def read_from_memory(build):
    """A shell line after which the programs, and the files that they load, are read from memory.

    Files of the host are read over 9p: each open and each symbolic link needs a request to the host,
    even if the content is cached, and a virtual clock jumps while the guest waits for the answer. The
    root is an overlay in memory, so the shell line updates the access time of each file: that copies
    the file into memory."""
    tools = (shutil.which(each, path=PATH) for each in TOOLS.split())
    found = [*filter(None, tools), *map(str, programs(build))]
    loaded = subprocess.run(["ldd", *found], capture_output=True, text=True).stdout
    later = [each for pattern in LOADED_LATER for each in glob.glob(pattern)]
    files = {
        str(step)
        for path in (*DEBIAN_LINKS, *found, *re.findall(r"(/\S+) \(0x", loaded), *later)
        for step in on_the_way(path)
    }
    return (
        f"touch -ach {shlex.join(sorted(files))}; cp -a /etc /run/etc; mount --bind /run/etc /etc"
    )


def warm_programs(build):
    """A shell line that runs once every program that will run while a test measures time."""
    run = "".join(f"{shlex.quote(str(each))} --help; " for each in programs(build))
    return (
        f"{read_from_memory(build)}; {run}"
        "ip netns add warm; ip netns exec warm setpriv --pdeathsig KILL -- ip link;"
        " nft list ruleset; ethtool --version; tc qdisc; ip netns del warm"
    )


def waited_s(pid):
    """Seconds: the longest that any thread of the process has waited for a processor, in all."""
    waits = [0]
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # the thread has ended
            waits.append(int(path.read_text().split()[1]))
    return max(waits) / 1e9


class Lost(Exception):
    """The machine ended without a status: by a panic or a time-out."""


class Machine:
    """name: of the kernel, see kernel(). out: a folder for this machine only. clock: see above.
    processor: on which the machine stays, for a virtual clock: its threads run in turn, and
    waking one on another processor costs more."""

    def __init__(self, name, out, clock="host", processor=None):
        self.kernel, self.clock, self.processor = kernel(name), clock, processor
        self.out = pathlib.Path(out).absolute()
        self.console = self.out / "console"
        self.waited_s = 0.0  # seconds for which one of its threads waited for a processor of the host
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)

    # ---- the command line -----------------------------------------------------

    def _share(self, tag, path, more=""):
        options = f"local,id={tag},path={path},security_model=none,multidevs=remap{more}"
        return ["-fsdev", options, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]

    def _line(self, terminal):
        if terminal:
            talk = ["-chardev", f"stdio,id=con,mux=on,signal=off,logfile={self.console}"]
            talk += ["-serial", "chardev:con", "-mon", "chardev=con"]
        else:
            talk = ["-device", "virtio-serial-pci"]
            talk += ["-device", "virtserialport,chardev=talk,name=out"]
            talk += ["-chardev", "file,id=talk,path=/dev/stdout"]
            talk += ["-serial", f"file:{self.console}"]
        pin = [] if self.processor is None else ["taskset", "--cpu-list", self.processor]
        return [
            *map(str, pin),
            *"setpriv --pdeathsig KILL -- qemu-system-x86_64".split(),
            *"-nodefaults -no-user-config -display none -no-reboot".split(),
            *f"-machine q35 -cpu {PROCESSOR} -m {MEMORY_MB} {CLOCKS[self.clock]}".split(),
            *["-kernel", self.kernel / "vmlinux", "-initrd", self.out / "initrd"],
            *["-append", APPEND],
            *self._share("hostroot", "/", ",readonly=on"),
            *self._share("out", self.out),
            *talk,
        ]

    def _write_job(self, job, terminal, warm=""):
        size = shutil.get_terminal_size()
        words = {
            "OUT": self.out,
            "KERNEL": self.kernel,
            "GUEST": GUEST,
            "FOLDER": os.getcwd(),
            "JOB": job,
            "WARM": warm,
            "RACKMESH_CLOCK": self.clock,
            "TERMINAL": "yes" if terminal else "",
            "ROWS": size.lines,
            "COLUMNS": size.columns,
        }
        lines = [f"{name}={shlex.quote(str(value))}" for name, value in words.items()]
        lines.append("export RACKMESH_CLOCK RACKMESH_EMULATED=1")
        for name in PASSED_ON:
            if name in os.environ:
                lines.append(f"export {name}={shlex.quote(os.environ[name])}")
        (self.out / "job").write_text("\n".join(lines) + "\n")

    # ---- running ----------------------------------------------------------------

    def run(self, job, seconds, listen=sys.stdout.buffer, warm=""):
        """Runs a shell line; its output goes to `listen` as it comes. warm: a shell line that runs
        first, since what has been read once is read from memory later."""
        self._write_job(job, False, warm)
        initramfs.write(self.kernel, self.out / "initrd")
        with subprocess.Popen(
            self._line(False),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=(self.out / "qemu").open("wb"),
        ) as machine:
            try:
                in_time = self._follow(machine, time.monotonic() + seconds, listen)
            finally:
                machine.kill()
        return self._status(None if in_time else seconds)

    def _follow(self, machine, deadline, listen):
        pipe = machine.stdout
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ready = select.select([pipe], [], [], min(left, LOOK_S))[0]
            self.waited_s = max(self.waited_s, waited_s(machine.pid))
            if not ready:
                continue
            some = os.read(pipe.fileno(), 65536)
            if not some:
                return True
            listen.write(some)
            listen.flush()

    def sit_down(self, job):
        """Runs the shell line on this terminal."""
        self._write_job(job, True)
        initramfs.write(self.kernel, self.out / "initrd")
        subprocess.run(self._line(True))
        return self._status(None)

    def tidy(self):
        """Removes the machine's folder, unless the command has left files there."""
        if {path.name for path in self.out.iterdir()} <= OURS:
            shutil.rmtree(self.out)

    def _status(self, seconds):
        (self.out / "initrd").unlink()
        try:
            return int((self.out / "status").read_text())
        except FileNotFoundError:
            pass
        why = f"was not done after {seconds} s" if seconds else self._last_words()
        raise Lost(f"the machine {why}; see {self.console}")

    def _last_words(self):
        """The reason for the end: a panic is on the console, QEMU's errors are on its stderr."""
        said = self._text(self.console)
        for word in ("Kernel panic", "BUG:", "Oops", "init:"):
            for line in said.splitlines():
                if word in line:
                    return f"ended without a word: {line.strip()}"
        return f"ended without a word ({self._text(self.out / 'qemu').strip() or 'no panic'})"

    def _text(self, path):
        return path.read_text(errors="replace") if path.exists() else ""
