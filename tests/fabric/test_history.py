"""The history arrives in a real database completely and without duplicates, over every path.

The feeder sends messages with known content to the analyzer; the expected values are the
feeder's own counts of what was acknowledged.
"""

import collections
import contextlib
import http.client
import json
import math
import os
import secrets
import ssl
import subprocess
import time
import urllib.parse

import pytest
import yaml

from lab import netns as namespaces
from lab import places
from lab.browser import browser, seen
from lab.ca import Authority, identity
from lab.fakeclock import FakeClock
from lab.feeder import ROWS, Feeder, stored
from lab.influx import INFLUX_PORT, VICTORIA_PORT, Influx, Victoria
from lab.process import Daemon, Pack, Process
from lab.proxy import Proxy
from lab.replayed import Replayed
from lab.schema import measurements
from lab.wait import PATIENCE_S, comes_true, until

AT = "127.0.0.1"
LINK, HTTP, HTTPS, PROXY = 7491, 9474, 9574, 8087
REGIONS = "lab", "north.1", "northX1"  # "." is no wildcard
AGGREGATORS = 10
FED_S = 300
NS = 1_000_000_000
SUMS = ("sent", "lost", "invalid", "not_sent")


@pytest.fixture
def place():
    """A namespace with a loopback interface only."""
    name = f"rmhist-{os.getpid()}"
    namespaces.run("ip", "netns", "add", name)
    try:
        namespaces.run("ip", "-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        namespaces.run("ip", "netns", "del", name)


@pytest.fixture
def pack():
    with Pack() as pack:
        yield pack


def analyzer_at(place, folder, history="", **influx):
    config = folder / "analyzer.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "name": "ana",
                "listen": f"{AT}:{LINK}",
                "state_folder": str(folder / "state"),
                "influx": influx,
                **({"history": {"folder": str(history)}} if history else {}),
                "plaintext": True,  # the feeder knows no certificates
                "http": {"listen": f"{AT}:{HTTP}", "socket": ""},
            }
        )
    )
    (folder / "state").mkdir(exist_ok=True)
    return Daemon(
        "analyzer",
        [places.program("analyzer"), "--config", config],
        place,
        folder / "analyzer.log",
        HTTP,
    )


def figure(analyzer, name, **labels):
    return analyzer.metrics().sum(f"rackmesh_analyzer_history_{name}", **labels)


def wait_empty(analyzer, seconds):
    until(
        "all points are written",
        seconds,
        lambda: figure(analyzer, "waiting_records") == 0,
        [analyzer],
        every=0.2,
    )


