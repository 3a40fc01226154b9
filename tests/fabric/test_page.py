"""The analyzer's page, in a real browser, with real daemons."""

import re
import time
from datetime import datetime, timedelta, timezone

import pytest
from selenium.webdriver.common.keys import Keys

from lab import places
from lab.browser import browser, seen
from lab.faults import RnicDead, UplinkDead
from lab.wait import PATIENCE_S, in_time, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h5", "h6"], "tor3": ["h7", "h8"]}
NAMES = ".rack .name"
SHOWN_S = 3.0  # from a fault until the page shows it


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with World(RACKS, folder, alertmanager=False, analyzer={}) as world:
        world.start()
        yield world


@pytest.fixture(scope="module")
def page(region, tmp_path_factory):
    with browser(region.lab.analyzer.netns, tmp_path_factory.mktemp("browser")) as page:
        yield page


def url(region, view=""):
    return f"http://127.0.0.1:{region.lab.analyzer.port}/{view}"


def test_all_racks_are_shown_without_errors_on_the_console(region, page):
    page.open(url(region))
    seen(page, "all racks are there", NAMES, lambda texts: set(texts) == set(RACKS))
    seen(page, "and well", ".counts", lambda texts: "✓ 3 ok" in texts[0])
    seen(page, "nothing is open", "aside h2", lambda texts: texts == ["No open incident"])
    for view, head in (
        ("#/incidents", "Incidents"),
        ("#/sla", "Service levels"),
        ("#/daemons", "Aggregators"),
        ("#/rack/lab/tor2", "tor2"),
    ):
        page.open(url(region, view))
        seen(page, view, "h1", lambda texts, head=head: texts and texts[0].startswith(head))
    page.open(url(region, "#/daemons"))
    seen(page, "its daemons", "td", lambda texts: {"agg-tor1", "agg-tor2"} <= set(texts))
    agents = "section tbody tr"
    seen(page, "all agents", agents, lambda rows: all_are_listed(rows, region))
    assert any(re.fullmatch(r"8 hosts, [0-8] ok\.", text) for text in page.texts("section p")), page.texts("section p")
    page.press("/", *"tor3")
    seen(page, "those of a rack", agents, lambda rows: len(rows) == 1 + len(RACKS["tor3"]))
    assert page.complaints() == []


def all_are_listed(rows, region):
    """Whether all agents are listed with their rack, their state and their release, and the one
    release with its count. On a machine that often stands still, hosts do stutter."""
    release = region.lab.aggregators["tor1"].get("/v1/hosts").json["hosts"][0]["version"]
    hosts = [(host, tor) for tor, hosts in RACKS.items() for host in hosts]
    states = (["✓", "ok"], ["✕", "stuttered"])
    return len(rows) == 1 + len(hosts) and rows[0].split() == [release, "8", "3"] and all(
        any(row.split()[:7] == [host, "lab", "/", tor, *state, release]
            for row in rows for state in states)
        for host, tor in hosts)


def test_a_fault_appears_without_a_reload_and_leads_to_its_evidence(region, page, print_line):
    page.open(url(region))
    seen(page, "live", "#status", lambda texts: texts[0].startswith("live"))
    fault = RnicDead(region.lab, region.rnic("h2/r0"))
    at = fault.begin()
    try:
        seen(page, "it is reported", "aside b", lambda texts: any("h2/r0" in text for text in texts))
        took = time.monotonic() - at
        print_line(f"{fault}: on the page after {took:.2f} s")
        in_time("on the page", took, SHOWN_S, at)
        assert fault.bit()
        seen(page, "its rack is bad", ".rack.bad .name", lambda texts: texts == ["tor1"])

        page.find(".rack.bad a")[0].click()
        seen(page, "the rack", "h1", lambda texts: texts and texts[0].startswith("tor1"))
        seen(page, "its incident", ".incident b", lambda texts: any("h2/r0" in t for t in texts))
        its_pairs_are_the_worst(page, "h2/r0")
        page.find(".incident a")[0].click()
        seen(page, "what is said", "h1", lambda texts: texts and "RNIC h2/r0 at tor1" in texts[0])
        reported = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
        assert reported["Kind"] == "rnic-down" and reported["Rack"] == "tor1", reported
        assert page.texts(".impact")[0].startswith("Impact not known: services are not traced")
        assert "to it, or over it" in page.texts("td") and page.texts(".timeline li")
        remedy_is_shown(page, "rnic-down")
        # An open incident may have no new row for days.
        late = datetime.now(timezone.utc) + timedelta(days=2)
        page.open(url(region, f"#/history/lab//{late:%FT%TZ}/900"))
        seen(page, "it is open still", ".incidents b", lambda texts: any("RNIC h2/r0" in t for t in texts))
        page.driver.back()
    finally:
        fault.end()
    seen(page, "its end is shown", ".path .state", lambda texts: texts == ["resolved"])
    page.open(url(region))
    seen(page, "all is well again", "aside h2", lambda texts: texts == ["No open incident"])
    assert page.complaints() == []


