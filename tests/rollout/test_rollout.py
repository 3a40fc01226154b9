"""A region from bare machines on: what Ansible makes of it, and what nobody notices of that.

The tests share one region, in this order; each leaves it calm."""

import pytest
import units
from lab.innocents import VERDICTS, accused
from packages import DAEMONS, ROOT

CANARY = "h13"


def nothing(_arrival):
    return False


# ---- the first rollout ------------------------------------------------------------------------


def test_ansible_reaches_every_machine(region):
    said = region.control("ansible", "-i", region.inventory, "-m", "ping", "all")
    reached = {line.split()[0] for line in said.splitlines() if "SUCCESS" in line}
    assert reached == region.places()


def test_the_first_rollout_makes_a_watched_region_of_bare_machines(rolled_out, region):
    assert rolled_out.hosts("failed") == rolled_out.hosts("unreachable") == set()
    daemons = region.daemons()
    for daemon in DAEMONS:
        assert {name for name in daemons if daemon in daemons[name]} == region.machines_of(daemon)
    for name, enabled in daemons.items():
        for daemon in enabled:
            assert region.property(name, daemon, "ActiveState") == "active", f"{daemon} on {name}"
    assert region.probed() == region.rnics()
    assert accused(region.sink.since(0), region.began, nothing) == []
    assert {alert for alert in region.alerts() if alert[0] in VERDICTS} == set()


# ---- rights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("daemon", DAEMONS)
def test_every_unit_runs_with_its_own_rights(rolled_out, region, daemon):
    text = (ROOT / daemon / f"{daemon}.service").read_text()
    for name in region.machines_of(daemon):
        for key in units.KEYS:
            shown, asked = region.property(name, daemon, key).split(), units.written(text, key)
            assert units.same(shown, asked), f"{daemon} on {name}: {key}={shown}, not {asked}"
        pid = region.main_pids(name)[daemon]
        status = units.status(region.on(name, "cat", f"/proc/{pid}/status"))
        assert set(status["Uid"]) == {region.on(name, "id", "--user", "rackmesh").strip()}
        assert status["Seccomp"] == [units.SECCOMP_FILTER]
        assert status["NoNewPrivs"] == ["1"]
        for key in ("CapEff", "CapPrm", "CapBnd"):
            assert int(status[key][0], 16) == units.capabilities(text), key


def test_a_call_that_the_filter_does_not_name_ends_the_process(rolled_out, region):
    """With the unit's own filter, as systemd has it."""
    calls = region.property(CANARY, "host-agent", "SystemCallFilter")
    command = ("systemd-run", "--wait", "--pipe", "-p", "SystemCallArchitectures=native")
    said = region.on(CANARY, *command, "-p", f"SystemCallFilter={calls}", "/bin/sh", "-c", "id",
                     status=None)  # fmt: skip
    assert "SYS" in said
    region.on(CANARY, "systemctl", "reset-failed")
