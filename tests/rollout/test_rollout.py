"""A region from bare machines on: what Ansible sets up, without false alerts.

The tests share one region, in this order; each leaves it without incidents."""

import calendar
import concurrent.futures
import contextlib
import json
import re
import subprocess
import time

import pytest
import units
import versions
import yaml
from lab.faults import RnicDead
from lab.innocents import VERDICTS, accused
from lab.wait import until
from packages import DAEMONS, HTTP, ROOT
from region import ANALYZER, NEWCOMER, PATIENCE_S

CANARY = "h13"
UNLUCKY = "h22"
CRASHES = "h12"
# A bad version never becomes good, so the wait for it can be shorter than the default.
GATE_S = 40
FAULT_S = 60
QUIET_S = 15
EPOCH_S = 90
LONG_S = 1200
LISTENS = {"tor-aggregator": 7471, "region-controller": 7481, "analyzer": 7491}


def nothing(_arrival):
    return False


@contextlib.contextmanager
def without_incidents(region, allow=nothing):
    """Checks that the region has no incident at the end. Yields a list, which is filled at the end
    with the alerts that no expected fault explains."""
    began, mark, innocents = time.monotonic(), region.sink.mark(), []
    yield innocents
    region.wait_healthy()
    innocents += accused(region.sink.since(mark), began, allow)
    assert innocents == []


def agent_of(host):
    """Returns a filter for the alert that this host's agent is silent."""
    return lambda arrival: (arrival.alertname, arrival.part) == ("RackmeshAgent", host)


def changed_between(before, after):
    return {name for name in before if after[name] != before[name]}


def state(region):
    """{machine: (version, pids)}, which changes only if a daemon is changed or restarted."""

    def of(name):
        return (region.version(name), region.main_pids(name)) if region.enabled(name) else None

    with concurrent.futures.ThreadPoolExecutor(len(region.names)) as pool:
        found = dict(zip(region.names, pool.map(of, region.names), strict=True))
    return {name: each for name, each in found.items() if each}


# ---- the inventory that an operator writes -----------------------------------------------------

RAILS = range(8)
RACK = f"""\
rackmesh_rack: rack7
rackmesh_tors:
{"".join(f"  r7t{n}: {{ aggregators: [h71, h72] }}{chr(10)}" for n in RAILS)}\
rackmesh_rnics: {{ {", ".join(f"mlx5_{n}: r7t{n}" for n in RAILS)} }}
"""
HOSTS = """\
h71: { ansible_host: 10.0.7.1 }
h72: { ansible_host: 10.0.7.2 }
h73: { ansible_host: 10.0.7.3 }
"""


def test_a_host_with_eight_rnics_is_one_line_by_hand(print_line, tmp_path):
    rack = {"vars": yaml.safe_load(RACK), "hosts": yaml.safe_load(HOSTS)}
    groups = {"rackmesh": {"children": {"racks": {"children": {"rack7": rack}}}}}
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(groups))
    command = ["ansible", "-i", tmp_path, "h73", "--playbook-dir", ".",
               "-e", "@roles/host_agent/defaults/main.yaml",
               "-m", "debug", "-a", "var=rackmesh_agent_config"]  # fmt: skip
    said = subprocess.run(command, cwd=ROOT / "ansible", capture_output=True, text=True, check=True)
    config = json.loads(said.stdout[said.stdout.index("{") :])["rackmesh_agent_config"]
    assert config["rnics"] == [{"device": f"mlx5_{n}", "tor": f"r7t{n}"} for n in RAILS]
    tors = [f"r7t{n}" for n in RAILS]
    assert config["aggregators"] == [
        {"address": "10.0.7.1:7471", "tors": tors}, {"address": "10.0.7.2:7471", "tors": tors}]  # fmt: skip
    hosts = HOSTS.splitlines()
    print_line(
        f"by hand, for hosts with {len(config['rnics'])} RNICs: {len(RACK.splitlines())} lines for"
        f" the rack, {len(hosts) / len(rack['hosts']):.0f} for each host, in the inventory"
    )
    assert len(hosts) == len(rack["hosts"])


