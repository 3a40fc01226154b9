"""Every query of every dashboard, and of docs/grafana.md, returns data: it is sent to a real
InfluxDB and a real Prometheus with data of real daemons. There is no Grafana here."""

import contextlib
import itertools
import re
import subprocess
import time

import pytest
import yaml

from lab import grafana, places
from lab.ca import identity
from lab.card import card
from lab.esxi import Esxi
from lab.fakeclock import FakeClock
from lab.faults import FlowsBlackholed, RnicLossy
from lab.grafana import OfInflux, OfPrometheus, dashboards
from lab.prometheus import Prometheus, config_for
from lab.promtool import promtool
from lab.schema import measurements
from lab.sonic import REDIS_PORT, Sonic
from lab.wait import until
from lab.world import World

PASSWORD = "a password of the lab"
SSH_PORT, PORTS = 2201, 4
STATE_DB = 6  # of SONiC
SWITCH_PORT = (
    "IF_IN_OCTETS", "IF_OUT_OCTETS", "IF_IN_DISCARDS", "IF_OUT_DISCARDS", "IF_IN_ERRORS",
    "ECN_MARKED_PACKETS", "IF_IN_FEC_CORRECTED_BITS", "IF_IN_FEC_NOT_CORRECTABLE_FRAMES",
    "PFC_3_RX_PKTS", "PFC_3_TX_PKTS",
    "PFC_3_RX_PAUSE_DURATION_US", "PFC_3_TX_PAUSE_DURATION_US",
)
SWITCH_QUEUE = ("PACKETS", "DROPPED_PACKETS", "WRED_ECN_MARKED_PACKETS", "SHARED_WATERMARK_BYTES")
RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h4", "h5", "h6"]}
HTTPS = {"agent": 9571, "aggregator": 9572, "controller": 9573, "analyzer": 9574}
DOC = places.ROOT / "docs" / "grafana.md"
SHIFT_S = 90  # the analyzer's clock is ahead by this, so its current minute has ended at once
NS = 1_000_000_000

# No connection of RDMA runs here: a service, and an incident that hurts it, as the analyzer writes
# them (test_history.py feeds one through it).
SERVICE = "pod:ml/train-0"
MADE_UP = {
    "raw": [("rm_sla_service", {"region": "lab", "aggregator": "analyzer", "service": SERVICE, "dscp": "26"},
             {"sent": 600, "lost": 3, "invalid": 0, "not_sent": 0, "racks_available": 1,
              "racks_unavailable": 1, "racks_unknown": 0, "rtt_p50_ns": 9000, "rtt_p95_ns": 12000,
              "rtt_p99_ns": 15000, "rtt_max_ns": 20000})],
    "incidents": [("rm_incident", {"region": "lab", "aggregator": "agg-tor1", "tor": "tor1", "part_type": "rnic",
                                   "part": f"h2/{impact}", "place": "tor1", "state": "opened"},
                   {"id": f"made-up-{impact}", "kind": "rnic-lossy", "severity": "major", "impact": impact,
                    "services": SERVICE, "links": "", "confidence": 0.9, "began_ns": 1, "opened_ns": 1,
                    "sentence": "made up", "evidence": "{}"}) for impact in ("P0", "P1", "P2")],
}


def https(role):
    return {"http": {"tls_listen": f"0.0.0.0:{HTTPS[role]}"}}


