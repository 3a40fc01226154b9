"""The analyzer's page explains a rack's counters: those of real network devices, of a real Redis
with SONiC's tables, and of an ESXi host behind a real sshd."""

import itertools
import time

import pytest

from lab.browser import browser, seen
from lab.esxi import Esxi
from lab.netns import run
from lab.sonic import REDIS_PORT, Sonic
from lab.wait import PATIENCE_S, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"]}
PASSWORD = "a password of the lab"
SSH_PORT = 2201
PORTS = 16
MTU, WRONG_MTU = 1500, 1400  # veth has the first
ROWS = ".counters tbody tr"


class Rack:
    """A rack with a switch and an ESXi host that are read, and an expected MTU."""

    def __init__(self, folder):
        password = folder / "password"
        password.touch(0o600)
        password.write_text(PASSWORD + "\n")

        def options(fabric):
            address = fabric.management["centre"]
            self.esxi = Esxi("esx1", fabric.netns("centre"), address, SSH_PORT, folder / "esxi")
            reading = {"kind": "sonic", "address": f"{address}:{REDIS_PORT}",
                       "password_file": str(password), "interval_s": 1, "neighbors_interval_s": 1}
            return {"tors": [{"name": "tor1", "switch": reading}],
                    "switches": [{"name": "spine1", **reading,
                                  "address": f"{address}:{REDIS_PORT + 1}"}],
                    "hypervisors": [{**self.esxi.option("esx1"), "interval_s": 30}],
                    "expected": [{"rnics": ["h1/*"], "mtu_bytes": WRONG_MTU},
                                 {"rnics": ["h*"], "mtu_bytes": MTU}]}

        self.world = World(RACKS, folder, spines=0, alertmanager=False, analyzer={},
                           aggregator=options, agent={"counters": {"interval_ms": 500}})
        self.lab, fabric = self.world.lab, self.world.fabric
        self.sonic = Sonic(fabric.netns("centre"), fabric.management["centre"], folder, PASSWORD)
        (folder / "spine1").mkdir()
        self.spine = Sonic(fabric.netns("centre"), fabric.management["centre"], folder / "spine1",
                           PASSWORD, REDIS_PORT + 1)
        self.aggregator = self.lab.aggregators["tor1"]

    def __enter__(self):
        self.world.__enter__()
        self.sonic.start().wait_ready()
        self.sonic.fill(PORTS)
        self.spine.start().wait_ready()
        self.spine.fill(PORTS, queues=1)
        self.esxi.start().wait_ready()
        self.esxi.nic("vmnic4", pause="true", pfc="false")
        self.world.start()
        return self

    def __exit__(self, *why):
        self.esxi.stop()
        self.spine.stop()
        self.sonic.stop()
        self.world.__exit__(*why)

    def flap(self, name):
        rnic = self.world.rnic(name)
        for up in ("down", "up"):
            run("ip", "-n", self.world.fabric.netns(rnic.tor), "link", "set", rnic.port, up)


@pytest.fixture(scope="module")
def rack(tmp_path_factory):
    with Rack(tmp_path_factory.mktemp("rack")) as rack:
        yield rack


@pytest.fixture(scope="module")
def page(rack, tmp_path_factory):
    with browser(rack.lab.analyzer.netns, tmp_path_factory.mktemp("browser")) as page:
        page.open(f"http://127.0.0.1:{rack.lab.analyzer.port}/#/rack/lab/tor1")
        yield page


def row_with(rows, *words):
    return next((row for row in rows if all(word in row for word in words)), None)