# ---- the first rollout ------------------------------------------------------------------------


def test_ansible_reaches_every_machine(region):
    said = region.control("ansible", "-i", region.inventory, "-m", "ping", "all")
    reached = {line.split()[0] for line in said.splitlines() if "SUCCESS" in line}
    assert reached == region.places()


def test_machines_share_no_control_groups(region):
    """In a shared group a unit would exist until the units of that name end on all machines."""
    groups = {region.control_group(name) for name in region.names}
    assert len(groups) == len(region.names)


@pytest.mark.long
def test_a_dry_run_of_bare_machines_touches_nothing(region, print_line):
    run = region.play("site", "--check")
    print_line(f"dry run of bare machines: {run.took_s:.0f} s, {run.counts()}")
    assert run.hosts("ok") >= region.places()
    assert run.hosts("failed") == run.hosts("unreachable") == set()
    assert not (region.inventory / "secrets").exists()
    for name in region.places():
        region.on(name, "test", "!", "-e", "/etc/rackmesh")
        region.on(name, "test", "!", "-e", "/etc/apt/sources.list.d/rackmesh.list")


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


@pytest.mark.long
def test_a_second_run_changes_nothing(rolled_out, region, print_line):
    before = state(region)
    with without_incidents(region):
        run = region.play("site")
    print_line(f"second run: {run.took_s:.0f} s, {run.counts()}")
    assert run.hosts("ok") >= region.places()
    assert run.hosts("changed") == run.hosts("failed") == set()
    assert state(region) == before


@pytest.mark.long
def test_a_dry_run_of_a_region_that_runs_has_nothing_to_do(rolled_out, region, print_line):
    before = state(region)
    with without_incidents(region):
        run = region.play("site", "--check")
    print_line(f"dry run: {run.took_s:.0f} s, {run.counts()}")
    assert run.hosts("ok") >= region.places()
    assert run.hosts("changed") == run.hosts("failed") == set()
    assert state(region) == before


def topology_of_tor2(region):
    """The rack of tor2 in etcd's topology, which must be the one that Ansible wrote."""
    there = region.in_etcd("/rackmesh/r1/topology/region")
    assert there.strip() == region.on(ANALYZER, "cat", "/etc/rackmesh/topology.yaml").strip()
    topology = yaml.safe_load(there)
    (rack,) = [rack for rack in topology["racks"] if rack["tor"] == "tor2"]
    return rack


def test_the_topology_of_the_inventory_is_in_etcd(rolled_out, region):
    addresses = [f"{region.fabric.management[name]}:7471" for name in ("h21", "h22")]
    assert topology_of_tor2(region) == {
        "tor": "tor2", "aggregators": addresses, "hosts": 2, "rnics": 2}  # fmt: skip


def test_the_history_has_its_policies_and_its_hourly_queries(rolled_out, region):
    policies = region.ask_influx("SHOW RETENTION POLICIES")
    kept = {policy["name"]: (policy["duration"], policy["default"]) for policy in policies}
    assert kept["raw"] == ("336h0m0s", True) and kept["incidents"] == ("9600h0m0s", False)
    queries = region.ask_influx("SHOW CONTINUOUS QUERIES")
    assert {row["name"] for row in queries if "query" in row} == {
        "rm_tor_pair_hour", "rm_rnic_hour", "rm_sla_rack_hour"}  # fmt: skip
    # The query of an operator, which the analyzer answers from its database over TLS.
    said = region.on(ANALYZER, "rackmeshctl", "history", "tor1", "--json")
    assert json.loads(said)


@pytest.mark.long
def test_a_file_that_has_changed_restarts_its_daemon_and_nobody_else(
    rolled_out, region, print_line, tmp_path
):
    file, there = tmp_path / "word", "/etc/rackmesh/sub/folder/word"

    def play():
        before = state(region)
        files = {"sub/folder/word": str(file)}
        run = region.play("site", "--limit", CANARY, rackmesh_agent_files=files)
        restarted = changed_between(before, state(region))
        print_line(f"{file.read_text()}: {run.took_s:.0f} s, {run.counts()}")
        return run.hosts("changed"), restarted

    with without_incidents(region):
        file.write_text("a new file")
        assert play() == ({CANARY}, {CANARY})
        assert region.on(CANARY, "runuser", "-u", "rackmesh", "cat", there) == file.read_text()
        file.write_text("copied, and then cut off")
        region.on(CANARY, "sh", "-euc", f"printf %s '{file.read_text()}' >{there}")
        assert play() == ({CANARY}, {CANARY})
        assert play() == (set(), set())


