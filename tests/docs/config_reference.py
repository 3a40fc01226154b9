#!/usr/bin/python3
"""docs/config.md: every option of every daemon, made of what --help-config prints.

config_reference.py BUILD prints it; docs/config.md is its output."""

import pathlib
import re
import subprocess
import sys

DAEMONS = ("host-agent", "tor-aggregator", "region-controller", "analyzer")
HEAD = """# All options

`tests/docs/config_reference.py BUILD` makes this page from what each daemon prints for `--help-config`.
`a.b` is `b` inside the map `a`; the configs are YAML, one document each, in `/etc/rackmesh/`. An
option with *reload* is changed by `systemctl reload`, all others need a restart. An indented option
belongs to each map of the list above it. `DAEMON --check` checks a config.
"""
OPTION = re.compile(r"( *)(\S+): (.+); (default .*|required); (needs a restart|SIGHUP changes it)$")


def program(build, daemon):
    return pathlib.Path(build) / daemon / daemon


def cell(text):
    return text.replace("|", "\\|")


def rows(printed):
    """Reads "name: type; default; reload" and the line of help below it."""
    lines = printed.splitlines()[1:]
    for option, meaning in zip(lines[::2], lines[1::2], strict=True):
        indent, name, kind, default, reload = OPTION.match(option).groups()
        depth = "&nbsp;&nbsp;" * (len(indent) // 4)
        default = default.removeprefix("default ")
        default = default if default in ("required", "none") else f"`{default}`"
        when = "reload" if reload.startswith("SIGHUP") else ""
        yield f"| {depth}`{name}` | {cell(kind)} | {cell(default)} | {when} | {cell(meaning.strip())} |"


def section(build, daemon):
    printed = subprocess.run(
        [program(build, daemon), "--help-config"], capture_output=True, text=True, check=True
    ).stdout
    head = ("", f"## {daemon}", "", "| option | value | default | | what |", "|---|---|---|---|---|")
    return "\n".join((*head, *rows(printed))) + "\n"


def reference(build):
    return HEAD + "".join(section(build, daemon) for daemon in DAEMONS)


if __name__ == "__main__":
    sys.stdout.write(reference(sys.argv[1]))
