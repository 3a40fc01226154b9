"""Prometheus with our metrics, our rules and our config."""

import re

import pytest
import yaml

from lab.places import ROOT
from lab.promtool import promtool
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
FILES = ROOT / "docs" / "prometheus"
DOC = ROOT / "docs" / "prometheus.md"
RULES = FILES / "rackmesh-rules.yaml"
# No daemon has a switch or an etcd here: test_dashboards.py and test_documented.py look for these.
ELSEWHERE = {"rackmesh_aggregator_switch_up", "rackmesh_aggregator_hypervisor_up", "rackmesh_controller_etcd_leading"}
# A page or a dashboard shows the help text of one metric without those of its neighbours, so it
# must not refer to them.
NEEDS_A_NEIGHBOUR = re.compile(r"^(Of (those|them|these)|Those|These|That)\b|\b(of|in) (those|them)\b"
                               r"|\b(ours|our|we)\b")


def names_of(rules):
    """Metrics in expressions, except those that rules record."""
    return {
        name
        for group in yaml.safe_load(rules)["groups"]
        for rule in group["rules"]
        for name in re.findall(r"(?<![\w:])rackmesh_\w+", rule["expr"])
    }


@pytest.fixture
def lab(world):
    return world(RACKS, analyzer={}, controller={}).start().lab


def daemons_of(lab):
    return [*lab.aggregators.values(), *lab.controllers, lab.analyzer, lab.agents["h1"]]


def test_metrics_of_every_daemon_are_clean_and_rules_name_no_other(lab, print_line):
    aggregator = lab.aggregators["tor1"]
    until("every RNIC shows its losses", 30, lambda: len(
        aggregator.metrics().series.get("rackmesh_rnic_loss_ratio", ())) == 2 * 3, [aggregator])
    until("the agent has read its counters", 60, lambda: "rdma_port_rate_mbps" in
          lab.agents["h1"].metrics().series)

    known, unclear = set(), {}
    for daemon in daemons_of(lab):
        text = daemon.get("/metrics").text
        assert promtool("check", "metrics", text=text) == "", daemon.name
        helps = dict(re.findall(r"^# HELP (\w+) (.*)", text, re.M))
        unclear.update({k: v for k, v in helps.items() if NEEDS_A_NEIGHBOUR.search(v)})
        known.update(re.findall(r"^# TYPE (\w+)", text, re.M))
        print_line(f"{daemon.name}: {len(text.splitlines())} lines, {len(text)} bytes")
    assert unclear == {}
    wanted = names_of(RULES.read_text()) | set(re.findall(r"`(rackmesh_\w+)`", DOC.read_text()))
    assert len(wanted) > 20
    assert wanted - known == ELSEWHERE


def test_rules_and_config_are_valid(tmp_path):
    assert "SUCCESS" in promtool("check", "rules", RULES)
    assert "SUCCESS" in promtool("check", "config", "--syntax-only", FILES / "prometheus.yaml")
    assert yaml.safe_load((FILES / "prometheus.yaml").read_text())["rule_files"] == [RULES.name]


def test_queries_of_the_docs_are_valid(tmp_path):
    queries = re.findall(r"^```promql\n(.*?)^```", DOC.read_text(), re.M | re.S)
    assert len(queries) == 7
    rules = [{"record": f"q{i}", "expr": query} for i, query in enumerate(queries)]
    asked = tmp_path / "queries.yaml"
    asked.write_text(yaml.safe_dump({"groups": [{"name": "docs", "rules": rules}]}))
    promtool("check", "rules", asked)


def test_every_alert_fires_when_it_should_and_only_then():
    tests = ROOT / "tests" / "prometheus" / "rackmesh-rules-test.yaml"
    promtool("test", "rules", tests)

    tried = {True: set(), False: set()}
    for test in yaml.safe_load(tests.read_text())["tests"]:
        for alert in test.get("alert_rule_test", ()):
            tried[bool(alert.get("exp_alerts"))].add(alert["alertname"])
    alerts = {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"]
              for rule in group["rules"] if "alert" in rule}
    assert tried == {True: alerts, False: alerts}