@pytest.mark.long
def test_other_passwords_reach_the_engines_and_who_uses_them(rolled_out, region, print_line):
    names = ("etcd.password", "influx.password")
    for name in names:
        (region.inventory / "secrets" / name).write_text(f"another-{name.replace('.', '-')}\n")
    before = state(region)
    options = ("--limit", "controllers,etcd,influxdb,analyzers")
    with without_incidents(region):
        run = region.play("site", *options)
    print_line(f"other passwords: {run.took_s:.0f} s, {run.counts()}")
    assert changed_between(before, state(region)) == {ANALYZER, *region.machines_of("region-controller")}
    for name in names:
        assert region.on(ANALYZER, "cat", f"/etc/rackmesh/{name}").startswith("another-")
    assert region.in_etcd("/rackmesh/r1/topology/region")
    assert json.loads(region.on(ANALYZER, "rackmeshctl", "history", "tor1", "--json"))
    assert region.play("site", *options).hosts("changed") == set()


@pytest.mark.long
def test_another_secret_of_the_probes_restarts_the_controllers_alone(rolled_out, region, print_line):
    file = region.inventory / "secrets" / "probe-secret"
    controllers = region.machines_of("region-controller")
    before, old = state(region), file.read_text()
    assert region.play("probe-secret", "--check").hosts("failed") == set()
    assert file.read_text() == old
    with without_incidents(region):
        run = region.play("probe-secret")
    print_line(f"another secret of the probes: {run.took_s:.0f} s, {run.counts()}")
    assert changed_between(before, state(region)) == controllers
    lines = file.read_text()
    assert lines.startswith(old) and lines.count("\n") == 2
    for name in controllers:
        assert region.on(name, "cat", "/etc/rackmesh/probe-secret") == lines
    assert region.play("probe-secret").hosts("changed") == set()


@pytest.mark.long
def test_the_next_secret_comes_into_use_while_all_is_probed(rolled_out, region, print_line):
    """With epochs of minutes; another length of them wants the brake, as probes are refused then."""
    file = region.inventory / "secrets" / "probe-secret"

    def all_probed():
        return region.probed() == region.rnics()

    def braked(**options):
        with without_incidents(region):
            region.play("brake", rackmesh_brake="on")
            region.play("site", "--limit", "controllers", **options)
            region.play("brake", rackmesh_brake="off")
            until("all is probed", PATIENCE_S, all_probed, every=1)

    epochs = {"rackmesh_controller_options": {"probe_keys": {"epoch_s": EPOCH_S}}}
    file.write_text(file.read_text().splitlines()[0] + "\n")
    braked(**epochs)
    with without_incidents(region):
        run = region.play("probe-secret", **epochs)
        _, begins = file.read_text().strip().split(" from ")
        begins = calendar.timegm(time.strptime(begins, "%Y-%m-%dT%H:%M:%SZ"))
        mark, looks = region.sink.mark(), []
        while time.time() < begins + EPOCH_S + QUIET_S:  # when the old one is accepted no more
            region.sink.silence(QUIET_S, mark)
            looks.append(all_probed())
        until("all is probed", PATIENCE_S, all_probed, every=1)
    print_line(
        f"the next secret: {run.took_s:.0f} s, {run.counts()}; all were probed at {sum(looks)} of"
        f" {len(looks)} looks"
    )
    file.write_text(file.read_text().splitlines()[1].split()[0] + "\n")
    braked()


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
    """Uses the unit's own filter, as systemd loaded it."""
    calls = region.property(CANARY, "host-agent", "SystemCallFilter")
    command = ("systemd-run", "--wait", "--pipe", "-p", "SystemCallArchitectures=native")
    said = region.on(CANARY, *command, "-p", f"SystemCallFilter={calls}", "/bin/sh", "-c", "id",
                     status=None)  # fmt: skip
    assert "SYS" in said
    region.on(CANARY, "systemctl", "reset-failed")


