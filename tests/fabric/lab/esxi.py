"""Imitates an ESXi host as far as its counters go: a real sshd, with scripts that print what
esxcli and vsish print."""

import os
import pathlib
import subprocess

from .process import Process
from .wait import until

_SSHD = "/usr/sbin/sshd"
_VSISH = """#!/bin/sh
# vsish -e ls /net/pNics/, vsish -e cat /net/pNics/<nic>/stats
while [ -e {folder}/hang ]; do sleep 0.1; done
case $2 in
ls) for nic in {folder}/*.stats; do basename $nic .stats; done | sed 's|$|/|' ;;
cat) if [ -e {folder}/flood ]; then exec yes "rx_bytes : 1"; fi
    nic=${{3#/net/pNics/}}; cat {folder}/${{nic%/stats}}.stats ;;
esac
"""
_ESXCLI = """#!/bin/sh
case "$2 $3 $4" in
"nic list ") cat {folder}/list ;;
"nic pauseParams list") cat {folder}/pause ;;
"nic stats get") cat {folder}/$6.nic ;;
"nic dcb status") cat {folder}/$7.dcb ;;
esac
"""
# sshd runs this for each key that a client offers; it prints the keys that are allowed.
_KEYS = """\
if [ -e {folder}/cut ]; then kill -9 $PPID; fi
cat {folder}/user.key.pub
"""
_LIST = """\
Name    PCI Device    Driver      Admin Status  Link Status   Speed  Duplex  MAC Address         MTU  Description
------  ------------  ----------  ------------  -----------  ------  ------  -----------------  ----  -----------
{rows}"""
_PAUSE = """\
NIC     Pause Params Supported  Pause RX  Pause TX  Auto Negotiation
------  ----------------------  --------  --------  ----------------
{rows}"""


class Esxi(Process):
    """Listens at address:port. Only root can log in, and only with the key. Tests set its NICs."""

    def __init__(self, name, netns, address, port, folder, sshd=""):
        """sshd: additional lines of its config."""
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir(parents=True)
        self.address, self.port = address, port
        self.key, self.known_hosts = self.folder / "user.key", self.folder / "known_hosts"
        self._nics = {}
        make_key(self.key)
        host_key = self.folder / "host.key"
        make_key(host_key)
        self.know(host_key)
        config = self.folder / "sshd_config"
        config.write_text(
            f"ListenAddress {address}\nPort {port}\nHostKey {host_key}\nPidFile none\n"
            f"AuthorizedKeysFile none\nAuthorizedKeysCommand /bin/sh {self.folder}/keys\n"
            "AuthorizedKeysCommandUser root\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            "PermitRootLogin prohibit-password\n"
            f"SetEnv HOME={self.folder}\n"  # skips the startup files of root's shell
            f'ForceCommand PATH={self.folder}:$PATH sh -c "$SSH_ORIGINAL_COMMAND"\n{sshd}')
        for script, text in (("vsish", _VSISH), ("esxcli", _ESXCLI), ("keys", _KEYS)):
            path = self.folder / script
            path.write_text(text.format(folder=self.folder))
            path.chmod(0o755)
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # as the unit of sshd does
        super().__init__(f"esxi-{name}", [_SSHD, "-D", "-e", "-f", config], netns,
                         self.folder / "sshd.log")

    def know(self, host_key):
        """Puts this host key into the aggregator's known_hosts."""
        kind, key, *_ = pathlib.Path(f"{host_key}.pub").read_text().split()
        self.known_hosts.write_text(f"[{self.address}]:{self.port} {kind} {key}\n")

    def option(self, name):
        """The option for the aggregator's config."""
        return {"name": name, "address": self.address, "port": self.port,
                "key": str(self.key), "known_hosts": str(self.known_hosts),
                "interval_s": 8}

    def wait_ready(self, seconds=15):
        until("sshd is ready", seconds, lambda: "Server listening" in self.log.read_text(),
              [self])
        return self

    def nic(self, name, pause="false", pfc="true", general=None, **driver):
        """Adds or changes a NIC, with the counters of its driver."""
        self._nics[name] = pause
        general = {"Rx Packets": 0, "Rx Missed Errors": 0, **(general or {})}
        self._put(f"{name}.stats", "   -- General Statistics:\n" +
                  "".join(f"   {key}:{value}\n" for key, value in general.items()) +
                  "   -- Driver Specific Statistics:\n" +
                  "".join(f"   {key} : {value}\n" for key, value in driver.items()))
        self._put(f"{name}.nic", f"NIC statistics for {name}\n   Packets received: 0\n"
                                 "   Receive CRC errors: 4\n")
        self._put(f"{name}.dcb", f"   Nic Name: {name}\n   Mode: IEEE Mode\n"
                                 f"   PFC Enabled: {pfc}\n"
                                 f"   PFC Configuration: 0 0 0 {int(pfc == 'true')} 0 0 0 0\n"
                                 "   Sent PFC Frames: 0 0 0 11 0 0 0 0\n")
        self._put("list", _LIST.format(rows="".join(
            f"{nic}  0000:82:00.{i}  nmlx5_core  Up            Up           100000  Full    "
            f"02:00:5e:00:00:{i:02x}  9000  Mellanox Technologies MT27800 [ConnectX-5]\n"
            for i, nic in enumerate(self._nics))))
        self._put("pause", _PAUSE.format(rows="".join(
            f"{nic}  true  {value}  {value}  false\n" for nic, value in self._nics.items())))

    def _put(self, name, text):
        fresh = self.folder / f".{name}"
        fresh.write_text(text)
        fresh.rename(self.folder / name)

    def hang(self):
        """Makes the next command never end."""
        (self.folder / "hang").touch()

    def flood(self):
        """Makes the next command print without end, until the client disconnects."""
        (self.folder / "flood").touch()

    def cut(self):
        """Makes sshd close each connection at the login, without a message."""
        (self.folder / "cut").touch()

    def recover(self):
        for name in ("hang", "flood", "cut"):
            (self.folder / name).unlink(missing_ok=True)


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