def rackmeshctl_run(place, *words):
    command = ["ip", "netns", "exec", place, places.program("rackmeshctl"), *words]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def rackmeshctl(place, *words):
    done = rackmeshctl_run(place, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


DAY_S = 86_400


def asked(analyzer, measurement, **words):
    """The rows of GET /v1/history/ for the days around now, as {column: value}."""
    words = {
        "from": time.strftime("%FT%TZ", time.gmtime(time.time() - DAY_S)),
        "to": time.strftime("%FT%TZ", time.gmtime(time.time() + DAY_S)),
        "limit": 10_000,
        **words,
    }
    answer = analyzer.get(f"/v1/history/{measurement}?{urllib.parse.urlencode(words)}", 20)
    if not answer.ok:
        return answer.status, json.loads(answer.text)["error"]
    assert answer.json["measurement"] == measurement
    rows = [dict(zip(answer.json["columns"], row)) for row in answer.json["rows"]]
    return answer.json["truncated"], rows


def feed(pack, place, folder, analyzer):
    feeder = pack.add(
        Feeder(
            place,
            f"{AT}:{LINK}",
            folder,
            aggregators=2,
            summaries=20,
            rate=20,
            incidents=5,
            incident_rate=5,
            step_ns=NS,
            seconds=60,
        )
    )
    feeder.start()
    expected = feeder.wait_finished(60)
    wait_empty(analyzer, 60)
    return expected


def database_of(kind, pack, place, folder):
    """A running database, and the analyzer's options of the section influx for it."""
    database = pack.add({"influxdb": Influx, "victoria": Victoria}[kind](
        places.ENGINES, place, AT, folder))
    database.start()
    database.wait_ready()
    influx = {"url": database.url}
    if kind == "influxdb":
        rackmeshctl(place, "history", "init", "--url", database.url)
        influx |= {"retention_policy": "raw", "incident_retention_policy": "incidents"}
    return database, influx


@pytest.mark.parametrize("where", ("files", "influxdb", "victoria"))
def test_the_history_api_returns_what_the_analyzer_has_written(place, pack, tmp_path, where):
    database, influx = (None, {}) if where == "files" else database_of(
        where, pack, place, tmp_path)
    history = "" if database else tmp_path / "history"
    analyzer = pack.add(analyzer_at(place, tmp_path, history, **influx))
    analyzer.start()
    analyzer.wait_ready()
    expected = feed(pack, place, tmp_path, analyzer)

    def is_there(name):
        """VictoriaMetrics shows new points only after some seconds."""
        truncated, rows = asked(analyzer, name)
        rows = [row for row in rows if row["aggregator"] != "ana"]  # its own findings
        return not truncated and len(rows) == expected[name]["count"] > 1

    for name in ("rm_incident", "rm_tor_pair"):
        until(f"all of {name} is there", 60, lambda: is_there(name), [analyzer])
    truncated, rows = asked(analyzer, "rm_tor_pair")
    assert rows == sorted(rows, key=lambda row: row["time"])
    assert sum(row["sent"] for row in rows) == expected["rm_tor_pair"]["sent"]
    if where != "victoria":  # it stores no strings
        assert all(row["id"] and row["sentence"] for row in asked(analyzer, "rm_incident")[1])
    tor = rows[0]["src_tor"]
    truncated, of_tor = asked(analyzer, "rm_tor_pair", tor=tor)
    mine = [row for row in rows if tor in (row["src_tor"], row["dst_tor"])]
    # Rows with equal times have no order.
    assert sorted(map(repr, of_tor)) == sorted(map(repr, mine))
    names_alone_are_found(place, analyzer, expected)
    truncated, few = asked(analyzer, "rm_tor_pair", limit=1)
    assert truncated and [row["time"] for row in few] == [rows[0]["time"]]
    assert asked(analyzer, "rm_tor_pair", region="elsewhere") == (False, [])
    assert asked(analyzer, "rm_tor_pair", tor="a' OR 'a'='a")[0] == 400
    assert asked(analyzer, "rm_self")[0] == 404

    truncated, steps = asked(
        analyzer, "rm_tor_pair", src_tor=tor, step_s=100, columns="sent,rtt_p99_ns,region")
    assert not truncated and set(steps[0]) == {"time", "sent", "rtt_p99_ns"}
    assert all(int(time.mktime(time.strptime(row["time"], "%Y-%m-%dT%H:%M:%S.000Z"))) % 100 == 0
               for row in steps)
    out = [row for row in rows if row["src_tor"] == tor]
    assert sum(row["sent"] for row in steps) == sum(row["sent"] for row in out) > 0
    assert max(row["rtt_p99_ns"] for row in steps) == max(row["rtt_p99_ns"] for row in out)
    assert asked(analyzer, "rm_tor_pair", step_s=1)[0] == 400  # 172,800 rows
    assert figure(analyzer, "questions_failed_total") == 0
    analyzer = viewers_get_rows_of_their_regions_only(
        place, pack, tmp_path, analyzer, history, influx)
    if database:
        database.kill()
        status, error = asked(analyzer, "rm_tor_pair")
        assert status == 502 and database.url in error and "does not answer" in error


def over_tls(place, authority, token, path):
    """(status, answer) for a client with this token."""
    context = ssl.create_default_context(cafile=authority.certificate_path)
    line = http.client.HTTPSConnection(AT, HTTPS, context=context, timeout=PATIENCE_S)
    with namespaces.inside(place):
        line.connect()
    with contextlib.closing(line):
        line.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())