ENTER = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
there = os.open("/run/netns/pod", os.O_RDONLY)
if libc.setns(there, 0x40000000) < 0:
    raise OSError(ctypes.get_errno(), "refused")
print(os.stat("/proc/1/ns/net").st_ino > 0)
"""
UNIT_OF_NAMESPACES = ("User", "AmbientCapabilities", "CapabilityBoundingSet", "RestrictNamespaces",
                      "NoNewPrivileges", "ProtectSystem", "PrivateMounts", "SystemCallFilter",
                      "SystemCallArchitectures")  # fmt: skip


def test_the_drop_in_alone_lets_the_agent_into_the_namespaces_of_pods(rolled_out, region):
    """Uses the unit's own rights, as systemd loaded them."""
    example = "/usr/share/doc/rackmesh/examples/host-agent-namespaces.conf"
    folder = "/run/systemd/system/host-agent.service.d"

    def enter():
        rights = {key: region.property(CANARY, "host-agent", key) for key in UNIT_OF_NAMESPACES}
        options = [word for key in rights for word in ("-p", f"{key}={rights[key]}")]
        return region.on(CANARY, "systemd-run", "--quiet", "--wait", "--pipe", *options,
                         "/usr/bin/python3", "-c", ENTER, status=None)  # fmt: skip

    region.on(CANARY, "ip", "netns", "add", "pod")
    try:
        assert "PermissionError" in enter()
        region.on(CANARY, "install", "-D", "--target-directory", folder, example)
        region.on(CANARY, "systemctl", "daemon-reload")
        assert enter() == "True\n"
    finally:
        region.on(CANARY, "rm", "-r", folder)
        region.on(CANARY, "systemctl", "daemon-reload")
        region.on(CANARY, "ip", "netns", "delete", "pod")
        region.on(CANARY, "systemctl", "reset-failed")


# ---- versions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["refuses", "mute"])
def test_a_bad_version_stops_at_the_canary_and_is_rolled_back(
    rolled_out, region, print_line, tmp_path, how
):
    bad = versions.bad(tmp_path / "bad", how)
    before = state(region)
    with region.repository.offers(bad.folder), without_incidents(region, agent_of(CANARY)) as innocents:
        run = region.play("site", status=2, rackmesh_version=bad.name, rackmesh_gate_s=GATE_S)
    after = state(region)
    touched = changed_between(before, after)
    print_line(
        f"bad version ({how}): stopped and rolled back in {run.took_s:.0f} s; touched:"
        f" {', '.join(touched)}; false alerts: {len(innocents)}"
    )
    assert touched == {CANARY} == run.hosts("failed")
    assert after[CANARY][0] == before[CANARY][0]
    assert region.property(CANARY, "host-agent", "ActiveState") == "active"


@pytest.mark.long
def test_a_rack_that_fails_goes_back_as_a_whole(rolled_out, region, print_line, tmp_path):
    """The version is good on the canary and in its rack, and bad on one host of the next rack."""
    bad = versions.bad(tmp_path / "bad", "refuses", only_at=UNLUCKY)
    region.repository.add(bad.folder)
    before = state(region)
    with without_incidents(region, agent_of(UNLUCKY)) as innocents:
        run = region.play("site", status=2, rackmesh_version=bad.name, rackmesh_gate_s=GATE_S)
    after = state(region)
    failed = {"h21", "h22"}
    upgraded = {name for name in after if after[name][0] == bad.name}
    print_line(
        f"bad at {UNLUCKY}: stopped and rolled back in {run.took_s:.0f} s; back:"
        f" {', '.join(sorted(failed))}; of the new version: {', '.join(sorted(upgraded))};"
        f" false alerts: {len(innocents)}"
    )
    assert run.hosts("failed") == failed
    assert re.search(rf"because of (h21, )?{UNLUCKY}", run.output)
    assert upgraded == set(before) - failed
    last = max(region.started(name, daemon) for name in upgraded for daemon in after[name][1])
    for name in failed:
        assert after[name][0] == before[name][0]
        for daemon in after[name][1]:
            assert region.property(name, daemon, "ActiveState") == "active", f"{daemon} on {name}"
            assert region.started(name, daemon) > last, f"{daemon} on {name} was not touched"
    assert region.probed() == region.rnics()