class Counted:
    """A switch, an ESXi host and an mlx5 RNIC, with counters that grow."""

    def __init__(self, folder):
        self._folder, self._undo = folder, contextlib.ExitStack()

    def start(self, world):
        """Call it before the daemons start: the aggregator of the first ToR reads them. Returns
        the address of the RNIC's metrics."""
        netns, address = world.fabric.netns("centre"), world.fabric.management["centre"]
        password = self._folder / "password"
        password.touch(0o600)
        password.write_text(PASSWORD + "\n")
        self.sonic = Sonic(netns, address, self._folder, PASSWORD)
        self.esxi = Esxi("esx1", netns, address, SSH_PORT, self._folder / "esxi")
        for process in (self.sonic, self.esxi):
            self._undo.callback(process.stop)
            process.start().wait_ready()
        self.sonic.fill(PORTS)
        self.sonic.set(STATE_DB, "TRANSCEIVER_DOM_SENSOR|Ethernet0", rx1power="-2.0", rx2power="-9.5",
                       tx1power="0.4", temperature="41.5")
        self.go_on(1000)
        path = world.lab.folder / "config" / "agg-tor1.yaml"
        config = yaml.safe_load(path.read_text())
        config["tors"][0]["switch"] = {
            "kind": "sonic", "address": f"{address}:{REDIS_PORT}",
            "password_file": str(password), "interval_s": 1, "neighbors_interval_s": 1}
        config["switches"] = [{"name": "spine1", **config["tors"][0]["switch"]}]
        # Commands over SSH may take as long as an interval.
        config["hypervisors"] = [{**self.esxi.option("esx1"), "interval_s": 30}]
        config["expected"] = [{"rnics": ["h1/*"], "mtu_bytes": 9000}]
        path.write_text(yaml.safe_dump(config))
        return self._undo.enter_context(card(netns, address))

    def go_on(self, count):
        """Makes a port, its queue and a NIC count."""
        port = {f"SAI_PORT_STAT_{name}": count for name in SWITCH_PORT}
        self.sonic.count("Ethernet0", **port, SAI_PORT_STAT_IF_OUT_UCAST_PKTS=100 * count)
        queue = {f"SAI_QUEUE_STAT_{name}": count for name in SWITCH_QUEUE}
        self.sonic.count("Ethernet0:3", **queue)
        self.esxi.nic("vmnic4", rx_prio3_pause=count,
                      rx_prio3_pause_duration=count, rx_global_pause_duration=count,
                      rx_global_pause=count, rx_discards_phy=count,
                      txPauseStormWarningEvents=count,
                      general={"Rx Bytes": count, "Tx Bytes": count, "Rx Missed Errors": count})

    def close(self):
        self._undo.close()


def lay(folder):
    """A world whose history is written to InfluxDB, and whose daemons answer over TLS."""
    policies = {"retention_policy": "raw", "incident_retention_policy": "incidents"}
    return World(
        RACKS,
        folder,
        alertmanager=False,
        influx=True,
        agent=https("agent"),
        aggregator=https("aggregator"),
        controller=https("controller"),
        analyzer={**https("analyzer"), "influx": {**policies, "batch_ms": 100}},
    )


def scrape(world, folder, rnic):
    """As in docs/prometheus: the daemons' certificates contain their addresses. rnic: the
    imitated RNIC, which is no daemon."""
    lab = world.lab
    jobs = {
        "rackmesh-tor-aggregator": (lab.aggregators.values(), "aggregator"),
        "rackmesh-region-controller": (lab.controllers, "controller"),
        "rackmesh-analyzer": ([lab.analyzer], "analyzer"),
        "rackmesh-host-agent": (lab.agents.values(), "agent"),
    }
    targets = {}
    for job, (daemons, role) in jobs.items():
        for daemon in daemons:
            address = world.fabric.management[daemon.name]
            lab.renew(daemon.name, hosts=[address])
            targets.setdefault(job, []).append(f"{address}:{HTTPS[role]}")
    viewer = lab.authority.issue(identity("*", "viewer", "prometheus"), "prometheus")
    place, address = world.fabric.netns("centre"), world.fabric.management["centre"]
    config = config_for(targets, viewer)
    one = {"targets": [rnic], "labels": {"region": "lab"}}
    config["scrape_configs"].append({"job_name": "card", "static_configs": [one]})
    return lab.pack.add(Prometheus(places.ENGINES, place, address, folder, config))


class Filled:
    """The databases, filled with data."""

    def __init__(self, world, prometheus, began):
        self.world, self.prometheus = world, prometheus
        self.began, self.ended = began, time.time()
        # Points of minutes and hours lie at their start; the analyzer's clock is ahead.
        from_ns, to_ns = int((began - 3600) * NS), int((self.ended + SHIFT_S) * NS)
        self.influx_source = OfInflux(world.influx, from_ns, to_ns)
        # Without the second the last step could be before the data that the test has just waited
        # for.
        self.prometheus_source = OfPrometheus(prometheus, began, self.ended + 1)


