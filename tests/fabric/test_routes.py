"""The example for Alertmanager, docs/alertmanager.yaml: which receiver gets which alert, by
amtool."""

import re
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


def amtool(*words, cwd=None):
    done = subprocess.run([ENGINES / "usr/bin/amtool", *words], capture_output=True, text=True,
                          timeout=60, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_of_the_docs_work():
    """Runs them in the folder of the example."""
    lines = re.findall(r"^    amtool (.*)$", (ROOT / "docs" / "alerts.md").read_text(), re.M)
    lines += [line.replace("FILE", EXAMPLE.name) for line in re.findall(r"`amtool ([^`]+)`", EXAMPLE.read_text().replace("\n#", ""))]
    assert len(lines) == 4
    for line in lines:
        output = amtool(*line.split(), cwd=EXAMPLE.parent)
        assert "SUCCESS" in output or output.split() == ["pager"], output


def test_alertmanager_accepts_the_example():
    output = amtool("check-config", str(EXAMPLE))
    assert "SUCCESS" in output and "3 inhibit rules" in output and "4 receivers" in output, output


@pytest.mark.parametrize("alertname, severity, receiver", ROUTES)
def test_an_alert_goes_to(alertname, severity, receiver):
    output = amtool("config", "routes", "test", f"--config.file={EXAMPLE}",
                  f"--verify.receivers={receiver}", f"alertname={alertname}",
                  f"severity={severity}", "region=r1", "part=p")
    assert output.split() == [receiver]