def test_the_path_of_lost_probes_is_drawn(region, page):
    region.lab.wait_traced(PATIENCE_S)
    page.open(url(region))
    fault = UplinkDead(region.lab, "tor2", "spine1")
    fault.begin()
    try:
        seen(page, "it is reported", "aside b", lambda texts: any(fault.part in t for t in texts))
        assert fault.bit()
        for link in page.find("aside a"):
            if fault.part in link.text:
                link.click()
                break
        seen(page, "the way", ".hops:first-of-type li", lambda hops: len(hops) >= 3)
        hops = page.texts(".hops:first-of-type li")
        assert {"tor2", "spine1"} < set(hops), hops
        assert set(page.texts(".hops:first-of-type .suspect")) == {"tor2", "spine1"}
        reported = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
        assert reported["Rack"] == "tor2", reported
        assert page.texts(".impact")[0].startswith("Impact not known: services are not traced")
        pairs = ".rack-pairs tbody tr"
        # On a starved machine other racks have losses, too.
        seen(page, "whom it hurts", pairs, lambda rows: any("tor2" in row.split()[:2] for row in rows))
    finally:
        fault.end()
    seen(page, "its end is shown", ".path .state", lambda texts: texts == ["resolved"])
    seen(page, "and it hurts nobody", ".rack-pairs", lambda texts: texts == [])
    reported = region.lab.ctl("analyzer", "history", fault.part)  # also of a part that never probes
    assert f"{fault.part}: " in reported and "(incident " in reported, reported
    page.open(url(region))
    seen(page, "all is well again", "aside h2", lambda texts: texts == ["No open incident"])
    assert page.complaints() == []


# No service uses a veth.
HURTING = """
const real = window.fetch;
const at = new Date().toISOString();
const one = { id: 'a1', state: 'open', region: 'lab', tor: '', part_type: 'link', part: 'spine1--tor2', place: '',
  kind: 'link-lossy', severity: 'critical', confidence: 0.9, sentence: 'Link spine1--tor2 loses packets.', began: at, opened: at,
  changed: at, resolved: null, sources: ['analyzer'], related: [], evidence: { impact: 'P0', services: 'pod:train (lab/train-0)',
  ruled_out: ['spine1: its other links lose nothing'], window_ms: 1000, window_start: at,
  to_part: { sent: 20, arrived: 15 }, outside: { sent: 40, arrived: 0 } } };
window.fetch = async (path, how) => {
  if (path.startsWith('/v1/incidents/a1')) return new Response(JSON.stringify(one));
  const answer = await real(path, how);
  if (!path.startsWith('/v1/incidents')) return answer;
  const reported = await answer.json();
  reported.incidents.push({ ...one, number: 1 });
  return new Response(JSON.stringify(reported));
};
location.hash = '#/incident/a1';"""


# What ask() throws for an answer whose body does not end within 50 ms, and for one that is cut.
ASKED = """
const [done] = arguments;
const real = window.fetch;
const asked = async (body) => {
  window.fetch = (path, how) => path !== '/v1/cut' ? real(path, how) : new Response(new ReadableStream({ start: (to) => {
    to.enqueue(new TextEncoder().encode('{"incidents": ['));
    body(to, how.signal);
  } }));
  try { return await (await import('/ask.js')).ask('/v1/cut', 50); }
  catch (error) { return `${error.constructor.name}: ${error.message}`; }
  finally { window.fetch = real; }
};
(async () => done([
  await asked((to, signal) => signal.addEventListener('abort', () => to.error(signal.reason))),
  await asked((to) => to.close()),
]))();"""


def test_a_cut_or_stuck_answer_counts_as_no_answer(region, page):
    page.open(url(region))
    assert page.driver.execute_async_script(ASKED) == [
        "NoAnswer: no answer within 0.05 s", "NoAnswer: the analyzer\u2019s answer is not JSON"]


def test_the_impact_is_shown_first_and_a_long_explanation_is_folded(region, page):
    page.open(url(region))
    page.driver.execute_script(HURTING)
    try:
        whom = "Impact P0: probes that follow a service\u2019s flows over it are lost: pod:train (lab/train-0)"
        seen(page, "whom it hurts", "article .impact.P0", lambda texts: texts == [whom])
        assert "Other causes that were ruled out" in page.texts("h2")
        assert {"to it, or over it", "its own probes out of the rack"} <= set(page.texts("td"))
        seen(page, "more to read", ".advice summary", lambda texts: texts == ["How it is found"])
        meaning, look, do = filter(None, page.texts(".advice p"))
        assert len(meaning) <= 250 and look.startswith("Look ") and do.startswith("Do: "), (meaning, look, do)
        page.find(".advice summary")[0].click()
        section = (places.ROOT / "docs" / "verdicts.md").read_text().split("\n## link-lossy\n")[1].split("\n**Look")[0]
        whole = " ".join(re.sub(r"[*`]", "", section).split())
        seen(page, "all of it", ".advice p", lambda texts: len(texts) == 4 and f"{meaning} {texts[3]}" == whole)
        page.driver.execute_script("location.hash = '#/incidents'")
        seen(page, "the list", "#filter", lambda texts: len(texts) == 1)
        page.press("/", *"ml/train-0")
        seen(page, "nobody's", ".incident", lambda rows: rows == [])
        page.find("#filter")[0].clear()
        page.press(*"lab/train-0")
        seen(page, "its user's", ".incident", lambda rows: len(rows) == 1 and "P0: pod:train (lab/train-0)" in rows[0])
    finally:
        page.open(url(region))
        page.driver.refresh()


