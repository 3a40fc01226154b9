"""What runs inside the machine: the fabric, its faults, and the daemons on it.

It stands on tests/fabric/lab: waiting, processes, HTTP, sinks, the Lab itself."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fabric"))
