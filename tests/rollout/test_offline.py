"""ansible/offline: the folder of packages for hosts without a repository. Needs no machine."""

import os
import shutil
import subprocess

import pytest
from packages import ROOT

OFFLINE = ROOT / "ansible/offline"
INDEX = ROOT / "ansible/roles/packages/files/index"
SPARED = ROOT / "ansible/roles/packages/files/spared"
# The packages that the script requests by name, besides the dependencies of Rackmesh's packages.
NAMED = ["openssl", "python3", "python3-apt", "etcd-server", "etcd-client", "influxdb",
         "influxdb-client", "prometheus-alertmanager"]  # fmt: skip
AGENT = "rackmesh-host-agent"


def make(folder, package, depends="", version="1"):
    tree = folder / f"{package}.tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: {package}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody\n"
        + (f"Depends: {depends}\n" if depends else "")
        + "Description: none\n"
    )
    deb = folder / f"{package}_{version.replace(':', '%3a')}_all.deb"
    subprocess.run(["dpkg-deb", "--build", tree, deb], check=True, capture_output=True)


class Apt:
    """The state of an apt whose only source is one folder of packages, with nothing installed. by:
    "copy" as from a network, "file" as the roles configure it."""

    def __init__(self, work, source, by="copy"):
        self.folder = source
        work.mkdir()
        for each in ("lists/partial", "archives/partial", "parts"):
            (work / each).mkdir(parents=True)
        (work / "status").touch()
        (work / "list").write_text(f"deb [trusted=yes] {by}:{source} ./\n")
        (work / "conf").write_text(
            'APT::Sandbox::User ""; Debug::NoLocking "1"; Acquire::Languages "none";'
            f'Dir::State::lists "{work}/lists"; Dir::State::status "{work}/status";'
            f'Dir::Cache "{work}"; Dir::Etc::sourcelist "{work}/list";'
            f'Dir::Etc::sourceparts "{work}/parts";'
        )
        self.environment = {**os.environ, "APT_CONFIG": str(work / "conf")}
        self.run("apt-get", "-q", "update")

    def run(self, *command, status=0):
        run = subprocess.run(command, env=self.environment, text=True, capture_output=True)
        assert run.returncode == status, run.stdout + run.stderr
        return run.stdout


@pytest.fixture
def debian(tmp_path):
    """A repository with the requested packages, and with the agent's dependencies, in two
    levels."""
    folder = tmp_path / "debian"
    folder.mkdir()
    for package in NAMED:
        make(folder, package, depends="libc6" if package == "openssl" else "")
    make(folder, "libc6")  # which the machine of this test has, too
    make(folder, "libnear", depends="libfar (>= 1:2)", version="3")
    make(folder, "libfar", version="1:2")
    make(folder, "unasked")
    subprocess.run([INDEX, folder], check=True, capture_output=True)
    return Apt(tmp_path / "control", folder)


@pytest.fixture
def folder(tmp_path):
    """Rackmesh's own packages in two versions."""
    folder = tmp_path / "offline"
    folder.mkdir()
    for version in ("1", "2"):
        make(folder, "rackmesh-common", version=version)
        make(folder, AGENT, f"libnear (>= {version}), rackmesh-common (= {version})", version)
        for tree in folder.glob("*.tree"):
            subprocess.run(["rm", "-r", tree], check=True)
    return folder


def test_the_folder_has_all_that_a_bare_host_installs(debian, folder, tmp_path):
    debian.run(OFFLINE, folder)
    names = {deb.name.split("_")[0] for deb in folder.glob("*.deb")}
    assert names == {"rackmesh-common", AGENT, "libc6", "libnear", "libfar", *NAMED}
    subprocess.run([INDEX, folder], check=True, capture_output=True)
    host = Apt(tmp_path / "host", folder, by="file")
    for version in ("1", "2"):
        wanted = (f"{AGENT}={version}", f"rackmesh-common={version}", *NAMED)
        said = host.run("apt-get", "-q", "-y", "--simulate", "install", *wanted)
        assert f"Inst {AGENT} ({version} " in said and "Inst libfar (1:2 " in said


def test_what_the_folder_has_is_not_fetched_again(debian, folder):
    debian.run(OFFLINE, folder)
    before = {deb: deb.stat().st_mtime_ns for deb in folder.iterdir()}
    (folder / "libfar_1%3a2_all.deb").unlink()
    debian.run(OFFLINE, folder)
    after = {deb: deb.stat().st_mtime_ns for deb in folder.iterdir()}
    assert after.keys() == before.keys() and not any(deb.is_symlink() for deb in after)
    assert [deb.name for deb in after if after[deb] != before[deb]] in (
        [], ["libfar_1%3a2_all.deb"])  # fmt: skip


def spared(host, folder, *packages):
    """The names of the packages that apt would not install on this host, so they are not copied."""
    cache = folder.parent / "cache"
    (cache / "offered").mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "Packages", cache / "offered")
    return {name.split("_")[0] for name in host.run(SPARED, cache, *packages).split()}


def test_a_host_is_copied_what_it_installs_and_no_more(debian, folder, tmp_path):
    debian.run(OFFLINE, folder)
    host = Apt(tmp_path / "host", debian.folder)
    others = {*NAMED, "libc6"}
    assert spared(host, folder, AGENT) == others
    older = (f"{AGENT}=1", "rackmesh-common=1", "openssl")
    assert spared(host, folder, *older) == others - {"openssl", "libc6"}
    status = "Package: libfar\nStatus: install ok installed\nVersion: 1:2\nArchitecture: all\n"
    (tmp_path / "host/status").write_text(f"{status}Maintainer: nobody\nDescription: none\n")
    assert spared(host, folder, AGENT) == others | {"libfar"}


def test_a_host_is_copied_all_where_apt_finds_no_way(debian, folder, tmp_path):
    debian.run(OFFLINE, folder)
    host = Apt(tmp_path / "host", debian.folder)
    assert spared(host, folder, f"{AGENT}=3") == set()
    assert host.run(SPARED, tmp_path / "no-cache", AGENT) == ""


def test_a_package_that_is_nowhere_is_an_error_that_names_it(debian, folder):
    make(folder, "rackmesh-analyzer", depends="libnowhere")
    run = subprocess.run([OFFLINE, folder], env=debian.environment, text=True, capture_output=True)
    assert run.returncode != 0 and "libnowhere" in run.stdout + run.stderr


def test_a_folder_without_rackmesh_is_an_error(tmp_path):
    run = subprocess.run([OFFLINE, tmp_path], text=True, capture_output=True)
    assert run.returncode == 1 and "no packages of Rackmesh" in run.stderr