# The incident of a link of spine1 that turned out to be one of several, with probes over two of them.
SEVERAL = """
const real = window.fetch;
const at = new Date().toISOString();
const way = (...names) => ({ path: names.map((name, i) => `${name}@10.0.0.${i + 1}`).join(' > ') });
const one = { id: 'a2', state: 'open', region: 'lab', tor: '', part_type: 'link', part: 'spine1--tor1', place: '', kind: 'links-down',
  severity: 'major', confidence: 0.9, sentence: 'Switch spine1 has links that carry nothing: 3 of its 4 links.', began: at, opened: at,
  changed: at, resolved: null, sources: ['analyzer'], related: [], evidence: { impact: 'unknown', widened: 'spine1',
  links: ['spine1--tor1', 'spine1->tor3', 'spine1--leaf9'], samples: [way('tor2', 'spine1', 'tor3'), way('tor3', 'spine1', 'tor2'), way('tor1', 'spine1', 'tor2')] } };
window.fetch = async (path, how) => {
  if (path.startsWith('/v1/incidents/a2')) return new Response(JSON.stringify(one));
  const answer = await real(path, how);
  if (!path.startsWith('/v1/incidents')) return answer;
  const reported = await answer.json();
  reported.incidents.push({ ...one, number: 1 });
  return new Response(JSON.stringify(reported));
};
location.hash = '#/incident/a2';"""

MARKED = """return [...document.querySelectorAll('.hops')].map((path) =>
  [...path.querySelectorAll('li')].filter((hop) => hop.classList.contains(arguments[0])).map((hop) => hop.innerText))"""


@pytest.mark.parametrize("spine", ("spine1", "dc1--spine1"))  # names of switches may contain "--"
def test_an_incident_of_several_links_is_shown_with_all_its_links(region, page, spine):
    page.open(url(region))
    page.driver.execute_script(SEVERAL.replace("spine1", spine))
    try:
        seen(page, "what is at fault", "h1", lambda texts: texts == [f"Switch {spine} has links that carry nothing"])
        reported = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
        assert reported["At fault"] == spine and reported["Part"] == f"link {spine}--tor1", reported
        assert reported["Links"] == f"{spine}--tor1, {spine}->tor3, {spine}--leaf9", reported
        assert set(reported["Racks"].split(", ")) == {"tor1", "tor3"}, reported
        assert page.driver.execute_script(MARKED, "suspect") == [[spine, "tor3"], ["tor3", spine], ["tor1", spine]]
        # The second path crosses its link in the direction that works.
        assert page.driver.execute_script(MARKED, "cut") == [["tor3"], [], [spine]]
        for tor, named in (("tor3", 1), ("tor2", 0)):
            page.driver.execute_script(f"location.hash = '#/rack/lab/{tor}'")
            seen(page, tor, "h1", lambda texts, tor=tor: texts and texts[0].startswith(tor))
            seen(page, "its incidents", ".incident.open b", lambda texts, named=named: len(texts) == named)
    finally:
        page.open(url(region))
        page.driver.refresh()


# A switch or one of two links of it.
SWITCH_OR_LINKS = """
const real = window.fetch;
const at = new Date().toISOString();
const way = (...names) => ({ path: names.map((name, i) => `${name}@10.0.0.${i + 1}`).join(' > ') });
const one = { id: 'a5', state: 'open', region: 'lab', tor: '', part_type: 'switch', part: 'spine1 or spine1--tor1 or spine1--tor2',
  place: '', kind: 'switch-lossy', severity: 'major', confidence: 0.5, sentence: 'spine1 or a link of it loses packets.', began: at,
  opened: at, changed: at, resolved: null, sources: ['analyzer'], related: [],
  evidence: { impact: 'unknown', narrowed: '', samples: [way('tor1', 'spine1', 'tor3')] } };
window.fetch = async (path, how) => {
  if (path.startsWith('/v1/incidents/a5')) return new Response(JSON.stringify(one));
  const answer = await real(path, how);
  if (!path.startsWith('/v1/incidents')) return answer;
  const reported = await answer.json();
  reported.incidents.push({ ...one, number: 1 });
  return new Response(JSON.stringify(reported));
};
location.hash = '#/incident/a5';"""


def test_an_incident_of_a_switch_or_its_links_marks_all_of_them(region, page):
    page.open(url(region))
    page.driver.execute_script(SWITCH_OR_LINKS)
    try:
        seen(page, "what is at fault", "h1", lambda texts: texts == ["spine1 or a link of it loses packets."])
        reported = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
        assert set(reported["Racks"].split(", ")) == {"tor1", "tor2"}, reported
        assert page.driver.execute_script(MARKED, "suspect") == [["tor1", "spine1"]]
        assert page.driver.execute_script(MARKED, "cut") == [["spine1"]]
    finally:
        page.open(url(region))
        page.driver.refresh()