@pytest.mark.long
def test_a_bad_controller_stops_at_the_first_and_the_other_goes_on(
    rolled_out, region, print_line, tmp_path
):
    """Only the controller of this version is bad. The canary gets the agent first, which is then
    newer than all its peers."""
    bad = versions.bad(tmp_path / "bad", "refuses", daemon="region-controller")
    before = state(region)
    limit = ("--limit", f"{CANARY},controllers,analyzers")
    with region.repository.offers(bad.folder), without_incidents(region) as innocents:
        run = region.play("site", *limit, status=2, rackmesh_version=bad.name, rackmesh_gate_s=GATE_S)
        after = state(region)
        leaders = {name for name in region.machines_of("region-controller")
                   if region.get(name, HTTP["region-controller"], "/v1/leader").json["leading"]}  # fmt: skip
        touched = changed_between(before, after)
        print_line(
            f"bad controller: stopped and rolled back in {run.took_s:.0f} s; touched:"
            f" {', '.join(sorted(touched))}; leading: {', '.join(leaders)}"
        )
        assert len(leaders) == 1
        assert run.hosts("failed") < region.machines_of("region-controller")
        assert len(run.hosts("failed")) == 1
        assert touched == {CANARY} | run.hosts("failed")
        (failed,) = run.hosts("failed")
        assert f"because of {failed}" in run.output and "cannot start: this is a bad version" in run.output
        assert after[failed][0] == before[failed][0] and after[CANARY][0] == bad.name
        pids = {daemon: (before[failed][1][daemon], pid) for daemon, pid in after[failed][1].items()}
        assert {daemon for daemon, (was, now) in pids.items() if was != now} == {"region-controller"}
        assert region.property(failed, "region-controller", "ActiveState") == "active"
        assert region.probed() == region.rnics()
        back = region.play("site", "--limit", CANARY, rackmesh_version=before[CANARY][0])
    print_line(f"the canary's agent back in {back.took_s:.0f} s; false alerts: {len(innocents)}")
    assert state(region)[CANARY][0] == before[CANARY][0]


@pytest.mark.long
def test_versions_mixed_as_a_rolling_upgrade_mixes_them_watch_the_region(
    rolled_out, region, print_line, tmp_path
):
    other = versions.other(tmp_path / "other")
    region.repository.add(other.folder)
    before = state(region)
    mine = before[CANARY][0]

    def brings(version, what, limit, meanwhile=None):
        allow = nothing if meanwhile is None else agent_of(CRASHES)
        with without_incidents(region, allow), concurrent.futures.ThreadPoolExecutor(1) as pool:
            beside = meanwhile and pool.submit(meanwhile)
            run = region.play("site", "--limit", limit, rackmesh_version=version)
            if beside:
                beside.result()
            region.wait_healthy()
            assert region.probed() == region.rnics()
        has = {name: each[0] for name, each in state(region).items()}
        assert "unknown" not in region.on(ANALYZER, "rackmeshctl", "versions", status=None)
        print_line(f"{what}: {run.took_s:.0f} s, {run.counts()}")
        return {name for name in has if has[name] == other.name}

    assert brings(other.name, "other agent alone", CANARY) == {CANARY}
    assert brings(mine, "and back", CANARY) == set()

    def is_former():
        """Whether the agent runs the copy of its former program."""
        exe = f"/proc/{region.main_pids(CRASHES)['host-agent']}/exe"
        ask = f"cmp -s {exe} /var/lib/rackmesh-rollout/kept/host-agent && echo yes"
        return region.on(CRASHES, "sh", "-c", ask, status=None) == "yes\n"

    def crashes():
        """Between apt, which its aggregator's stage has called, and its own stage."""
        kept = "/run/systemd/system/host-agent.service.d/rackmesh-kept.conf"
        show = ("systemctl", "cat", "host-agent.service")
        until("apt has replaced its program", LONG_S,
              lambda: kept in region.on(CRASHES, *show), every=0.2)  # fmt: skip
        region.on(CRASHES, "systemctl", "kill", "--signal=KILL", "host-agent.service")
        until("it is back as what it was", PATIENCE_S, is_former, every=0.1)

    centre = {"ctl1", "ctl2"}
    limit = "controllers,analyzers"
    assert brings(other.name, "other controllers and analyzer", limit) == centre
    aggregating = {"h11", "h12"}
    what = "and aggregators of a rack, with one old agent"
    assert brings(other.name, what, "h11,h12", crashes) == centre | aggregating
    assert not is_former()
    assert brings(mine, "all back", f"{limit},h11,h12") == set()