def test_the_page_shows_findings_from_the_counters_of_a_rack(rack, page):
    seen(page, "three answers", ".answers li", lambda texts: len(texts) == 3)
    seen(page, "all RNICs are reported", ".counters", lambda texts: "at 3 RNICs" in texts[0])
    cnp = row_with(page.texts(".answers li"), "CNP")
    assert "not known" in cnp, cnp  # a veth does not count CNPs, which is not zero

    for _ in range(2):
        rack.flap("h2/r0")
    seen(page, "the link's flapping", ROWS, lambda rows: row_with(rows, "h2/r0", "link-flap", "its link"))
    drift = until("the wrong MTU", PATIENCE_S,
                  lambda: row_with(page.texts(ROWS), "h1/r0", "mtu", str(WRONG_MTU), str(MTU)))
    assert drift and not row_with(page.texts(ROWS), "h3/r0")
    assert page.complaints() == []


# States of a host whose agent runs; on a busy machine it stops for a moment again and again.
RUNNING = ("✓ ok", "stuttered", "stalled")


def is_running(row):
    return row is not None and any(state in row for state in RUNNING)


def comes_first(rows, row):
    return row in rows and not any("✓ ok" in each for each in rows[:rows.index(row)])


def test_hosts_are_listed_with_the_releases_of_their_agents(rack, page):
    reported = rack.aggregator.get("/v1/hosts").json["hosts"]
    release = reported[0]["version"]
    seen(page, "one release", ".hosts p",
         lambda texts: texts == [f"3 hosts; all agents that have connected are of release {release}."])
    seen(page, "all hosts", ".hosts tbody tr", lambda rows: all(
        is_running(row_with(rows, host, release, "as planned")) for host in ("h1", "h2", "h3")))
    agent = rack.lab.agents["h3"]
    agent.kill()
    try:
        seen(page, "who is in trouble comes first", ".hosts tbody tr",
             lambda rows: comes_first(rows, row_with(rows, "h3", "agent-down")))
    finally:
        agent.start()
    seen(page, "it is back", ".hosts tbody tr", lambda rows: is_running(row_with(rows, "h3")))
    assert page.complaints() == []


# No service uses a veth, so the aggregator's answer is replaced by one with services, and with an
# incident that names one.
SERVED = """
window.answers ??= window.fetch;
const change = {
  '/v1/counters/': (reported) => { reported.services = { hosts: 3, hosts_tracing: 2, missing: 'no BTF', service_count: 3, services: [
    { service: 'comm:idle', hosts: 2, rnics: 2, flows: 9000, flows_probed: 7, qps: 9000 },
    { service: 'unit:big', hosts: 2, rnics: 2, flows: 1200, flows_probed: 7, qps: 1200 },
    { service: 'pod:train', hosts: 1, rnics: 1, flows: 3, flows_probed: 3, qps: 3 }] }; },
  '/v1/incidents': (reported) => { reported.incidents.push({ id: 'a1', state: 'open', region: 'lab', tor: 'tor1', part_type: 'rnic',
    part: 'h1/r0', place: 'tor1', kind: 'rnic-lossy', sentence: 'Its half is lost.', number: 1, opened: new Date().toISOString(),
    evidence: { impact: 'P0', services: 'pod:train (lab/train-0), unit:bigger' } },
    { id: 'a2', state: 'open', region: 'lab', tor: '', part_type: 'switch', part: 'spine1', place: '', kind: 'switch-lossy',
    sentence: 'A third is lost.', number: 2, opened: new Date().toISOString(), evidence: { impact: 'P1', services: 'unit:big' } }); },
};
window.fetch = async (path, how) => {
  const answer = await window.answers(path, how);
  const name = Object.keys(change).find((each) => path.startsWith(each));
  if (name === undefined || !answer.ok) return answer;
  const reported = await answer.json();
  change[name](reported);
  return new Response(JSON.stringify(reported));
};"""


def test_services_that_a_fault_affects_come_first(rack, page):
    seen(page, "nobody uses it", ".services p", lambda texts: texts and texts[0].startswith("0 services; "))
    page.driver.execute_script(SERVED)
    try:
        seen(page, "who is hurt", ".services tbody tr",
             lambda rows: len(rows) == 3 and row_with(rows[:2], "pod:train", "P0: h1/r0")
             and row_with(rows[:2], "unit:big", "P1: spine1"))
        sentence = "3 services, 2 of them on a part at fault; services are traced on 2 of 3 hosts (on the others: no BTF)."
        assert page.texts(".services p") == [sentence]
    finally:
        page.driver.execute_script("window.fetch = window.answers")
        page.open(page.driver.current_url)
        page.driver.refresh()
    assert page.complaints() == []


