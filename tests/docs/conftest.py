import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RACKMESH_BUILD", ROOT / "build" / "release"))


def tracked(*patterns):
    """Files of the tree by git's patterns; without git, of the folders that hold sources."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *patterns],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]
    found = {path for pattern in patterns for path in ROOT.rglob(pattern)}
    return sorted(path for path in found if "build" not in path.relative_to(ROOT).parts[:1])


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def documents():
    """Every page that a person reads, with its text."""
    return {path: path.read_text() for path in tracked("*.md")}


@pytest.fixture(scope="session")
def sources():
    """All that is compiled, as one text."""
    return "\n".join(path.read_text() for path in tracked("*.c", "*.h", "*.cc"))
