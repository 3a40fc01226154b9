"""The table of measurements, as analyzer --help-schema prints it."""

import re
import subprocess

from .places import program


def measurements():
    """{measurement: {column: (type, unit)}}"""
    text = subprocess.run(
        [program("analyzer"), "--help-schema"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    found = {}
    for line in text.splitlines():
        if name := re.match(r"## (rm_\w+) ", line):
            columns = found.setdefault(name[1], {})
        elif column := re.match(r"\| `(\w+)` \| (\w+) \| (.*?) \|", line):
            columns[column[1]] = (column[2], column[3])
    return found