@pytest.mark.long
def test_a_gate_says_which_rnic_is_not_good_and_to_whom(rolled_out, region, print_line):
    fault = RnicDead(region, region.fabric.rnics[f"{CANARY}/eth1"])
    options = {**region.variables["rackmesh_agent_options"], "trace": {"interval_s": 31}}
    before = region.on(CANARY, "cat", "/etc/rackmesh/host-agent.yaml")
    with without_incidents(region, lambda arrival: CANARY in arrival.part):
        fault.begin()
        try:
            run = region.play("site", "--limit", CANARY, status=2, rackmesh_gate_s=GATE_S,
                              rackmesh_agent_options=options)  # fmt: skip
        finally:
            fault.end()
    print_line(f"a gate with a dead cable: {run.took_s:.0f} s")
    said = " ".join(run.output.split())
    assert re.search(rf"because of {CANARY}. .*{CANARY}: after {GATE_S} s .*eth1 is \w+ to the aggregator on h11", said)
    assert region.on(CANARY, "cat", "/etc/rackmesh/host-agent.yaml") == before


@pytest.mark.long
def test_a_dry_run_of_a_change_says_what_it_would_be(rolled_out, region, print_line, tmp_path):
    newer = versions.good(tmp_path / "newer", "+dry")
    before = state(region)
    options = {**region.variables["rackmesh_agent_options"], "trace": {"interval_s": 31}}
    with region.repository.offers(newer.folder), without_incidents(region):
        run = region.play("site", "--check", "--diff", "--limit", CANARY,
                          rackmesh_version=newer.name, rackmesh_agent_options=options)  # fmt: skip
    print_line(f"dry run of a change: {run.took_s:.0f} s, {run.counts()}")
    assert run.hosts("changed") == {CANARY} and run.hosts("failed") == set()
    assert re.search(r"^\+ +interval_s: 31$", run.output, re.M)
    assert f"{CANARY}: host-agent would be restarted" in run.output
    assert state(region) == before


@pytest.mark.long
def test_a_host_lost_on_the_way_stops_its_rack_and_is_finished_later(
    rolled_out, region, print_line, tmp_path
):
    newer = versions.good(tmp_path / "newer", "+later")
    region.repository.add(newer.folder)
    before = state(region)
    limit = ("--limit", "rack2")

    def is_upgraded():
        show = ("dpkg-query", "--show", "--showformat=${Version}", "rackmesh-host-agent")
        return region.on(UNLUCKY, *show) == newer.name

    def is_true(arrival):
        return UNLUCKY in (arrival.part, arrival.labels.get("host"), arrival.labels.get("place"))

    with without_incidents(region, is_true) as innocents:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            began = time.monotonic()
            playing = pool.submit(
                region.play, "site", *limit, status=None, rackmesh_version=newer.name
            )
            until(f"{UNLUCKY} has the newer agent", LONG_S,
                  lambda: is_upgraded() or playing.done(), every=0.5)  # fmt: skip
            region.fabric.cut_management(UNLUCKY)
            cut = time.monotonic()
            try:
                run = playing.result()
            finally:
                region.fabric.mend_management(UNLUCKY)
        print_line(f"{UNLUCKY} lost after {cut - began:.0f} s, stopped after {run.took_s:.0f} s")
        after = state(region)
        assert run.hosts("unreachable") == {UNLUCKY}
        assert run.hosts("failed") == {"h21"}
        assert f"stopped here, because of {UNLUCKY}." in run.output
        assert f"no longer reachable: {UNLUCKY}" in run.output
        assert after["h21"][0] == before["h21"][0]
        for daemon in after["h21"][1]:
            assert region.property("h21", daemon, "ActiveState") == "active", daemon
        untouched = set(before) - {"h21", UNLUCKY}
        assert {name: after[name] for name in untouched} == {n: before[n] for n in untouched}
        again = region.play("site", *limit, rackmesh_version=newer.name)
    print_line(f"and finished in {again.took_s:.0f} s; false alerts: {len(innocents)}")
    finished = state(region)
    for name in set(finished) - untouched:
        assert finished[name][0] == newer.name
    assert {name: finished[name] for name in untouched} == {n: before[n] for n in untouched}
    assert region.probed() == region.rnics()