# Two open incidents between racks: one on a whole spine, and one on two links of another spine,
# which the evidence lists.
OPEN_BETWEEN = """
window.answers = window.fetch;
const at = new Date().toISOString();
const common = { state: 'open', region: 'lab', tor: '', place: '', severity: 'major', confidence: 0.9, began: at, opened: at,
  changed: at, resolved: null, sources: ['analyzer'], related: [] };
const spine = { ...common, id: 'a3', part_type: 'switch', part: 'spine2', kind: 'switch-down', sentence: 'Spine2 is down.', evidence: {} };
const links = { ...common, id: 'a4', part_type: 'link', part: 'spine3--tor1', kind: 'links-down', sentence: 'Two links are down.',
  evidence: { links: ['spine3--tor1', 'spine3--leaf9'], links_down: 2 } };
window.fetch = async (path, how) => {
  const answer = await window.answers(path, how);
  if (!path.startsWith('/v1/incidents')) return answer;
  const reported = await answer.json();
  reported.incidents.push({ ...spine, number: 1 }, { ...links, number: 2 });
  return new Response(JSON.stringify(reported));
};"""


def test_a_rack_shows_the_open_incidents_of_whole_switches(region, page):
    """Every rack shows them, as in its history, because it is not known which racks send over a switch."""
    page.open(url(region))
    page.driver.execute_script(OPEN_BETWEEN)
    try:
        for tor, titles in (("tor3", {"Spine2 is down."}), ("tor1", {"Spine2 is down.", "Two links are down."})):
            page.driver.execute_script(f"location.hash = '#/rack/lab/{tor}'")
            seen(page, tor, "h1", lambda texts, tor=tor: texts and texts[0].startswith(tor))
            seen(page, "what is open", ".incident.open b", lambda texts, titles=titles: set(texts) == titles)
            seen(page, "apart", "h2", lambda texts: any("which may concern this rack" in text for text in texts))
    finally:
        page.open(url(region))
        page.driver.refresh()


# Five open incidents, of which an answer has two; the page has just been opened.
MANY_OPEN = """
const real = window.fetch;
const at = new Date().toISOString();
const all = [1, 2, 3, 4, 5].map((number) => ({ id: `b${number}`, number, state: 'open', region: 'lab', tor: 'tor1', place: 'tor1',
  part_type: 'rnic', part: `h${number}/r9`, kind: 'rnic-lossy', severity: 'major', confidence: 0.9, began: at, opened: at, changed: at,
  resolved: null, sources: ['analyzer'], related: [], sentence: `RNIC h${number}/r9 is lossy.`, evidence: {} }));
window.fetch = async (path, how) => {
  if (path.startsWith('/v1/health')) return new Response(JSON.stringify({ ...(await (await real(path, how)).json()), started: at }));
  if (!path.startsWith('/v1/incidents')) return real(path, how);
  const since = new URLSearchParams(path.split('?')[1]).get('since');
  const chosen = since === null ? all.slice(3) : all.filter(({ number }) => number > since).slice(0, 2);
  const changes = since === null || chosen.length < 2 ? 5 : chosen.at(-1).number;
  return new Response(JSON.stringify({ changes, open: 5, incidents: chosen }));
};
location.hash = '#/incidents';"""


def test_all_open_incidents_are_known_though_an_answer_is_limited(region, page):
    page.open(url(region))
    page.driver.execute_script(MANY_OPEN)
    try:
        seen(page, "all", ".incident.open b", lambda texts: sorted(texts) == [f"RNIC h{n}/r9 is lossy." for n in range(1, 6)])
    finally:
        page.open(url(region))
        page.driver.refresh()


# The analyzer restarts, and does not answer with its incidents yet.
RESTARTED = """
window.answered = window.fetch;
window.refused = 0;
window.fetch = async (path, how) => {
  if (path === '/v1/incidents') {
    window.refused++;
    return new Response(JSON.stringify({ error: 'too many requests' }), { status: 503 });
  }
  const answer = await window.answered(path, how);
  if (!path.startsWith('/v1/health')) return answer;
  return new Response(JSON.stringify({ ...(await answer.json()), started: '2020-01-01T00:00:00Z' }));
};"""


def test_an_open_incident_stays_visible_while_the_analyzer_restarts(region, page):
    page.open(url(region))
    page.driver.execute_script(OPEN_BETWEEN)
    titles = {"Spine2 is down.", "Two links are down."}
    try:
        seen(page, "what is open", ".incident.open b", lambda texts: set(texts) == titles)
        page.driver.execute_script(RESTARTED)
        until("its incidents are asked for again", PATIENCE_S, lambda: page.driver.execute_script("return window.refused > 0"))
        page.driver.execute_script("location.hash = '#/incidents'")
        seen(page, "the view", "h1", lambda texts: texts == ["Incidents"])
        assert set(page.texts(".incident.open b")) == titles
    finally:
        page.open(url(region))
        page.driver.refresh()


