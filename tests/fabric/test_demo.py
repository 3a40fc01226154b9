"""The demo is correct, and leaves nothing behind, however it ends."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from lab import places

DEMO = pathlib.Path(__file__).resolve().parent / "demo.py"
DEMO_S = 600  # patience


def start(folder):
    """Starts the demo like ./dev demo, with its files in the folder."""
    return subprocess.Popen(
        [sys.executable, DEMO, "--build", places.BUILD, "--engines", places.ENGINES],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, TMPDIR=str(folder)),
    )


def left_behind(pid, folder):
    """Namespaces, processes and files that an ended demo has left."""
    left = [str(path) for path in pathlib.Path("/run/netns").glob(f"rmlab{pid:x}-*")]
    left += [str(path) for path in pathlib.Path("/run").glob(f"rmlab{pid:x}")]
    left += [str(path) for path in folder.iterdir()]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if str(folder).encode() in line:
            left.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return left


def test_the_demo_runs_to_its_end(tmp_path, print_line):
    demo = start(tmp_path)
    output, _ = demo.communicate(timeout=DEMO_S)

    assert demo.returncode == 0, output
    assert output.count("   ok ") >= 10
    assert "\033[" not in output, "colours in a pipe"
    assert not left_behind(demo.pid, tmp_path)
    print_line(output.strip().splitlines()[-1])


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_an_interrupted_demo_leaves_nothing(tmp_path, number):
    demo = start(tmp_path)
    for line in demo.stdout:
        if line.startswith("2. "):
            break
    demo.send_signal(number)
    output, _ = demo.communicate(timeout=DEMO_S)

    assert demo.returncode == 128 + number, output
    assert not left_behind(demo.pid, tmp_path)
