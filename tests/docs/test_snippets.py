"""The examples of configs and topologies in the documentation are accepted by the daemons."""

import re
import subprocess

import yaml

from config_reference import DAEMONS, program
from conftest import ROOT

FENCED = re.compile(r"^```yaml\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^|\n\n)((?: {4}.*\n)+)")
# The options that each daemon needs in addition. The daemon of an example is found by the names of
# the options.
NEEDED = {
    "host-agent": {"rnics": [{"device": "eth0", "tor": "t1"}], "aggregators": [{"address": "192.0.2.1:7471"}]},
    "tor-aggregator": {"tors": [{"name": "r7t1"}]},
    "region-controller": {"probe_keys": {"unauthenticated": True}},
    "analyzer": {},
}
OF_OTHERS = re.compile(r"rackmesh_|apiVersion$|rack7$")  # variables of Ansible, an object of Kubernetes
# Files, folders and RNICs that are not on this machine.
ABSENT = re.compile(r"No such file or directory|no RNIC|: \d+ errors?(, \d+ warnings?)?$")


def pages():
    return sorted((ROOT / "docs").glob("*.md"))


def read(block):
    lines = block.splitlines()
    if lines[0].startswith("    "):
        lines = [line[4:] for line in lines]
    try:
        return yaml.safe_load("\n".join(lines))
    except yaml.YAMLError:
        return None


def maps(page):
    """Blocks of YAML that are a map, as they are read."""
    text = page.read_text()
    found = FENCED.findall(text) + INDENTED.findall(re.sub(FENCED, "", text))
    return [block for block in map(read, found) if isinstance(block, dict)]


def options_of(build, daemon):
    said = subprocess.run([program(build, daemon), "--help-config"], capture_output=True, text=True, check=True)
    return {line.split(":")[0].split(".")[0] for line in said.stdout.splitlines()[1:] if line[0] != " "}


def refusals(build, daemon, config, file):
    file.write_text(yaml.safe_dump({"plaintext": True, **NEEDED[daemon], **config}))
    said = subprocess.run([program(build, daemon), "--check", "--config", file], capture_output=True, text=True)
    return [line for line in said.stderr.splitlines() if line.startswith("<3>") and not ABSENT.search(line)]


def test_every_config_that_is_shown_is_accepted(build, tmp_path):
    known = {daemon: options_of(build, daemon) for daemon in DAEMONS}
    wrong, seen = [], 0
    for page in pages():
        for block in maps(page):
            if page.stem == "topology" or any(map(OF_OTHERS.match, block)):
                continue
            fits = [daemon for daemon in DAEMONS if set(block) <= known[daemon]]
            if not fits:
                wrong.append(f"{page.name}: {list(block)}: no daemon has these options")
            seen += 1
            for daemon in fits:
                wrong += [f"{page.name}: {line}" for line in refusals(build, daemon, block, tmp_path / "c.yaml")]
    assert not wrong, "\n".join(wrong)
    assert seen > 10


def test_the_topology_that_is_shown_is_valid(build, tmp_path):
    whole = {}
    for block in maps(ROOT / "docs" / "topology.md"):
        whole |= block
    file = tmp_path / "topology.yaml"
    file.write_text(yaml.safe_dump(whole))
    ctl = build / "ctl" / "rackmeshctl"
    said = subprocess.run([ctl, "topology", "check", file], capture_output=True, text=True)
    assert said.returncode == 0 and "racks" in whole, said.stdout + said.stderr