def viewers_get_rows_of_their_regions_only(place, pack, folder, analyzer, history, influx):
    """Adds data of two more regions, and reads rows with the tokens of viewers. This needs TLS,
    which the feeder does not support, so the analyzer is restarted."""
    for region in REGIONS[1:]:
        feeder = Feeder(place, f"{AT}:{LINK}", folder, region=region, aggregators=1,
                        summaries=3, incidents=0, start_ns=int(time.time() - 60) * NS, step_ns=NS)
        pack.add(feeder).start().wait_finished(60)
    wait_empty(analyzer, 60)
    sent = dict.fromkeys(REGIONS, 0)

    def all_are_there():
        """VictoriaMetrics shows new points only after some seconds."""
        rows = asked(analyzer, "rm_tor_pair", columns="region,sent", step_s=DAY_S, by="region")[1]
        for region in REGIONS:
            sent[region] = sum(row["sent"] for row in rows if row["region"] == region)
        return all(sent.values())

    until("all regions are there", 60, all_are_there, [analyzer])
    analyzer.stop()
    authority, tokens = Authority(folder / "tls"), folder / "tokens"
    tokens.touch(mode=0o600)
    both, none = secrets.token_hex(24), secrets.token_hex(24)
    tokens.write_text(f"ann {both} {REGIONS[0]},{REGIONS[1]}\neve {none} north\n")
    again = pack.add(analyzer_at(place, folder, history, **influx))
    config = folder / "analyzer.yaml"
    shown = authority.issue(identity("*", "analyzer", "ana"), "analyzer", hosts=[AT]).options()
    options = {**yaml.safe_load(config.read_text()), **shown, "plaintext": False}
    options["http"] |= {"tls_listen": f"{AT}:{HTTPS}", "tokens_file": str(tokens)}
    config.write_text(yaml.safe_dump(options))
    again.start()
    again.wait_ready()
    times = f"from={at(time.time() - DAY_S)}&to={at(time.time() + DAY_S)}&limit=10000"
    path = f"/v1/history/rm_tor_pair?{times}&columns=region,sent"

    def reported(token, more=""):
        status, answer = over_tls(place, authority, token, path + more)
        return status, sorted(row[1:] for row in answer.get("rows", []))  # one time has no order

    for more in ("", f"&step_s={DAY_S}&by=region"):
        status, rows = reported(both, more)
        assert status == 200 and {row[0] for row in rows} == set(REGIONS[:2])
        for region in REGIONS[:2]:
            assert sum(row[1] for row in rows if row[0] == region) == sent[region], more
            assert reported(both, f"{more}&region={region}") == (
                200, [row for row in rows if row[0] == region])
        assert reported(both, f"{more}&region={REGIONS[2]}") == (403, [])
        assert reported(none, more) == (403, [])
    assert sum(row[0] for row in reported(both, f"&step_s={DAY_S}")[1]) == sum(
        sent[region] for region in REGIONS[:2])
    return again


def answers_of(kind, pack, place, folder, start_s):
    """({name of the query: answer}, analyzer, database): every measurement, whole and by steps,
    and the output of rackmeshctl."""
    database, influx = database_of(kind, pack, place, folder)
    analyzer = pack.add(analyzer_at(place, folder, **influx))
    analyzer.start()
    analyzer.wait_ready()
    feeder = Feeder(place, f"{AT}:{LINK}", folder, aggregators=2, summaries=40, incidents=5,
                    start_ns=start_s * NS, step_ns=NS)
    expected = pack.add(feeder).start().wait_finished(60)
    wait_empty(analyzer, 60)

    def all_is_there():
        """VictoriaMetrics shows new points only after some seconds."""
        reported = {name: asked(analyzer, name)[1] for name in ("rm_tor_pair", "rm_rnic", "rm_incident")}
        # On a slow machine the analyzer has findings of its own.
        return all(sum(row["aggregator"] != "ana" for row in rows) == expected[name]["count"]
                   for name, rows in reported.items())

    until("all is there", 60, all_is_there, [analyzer])
    reported = {}
    for name in set(measurements()) - {"rm_self", "rm_path"}:
        if not name.startswith("rm_sla"):  # the rows of its last minutes may not be written yet
            reported[name] = asked(analyzer, name)
        for step_s in (10, 60):
            words = {"step_s": step_s, "from": at(start_s - 60), "to": at(start_s + 120)}
            reported[name, step_s] = asked(analyzer, name, **words)
            reported[name, step_s, "tor"] = asked(analyzer, name, tor="tor-0", **words)
    for who in ("tor-0", "h1-0/mlx5_0"):
        words = ("history", who, "--at", at(start_s + 60), "--since", "2m", "--json")
        reported[who] = json.loads(rackmeshctl(place, *words))
    return reported, analyzer, database


def at(seconds):
    return time.strftime("%FT%TZ", time.gmtime(seconds))


def test_victoriametrics_returns_the_same_as_influxdb_except_texts(place, tmp_path):
    start_s = int(time.time()) // 60 * 60 - 600
    reported = {}
    for kind in ("influxdb", "victoria"):
        (tmp_path / kind).mkdir()
        with Pack() as pack:
            reported[kind], analyzer, database = answers_of(
                kind, pack, place, tmp_path / kind, start_s)
            if kind == "victoria":
                missing_texts_are_reported(
                    place, tmp_path / "browser", analyzer, database, start_s)
    columns = measurements()
    for what, influx in reported["influxdb"].items():
        victoria = reported["victoria"][what]
        if isinstance(influx, dict):  # rackmeshctl's
            assert influx["rows"] == victoria["rows"] and influx["texts_kept"], what
            assert not victoria["texts_kept"]
            for each in influx["incidents"]:
                assert each["id"] and each["kind"] and each["sentence"]
                each.update(id="", kind="", sentence="")
            assert influx["incidents"] == victoria["incidents"] != [], what
            continue
        if isinstance(what, str):
            strings = {key: None for key, (kind, _) in columns[what].items() if kind == "string"}
            influx = influx[0], [{**row, **strings} for row in influx[1]]
        # Rows with equal times have no order. When the feeder has ended, its region is silent,
        # which one of the runs may report on a slow machine.
        assert influx[0] == victoria[0], what
        assert without_region(influx[1]) == without_region(victoria[1]), what
    assert all(reported["influxdb"][name, 10][1] for name in ("rm_tor_pair", "rm_rnic", "rm_rack"))