def test_counters_of_the_switch_are_shown_beside_those_of_the_hosts(rack, page):
    counts = itertools.count(1000, 1000)

    def shown():
        """The page shows a port's counts of the last interval only, so the port goes on
        counting until everything is shown."""
        rack.sonic.count("Ethernet8", SAI_PORT_STAT_PFC_3_RX_PKTS=next(counts))
        ports = [row for row in page.texts(ROWS) if "Ethernet" in row]
        port = row_with(ports, "Ethernet8", "✓ up, 100")
        captions, sentences = page.texts(".counters caption"), page.texts(".counters p")
        return all((
            port and port.endswith("000") and "Ethernet8" in ports[0],
            any(f"12 of {PORTS}, those with problems first" in text for text in captions),
            any("side by side" in text for text in captions),
            # The switch does not count the others, which is not 0.
            any("Not counted here: errors, discarded, " in text for text in sentences),
        ))

    until("the port's pauses are shown", PATIENCE_S, shown)


# Port, its neighbour, and what it counts each second: the time for which it is paused, the pause
# frames that it sends.
STORM = [
    ("sonic", "Ethernet0", ("h1", "r0"), {"RX_PAUSE_DURATION_US": 830000}),
    ("sonic", "Ethernet4", ("h2", "r0"), {"TX_PKTS": 900}),
    ("sonic", "Ethernet12", ("spine1", "Ethernet20"), {"TX_PKTS": 900}),
    ("spine", "Ethernet20", ("tor1", "Ethernet12"), {"RX_PAUSE_DURATION_US": 300000, "RX_PKTS": 900}),
]


def test_the_source_of_pauses_and_their_spread_are_shown(rack, page):
    for switch, port, neighbor, _ in STORM:
        getattr(rack, switch).neighbor(port, *neighbor)
    began = time.monotonic()

    def shown():
        for switch, port, _, counts in STORM:
            getattr(rack, switch).count(port, **{
                f"SAI_PORT_STAT_PFC_3_{name}": int((time.monotonic() - began) * each_s)
                for name, each_s in {**dict.fromkeys(("TX_PKTS", "RX_PKTS"), 0), **counts}.items()})
        captions = page.texts(".counters caption")
        return all((
            row_with(page.texts(ROWS), "h1/r0", "tor1 Ethernet0", "an RNIC is the source", "h2/r0", "spine1"),
            any("pauses of priority 3 spread from h1/r0" in text for text in captions),
            # The ports of a spine are listed, too: 12, the one in trouble first.
            any("Ports of spine spine1" in text and f"12 of {PORTS}" in text for text in captions),
            row_with(page.texts(".counters table tbody tr:first-child"), "Ethernet20"),
        ))

    until("the source and its victims are shown", PATIENCE_S, shown, every=0.5)


def test_nics_of_an_esxi_host_are_shown(rack, page):
    seen(page, "its global pause", ROWS, lambda rows: row_with(rows, "esx1/vmnic4", "global-pause-on"))
    assert row_with(page.texts(ROWS), "esx1/vmnic4", "✓ up, 100")
    # An aggregator has several racks, and it is not known in which one such a host is.
    captions = page.texts(".counters caption")
    assert any("ESXi hosts that this rack’s aggregator reads, of whichever rack" in text
               for text in captions), captions