def test_an_incident_whose_evidence_cannot_be_read_is_shown(region, page):
    page.open(url(region))
    page.driver.execute_script(HURTING.replace("JSON.stringify(one)", "JSON.stringify({ ...one, evidence: null })"))
    try:
        seen(page, "what is said", "article h1", lambda texts: texts == ["Link spine1--tor2 loses packets."])
        seen(page, "the page is live", "body:not(.stale) #status", lambda texts: texts and texts[0].startswith("live"))
        assert page.complaints() == []
    finally:
        page.open(url(region))
        page.driver.refresh()


def remedy_is_shown(page, kind):
    """Checks the advice beside the incident, and on the page to which an alert's runbook link
    leads."""
    section = (places.ROOT / "docs" / "verdicts.md").read_text().split(f"\n## {kind}\n")[1].split("\n## ")[0]
    said = [" ".join(block.split()) for block in re.sub(r"[*`]", "", section.replace("\n**", "\n\n**")).split("\n\n")]
    said = [block for block in said if block]
    seen(page, "what to do", ".advice p", lambda texts: texts == said)
    there = page.driver.current_url
    page.driver.execute_script(f"location.hash = '#/kind/{kind}'")
    seen(page, "the kind", ".advice h1", lambda texts: texts and texts[0].startswith(f"What {kind} means"))
    assert page.texts(".advice p") == said
    seen(page, "who has it", "article > p", lambda texts: "Open now: h2/r0." in texts)
    page.open(there)


def its_pairs_are_the_worst(page, rnic):
    """Checks the table, the counts of the legend, and single cells chosen by keyboard."""
    # The mesh covers a minute: losses that a starved host caused earlier must be older than that.
    seen(page, "a mesh", ".mesh tbody tr", lambda rows: rows and all(rnic in row for row in rows),
         2 * PATIENCE_S)
    legend = page.texts(".legend span")
    assert legend[0].startswith("nothing lost ") and not legend[0].endswith(" 0"), legend
    page.driver.execute_script("document.querySelector('canvas').focus()")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)  # the first cell, and the next one
    detail = page.texts(".detail")[0]
    assert detail.startswith("h1/r0 → h2/r0: ") and "lost" in detail, detail
    page.press(Keys.ARROW_RIGHT)
    detail = page.texts(".detail")[0]
    assert detail.startswith("h1/r0 → h3/r0: ") and " 0 lost" in detail and "RTT p50" in detail, detail
    for each in page.find(".mesh select")[0].find_elements("tag name", "option"):
        each.click()
    heads = page.texts(".mesh th")
    assert "RTT, 99th percentile" in heads, heads


def test_the_past_of_a_rack_is_a_sentence_and_lines(region, page):
    """The hour is the one in which an RNIC failed in an earlier test."""
    page.open(url(region, "#/history/lab/tor1"))
    said = "1 incident was open", "incidents were open"  # on a slow machine an agent may be the second incident
    seen(page, "a sentence", "main p", lambda texts: any(each in t for t in texts for each in said))
    reported = next(t for t in page.texts("main p") if any(each in t for each in said))
    assert "inside the rack" in reported and "The loss was highest around" in reported, reported
    assert any("RNIC h2/r0 at tor1" in text for text in page.texts(".incidents b"))
    lines = "return [...document.querySelectorAll('path.line-0')].map(p => p.getAttribute('d'))"
    drawn = page.driver.execute_script(lines)
    assert len(drawn) == 3 and all(line.startswith("M") for line in drawn), drawn
    page.open(url(region, "#/history/lab/tor1/2020-01-01T00:00:00Z/900"))
    seen(page, "nothing then", "main p", lambda texts: any("Whether an incident was open is not known" in t for t in texts))
    assert page.driver.page_source.count("nothing measured") == 3
    page.open(url(region, "#/%/constructor"))  # an address that the page does not know
    seen(page, "the racks", NAMES, lambda texts: len(texts) == 3)
    assert page.complaints() == []
    page.open(url(region, "#/incident/00000000deadbeef"))
    seen(page, "no such incident", ".trouble", lambda texts: "does not know" in "".join(texts))
    seen(page, "nor in history", "article p", lambda texts: "history of the last 31 days does not have it" in "".join(texts))
    page.complaints()  # of the 404
    page._log.clear()


def test_an_aggregator_that_does_not_answer_leaves_the_page_live(region, page):
    """Then the mesh gets no answer, and nothing else on the page waits for it."""
    page.open(url(region))
    seen(page, "live", "#status", lambda texts: texts[0].startswith("live"))
    page.driver.execute_script(
        "const real = window.fetch; window.fetch = (path, how) =>"
        " path.startsWith('/v1/mesh/') ? new Promise(() => {}) : real(path, how);"
        "location.hash = '#/rack/lab/tor2'"
    )
    seen(page, "the rack", "h1", lambda texts: texts and texts[0].startswith("tor2"))
    for _ in range(2):
        before = page.texts("#status")
        seen(page, "the next second", "body:not(.stale) #status", lambda texts: texts and texts != before)
    assert any("Asking the rack" in text for text in page.texts(".mesh p"))