@pytest.mark.long
def test_an_upgrade_goes_from_the_canary_over_its_rack_to_the_others(
    rolled_out, region, print_line, tmp_path
):
    newer = versions.good(tmp_path / "newer")
    region.repository.add(newer.folder)
    before = state(region)
    with without_incidents(region):
        run = region.play("site", rackmesh_version=newer.name)
    print_line(f"upgrade: {run.took_s:.0f} s, {run.counts()}")
    print_line(f"  of that: {run.steps()}")
    after = state(region)
    for name, (version, pids) in after.items():
        assert version == newer.name
        for daemon, pid in pids.items():
            assert pid != before[name][1][daemon], f"{daemon} on {name} runs the old program"
    agents = region.machines_of("host-agent")
    started = {name: region.started(name, "host-agent") for name in agents}
    others = {name: at for name, at in started.items() if name != CANARY}
    assert started[CANARY] < min(others.values())
    first = [at for name, at in others.items() if name.startswith("h1")]
    assert max(first) < min(at for name, at in others.items() if name.startswith("h2"))


# ---- hosts that come, change and go --------------------------------------------------------------


@pytest.mark.long
def test_a_host_is_added(rolled_out, region, print_line):
    region.take_in(NEWCOMER, after="h22")
    before = state(region)
    with without_incidents(region):
        # As if its first rollout had failed before its agent was installed.
        region.play("remove", "--limit", NEWCOMER)
        run = region.play("site")
    print_line(f"host added: {run.took_s:.0f} s, {run.counts()}")
    assert f"{NEWCOMER}/eth1" in region.probed()
    assert region.probed() == region.rnics()
    assert topology_of_tor2(region)["rnics"] == 3
    after = state(region)  # the topology has changed, and nobody was restarted for it
    assert {name: after[name] for name in before} == before


def test_a_swapped_card_is_probed_and_nobody_is_named(rolled_out, region, print_line):
    rnic = region.fabric.rnics["h12/eth1"]

    def good():
        return [each["id"] for each in region.seen_by("h11") if each["host"] == rnic.host
                and each["health"] == "good"]  # fmt: skip

    (old,) = good()
    began = time.monotonic()
    with without_incidents(region):
        region.fabric.swap(rnic, "02:00:00:99:00:01")
        until("the new card is probed", PATIENCE_S, lambda: len(good()) == 1 and good() != [old],
              every=1)  # fmt: skip
        print_line(f"swapped card: good after {time.monotonic() - began:.1f} s")


