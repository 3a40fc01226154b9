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


def good(into, suffix="+newer"):
    return Version(into, suffix)


def bad(into, how, only_at=None):
    """Its host-agent refuses to start, or is mute, everywhere or at one host: see bad_daemon.c."""
    options = ["-DMUTE"] if how == "mute" else []
    if only_at:
        options.append(f'-DONLY_AT="{only_at}"')

    def spoil(tree):
        daemon = tree / DAEMON
        if daemon.exists():
            daemon.rename(f"{daemon}.good")
            subprocess.run(["gcc", "-O1", *options, "-o", daemon, SOURCE], check=True)

    return Version(into, f"+at.{only_at}" if only_at else f"+{how}", spoil)
