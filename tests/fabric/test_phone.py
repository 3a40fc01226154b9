"""From a fault to the phone: real daemons, a real Alertmanager with the example routes of
docs/alertmanager.yaml, and a receiver in place of the pager and the ticket system."""

import re
import urllib.parse

import pytest

from lab.faults import RnicDead, SwitchDead
from lab.innocents import accused
from lab.places import ROOT
from lab.rackmesh import ANALYZER_PORT
from lab.wait import FULL, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5", "h6"]}
EXAMPLE = ROOT / "docs" / "alertmanager.yaml"
VERDICTS = ROOT / "docs" / "verdicts.md"
RECEIVERS = "http://127.0.0.1:8080/"  # in the example
PAGE_URL = f"http://127.0.0.1:{ANALYZER_PORT}"
RUNBOOK_URL = "https://wiki.example/rackmesh/verdicts.md#"
LINKS = {"alerts": {"page_url": PAGE_URL, "runbook_url": RUNBOOK_URL, "labels": ["team=fabric"]}}
FIRES_S, RESOLVES_S = 10, 90  # a group has news every minute in the example
AGAIN_S = 3  # some rounds of a group, in which nothing more may come


def example(webhook):
    """The example with our receivers. Except in the full run, a group has news every second and
    not every minute: this is quicker, and a second notification of a fault would be noticed."""
    text = EXAMPLE.read_text()
    assert text.count(RECEIVERS) == 4 and "group_interval: 1m" in text
    text = text.replace(RECEIVERS, webhook)
    return text if FULL else text.replace("group_interval: 1m", "group_interval: 1s")


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phone")
    with World(RACKS, folder, analyzer=LINKS, aggregator=LINKS, routes=example) as world:
        world.start()
        yield world


def call(region, fault, receiver, severity):
    """The whole life of the fault at the phone; returns the notification of its opening."""
    phone, mark = region.grouped, region.grouped.mark()
    at = fault.begin()
    try:
        rang = phone.wait_for(fault.fires, FIRES_S, mark, f"{fault}, at the phone")
        assert fault.bit()
        incident = follow(region, rang)
        explained = region.lab.ctl("analyzer", "explain", incident["id"], news=True)
        assert f"({severity}, confidence" in explained, explained
        what_to_do(explained, incident["kind"])
        phone.silence(AGAIN_S, phone.mark())
    finally:
        fault.end()
    phone.wait_for(fault.resolves, RESOLVES_S, mark, f"the end of {fault}, at the phone")
    phone.silence(AGAIN_S, phone.mark())
    came = phone.since(mark)
    assert not accused(came, at, fault.names)
    mine = [arrival for arrival in came if fault.names(arrival)]
    assert [(a.status, a.receiver) for a in mine] == [
        ("firing", receiver), ("resolved", receiver)], mine
    for arrival in mine:
        assert arrival.labels["severity"] == severity == incident["severity"]
        assert arrival.labels["team"] == "fabric"
        assert arrival.annotations["incident"] == incident["id"]
    until("the incident is closed", RESOLVES_S,
          lambda: shown(region, incident)["state"] == "resolved")
    return rang


def what_to_do(explained, kind):
    """The text of the docs, without markup."""
    section = VERDICTS.read_text().split(f"\n## {kind}\n")[1].split("\n## ")[0]
    do = re.search(r"\*\*Do\*\*: (.*)", section)[1]
    assert f"Do: {do}" in explained, explained


def shown(region, incident):
    return region.lab.analyzer.get(f"/v1/incidents/{incident['id']}").json


def follow(region, rang):
    """The incident to which the links of the notification lead, as the analyzer shows it."""
    assert rang.link.startswith(PAGE_URL + "/"), rang.link
    which = re.split("[/#]", urllib.parse.unquote(rang.link))[-1]
    assert which == rang.annotations["incident"]
    incident = region.lab.analyzer.get(f"/v1/incidents/{which}").json
    assert incident["id"] == which and incident["state"] == "open"
    for key in ("part", "part_type", "region"):
        assert incident[key] == rang.labels[key], key
    assert incident["place"] == rang.labels.get("place", "")
    runbook, _, section = rang.annotations["runbook_url"].partition("#")
    assert runbook + "#" == RUNBOOK_URL and section == rang.annotations["kind"]
    assert f"## {section}" in VERDICTS.read_text().splitlines()
    return incident


def test_a_dead_rnic_becomes_one_ticket(region, print_line):
    fault = RnicDead(region.lab, region.rnic("h2/r0"))
    rang = call(region, fault, "tickets", "major")
    print_line(f"{fault}: {rang.at - fault.at:.2f} s until the ticket")


def test_a_dead_spine_calls_the_pager_once(region, print_line):
    fault = SwitchDead(region.lab, region.fabric.spines[0])
    rang = call(region, fault, "pager", "critical")
    print_line(f"{fault}: {rang.at - fault.at:.2f} s until the pager")
