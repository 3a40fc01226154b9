"""Code that runs inside the machine: the fabric, its faults, and the daemons on it.

It uses tests/fabric/lab (waiting, processes, HTTP, sinks, the Lab itself) and the table of
tests/bench."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "fabric"), str(TESTS / "bench")]
