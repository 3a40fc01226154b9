"""The analyzer's page from another machine, over TLS, for the clients that may see it."""

import base64
import contextlib
import http.client
import json
import secrets
import ssl

import pytest

from lab import netns as namespaces
from lab.browser import browser, seen
from lab.ca import identity
from lab.rackmesh import REGION
from lab.wait import PATIENCE_S
from lab.world import World

RACKS = {"tor1": ["h1", "h2"], "tor2": ["h3"]}
PORT = 9574
TOKEN, ELSEWHERE = secrets.token_hex(24), secrets.token_hex(24)
VIEWS = {
    "#/rack/lab/tor1": "tor1",
    "#/incidents": "Incidents",
    "#/history/lab/tor1": "tor1",
    "#/sla": "Service levels",
    "#/daemons": "Aggregators",
}


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    tokens = folder / "tokens"
    tokens.touch(mode=0o600)
    # With line ends of another system, and without a last newline.
    tokens.write_text(f"# people\r\neve {ELSEWHERE} field\r\nann {TOKEN} {REGION}", newline="")
    reached = {"tls_listen": f"0.0.0.0:{PORT}", "tokens_file": str(tokens)}
    with World(RACKS, folder, alertmanager=False, analyzer={"http": reached}) as world:
        # Daemons do not check the name in the certificate; a browser does.
        world.lab.renew("analyzer", hosts=[world.fabric.management["analyzer"]])
        yield world.start()


def person(region, role):
    return region.lab.authority.issue(identity(REGION, role, "ann"), f"person-{role}")


def place(region):
    return f"{region.fabric.management['analyzer']}:{PORT}"


def every_view_is_shown(region, page):
    for view, head in VIEWS.items():
        page.open(f"https://{place(region)}/{view}")
        seen(page, view, "h1", lambda texts, head=head: texts and texts[0].startswith(head))
    page.open(f"https://{place(region)}/")
    seen(page, "all racks", ".rack .name", lambda texts: set(texts) == set(RACKS))
    seen(page, "live", "#status", lambda texts: texts[0].startswith("live"))
    assert [each for each in page.complaints() if "favicon.ico" not in each] == []


def test_a_viewers_certificate_in_a_browser_opens_the_page(region, tmp_path):
    ours, centre = region.lab.authority.certificate_path, region.fabric.netns("centre")
    with browser(centre, tmp_path, ours, person(region, "viewer")) as page:
        every_view_is_shown(region, page)


def test_a_viewers_token_in_a_browser_opens_the_page(region, tmp_path):
    ours, centre = region.lab.authority.certificate_path, region.fabric.netns("centre")
    with browser(centre, tmp_path, ours) as page:
        # This logs in as the browser's own dialog does; the browser keeps the login for that
        # server.
        page.open(f"https://whoever:{TOKEN}@{place(region)}/healthz")
        every_view_is_shown(region, page)
        seen(page, "that it is not all", "#status", lambda texts: f"only region {REGION}" in texts[0])
        a_token_that_is_taken_away_is_missed_at_once(region, page)


def a_token_that_is_taken_away_is_missed_at_once(region, page):
    """The page that was opened with it shows nothing new from then on, and gives the reason."""
    tokens = region.lab.folder / "tokens"
    before = tokens.read_text()
    tokens.write_text(f"eve {ELSEWHERE} field\n")
    try:
        seen(page, "why nothing is new", ".stale #status",
             lambda texts: "the token is not known" in "".join(texts) and "reload the page" in texts[0])
    finally:
        tokens.write_text(before)
    page.open(f"https://whoever:{TOKEN}@{place(region)}/healthz")  # the browser has forgotten it
    page.open(f"https://{place(region)}/")
    seen(page, "live again", "body:not(.stale) #status", lambda texts: "".join(texts).startswith("live"))


def asked(region, path, method="GET", shown=None, **headers):
    """(status, error or body, headers) for a client at the centre; shown: its certificate."""
    context = ssl.create_default_context(cafile=region.lab.authority.certificate_path)
    if shown is not None:
        context.load_cert_chain(shown.certificate, shown.key)
    line = http.client.HTTPSConnection(place(region), context=context, timeout=PATIENCE_S)
    with namespaces.inside(region.fabric.netns("centre")):
        line.connect()
    with contextlib.closing(line):
        line.request(method, path, headers=headers)
        answer = line.getresponse()
        body = json.loads(answer.read())
        return answer.status, body.get("error", body), answer.headers


