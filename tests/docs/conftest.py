import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RACKMESH_BUILD", ROOT / "build" / "release"))


def tracked(*patterns):
    """Returns the files of the tree whose names match the patterns, without built files."""
    found = {path for pattern in patterns for path in ROOT.rglob(pattern)}
    return sorted(path for path in found if is_source(path.relative_to(ROOT).parts))


def is_source(parts):
    return not parts[0].startswith((".", "build"))


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def documents():
    """Every page that a person reads, with its text."""
    return {path: path.read_text() for path in tracked("*.md")}


@pytest.fixture(scope="session")
def sources():
    """All source files that are compiled, as one text."""
    return "\n".join(path.read_text() for path in tracked("*.c", "*.h", "*.cc"))
