"""Packages of versions that were never released: newer ones, and bad ones."""

import os
import pathlib
import subprocess

from packages import DEBS, newer, version

SOURCE = pathlib.Path(__file__).with_name("bad_daemon.c")


class Version:
    """A folder of packages, with their version."""

    def __init__(self, into, suffix, change=None, debs=DEBS):
        newer(debs, into, suffix=suffix, change=change)
        self.folder, self.name = into, version() + suffix


def good(into, suffix="+newer"):
    return Version(into, suffix)


def other(into):
    """Packages of another release from $RACKMESH_OTHER_DEBS, or else of this one."""
    debs = pathlib.Path(os.environ.get("RACKMESH_OTHER_DEBS", DEBS))
    return Version(into, "+other", debs=debs)


def bad(into, how, only_at=None, daemon="host-agent"):
    """Packages in which one daemon refuses to start, or does not answer, everywhere or on one host:
    see bad_daemon.c."""
    options = ["-DMUTE"] if how == "mute" else []
    if only_at:
        options.append(f'-DONLY_AT="{only_at}"')

    def spoil(tree):
        program = tree / "usr/bin" / daemon
        if program.exists():
            program.rename(f"{program}.good")
            subprocess.run(["gcc", "-O1", *options, "-o", program, SOURCE], check=True)

    where = f"at.{only_at}" if only_at else how
    return Version(into, f"+{daemon.replace('-', '.')}.{where}", spoil)