def make_trouble(world, prometheus, counted, began):
    """An RNIC that loses packets and a spine that drops whole flows. Waits until both are
    found, lossy paths are in the history, and Prometheus has the RNIC's incident and times."""
    lab, influx = world.lab, world.influx
    RnicLossy(lab, world.rnic("h1/r0"), 30, "both").begin()
    FlowsBlackholed(lab, world.fabric.spines[0]).begin()

    def found(part_type):
        return influx.query(
            f"SELECT id FROM incidents.rm_incident WHERE part_type =~ /^({part_type})$/"
        )

    until("the RNIC is found", 30, lambda: found("rnic"), [lab.analyzer])
    until("the spine is found", 30, lambda: found("switch|link"), [lab.analyzer])
    until("its rows are there", 30, lambda: influx.query(
        "SELECT rtt_p99_ns FROM raw.rm_rnic WHERE bad = 1"), [lab.analyzer])
    until("paths are there", 30, lambda: influx.query(
        "SELECT sent FROM raw.rm_path WHERE path =~ /spine/"), [lab.analyzer])
    prometheus.wait_scraping()
    for seen in (
        "rackmesh_rack_incidents_open > 0",
        'rackmesh_region_part_at_fault{part_type=~"tor|link|switch|path"}',  # Prometheus may be later
        "rackmesh_rnic_network_rtt_seconds",
        "min(count_over_time(up[5m])) > 3",  # rates need more than one sample
        'rackmesh_hypervisor_rx_bytes_total == 1000',
        'rackmesh_switch_queue_tx_packets_total{port="Ethernet0"} == 1000',
    ):
        until(f"Prometheus has {seen}", 30, lambda: prometheus.query(seen), [prometheus])
    counts = itertools.count(3000, 1000)
    boards = dashboards("prometheus")
    rated = [
        (board, each)
        for board in boards
        for each in board.targets()
        if "ecn_marked" in each.text
    ]
    assert rated

    def has_rates():
        """Whether rates exist with the steps of the queries. On a busy machine a scrape or a
        reading may be late: a step with a single sample has no rate."""
        counted.go_on(next(counts))
        source = OfPrometheus(prometheus, began, time.time())
        return all(source.ask(each, source.values(board)) for board, each in rated)

    until("Prometheus has rates of the switch", 60, has_rates, [prometheus])


def make_up(influx):
    """Adds data that this lab cannot produce."""
    def line(name, tags, fields):
        def value(each):
            return f"{each}i" if isinstance(each, int) else f'"{each}"' if isinstance(each, str) else each

        head = ",".join([name, *(f"{key}={each}" for key, each in tags.items())])
        return f"{head} {','.join(f'{key}={value(each)}' for key, each in fields.items())} {time.time_ns()}"

    for policy, points in MADE_UP.items():
        influx.put(policy, *(line(*point) for point in points))


def end_hour(influx):
    """Does what the continuous queries do once an hour, without waiting for it."""
    for row in influx.query("SHOW CONTINUOUS QUERIES"):
        if not row["name"].endswith("_hour"):
            continue
        select = re.search(r"BEGIN (.*) END$", row["query"])[1]
        done = influx.change(select.replace(" GROUP BY ", " WHERE time > now() - 1h GROUP BY "))
        assert done[0]["written"] > 0, row


# ---- what can be seen without a world -------------------------------------------------------


@pytest.fixture(scope="module")
def schema():
    """With the hourly measurements of the continuous queries."""
    table = measurements()
    hourly = ("rm_tor_pair", "rm_rnic", "rm_sla_rack")
    return table | {f"{name}_hour": table[name] for name in hourly}


EVERY = [*dashboards("influxdb"), *dashboards("prometheus")]