@pytest.mark.long
def test_a_drained_host_is_switched_off_and_comes_back_unnoticed(rolled_out, region, print_line):
    with without_incidents(region):
        run = region.play("drain", "--limit", NEWCOMER)
        print_line(f"host drained: {run.took_s:.0f} s")
        mark = region.sink.mark()
        region.fabric.isolate(NEWCOMER)
        region.wait_healthy(but={f"{NEWCOMER}/eth1"})
        region.sink.silence(QUIET_S, mark)
        before = state(region)
        run = region.play("site", "--limit", "rack2", status=4, rackmesh_skip_unreachable=True)
        print_line(f"its rack without it: {run.took_s:.0f} s, {run.counts()}")
        assert f"NOT rolled out, because they did not answer: {NEWCOMER} (its RNICs eth1)." in run.output
        assert run.hosts("unreachable") == {NEWCOMER}
        assert run.hosts("failed") == run.hosts("changed") == set()
        assert state(region) == before
        region.fabric.rejoin(NEWCOMER)
        run = region.play("return", "--limit", NEWCOMER)
        print_line(f"and back: {run.took_s:.0f} s, {run.counts()}")
    assert region.probed() == region.rnics()


@pytest.mark.long
def test_a_removed_host_is_nobodys_concern(rolled_out, region, print_line):
    with without_incidents(region):
        run = region.play("remove", "--limit", NEWCOMER)
        region.leave_out(NEWCOMER)
        again = region.play("site")
        print_line(f"host removed: {run.took_s:.0f} s, and the region without it: {again.took_s:.0f} s")
    assert region.on(NEWCOMER, "dpkg-query", "--show", "rackmesh-host-agent", status=1)
    for name in region.machines_of("tor-aggregator"):
        assert NEWCOMER not in {rnic["host"] for rnic in region.seen_by(name)}


@pytest.mark.long
def test_a_new_authority_signs_for_all_while_everything_runs(rolled_out, region, print_line):
    def files(ask):
        return {(name, daemon): ask(name, daemon)
                for name, enabled in region.daemons().items() for daemon in enabled}  # fmt: skip

    serials, issuers = files(region.serial), files(region.issuer)
    (former,) = set(issuers.values())
    with without_incidents(region):
        run = region.play("rotate", rackmesh_new_authority=True)
    print_line(f"authority and certificates renewed: {run.took_s:.0f} s, {run.counts()}")
    after = files(region.serial)
    assert [who for who in after if after[who] == serials[who]] == []
    (issuer,) = set(files(region.issuer).values())
    assert issuer != former
    assert set(files(region.authorities).values()) == {1}
    for (name, daemon), serial in after.items():
        if daemon in LISTENS:
            assert region.served_serial(name, LISTENS[daemon]) == serial, f"{daemon} on {name}"


# ---- the brake -------------------------------------------------------------------------------


def test_the_brake_stops_all_probing_and_lets_go(rolled_out, region, print_line):
    with without_incidents(region):
        began = time.monotonic()
        region.play("brake", rackmesh_brake="on")
        until("nothing is probed", PATIENCE_S, lambda: region.probed() == set(), every=1)
        print_line(f"braked, and seen after {time.monotonic() - began:.0f} s")
        region.play("brake", rackmesh_brake="off")
        until("all is probed", PATIENCE_S, lambda: region.probed() == region.rnics(), every=1)


# ---- an alert ------------------------------------------------------------------------------------


def test_a_dead_cable_is_one_alert_that_names_it(rolled_out, region, print_line):
    """Shows that the tests without alerts would have seen an alert."""
    fault = RnicDead(region, region.fabric.rnics["h21/eth1"])
    mark = region.sink.mark()
    began = fault.begin()
    try:
        came = region.sink.wait_for(fault.fires, FAULT_S, mark, "an alert about h21/eth1")
        print_line(f"named after {came.at - began:.1f} s")
        assert fault.bit()
        assert came.labels["cluster"] == "c1" and came.link.startswith("https://172.31.0.101:9574/")
        # The inventory has a page_url and no runbook_url: the text of the kind is on the page.
        assert came.annotations["runbook_url"].endswith(f":9574/#/kind/{came.annotations['kind']}")
        named = {(fault.alertname, fault.part)}
        until("Alertmanager has it", FAULT_S, lambda: region.alerts() >= named, every=1)
    finally:
        fault.end()
    region.sink.wait_for(fault.resolves, FAULT_S, mark, "that it is over")
    region.wait_healthy()
    firing = {(a.alertname, a.part) for a in region.sink.since(mark) if a.status == "firing"}
    assert firing == {(fault.alertname, fault.part)}
