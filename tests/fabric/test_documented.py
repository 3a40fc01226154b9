"""Every command and request in the documentation works on a running region."""

import os
import re
import subprocess
from datetime import datetime, timezone

import pytest

from lab import places
from lab.faults import RnicDead
from lab.wait import PATIENCE_S, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5"]}
VICTIM = "h2/r0"
DAEMONS = ("host-agent", "tor-aggregator", "region-controller", "analyzer")
# Commands that do not end by themselves, or take long: test_region.py, test_accept.py.
# The database of `history init` is in test_history.py, certificates are in test_tls.py.
# `doctor` looks at this very host, not at one in a namespace: tests/unit/ctl/doctor.
ELSEWHERE = ("incidents --follow", "accept", "history init", "--controller", "doctor")


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documented")
    with World(RACKS, folder, etcd=1, alertmanager=False, analyzer={}) as world:
        world.start()
        fault = RnicDead(world.lab, world.rnic(VICTIM))
        fault.begin()
        until("it is reported", PATIENCE_S, lambda: incident(world), every=0.2)
        yield world
        fault.end()


def incident(world):
    """The id of an open incident."""
    reported = world.lab.analyzer.get("/v1/incidents?open=1").json["incidents"]
    return next((each["id"] for each in reported if VICTIM in each["part"]), None)


def now():
    """The time to use instead of last Tuesday."""
    return f"{datetime.now(timezone.utc):%FT%TZ}"


def address(region):
    """The address of the victim."""
    rnics = region.lab.wait_leader().get("/v1/rnics").json["rnics"]
    host, device = VICTIM.split("/")
    found = next(each for each in rnics if (each["host"], each["device"]) == (host, device))
    return found["addresses"][0]


def pages():
    root = places.ROOT
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def typed():
    """Every command of rackmeshctl in the pages, once, without its comment."""
    found = set()
    for page in pages():
        text = page.read_text().replace("\\\n", " ")
        spans = re.findall(r"`([^`\n]+)`", text) + re.findall(r"```\w*\n(.*?)```", text, re.S)
        spans += re.findall(r"(?:^|\n)    (\S.*)", text)
        for span in spans:
            found |= set(re.findall(r"^\s*rackmeshctl +([a-z-][^|#;&\n]*)", span, re.M))
    return sorted({" ".join(line.split()) for line in found})


def alternatives(line):
    """`brake on|off|rate 25` was already cut at its '|'; options in brackets are optional."""
    return re.sub(r"\[[^\]]*\]", "", line).split()


def with_names(words, region, folder):
    file = folder / "topology.yaml"
    file.write_text(region.lab.controller.get("/v1/topology/export").text)
    names = {
        "RNIC": VICTIM, "TOR": "tor1", "r7t1": "tor1", "'r7t1->r7t2'": "tor1->tor2",
        "INCIDENT": incident(region),
        "FILE": file, "topology.yaml": file, "ADDRESS": address(region),
        "HOST": "h1", "2026-11-24T04:10:00Z": now(),
    }
    return [str(names.get(word, word)) for word in words]


def there(region, words):
    """Where a person would run the command: (namespace, environment)."""
    lab = region.lab
    variables = {
        "RACKMESH_AGENT": f"unix:{lab.agents['h1'].socket}",
        "RACKMESH_CONTROLLER": f"unix:{lab.wait_leader().socket}",
    }
    command = next(word for word in words if not word.startswith("-"))
    if command in ("health", "incidents", "explain", "mesh", "history"):
        return lab.analyzer.netns, variables
    return lab.aggregators["tor1"].netns, variables


def test_every_command_in_the_documentation_answers(region, tmp_path, print_line):
    commands = [line for line in typed() if not line.startswith(ELSEWHERE)]
    wrong = []
    # Rows of pairs come every ten seconds, on a busy machine later.
    until("a pair of racks has a history", PATIENCE_S, lambda: region.lab.analyzer.get(
        "/v1/history/rm_tor_pair?src_tor=tor1&dst_tor=tor2").json["rows"], every=0.2)
    for line in commands:
        words = with_names(alternatives(line), region, tmp_path)
        netns, variables = there(region, words)
        done = subprocess.run(
            ["ip", "netns", "exec", netns, places.program("rackmeshctl"), *words],
            env={**os.environ, **variables}, capture_output=True, text=True, timeout=PATIENCE_S)
        # 1: the answer shows a problem; there is a fault.
        if done.returncode not in (0, 1) or not done.stdout.strip():
            wrong.append(f"{line}: {done.returncode}: {done.stdout}{done.stderr}")
    assert not wrong, "\n".join(wrong)
    assert len(commands) > 20, commands
    print_line(f"{len(commands)} commands")


def test_prometheus_sees_which_controller_leads(region):
    """A rule of docs/prometheus needs it."""
    rules = (places.ROOT / "docs" / "prometheus" / "rackmesh-rules.yaml").read_text()
    name = re.search(r"rackmesh_controller_\w*leading", rules)[0]
    assert f"\n{name} 1\n" in region.lab.wait_leader().get("/metrics").text


def paths_of(daemon):
    """The paths that docs/api.md has for the daemon, as (method, path with placeholders)."""
    text = (places.ROOT / "docs" / "api.md").read_text()
    section = re.search(rf"^## {daemon} .*?(?=^## |\Z)", text, re.M | re.S)[0]
    return re.findall(r"`GET (/[^`]*)`", section)


def asked(path, region):
    """The path of a request: without optional parts, with values for placeholders."""
    names = {"<rnic>": VICTIM, "<tor>": "tor1", "<id>": incident(region),
             "<measurement>": "rm_rnic", "<address>": address(region)}
    path = re.sub(r"\[[^\]]*\]", "", path)
    for name, value in names.items():
        path = path.replace(name, value)
    return path + VICTIM if path.endswith("=") else path


def test_every_path_in_the_documentation_answers(region, print_line):
    lab = region.lab
    of = dict(zip(DAEMONS, (lab.agents["h1"], lab.aggregators["tor1"], lab.wait_leader(),
                            lab.analyzer)))
    wrong, count = [], 0
    for name, daemon in of.items():
        for path in paths_of(name):
            answer = daemon.get(asked(path, region), 20)
            count += 1
            if not answer.ok:
                wrong.append(f"{name}: {path}: {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert count > 30
    print_line(f"{count} paths")