@pytest.mark.parametrize("board", EVERY, ids=lambda board: board.name)
def test_a_dashboard_can_be_imported(board):
    """Its only data source is that of its variable, its ids are stable, and no panel overlaps
    another one."""
    text, source = board.path.read_text(), board.path.parent.name
    assert board.json["schemaVersion"] == 38
    assert board.json["uid"] == f"rackmesh-{source.removesuffix('db')}-{board.path.stem}"
    place = {"influxdb": "DS_INFLUX", "prometheus": "DS_PROMETHEUS"}[source]
    assert board.variables[place]["type"] == "datasource"
    assert board.variables[place]["query"] == source
    assert set(re.findall(r'"uid": "(\$[^"]*)"', text)) == {f"${{{place}}}"}
    for target in board.targets():
        used = set(re.findall(r"\$(?!__|timeFilter)(\w+)", target.text))
        assert used <= set(board.variables), target
    assert len({panel["id"] for panel in board.panels}) == len(board.panels)
    for panel in board.panels:
        legends = [target.get("alias", target.get("legendFormat")) for target in panel["targets"]]
        assert len(set(legends)) == len(legends), panel["title"]
    squares = [
        (x, y)
        for at in (panel["gridPos"] for panel in board.panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(squares)) == len(squares) and max(x for x, _ in squares) < 24


def test_uids_are_of_one_dashboard_and_links_lead_to_them():
    uids = [board.json["uid"] for board in EVERY]
    assert len(set(uids)) == len(uids)
    linked = [uid for board in EVERY for uid in re.findall(r"/d/([\w-]+)", board.path.read_text())]
    assert linked and set(linked) <= set(uids)


def test_generated_points_have_the_columns_of_the_schema(schema):
    for points in MADE_UP.values():
        for name, tags, fields in points:
            kinds = {key: kind for key, (kind, _) in schema[name].items()}
            assert set(kinds) == set(tags) | set(fields), name
            assert all(kinds[key] == "tag" for key in tags)
            named = {int: "integer", float: "float", str: "string"}
            assert all(kinds[key] == named[type(each)] for key, each in fields.items())


def unit_of(column, columns):
    """The unit in which a panel must show a column; counts have a name instead."""
    unit = columns[column][1] if column in columns else ""
    return {"ns": "ns", "0..1": "percentunit"}.get(unit, "short")


def test_influxdb_queries_fit_the_table_of_measurements(schema):
    """Measurements, tags and fields exist, units are those of the table, and legends contain
    the tags."""
    for board in dashboards("influxdb"):
        for target in board.targets():
            text = target.text
            policy, name = re.search(r'FROM "\$(raw|kept)"\."(\w+)"', text).groups()
            columns = schema[name]
            kept = name.endswith("_hour") or name in ("rm_sla", "rm_incident")
            assert policy == ("kept" if kept else "raw"), target
            named = re.findall(r'AS "(\w+)"', text)
            used = re.findall(r'"(\w+)"', re.sub(r"=~ /.*?/", "", text))
            assert set(used) - {name, *named} <= set(columns), target
            panel = target.panel
            if panel["type"] == "table":
                check_table(panel, text, columns)
            elif panel["type"] != "annotation":
                check_unit(target, columns)
            if panel["type"] == "timeseries":
                by = set(re.findall(r'"(\w+)"', text.partition(" GROUP BY ")[2]))
                assert set(re.findall(r"\$tag_(\w+?)\b", target.legend)) == by, target


def check_unit(target, columns):
    fields = re.findall(r'"(\w+)"', target.text.partition(" FROM ")[0])
    units = {unit_of(field, columns) for field in fields if field in columns}
    if ") / " in target.text:
        units = {"percentunit"}
    assert {target.panel["fieldConfig"]["defaults"]["unit"]} == units, target


def check_table(panel, text, columns):
    """Columns with another unit than the panel's have a unit of their own."""
    given = {
        each["matcher"]["options"]: prop["value"]
        for each in panel["fieldConfig"]["overrides"]
        for prop in each["properties"]
        if prop["id"] == "unit"
    }
    ratios = {name: "percentunit" for name in re.findall(r'\) / [^,]* AS "(\w+)"', text)}
    shown = re.findall(r'AS "(\w+)"', text) or re.findall(r'"(\w+)"', text.partition(" FROM ")[0])
    usual = panel["fieldConfig"]["defaults"]["unit"]
    for name in shown:
        unit = ratios.get(name) or unit_of(name, columns)
        assert given.get(name, usual) == unit, (panel["title"], name)


def test_prometheus_panels_have_the_units_of_their_metrics_and_full_legends():
    for board in dashboards("prometheus"):
        for target in board.targets():
            panel, text = target.panel, target.text
            if panel["type"] == "annotation":
                continue
            assert panel["fieldConfig"]["defaults"]["unit"] in units_of(text), target
            if panel["type"] != "table":
                by = re.search(r" by \(([\w, ]+)\)", text)
                wanted = set(by[1].split(", ")) if by else set()
                assert set(re.findall(r"{{(\w+)}}", target.legend)) == wanted, target


def units_of(text):
    """From the names of metrics: rackmesh_..._seconds is in seconds; a rate of it is a share."""
    if " / " in text or "_ratio{" in text or "_ratio)" in text:
        return {"percentunit"}
    if "rate(" in text:
        if re.search(r'_bytes_total|_bytes_phy_total|counter="\w+_bytes"', text):
            return {"Bps"}
        return {"percentunit"} if "_seconds_total" in text else {"ops", "pps", "wps"}
    if "_watts" in text:
        return {"watt"}
    if "_celsius" in text:
        return {"celsius"}
    if "_bytes" in text:
        return {"bytes"}
    return {"s"} if "_seconds" in text else {"short"}


# ---- what is asked ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dashboards")
    began = time.time()
    clock = FakeClock(folder, "analyzer")
    counted = Counted(folder)
    with lay(folder) as world, contextlib.closing(counted):
        rnic = counted.start(world)
        prometheus = scrape(world, folder, rnic).start()
        world.lab.analyzer.variables(**clock.variables())
        world.start()
        world.lab.wait_traced(60)
        make_trouble(world, prometheus, counted, began)
        clock.set(f"+{SHIFT_S}")
        for figures in ("rtt_p50_ns FROM incidents.rm_sla", "lost FROM raw.rm_sla_rack"):
            until("a minute's SLA is there", 30, lambda: world.influx.query(
                f"SELECT {figures} WHERE sent > 0"), [world.lab.analyzer])
        until("Prometheus has that minute, too", 30, lambda: prometheus.query(
            "rackmesh_region_loss_ratio and increase(rackmesh_region_probes_total[1h]) > 0"), [prometheus])
        make_up(world.influx)
        end_hour(world.influx)
        yield Filled(world, prometheus, began)


def ask_all(name, source, boards, print_line):
    """Runs every query, and prints how many there are: N of N have data, or a reason."""
    asked, empty = 0, []
    for board in boards:
        chosen = source.values(board)
        for target in board.targets():
            asked += 1
            if not source.ask(target, chosen):
                empty.append(target)
    print_line(f"{name}: {asked - len(empty)} of {asked} queries return data")
    assert not empty, "\n".join(map(str, empty))


def test_every_query_has_an_answer_in_influxdb(whole, print_line):
    ask_all("InfluxDB", whole.influx_source, dashboards("influxdb"), print_line)


def test_every_query_has_an_answer_in_prometheus(whole, print_line):
    ask_all("Prometheus", whole.prometheus_source, dashboards("prometheus"), print_line)


def test_dashboards_name_no_metric_that_no_daemon_has(whole):
    known = set(whole.prometheus.api("label/__name__/values"))
    for board in dashboards("prometheus"):
        for target in board.targets():
            text = re.sub(r'"[^"]*"', "", target.text)  # values of labels
            assert set(re.findall(r"(?:rackmesh|rdma)_\w+", text)) <= known, target


def test_counts_of_switches_and_hypervisors_are_exported_in_base_units(whole):
    text = whole.world.lab.aggregators["tor1"].get("/metrics").text
    wanted = {"rackmesh_switch_rx_priority_pause_seconds_total", "rackmesh_switch_rx_fec_bit_errors_total",
              "rackmesh_switch_port_speed_bytes_per_second", "rackmesh_hypervisor_speed_bytes_per_second",
              "rackmesh_hypervisor_rx_priority_pause_seconds_total",
              "rackmesh_aggregator_switch_up", "rackmesh_aggregator_hypervisor_up"}  # rules ask for them
    assert wanted <= set(re.findall(r"^(\w+){", text, re.M))
    assert promtool("check", "metrics", text=text) == ""


# ---- docs/grafana.md -------------------------------------------------------------------------


def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```", DOC.read_text(), re.M | re.S)
    assert len(found) >= 4, language
    return found


def test_queries_of_the_docs_about_last_tuesday_have_an_answer(whole, print_line):
    """Only their times are replaced, by those of this run."""
    from_ns, to_ns = whole.influx_source.range
    for text in blocks("influxql"):
        asked = re.sub(r"time >= '[^']+'", f"time >= {from_ns}", text)
        asked = re.sub(r"time < '[^']+'", f"time < {to_ns}", asked)
        assert "'20" not in asked
        assert whole.world.influx.query(asked), text
    for text in blocks("promql"):
        answer = whole.prometheus.api("query", query=text, time=whole.ended)
        assert answer["result"], text
    print_line(f"{len(blocks('influxql'))} of InfluxDB and {len(blocks('promql'))} of Prometheus")


def test_prometheus_queries_of_other_pages_have_an_answer(whole, print_line):
    """Without thresholds and offsets: the condition need not be true here, but the metrics must
    exist."""
    queries = [text for name in ("prometheus.md", "services.md") for text in promql_of(name)]
    for text in queries:
        asked = re.sub(r" offset 1h|(?<=[\w)}]) > [\d.]+", "", text)
        answer = whole.prometheus.api("query_range", query=asked, start=whole.began, end=whole.ended, step=2)
        assert answer["result"], asked
    print_line(f"{len(queries)} queries")


def promql_of(name):
    found = re.findall(r"^```promql\n(.*?)^```", (places.ROOT / "docs" / name).read_text(), re.M | re.S)
    assert found, name
    return found


def test_the_promtool_commands_of_the_docs_work(whole):
    line = re.search(r"`promtool (query instant [^`]+)`", DOC.read_text())[1]
    words = line.replace("http://prometheus.example:9090", f"http://{whole.prometheus.address}:{whole.prometheus.port}")
    words = re.sub(r"--time=\S+", f"--time={whole.ended}", words).replace("'QUERY'", "rackmesh_rack_hosts").split()
    result = subprocess.run(["ip", "netns", "exec", whole.prometheus.netns, places.ENGINES / "usr/bin/promtool", *words],
                          capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and 'tor="tor1"' in result.stdout, result.stdout + result.stderr


def test_the_influx_commands_of_the_docs_work(whole):
    words = re.search(r"`influx (-database [^`]+)`", DOC.read_text())[1].split()
    influx = whole.world.influx
    result = subprocess.run(
        ["ip", "netns", "exec", influx.netns, places.ENGINES / "usr/bin/influx", "-host", influx.address, *words,
         "-execute", "SHOW TAG VALUES WITH KEY = \"region\""], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "lab" in result.stdout, result.stdout + result.stderr


def test_the_docs_list_every_dashboard():
    listed = set(re.findall(r"`((?:influxdb|prometheus)/\w+)\.json`", DOC.read_text()))
    assert listed == {board.name for board in EVERY}


def test_provisioning_names_folders_that_the_package_fills():
    folder = grafana.DASHBOARDS / "provisioning"
    providers = yaml.safe_load((folder / "dashboards.yaml").read_text())["providers"]
    paths = {each["options"]["path"] for each in providers}
    assert paths == {f"/usr/share/rackmesh/grafana/{name}" for name in ("influxdb", "prometheus")}
    sources = yaml.safe_load((folder / "datasources.yaml").read_text())["datasources"]
    assert {each["type"] for each in sources} == {"influxdb", "prometheus"}