def test_the_page_can_be_used_by_keyboard_alone(region, page):
    page.open(url(region))
    seen(page, "all racks are there", NAMES, lambda texts: len(texts) == 3)
    page.press("/", *"tor2")
    seen(page, "one rack is left", NAMES, lambda texts: texts == ["tor2"])
    page.press(Keys.BACKSPACE)
    seen(page, "all are back", NAMES, lambda texts: len(texts) == 3)
    page.press(Keys.TAB, Keys.TAB, Keys.TAB)  # past the states and the history, to the first rack
    second = page.texts(NAMES)[1]
    page.press(Keys.ARROW_RIGHT, Keys.ENTER)
    seen(page, "the second rack", "h1", lambda texts: texts and texts[0].startswith(second))
    assert page.complaints() == []


def test_the_page_is_dark_if_the_system_is_dark(region, page):
    page.open(url(region))
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    page.prefer("light")
    light = page.driver.execute_script(colour)
    page.prefer("dark")
    dark = page.driver.execute_script(colour)
    page.prefer("light")
    assert light == "rgb(255, 255, 255)" and dark != light


def test_the_policy_forbids_scripts_and_data_from_elsewhere(region, page):
    """The policy is the one that the server sends; the page itself requests nothing from other
    servers."""
    page.open(url(region))
    answer = page.driver.execute_async_script(
        "const done = arguments[0];"
        "fetch('/').then(a => done(Object.fromEntries(a.headers)), e => done(String(e)))"
    )
    policy = answer["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert answer["x-content-type-options"] == "nosniff" and answer["etag"]
    done = page.driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.inline = 1';"
        "document.head.append(s); return window.inline === 1"
    )
    assert not done
    page.complaints()  # the error that this test has caused
    page._log.clear()


GAP = """
const done = arguments[0], from = new Date('2020-01-20T04:00:00Z'), to = new Date('2020-01-20T04:20:00Z');
const filled = Array.from({ length: 20 }, (_, i) => ({ time: +from + (i + 0.5) * 60000, left: i < 14 ? 100 : 0, lost: 0 }));
import(new URL('past.js', document.querySelector('script').src)).then(
  (past) => done(past.summary([{ name: 'all', filled }], { incidents: [], whole: true }, from, to)), (e) => done(String(e)));
"""


def test_a_time_without_data_is_shown_as_unknown(region, page):
    page.open(url(region))
    said = page.driver.execute_async_script(GAP)
    assert "No results are stored for 6 min of that time: the loss then is not known." in said, said


LONG_AGO = """
window.answers = window.fetch;
const row = { time: '2020-01-20T00:00:00.000Z', region: 'lab', tor: 'tor2', part_type: 'rnic', part: 'h5/r0',
  place: 'tor2', state: 'resolved', id: 'feed', severity: 'major', opened_ns: 1, sentence: 'It was dead.' };
window.fetch = async (path, how) => {
  const answer = await window.answers(path, how);
  if (!path.includes('state=resolved')) return answer;
  const reported = await answer.json();
  reported.rows.push(reported.columns.map((each) => row[each] ?? null));
  return new Response(JSON.stringify(reported));
};"""


def test_the_past_of_a_region_shows_its_racks_as_they_were(region, page):
    """At the time when the RNIC was dead, without naming its rack."""
    reported = region.lab.analyzer.get("/v1/incidents").json["incidents"]
    opened, which = next((each["opened"], each["id"]) for each in reversed(reported) if each["part"] == "h2/r0")
    then = datetime.fromisoformat(opened) + timedelta(seconds=1)
    view = f"#/history/lab//{then.isoformat()}/900".replace("+00:00", "Z")

    def minutes_are_written():
        """The service level of a minute is written when the minute has ended."""
        page.open(url(region))
        page.open(url(region, view))
        seen(page, "then", "main p", lambda texts: any("were open" in t or "was open" in t for t in texts))
        figures = page.texts(".rack .figures")  # the first rack's are of the minute of the fault
        reported = figures and all(" lost" in text for text in figures) and " 0 % lost" not in figures[0]
        return reported and "nothing measured" not in page.driver.page_source

    until("minutes are written", 2 * PATIENCE_S, minutes_are_written)
    said = next(t for t in page.texts("main p") if "inside racks" in t)
    assert "between racks" in said and "At the end of that time" in said, said
    assert any("RNIC h2/r0 at tor1" in text for text in page.texts(".incidents b"))
    lines = "return [...document.querySelectorAll('path.line')].map(p => p.getAttribute('d'))"
    drawn = page.driver.execute_script(lines)
    assert any(drawn) and all("L" in d or "h4" in d for d in drawn if d), drawn  # a single minute is visible, too
    shown = dict(zip(page.texts(NAMES), page.find(".rack"), strict=True))
    assert set(shown) == set(RACKS) and "bad" in shown["tor1"].get_attribute("class")
    # The loss of each rack in these minutes is shown, too.
    figures = dict(zip(page.texts(NAMES), page.texts(".rack .figures"), strict=True))
    lost = {tor: re.fullmatch(r"(./.) RNICs · (.*) % lost(.*)", text) for tor, text in figures.items()}
    # A starved RNIC may have been unknown at that moment, but h2/r0 was certainly not good.
    assert all(lost.values()) and lost["tor1"][1] in ("1/4", "2/4", "3/4"), figures
    assert lost["tor1"][3] == " · 1 incident", figures
    assert lost["tor1"][2] != "0", figures
    assert any("Racks with the highest loss" in text and "tor1 " in text for text in page.texts("main p"))
    # Moves from rack to rack by keyboard, and opens the past of one.
    page.driver.execute_script("document.querySelector('.rack a').focus()")
    last = page.texts(NAMES)[-1]  # of the good racks the one with the smallest loss
    page.press(Keys.END, Keys.ENTER)
    seen(page, "a rack then", "h1", lambda texts: texts and texts[0] == f"{last} in the past")
    assert page.driver.current_url.endswith("/900"), page.driver.current_url
    # The analyzer answers at most four queries at the same time: wait for these first.
    seen(page, "its past", "main p", lambda texts: any("inside the rack" in t for t in texts))
    page.open(url(region, "#/history/lab//2020-01-01T00:00:00Z/900"))
    seen(page, "nothing then", "main p", lambda texts: any("Whether an incident was open is not known" in t for t in texts))
    assert page.texts(".rack .figures") == ["no reports"] * 3
    # An incident that was opened long before, and ended long after.
    page.driver.execute_script(LONG_AGO)
    page.driver.execute_script("location.hash = '#/history/lab//2020-01-02T00:00:00Z/900'")
    seen(page, "it was open", "main p", lambda texts: any("At the end of that time 1 incident was open" in t for t in texts))
    assert page.texts(".rack.bad .name") == ["tor2"]
    assert any("still open at the end" in text for text in page.texts(".incidents .when"))
    # An earlier incident of the same part is shown beside the incident.
    page.driver.execute_script(f"location.hash = '#/incident/{which}'")
    seen(page, "what was before", ".before b", lambda texts: texts == ["It was dead."])
    assert page.texts(".before p") == ["1 incident of this part has ended in the last 31 days:"]
    page.driver.execute_script("window.fetch = window.answers")
    assert page.complaints() == []


