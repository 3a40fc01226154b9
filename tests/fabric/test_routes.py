"""The example for Alertmanager, docs/alertmanager.yaml: who gets which alert, by amtool."""

import subprocess

import pytest

from lab.places import ENGINES, ROOT

EXAMPLE = ROOT / "docs" / "alertmanager.yaml"

ROUTES = [
    ("RackmeshRnic", "critical", "pager"),
    ("RackmeshRnic", "major", "tickets"),
    ("RackmeshRnic", "warning", "chat"),
    ("RackmeshTor", "critical", "pager"),
    ("RackmeshRegion", "critical", "pager"),
    ("RackmeshLink", "major", "tickets"),
    ("RackmeshHost", "major", "tickets"),
    ("RackmeshAgent", "warning", "rackmesh-team"),
    ("RackmeshAnalyzer", "warning", "rackmesh-team"),
    ("NodeDown", "critical", "chat"),
]


def amtool(*words):
    done = subprocess.run([ENGINES / "usr/bin/amtool", *words], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_alertmanager_takes_the_example():
    said = amtool("check-config", str(EXAMPLE))
    assert "SUCCESS" in said and "3 inhibit rules" in said and "4 receivers" in said, said


@pytest.mark.parametrize("alertname, severity, receiver", ROUTES)
def test_an_alert_goes_to(alertname, severity, receiver):
    said = amtool("config", "routes", "test", f"--config.file={EXAMPLE}",
                  f"--verify.receivers={receiver}", f"alertname={alertname}",
                  f"severity={severity}", "region=r1", "part=p")
    assert said.split() == [receiver]