def without_region(reported):
    """Rows in a fixed order, without incidents of the whole region; or an error."""
    if isinstance(reported, str):
        return reported
    return sorted(repr(row) for row in reported if row.get("part_type") != "region")


def missing_texts_are_reported(place, folder, analyzer, database, start_s):
    answer = analyzer.get(f"/v1/history/rm_incident?from={at(start_s)}&columns=id,part,sentence")
    assert answer.json["not_kept"] == ["id", "sentence"] and answer.json["rows"]
    folder.mkdir()
    with browser(place, folder) as page:
        page.open(f"http://{AT}:{HTTP}/#/history/lab/tor-0/{at(start_s + 600)}/900")
        seen(page, "the sentence", "main p", lambda texts: any("5 incidents were open" in t for t in texts))
        assert any("stores no texts (VictoriaMetrics)" in text for text in page.texts("main p"))
        assert page.texts(".incidents b") == ["h0-0/mlx5_0"] * 5
        assert page.complaints() == []
        a_database_that_hangs_leaves_the_page_live(page, database)


def a_database_that_hangs_leaves_the_page_live(page, database):
    """The page reports that the database does not answer, everything else continues, and the
    view works again once it answers."""
    look = "document.querySelector('form button').click()"
    database.freeze()
    try:
        page.driver.execute_script("document.querySelector('select[aria-label=\"How long\"]').value = 3600;" + look)
        seen(page, "it is asked", "main p", lambda texts: "Reading the history…" in texts)
        before = page.texts("#status")
        seen(page, "the page goes on", "body:not(.stale) #status", lambda texts: texts and texts != before)
        seen(page, "it does not answer", ".trouble", lambda texts: "The history cannot be read" in "".join(texts))
        assert page.texts(".stale") == []
    finally:
        database.thaw()
    page.driver.execute_script("document.querySelector('select[aria-label=\"How long\"]').value = 900;" + look)
    seen(page, "it answers again", "main p", lambda texts: any("5 incidents were open" in t for t in texts))


def names_alone_are_found(place, analyzer, expected):
    """Requests names only, and no field, although databases find points only by their fields."""
    until("all of rm_rnic is there", 60, lambda: len(asked(
        analyzer, "rm_rnic", columns="host,device")[1]) == expected["rm_rnic"]["count"], [analyzer])
    _, rows = asked(analyzer, "rm_rnic", columns="host,device")
    assert {tuple(row) for row in rows} == {("time", "host", "device")}
    rnic = next(row["rnic"] for row in asked(analyzer, "rm_rnic")[1] if row["host"] == "h1-0")
    reported = {}

    def incidents_of_its_host_are_reported():
        """The times of the feeder's last incidents are some seconds after it sends them."""
        reported.update(json.loads(rackmeshctl(place, "history", rnic, "--json")))
        return len(reported["incidents"]) == expected["rm_incident"]["count"] / 2

    until("its incidents are reported", 20, incidents_of_its_host_are_reported, [analyzer])
    assert sum(row["sent"] for row in reported["rows"]) > 0
    assert {each["part"] for each in reported["incidents"]} == {"h1-0/mlx5_0"}