def test_an_address_of_the_past_that_cannot_be_shown_gives_the_reason(region, page):
    for view, said in (("tor1/notatime/900", "notatime in the address cannot be read: give it as 2026-01-31T04:10:00Z"),
                       ("tor1/2099-01-01T00:00:00Z/900", "2099-01-01 00:00:00 UTC is in the future")):
        page.open(url(region))
        page.open(url(region, f"#/history/lab/{view}"))
        seen(page, view, "main p", lambda texts, said=said: any(said in text for text in texts))
    # A length that the list does not offer. A time without a zone is UTC in every zone.
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    try:
        for until_ in ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00", "2019-12-31T19:00:00-05:00"):
            page.open(url(region))
            page.open(url(region, f"#/history/lab/tor1/{until_}/1800"))
            seen(page, until_, "main p", lambda texts: any("From 2019-12-31 23:30:00 to 2020-01-01 00:00:00" in text for text in texts))
    finally:
        page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    page.open(url(region, "#/rack/lab"))  # without a ToR
    seen(page, "the racks", NAMES, lambda texts: len(texts) == 3)
    assert page.complaints() == []


RECORD = """
window.answers = window.fetch;
window.asked = [];
window.fetch = (path, how) => { window.asked.push(path); return window.answers(path, how); };"""


def test_the_past_of_a_rack_is_merged_by_the_analyzer(region, page):
    """A rack may have hundreds of pairs with a row every 10 s each: the rows of a week do not fit
    into an answer."""
    page.open(url(region))
    page.driver.execute_script(RECORD)
    try:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        page.driver.execute_script(f"location.hash = '#/history/lab/tor1/{now}/604800'")
        seen(page, "its past", "main p", lambda texts: any("inside the rack" in t and "no probes" not in t for t in texts))
        asked = [path for path in page.driver.execute_script("return window.asked") if "rm_tor_pair" in path]
        assert len(asked) == 2 and all("step_s=5040" in path for path in asked), asked
        drawn = page.driver.execute_script("return [...document.querySelectorAll('path.line')].map(p => p.getAttribute('d'))")
        assert len(drawn) == 9 and all(drawn), drawn  # a single point is visible, too
    finally:
        page.driver.execute_script("window.fetch = window.answers")
        page.open(url(region))
    assert page.complaints() == []


def test_service_levels_name_the_time_that_they_do_not_contain(region, page):
    page.open(url(region, "#/sla"))
    seen(page, "since when", "main p", lambda texts: any("The figures begin " in text and "the time before that" in text for text in texts))