def basic(password):
    return "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()


def test_clients_without_certificate_or_token_get_the_reason(region):
    status, words, headers = asked(region, "/v1/racks")
    assert status == 401 and "a certificate or a viewer's token is needed" in words
    assert headers["WWW-Authenticate"].startswith('Basic realm="Rackmesh"')
    # Requests of the page's script do not open the browser's dialog again and again.
    status, _, headers = asked(region, "/v1/racks", **{"Sec-Fetch-Dest": "empty"})
    assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="Rackmesh"')
    status, words, _ = asked(region, "/", shown=person(region, "agent"))
    assert status == 403 and "agent 'ann' of region 'lab' may not read" in words

    wrong = TOKEN[:-1] + ("0" if TOKEN[-1] != "0" else "1")
    for header in (f"Bearer {wrong}", basic(wrong), basic(""), "Basic ====", "Digest a=b"):
        assert asked(region, "/v1/racks", Authorization=header)[0] == 401, header
    assert asked(region, f"/v1/racks?token={TOKEN}&access_token={TOKEN}")[0] == 401
    status, words, _ = asked(region, "/v1/racks", Authorization=f"Bearer {ELSEWHERE}")
    assert status == 403 and "of region 'field' may not read" in words
    for header in (f"Bearer {TOKEN}", basic(TOKEN)):
        assert asked(region, "/v1/racks", Authorization=header)[0] == 200, header
        assert asked(region, "/v1/racks", "POST", Authorization=header)[0] in (403, 405)
    assert TOKEN not in region.lab.analyzer.log.read_text()


def test_rackmeshctl_reads_with_a_token(region, tmp_path, monkeypatch):
    mine, ours = tmp_path / "token", region.lab.authority.certificate_path
    mine.touch(mode=0o600)
    mine.write_text(TOKEN + "\n")
    shown = ("--analyzer", f"https://{place(region)}", "--authorities", ours, "--token-file", mine)
    done = region.lab.ctl_run("centre", *shown, "health")
    assert done.returncode == 0 and "tor2" in done.stdout, done
    assert "You may see these regions only" in done.stdout, done
    done = region.lab.ctl_run("centre", *shown, "history", "tor2", "--region", REGION)
    assert done.returncode in (0, 1), done  # 1: nothing is written yet
    done = region.lab.ctl_run("centre", *shown, "history", "tor2", "--region", "field")
    assert done.returncode == 3 and "may not see that region" in done.stderr, done
    # Options have priority over the environment, and only one of the two is used.
    agent = person(region, "agent")
    monkeypatch.setenv("RACKMESH_CERTIFICATE", str(agent.certificate))
    monkeypatch.setenv("RACKMESH_KEY", str(agent.key))
    done = region.lab.ctl_run("centre", *shown, "health")
    assert done.returncode == 0 and "tor2" in done.stdout, done
    done = region.lab.ctl_run("centre", *shown, "health", "--key", agent.key)
    assert done.returncode == 2 and "expected one of the two" in done.stderr, done
    mine.write_text(TOKEN[::-1] + "\n")
    done = region.lab.ctl_run("centre", *shown, "health")
    assert done.returncode == 3 and "the token is not known" in done.stderr, done


def test_rackmeshctl_sends_its_token_only_to_a_daemon_of_the_asked_role(region, tmp_path):
    mine, ours = tmp_path / "token", region.lab.authority.certificate_path
    mine.touch(mode=0o600)
    mine.write_text(TOKEN + "\n")
    shown = ("--authorities", ours, "--token-file", mine)
    for tier, words in (("aggregator", "racks"), ("controller", "leader"), ("agent", "pause")):
        there = (f"--{tier}", f"https://{place(region)}", *shown)
        done = region.lab.ctl_run("centre", *there, words)
        assert done.returncode == 3, done
        assert "its certificate has the role analyzer, so it is not the daemon to ask" in done.stderr, done
