"""The built packages, newer versions made of them, and what their daemons need to run."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBS = ROOT / "build" / "deb"
BASE = ROOT / "build" / "deb-root"
CA = ROOT / "tests" / "fabric" / "lab" / "ca.py"
HOST = "h1"
TOR = "tor-1"

DAEMONS = ("host-agent", "tor-aggregator", "region-controller", "analyzer")
TRACING = "rackmesh-host-agent-tracing"  # widens a unit: only who asks for it gets it
NAMES = {"rackmesh-common", "rackmeshctl", *(f"rackmesh-{daemon}" for daemon in DAEMONS)}
HTTP = dict(zip(DAEMONS, (9471, 9472, 9473, 9474), strict=True))
ROLES = dict(zip(DAEMONS, ("agent", "aggregator", "controller", "analyzer"), strict=True))


def debs(folder):
    """The packages that a host usually gets."""
    every = sorted(folder.glob("*.deb"))
    return [deb for deb in every if "-dbgsym_" not in deb.name and deb not in tracing(folder)]


def tracing(folder):
    return sorted(folder.glob(f"{TRACING}_*.deb"))


def version():
    """The version in debian/changelog, which must be the one in CMakeLists.txt."""
    changelog = (ROOT / "debian/changelog").read_text()
    cmake = (ROOT / "CMakeLists.txt").read_text()
    ours = re.match(r"rackmesh \(([^)]+)\)", changelog)[1]
    assert re.search(r"^project\(rackmesh VERSION (\S+)", cmake, re.M)[1] == ours
    return ours


def newer(folder, into, changed_config=None, suffix="+newer", change=None):
    """Makes the same packages with a higher version. changed_config gets one more line; change() is
    called with the tree of each package and may modify it."""
    into.mkdir()
    for deb in debs(folder):
        tree = into / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", deb, tree], check=True)
        control = tree / "DEBIAN/control"
        higher = rf"\g<0>{suffix}"
        control.write_text(re.sub(r"^Version: .*$", higher, control.read_text(), flags=re.M))
        if changed_config and (tree / changed_config).exists():
            with open(tree / changed_config, "a") as config:
                config.write("# of the newer version\n")
        if change:
            change(tree)
        subprocess.run(
            ["dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, into],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        shutil.rmtree(tree)
    return debs(into)


def give_certificate(root, daemon, folder="etc/rackmesh/tls"):
    """Puts a certificate of the daemon, for the host's name, where its config expects it."""
    made, into = root.path.parent / "ca", root.path / folder
    tors = [TOR] if daemon == "tor-aggregator" else []
    subprocess.run(
        [sys.executable, CA, made, "--region", "default", ROLES[daemon], HOST, *tors],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    into.mkdir(exist_ok=True)
    shutil.copy(made / f"{HOST}.pem", into / "certificate.pem")
    shutil.copy(made / "ca.pem", into / "authorities.pem")
    shutil.copy(made / f"{HOST}.key", into / "key.pem")
    root.run("chown", "-R", "rackmesh:", f"/{folder}")
    root.run("chmod", "600", f"/{folder}/key.pem")
