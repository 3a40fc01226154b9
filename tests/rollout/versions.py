"""Packages of versions that never were: newer ones, and bad ones."""

import pathlib
import subprocess

from packages import DEBS, newer, version

DAEMON = "usr/bin/host-agent"
SOURCE = pathlib.Path(__file__).with_name("bad_daemon.c")


class Version:
    """A folder of packages, and their version."""

    def __init__(self, into, suffix, change=None):
        newer(DEBS, into, suffix=suffix, change=change)
        self.folder, self.name = into, version() + suffix


def good(into):
    return Version(into, "+newer")


def bad(into, how):
    """Its host-agent refuses to start, or is mute: see bad_daemon.c."""

    def spoil(tree):
        daemon = tree / DAEMON
        if daemon.exists():
            daemon.rename(f"{daemon}.good")
            mute = ["-DMUTE"] if how == "mute" else []
            subprocess.run(["gcc", "-O1", *mute, "-o", daemon, SOURCE], check=True)

    return Version(into, f"+{how}", spoil)