OVER_SWITCHES = """
window.answers = window.fetch;
const common = { region: 'lab', tor: '', severity: 'major', opened_ns: 1 };
const rows = [
  { ...common, time: '2020-01-02T00:00:00.000Z', part_type: 'link', part: 'spine1--tor1', state: 'updated', id: 'a',
    links: 'spine1--tor1, spine1->tor2, spine1--leaf9', sentence: 'Several links.' },
  { ...common, time: '2020-01-20T00:00:00.000Z', part_type: 'link', part: 'spine1--tor1', state: 'resolved', id: 'a',
    links: 'spine1--tor1, spine1--leaf9', sentence: 'Two links.' },
  { ...common, time: '2020-01-20T00:00:00.000Z', part_type: 'switch', part: 'spine2', state: 'resolved', id: 'b', sentence: 'A dead spine.' },
  { ...common, time: '2020-01-20T00:00:00.000Z', part_type: 'link', part: 'spine2--leaf9', state: 'resolved', id: 'c', sentence: 'Of others.' },
  { ...common, time: '2020-01-02T00:00:00.000Z', part_type: 'link', part: 'spine3--leaf9', state: 'updated', id: 'd', kind: 'links-down',
    links: 'spine3--leaf7, spine3--leaf8, spine3--leaf9', sentence: 'Links of others.' },
  { ...common, time: '2020-01-20T00:00:00.000Z', part_type: 'link', part: 'spine3--leaf9', state: 'resolved', id: 'd', kind: 'switch-down',
    sentence: 'Then the whole spine.' },
];
window.fetch = async (path, how) => {
  const answer = await window.answers(path, how);
  if (!path.includes('state=resolved')) return answer;
  const reported = await answer.json();
  reported.rows.push(...rows.map((row) => reported.columns.map((each) => row[each] ?? null)));
  return new Response(JSON.stringify(reported));
};"""


def test_the_past_of_a_rack_has_the_incidents_of_its_links_and_of_switches(region, page):
    """A rack is named by a link that is only one of several, and a dead spine concerns every rack."""
    page.open(url(region))
    page.driver.execute_script(OVER_SWITCHES)
    try:
        spines = {"A dead spine.", "Then the whole spine."}
        for tor, titles in (("tor1", {"Two links."} | spines), ("tor2", {"Two links."} | spines), ("tor3", spines)):
            page.driver.execute_script(f"location.hash = '#/history/lab/{tor}/2020-01-02T00:00:00Z/900'")
            seen(page, tor, "h1", lambda texts, tor=tor: texts == [f"{tor} in the past"])
            seen(page, "what was open", ".incidents b", lambda texts, titles=titles: set(texts) == titles)
    finally:
        page.driver.execute_script("window.fetch = window.answers")
        page.open(url(region))
    assert page.complaints() == []


def lost_out(rows, prober, target):
    """The loss of a pair on the way out in the table of the worst pairs; 0: it is not in the
    table."""
    of_pair = [row.split("\t") for row in rows if row.split("\t")[:2] == [prober, target]]
    figure = of_pair[0][4].replace("\u202f", "") if of_pair else ""
    return int(figure) if figure.isdigit() else 0


def test_a_failing_pair_is_among_the_worst_within_seconds(region, page, print_line):
    """On the page of its rack, before there is a verdict."""
    prober, target = region.rnic("h1/r0"), region.rnic("h3/r0")
    page.open(url(region, "#/rack/lab/tor1"))
    seen(page, "a mesh", ".legend span", lambda texts: texts and not texts[0].endswith(" 0"))
    at = time.monotonic()
    region.fabric.drop(target, send=False, which=f"ip saddr {prober.ipv4} udp dport 862")
    try:
        seen(page, "it is among the worst", ".mesh tbody tr",
             lambda rows: lost_out(rows, prober.name, target.name) >= 5, 2 * PATIENCE_S)
        took = time.monotonic() - at
        print_line(f"a pair on the page after {took:.2f} s")
        in_time("on the page", took, SHOWN_S, at)
    finally:
        region.fabric.heal(target)


def test_old_values_are_not_shown_as_live(region, page):
    """The target of an alert's link is also shown after a restart of the analyzer."""
    page.open(url(region, "#/incidents"))
    seen(page, "what has been", ".incident a b", lambda texts: any("h2/r0" in text for text in texts))
    links = {link.text: link.get_attribute("href") for link in page.find(".incident a")}
    ended = next(href for text, href in links.items() if "RNIC h2/r0" in text)
    page.open(url(region))
    seen(page, "live", "#status", lambda texts: texts[0].startswith("live"))
    region.lab.analyzer.stop()
    try:
        seen(page, "it says so", ".stale #status", lambda texts: "no answer since" in "".join(texts))
    finally:
        region.lab.analyzer.start()
        region.lab.analyzer.wait_ready()
    seen(page, "live again", "body:not(.stale) #status", lambda texts: "live" in "".join(texts))
    seen(page, "all racks are back", NAMES, lambda texts: set(texts) == set(RACKS))
    page.open(ended)
    seen(page, "what was written of it", "article p", lambda texts: "This is the last state in the history" in "".join(texts))
    reported = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
    assert reported["Kind"] == "rnic-down" and "to it, or over it" in page.texts("td"), reported
    assert page.texts(".path .state") == ["resolved"]
    # The same is shown in a terminal, by way of the list of incidents.
    reported = region.lab.ctl("analyzer", "history", "--since", "15m")
    which = ended.rsplit("/", 1)[1]
    assert f"(incident {which})" in reported, reported
    explained = region.lab.ctl("analyzer", "explain", which)
    for each in ("resolved  ", "to it, or over it", "impact unknown", "What rnic-down means", "The same part at other times"):
        assert each in explained, explained