def test_every_point_is_stored_exactly_once(
    place, pack, tmp_path, rng, full, soak, print_line
):
    away_s = 600 if soak else 10 if full else 6
    before_s, after_s = (30, 60) if soak else (4, 6)
    rate = 5 if soak else 20  # summaries of each and second
    seconds = before_s + away_s + after_s
    influx = pack.add(Influx(places.ENGINES, place, AT, tmp_path))
    influx.start()
    influx.wait_ready()
    rackmeshctl(place, "history", "init", "--url", influx.url)
    with contextlib.closing(Proxy(place, PROXY, (AT, INFLUX_PORT), rng)) as proxy:
        analyzer = pack.add(
            analyzer_at(
                place,
                tmp_path,
                url=proxy.url,
                retention_policy="raw",
                incident_retention_policy="incidents",
                batch_points=500,
                batch_ms=100,
                timeout_ms=2000,
            )
        )
        analyzer.start()
        analyzer.wait_ready()
        feeder = pack.add(
            Feeder(
                place,
                f"{AT}:{LINK}",
                tmp_path,
                aggregators=AGGREGATORS,
                summaries=rate * seconds,
                rate=rate,
                incidents=seconds,
                incident_rate=1,
                step_ns=1_000_000_000 // rate,
                seconds=seconds + FED_S,
            )
        )
        feeder.start()
        until("points arrive", 15, lambda: stored(influx)["rm_tor_pair"]["count"], [feeder])
        wait_for(before_s, feeder, analyzer)

        influx.kill()
        wait_for(away_s / 2, feeder, analyzer)
        analyzer.kill()  # no acknowledged message may be lost with it
        analyzer.start()
        until("it runs again", 15, lambda: analyzer.get("/healthz").ok, [analyzer])
        until("/readyz reports what is missing", 5, lambda: not analyzer.get("/readyz").ok, [analyzer])
        wait_for(away_s / 2, feeder, analyzer)
        until(
            "there is a backlog",
            15,
            lambda: figure(analyzer, "waiting_records", lane="summary")
            >= rate * AGGREGATORS * away_s / 2,
            [analyzer],
        )
        until("the metric reports the trouble", 5, lambda: figure(analyzer, "trouble") == 1, [analyzer])

        influx.start()
        influx.wait_ready()
        backlog = fresh_incident_passes(analyzer)
        assert backlog > 0 or not full, "the backlog was written before"
        expected = feeder.wait_finished(seconds + FED_S)
        wait_empty(analyzer, 120)
        have = stored(influx)
        difference = {
            name: {key: have[name][key] - expected[name][key] for key in have[name]}
            for name in have
        }
        print_line(
            f"{expected['points']:,} points, {away_s} s away, {dict(proxy.counts)}; "
            f"incidents were there with {backlog:,.0f} records still waiting"
        )
        assert not any(d for each in difference.values() for d in each.values()), difference
        assert figure(analyzer, "points_refused_total") == 0
        for fate in ("passed", "dropped", "duplicated", "cut", "unanswered"):
            assert proxy.counts[fate] > 0, fate
        mistreated = sum(proxy.counts[fate] for fate in ("dropped", "duplicated", "cut"))
        if full:  # a share of few requests means nothing
            assert 0.1 < mistreated / (mistreated + proxy.counts["passed"]) < 0.3

        proxy.behave()
        reported = json.loads(
            rackmeshctl(place, "history", "h3-0/mlx5_0", "--since", "6h", "--json"))
        assert len(reported["incidents"]) == min(seconds, 1000)
        assert sum(row["sent"] for row in reported["rows"]) > 0


def wait_for(seconds, *processes):
    """Waits for so long, or until one of them ends."""
    comes_true(seconds, lambda: not all(process.alive for process in processes))
    for process in processes:
        assert process.alive, process.obituary()


def fresh_incident_passes(analyzer):
    """Returns how many records of summaries waited when the last incident was stored."""

    def incidents_are_there():
        return figure(analyzer, "waiting_records", lane="incident") == 0

    until("incidents are written", 30, incidents_are_there, [analyzer])
    return figure(analyzer, "waiting_records", lane="summary")


def stored_sla(influx):
    """{(region, scope, class): sums of rm_sla over all minutes}, computed as /v1/sla does."""
    racks = ("available", "unavailable", "unknown")
    sums = [f"sum({name}) AS {name}" for name in SUMS]
    sums += [f"sum(racks_{name}) AS rack_minutes_{name}" for name in racks]
    sums += [f"max(rtt_{name}_ns) AS {name}" for name in ("p50", "p95", "p99", "max")]
    rows = influx.query(
        f"SELECT {', '.join(sums)} FROM incidents.rm_sla GROUP BY region, scope, dscp"
    )
    return {
        (row["region"], row["scope"], int(row["dscp"])): {
            name: value for name, value in row.items() if name in SUMS or "rack_" in name
        }
        | {"rtt_ns": {name: row[name] for name in ("p50", "p95", "p99", "max")}}
        for row in rows
    }


def reported_sla(analyzer):
    """The same from the analyzer, for the last hour."""
    derived = ("loss", "availability", "known")
    return {
        (scope["region"], scope["scope"], scope["dscp"]): {
            name: value for name, value in scope["hour"].items() if name not in derived
        }
        for scope in analyzer.get("/v1/sla").json["scopes"]
    }


