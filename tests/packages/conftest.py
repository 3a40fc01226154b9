"""Packages in a Debian root. Needs root, and the base that `./dev deb --test` makes first."""

import contextlib
import shutil

import pytest
from debian_root import DebianRoot
from packages import BASE, DEBS, debs


@pytest.fixture(scope="session", autouse=True)
def needs():
    if not debs(DEBS) or not (BASE / "etc").exists():
        pytest.skip("no packages, or no root to install them in: sudo ./dev deb --test")


@contextlib.contextmanager
def made(layers, folder):
    root = DebianRoot(layers, folder)
    yield root
    root.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def root(tmp_path_factory):
    with made([BASE], tmp_path_factory.mktemp("root")) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def installation(tmp_path_factory):
    """Made once: the layer that installing all packages adds to the root."""
    root = DebianRoot([BASE], tmp_path_factory.mktemp("installation"))
    root.install(debs(DEBS))
    root.close()
    return root.layer


@pytest.fixture
def installed(installation, tmp_path_factory):
    """A root with all packages installed and no other change."""
    with made([installation, BASE], tmp_path_factory.mktemp("installed")) as fresh:
        yield fresh