# Holds the requests for counters, from the first one before which the counters are fresh.
HOLD = """
window.answers = fetch; window.meshes = 0; window.held = [];
window.fetch = (path, options) => {
  if (path.startsWith("/v1/mesh/")) window.meshes++;
  const fresh = !document.querySelector(".counters").innerText.includes("refreshed");
  if (!path.startsWith("/v1/counters/") || (window.held.length === 0 && !fresh)) return window.answers(path, options);
  return new Promise((_, refuse) => window.held.push(refuse));
};"""


def test_the_mesh_does_not_wait_for_counters_and_old_counters_have_their_time(rack, page):
    ask = page.driver.execute_script
    seen(page, "counters", ROWS, lambda rows: row_with(rows, "esx1/vmnic4"))
    ask(HOLD)
    until("counters are asked", PATIENCE_S, lambda: ask("return window.held.length") == 1)
    asked = ask("return window.meshes")
    until("the mesh goes on", PATIENCE_S, lambda: ask("return window.meshes") >= asked + 3)
    assert ask("return window.held.length") == 1  # one query at a time
    assert not any("refreshed" in text for text in page.texts(".counters .trouble"))
    # Each table shows that it is not refreshed, and keeps its rows.
    ask("window.held[0](new TypeError())")
    seen(page, "the age of all seven", ".counters .trouble", lambda texts: sum(
        text.startswith("As of ") and text.endswith(" UTC, not refreshed since.")
        for text in texts) == 7)
    assert any("Counters cannot be refreshed: the analyzer cannot be reached." in text
               for text in page.texts(".counters p"))
    assert row_with(page.texts(ROWS), "esx1/vmnic4")
    ask("window.fetch = window.answers; for (const refuse of window.held) refuse(new TypeError());")
    seen(page, "it is as of now again", ".counters", lambda texts: "not refreshed" not in texts[0])
    assert page.complaints() == []


# An answer without any part that a release may lack.
OLDER = """
window.answers ??= window.fetch;
window.fetch = async (path, how) => {
  const answer = await window.answers(path, how);
  if (!answer.ok || !path.startsWith('/v1/counters/')) return answer;
  const { region, tor } = await answer.json();
  return new Response(JSON.stringify({ region, tor }));
};"""


def test_parts_that_the_release_of_an_aggregator_does_not_report_are_named(rack, page):
    page.driver.execute_script(OLDER)
    try:
        seen(page, "all seven say so", ".counters .quiet", lambda texts: sum(
            "is of an older release, which does not report " in text for text in texts) == 7)
        assert page.complaints() == []
    finally:
        page.driver.execute_script("window.fetch = window.answers")
    seen(page, "all are back", ".counters", lambda texts: "older release" not in texts[0])


def test_the_last_answers_of_a_stopped_aggregator_stay_on_the_page(rack, page):
    """The analyzer answers 503 then."""
    def stays(texts):
        return any("cannot be refreshed: " in text for text in texts)

    seen(page, "a mesh", ".mesh .legend span", lambda texts: texts)
    rack.aggregator.freeze()
    try:
        seen(page, "the mesh is old", ".mesh p", lambda texts: stays(texts) and any(
            text.startswith("The mesh cannot be refreshed: ") and " It is as of " in text for text in texts))
        seen(page, "the counters are old", ".counters p", stays)
        assert page.texts(".mesh .legend span") and row_with(page.texts(ROWS), "esx1/vmnic4")
        assert page.driver.execute_script("return document.querySelector('canvas').offsetParent !== null")
    finally:
        rack.aggregator.thaw()
    for part in (".mesh", ".counters"):
        seen(page, "it is as of now again", part, lambda texts: not stays(texts))
    assert page.complaints() == []


def test_a_switch_that_cannot_be_read_any_more_is_named(rack, page):
    rack.sonic.stop()
    try:
        seen(page, "it says so", ".counters .trouble",
             lambda texts: any("The switch at" in text and "is not read: " in text for text in texts))
        assert row_with(page.texts(ROWS), "Ethernet8")  # its last values are still shown, with their age
    finally:
        rack.sonic.start().wait_ready()
    assert page.complaints() == []
