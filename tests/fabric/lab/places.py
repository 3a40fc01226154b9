"""The paths of the daemons, the engines and the support programs."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("RACKMESH_BUILD", ROOT / "build" / "release"))
ENGINES = pathlib.Path(os.environ.get("RACKMESH_ENGINES", ROOT / "build" / "engines"))


def program(name, build=None):
    """The path of a daemon, of rackmeshctl or of a support program."""
    build = pathlib.Path(build or BUILD)
    for folder in (
        "host-agent",
        "tor-aggregator",
        "region-controller",
        "analyzer",
        "ctl",
        "tests/support",
        "tests/roce-lab",
        "tests/bench",
    ):
        path = build / folder / name
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: not in {build}; run ./dev build")