def test_sla_of_every_minute_arrives(place, pack, tmp_path, print_line):
    """The analyzer's clock is set, so minutes end when all rows have arrived, without waiting."""
    influx = pack.add(Influx(places.ENGINES, place, AT, tmp_path))
    influx.start()
    influx.wait_ready()
    rackmeshctl(place, "history", "init", "--url", influx.url)
    analyzer = pack.add(
        analyzer_at(
            place,
            tmp_path,
            url=influx.url,
            retention_policy="raw",
            incident_retention_policy="incidents",
            batch_ms=100,
        )
    )
    clock = FakeClock(tmp_path, "analyzer")
    began = time.time()
    minute = int(began // 60 + 1) * 60
    clock.set(f"+{math.ceil(minute - began)}")  # not to an earlier time: its rows would be in the future
    analyzer.variables(**clock.variables())
    analyzer.start()
    analyzer.wait_ready()
    expected = {}
    for region in ("east", "west"):
        feeder = Feeder(
            place,
            f"{AT}:{LINK}",
            tmp_path,
            aggregators=3,
            summaries=20,
            incidents=0,
            region=region,
            start_ns=minute * NS,
            step_ns=NS,
        )
        expected[region] = pack.add(feeder).start().wait_finished(60)["rm_tor_pair"]["sent"]

    clock.set(f"+{minute - began + 90:.0f}")
    until("the minute is closed", 30, lambda: any(
        scope["sent"] for scope in reported_sla(analyzer).values()), [analyzer])
    wait_empty(analyzer, 30)
    until("the database has the figures of /v1/sla", 10,
          lambda: stored_sla(influx) == reported_sla(analyzer), [analyzer])
    have = stored_sla(influx)
    assert {key[:2] for key in have} == {
        (region, scope) for region in expected for scope in ("rack", "fabric")}
    for region, sent in expected.items():
        assert sum(each["sent"] for key, each in have.items() if key[0] == region) == sent
    for each in have.values():
        assert each["rack_minutes_available"] == 3, have

    wait_empty(analyzer, 30)
    racks = influx.query(
        "SELECT sum(sent) AS sent, sum(available) AS minutes FROM raw.rm_sla_rack"
        " GROUP BY region, scope, tor"
    )
    assert len(racks) == 2 * 2 * 3 and {row["minutes"] for row in racks} == {1}
    assert sum(row["sent"] for row in racks) == sum(expected.values())
    services = influx.query(
        "SELECT sum(sent) AS sent, sum(racks_available) AS minutes"
        " FROM raw.rm_sla_service GROUP BY region, service, dscp"
    )
    of_service = 3 * 20 * 7  # aggregators, summaries, SIM_SERVICE_SENT
    assert {(row["region"], row["service"], row["sent"], row["minutes"]) for row in services} == {
        (region, "sim.service", of_service, 3) for region in expected}, services
    reported = analyzer.get("/v1/sla").json["services"]
    assert {(each["region"], each["service"], each["hour"]["sent"]) for each in reported} == {
        (region, "sim.service", of_service) for region in expected}
    truncated, rows = asked(analyzer, "rm_sla_service", service="sim.service")
    assert {(row["region"], row["service"]) for row in rows} == {
        (region, "sim.service") for region in expected} and not truncated
    assert asked(analyzer, "rm_sla_service", service="sim' OR '1'='1\\") == (False, [])
    assert {row["scope"] for row in asked(analyzer, "rm_sla", scope="rack")[1]} == {"rack"}

    # A restart loses no figure of a closed minute, and writes none of them again.
    analyzer.stop()
    analyzer.start()
    analyzer.wait_ready()
    until("the figures are those of the database again", 10,
          lambda: stored_sla(influx) == reported_sla(analyzer), [analyzer])
    assert analyzer.get("/v1/sla").json["services"] == reported
    print_line(f"{sum(expected.values()):,} probes in {len(have)} regions and scopes")


def test_hourly_rows_stay_when_raw_rows_have_expired(place, pack, tmp_path, print_line):
    influx = pack.add(Influx(places.ENGINES, place, AT, tmp_path))
    influx.start()
    influx.wait_ready()
    rackmeshctl(place, "history", "init", "--url", influx.url)
    analyzer = pack.add(
        analyzer_at(place, tmp_path, url=influx.url, retention_policy="raw", batch_ms=100)
    )
    analyzer.start()
    analyzer.wait_ready()
    feeder = Feeder(
        place,
        f"{AT}:{LINK}",
        tmp_path,
        aggregators=3,
        summaries=100,
        incidents=0,
        start_ns=int(time.time() // 3600 - 2) * 3600 * NS,  # two hours that are over
        step_ns=60 * NS,
    )
    expected = pack.add(feeder).start().wait_finished(60)
    wait_empty(analyzer, 60)
    again = rackmeshctl(place, "history", "init", "--url", influx.url)
    assert again.count("already") == 3 and "already exists" not in again

    # At its start InfluxDB computes the hours that have ended; else it would do so at the end of
    # the next hour.
    influx.kill()
    influx.start()
    influx.wait_ready()
    assert {row["name"] for row in influx.query("SHOW CONTINUOUS QUERIES") if "name" in row} >= {
        "rm_tor_pair_hour", "rm_rnic_hour", "rm_sla_rack_hour"}
    columns = measurements()
    for name in ROWS:
        hourly = f"incidents.{name}_hour"
        until(
            f"{hourly} has every row",
            30,
            lambda: [row["sum"] for row in influx.query(f"SELECT sum(sent) FROM {hourly}")]
            == [expected[name]["sent"]],
            [influx],
        )
        have = influx.query(f"SELECT * FROM {hourly}")
        marks = {key for key in columns[name] if key.startswith("hops")}  # the feeder sends none
        marks |= {"arrived", "rewritten", "congested", "arrived_dscp"}
        kept = {key for key in columns[name] if not key.endswith("_p95_ns")}
        kept -= {"flow_set"} | marks
        assert set(have[0]) == kept | {"time"}
        assert {row["time"] % (3600 * NS) for row in have} == {0}
        assert max(row["rtt_p99_ns"] for row in have) == influx.query(
            f"SELECT max(rtt_p99_ns) FROM raw.{name}")[0]["max"]
        print_line(f"{expected[name]['count']:,} rows of {name} are {len(have)} hours")


def test_points_arrive_by_the_write_api_of_influxdb_2(place, pack, tmp_path, print_line):
    victoria = pack.add(Victoria(places.ENGINES, place, AT, tmp_path))
    victoria.start()
    victoria.wait_ready()
    analyzer = pack.add(
        analyzer_at(place, tmp_path, url=f"http://{AT}:{VICTORIA_PORT}", version=2)
    )
    analyzer.start()
    analyzer.wait_ready()
    feeder = pack.add(
        Feeder(
            place,
            f"{AT}:{LINK}",
            tmp_path,
            aggregators=AGGREGATORS,
            summaries=100,
            incidents=10,
        )
    )
    expected = feeder.start().wait_finished(60)
    wait_empty(analyzer, 60)

    for name in ROWS:
        values = victoria.wait_values(f"{name}_sent", expected[name]["count"])
        assert len(values) == expected[name]["count"]
        assert sum(values) == expected[name]["sent"]
    output = rackmeshctl(place, "history", "init", "--url", victoria.url)
    assert "nothing to create" in output
    print_line(f"{expected['points']:,} points by /api/v2/write")


def test_without_a_database_the_history_is_read_from_files(place, pack, tmp_path):
    analyzer = pack.add(analyzer_at(place, tmp_path))
    analyzer.start()
    analyzer.wait_ready()
    feeder = pack.add(
        Feeder(place, f"{AT}:{LINK}", tmp_path, aggregators=3, summaries=50, incidents=4)
    )
    expected = feeder.start().wait_finished(60)
    wait_empty(analyzer, 30)
    reported = [
        json.loads(rackmeshctl(place, "history", f"tor-{i}", "--json"))
        for i in range(3)
    ]
    sent = sum(row["sent"] for each in reported for row in each["rows"])
    assert sent == expected["rm_tor_pair"]["sent"]
    assert all(len(each["incidents"]) == 4 for each in reported)


def test_racks_of_the_same_name_in_two_regions_are_never_added_up(place, pack, tmp_path):
    """Without --region the rack's own region is chosen, or the command asks for one."""
    analyzer = pack.add(analyzer_at(place, tmp_path))
    analyzer.start()
    analyzer.wait_ready()
    begin = int(time.time() - 60) * NS
    expected = {}
    for region, aggregators in (("lab", 2), ("north.1", 1)):  # only lab has tor-1
        feeder = Feeder(place, f"{AT}:{LINK}", tmp_path, region=region, aggregators=aggregators,
                        summaries=10, incidents=2, start_ns=begin, step_ns=NS)
        expected[region] = pack.add(feeder).start().wait_finished(60)
    wait_empty(analyzer, 30)

    def sent(*words):
        reported = json.loads(rackmeshctl(place, "history", *words, "--json"))
        assert {each["region"] for each in reported["incidents"]} <= {reported["region"]}
        return reported["region"], sum(row["sent"] for row in reported["rows"])

    north = expected["north.1"]["rm_tor_pair"]["sent"]
    assert sent("tor-0", "--region", "north.1") == ("north.1", north) and north > 0
    assert sent("tor-1")[0] == "lab"
    assert sent("h1-1/mlx5_0")[0] == "lab"
    for name in ("tor-0", "h0-0/mlx5_0"):
        refused = rackmeshctl_run(place, "history", name)
        assert refused.returncode == 2 and refused.stdout == "", refused
        assert f"{name} is in the regions lab, north.1: choose one of them with --region" in refused.stderr


def test_racks_of_the_same_name_in_two_regions_are_distinguished(place, pack, tmp_path):
    """Lists name the region, or show one region."""
    analyzer = pack.add(analyzer_at(place, tmp_path))
    analyzer.start()
    analyzer.wait_ready()
    for region in ("lab", "north.1"):
        feeder = Feeder(place, f"{AT}:{LINK}", tmp_path, region=region, aggregators=1, summaries=2, incidents=1,
                        start_ns=int(time.time()) * NS, step_ns=NS)
        pack.add(feeder).start().wait_finished(60)

    def shown(*words):
        done = rackmeshctl_run(place, *words)
        assert done.returncode == 1, done  # nobody reports these racks any more
        return done.stdout

    health = shown("health")
    assert "lab/tor-0" in health and "north.1/tor-0" in health, health
    health = shown("health", "--region", "lab")
    assert "Region lab: 1 rack" in health and "tor-0" in health and "/tor-0" not in health, health
    assert "north.1" not in health, health
    incidents = shown("incidents", "--open")
    assert ", region lab)" in incidents and ", region north.1)" in incidents, incidents
    incidents = shown("incidents", "--open", "--region", "north.1")
    assert ", region north.1)" in incidents and "lab)" not in incidents, incidents
    refused = rackmeshctl_run(place, "incidents", "--region", "nowhere")  # not "No incidents"
    assert refused.returncode == 3 and "no aggregator of a region nowhere" in refused.stderr, refused


def test_an_outage_of_the_analyzer_is_reported_once_while_incidents_are_followed(place, pack, tmp_path):
    analyzer = pack.add(analyzer_at(place, tmp_path))
    analyzer.start()
    analyzer.wait_ready()
    command = [places.program("rackmeshctl"), "incidents", "--follow"]
    following = pack.add(Process("rackmeshctl", command, place, tmp_path / "follow.log"))
    following.start()

    def fed(incidents, start_s):
        feeder = Feeder(place, f"{AT}:{LINK}", tmp_path, aggregators=1, summaries=1, incidents=incidents,
                        start_ns=int(start_s) * NS, step_ns=NS, incarnation=int(start_s))
        pack.add(feeder).start().wait_finished(60)

    def reported(text):
        return following.log.read_text().count(text)

    fed(1, time.time() - 100)
    until("the incident is shown", PATIENCE_S, lambda: reported("incident 0000000100000001"), [following])
    analyzer.stop()
    until("the outage is reported", PATIENCE_S, lambda: reported("cannot ask"), [following])
    wait_for(3, following)
    analyzer.start()
    analyzer.wait_ready()
    until("the end of the outage is reported", PATIENCE_S, lambda: reported("answers again"), [following])
    assert reported("cannot ask") == 1, following.log.read_text()


@pytest.mark.parametrize("version", (2, 3))
def test_answers_of_later_influxdbs_lose_nothing_but_what_they_refuse(
    place, pack, tmp_path, print_line, version
):
    """Replays their answers: a wrong token, a missing bucket, limits, an outage, batches that
    are too large, and lines that are refused while the others are accepted."""
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text("yesterday's\n")
    org, bucket = "ops & fabric", "rackmesh/raw"
    influx = Replayed(place, AT, INFLUX_PORT, version, org, "another", "today's==")
    with contextlib.closing(influx):
        analyzer = pack.add(analyzer_at(
            place, tmp_path, url=influx.url, version=2, org=org, bucket=bucket,
            token_file=str(token), batch_ms=50))
        analyzer.start()
        analyzer.wait_ready()
        feeder = pack.add(Feeder(place, f"{AT}:{LINK}", tmp_path, aggregators=2, summaries=40,
                                 incidents=5))
        expected = feeder.start().wait_finished(60)

        def output(words):
            return words in analyzer.get("/readyz").text

        def again():  # or it tries again after half a minute
            analyzer.kill()
            analyzer.start()
            until("it runs again", 15, lambda: analyzer.get("/healthz").ok, [analyzer])

        until("its token is refused", 30, lambda: output("status 401"), [analyzer])
        assert version == 3 or output("unauthorized access")
        token.write_text("today's==\n")
        again()
        until("its bucket is missing", 30, lambda: output(r"bucket \"rackmesh/raw\" not found"), [analyzer])
        influx.bucket = bucket
        again()
        wait_empty(analyzer, 120)
        until("it is well", 30, lambda: analyzer.get("/readyz").ok, [analyzer])

        have = collections.Counter(head.partition(",")[0] for head, _ in influx.points)
        print_line(f"{dict(influx.seen)}, {len(influx.points)} points, {influx.dropped} refused")
        assert influx.dropped == expected["rm_rnic"]["count"]
        assert figure(analyzer, "points_refused_total") == influx.dropped  # of its last life
        for name in ("rm_tor_pair", "rm_rack", "rm_path"):
            assert have[name] == expected[name]["count"], name
        assert have["rm_incident"] >= expected["rm_incident"]["count"] and not have["rm_rnic"]
        assert {204, 401, 404, 413, 429, 503, 422 if version == 2 else 400} <= set(influx.seen)
        log = analyzer.log.read_text()
        assert "today" not in log and "yesterday" not in log
