"""What the roles render for valid but unusual inventories. Needs no machine."""

import base64
import calendar
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

import pytest
import yaml
from packages import ROOT

# Two regions whose racks and ToRs have the same names; hosts with one and with two RNICs; names
# with dots, and names of digits only; IPv6 and IPv4 addresses.
INVENTORY = """\
rackmesh:
  vars:
    rackmesh_address: "{{ ansible_host }}"
  children:
    racks:
      children:
        r1_row:
          vars:
            rackmesh_rack: row-1.a
            rackmesh_tors:
              101:
                aggregators: [gpu-1.r1.example, gpu-2.r1.example]
                switch: { kind: sonic, address: "sw:6379" }
              leaf_1.b: { aggregators: [gpu-2.r1.example] }
            rackmesh_rnics: { mlx5_0: 101 }
          hosts:
            gpu-1.r1.example: { ansible_host: "fd00:0:0:1::1", rackmesh_region: r1 }
            gpu-2.r1.example:
              ansible_host: "fd00:0:0:1::2"
              rackmesh_region: r1
              rackmesh_rnics: { mlx5_0: 101, "mlx5_bond*": { tors: [leaf_1.b], transport: udp } }
        r2_row:
          vars:
            rackmesh_rack: row-1.a
            rackmesh_tors: { 101: { aggregators: [gpu-1.r2.example] } }
            rackmesh_rnics: { mlx5_0: 101 }
          hosts:
            gpu-1.r2.example: { ansible_host: 10.2.0.1, rackmesh_region: r2 }
    controllers:
      hosts:
        ctl.r1.example: { ansible_host: "fd00:0:0:1::f", rackmesh_region: r1 }
        ctl.r2.example: { ansible_host: 10.2.0.9, rackmesh_region: r2 }
    etcd:
      hosts:
        ctl.r1.example:
    analyzers:
      hosts:
        ctl.r1.example:
    alertmanagers:
      hosts:
        ctl.r1.example:
"""
WANTED = {
    "host_agent": ["rackmesh_agent_config"],
    "tor_aggregator": ["rackmesh_aggregator_config"],
    "region_controller": ["rackmesh_controller_config"],
    "analyzer": ["rackmesh_analyzer_config", "rackmesh_analyzer_region",
                 "rackmesh_certificate_hosts"],
    "topology": ["rackmesh_topology_tors"],
}
NEXT_SECRET = ROOT / "ansible/roles/region_controller/files/next-secret"
ANSIBLE = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORKS": "2"}


@pytest.fixture(scope="module")
def inventory(tmp_path_factory):
    file = tmp_path_factory.mktemp("inventory") / "hosts.yaml"
    file.write_text(INVENTORY)
    return file


def ansible(inventory, hosts, role, *options, **variables):
    """The output of the command, with the role's defaults."""
    command = ["ansible", "-i", inventory, hosts, "--playbook-dir", ".", "-c", "local",
               "-e", f"@roles/{role}/defaults/main.yaml",
               "-e", json.dumps({"rackmesh_daemon": "any", **variables}), *options]  # fmt: skip
    said = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True,
                          capture_output=True)  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


@pytest.fixture(scope="module")
def rendered(inventory):
    """{role: {host: {variable: value}}}"""
    made = {}
    for role, names in WANTED.items():
        shown = ", ".join(f"'{name}': {name}" for name in names)
        said = ansible(inventory, hosts_of(role), role, "-m", "debug", "-a", "var=shown",
                       shown="{{ {" + shown + "} }}")  # fmt: skip
        made[role] = dict(answers(said))
    return made


def hosts_of(role):
    groups = {"region_controller": "controllers", "topology": "controllers",
              "analyzer": "analyzers"}  # fmt: skip
    return groups.get(role, "racks")


def answers(said):
    """Parses lines "HOST | SUCCESS => {" and the JSON that follows."""
    decoder = json.JSONDecoder()
    while " | SUCCESS => " in said:
        host, said = said.split(" | SUCCESS => ", 1)
        value, end = decoder.raw_decode(said)
        yield host.split()[-1], value["shown"]
        said = said[end:]


def test_addresses_of_ipv6_stand_in_brackets_before_a_port(rendered):
    agent = rendered["host_agent"]["gpu-1.r1.example"]["rackmesh_agent_config"]
    assert [each["address"] for each in agent["aggregators"]] == [
        "[fd00:0:0:1::1]:7471", "[fd00:0:0:1::2]:7471"]  # fmt: skip
    aggregator = rendered["tor_aggregator"]["gpu-1.r1.example"]["rackmesh_aggregator_config"]
    assert aggregator["listen"] == "[fd00:0:0:1::1]:7471"
    assert aggregator["controllers"] == ["[fd00:0:0:1::f]:7481"]
    assert aggregator["analyzers"] == ["[fd00:0:0:1::f]:7491"]
    assert aggregator["tors"][0]["peer"]["address"] == "[fd00:0:0:1::2]:7471"
    assert aggregator["alerts"]["alertmanagers"] == ["https://[fd00:0:0:1::f]:9093"]
    controller = rendered["region_controller"]["ctl.r1.example"]["rackmesh_controller_config"]
    assert controller["listen"] == "[fd00:0:0:1::f]:7481"
    assert controller["etcd"]["endpoints"] == ["https://[fd00:0:0:1::f]:2379"]
    other = rendered["tor_aggregator"]["gpu-1.r2.example"]["rackmesh_aggregator_config"]
    assert other["listen"] == "10.2.0.1:7471"


def test_regions_with_the_same_names_of_racks_and_tors_stay_apart(rendered):
    topology = rendered["topology"]["ctl.r1.example"]["rackmesh_topology_tors"]
    assert {str(tor): it["found"] for tor, it in topology.items()} == {
        "101": ["gpu-1.r1.example", "gpu-2.r1.example"], "leaf_1.b": ["gpu-2.r1.example"]}  # fmt: skip
    other = rendered["tor_aggregator"]["gpu-1.r2.example"]["rackmesh_aggregator_config"]
    assert other["controllers"] == ["10.2.0.9:7481"]
    # One analyzer serves both regions, so it must accept both.
    assert rendered["analyzer"]["ctl.r1.example"]["rackmesh_analyzer_region"] == "*"


def test_a_certificate_is_good_for_name_and_address(rendered):
    hosts = rendered["analyzer"]["ctl.r1.example"]["rackmesh_certificate_hosts"]
    assert hosts == ["DNS:ctl.r1.example", "IP:fd00:0:0:1::f"]


def look_at(inventory, tmp_path, hosts="racks", **files):
    """The output of the check of the inventory; the control node has one secret."""
    (tmp_path / "there").write_text("secret")
    tasks = [{"ansible.builtin.include_tasks": str(ROOT / "ansible/tasks/inventory.yaml")}]
    play = [{"hosts": hosts, "gather_facts": False, "connection": "local", "tasks": tasks}]
    # The play is in the same folder as group_vars/, like the playbooks.
    (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    (tmp_path / "look.yaml").write_text(yaml.safe_dump(play))
    command = ["ansible-playbook", "-i", inventory, tmp_path / "look.yaml",
               "-e", json.dumps({"rackmesh_secrets": str(tmp_path), **files})]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True,
                         capture_output=True)  # fmt: skip
    return run.returncode, run.stdout


def test_a_file_that_is_missing_stops_all_before_anything_is_touched(inventory, tmp_path):
    wanted = {"switch.password": "there", "viewers.tokens": str(tmp_path / "absent")}
    status, said = look_at(inventory, tmp_path, rackmesh_aggregator_files=wanted)
    assert status == 2 and f"need {tmp_path}/absent, which is not a file" in said


def test_files_that_are_there_and_those_of_daemons_elsewhere_are_fine(inventory, tmp_path):
    status, said = look_at(inventory, tmp_path, rackmesh_aggregator_files={"any": "there"},
                            rackmesh_analyzer_files={"any": "absent"})  # fmt: skip
    assert status == 0, said


# One valid rack of two hosts. Each case adds one error, and states the message.
RIGHT = """\
rackmesh:
  children:
    racks:
      vars: { rackmesh_rack: a, rackmesh_rnics: { eth1: t1 }, rackmesh_tors: { t1: { aggregators: [h1, h2] } } }
      hosts: { h1: { rackmesh_region: r1 }, h2: { rackmesh_region: r1 } }
    controllers:
      hosts: { c1: { rackmesh_region: r1 } }
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rackmesh_rack: a, ", "", "h1: rackmesh_rack is missing"),
        ("rackmesh_tors: { t1: { aggregators: [h1, h2] } }", "rackmesh_rnics: {}",
         "h1: rackmesh_tors is missing: the ToRs of its rack, e.g. {tor1: {aggregators: [h11, h12]}}"),
        ("{ aggregators: [h1, h2] }", "{ plane: p }", "h1: ToR t1 in rackmesh_tors needs one or two hosts"),
        ("[h1, h2]", "[h1, h3]", "h1: the aggregator of ToR t1 is to be on h3, which is no host of the group racks"),
        ("h2: { rackmesh_region: r1 }", "h2: {}", "h1: the aggregator of ToR t1 is to be on h2 of region default"),
        ("c1: { rackmesh_region: r1 }", "c1:", "h1: its region, r1, has no controller: hosts of the group controllers are of region default, so see to"),
        ("controllers:", "controler:", "h1: its region, r1, has no controller: the group controllers is empty"),
        ("controllers:", "controler:", "c1: it is in none of the groups racks, controllers,"),
        ("hosts: { c1: {", "hosts: { c2: { rackmesh_region: r1 }, c1: {",
         "c1: region r1 has 2 controllers (c2, c1) but no host in the group etcd"),
        ("eth1: t1", "eth1: t2", "h1: rackmesh_rnics says that eth1 has its cable in t2, but rackmesh_tors has only t1"),
        ("eth1: t1", "eth1: { tors: [t1, t2] }", "h1: rackmesh_rnics says that eth1 has its cable in t2, but rackmesh_tors has only t1"),
        ("    controllers:", "    canary:\n      hosts: { h2: }\n    controllers:", "h2: it is in the group canary and has the aggregator of t1"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_an_inventory_is_said_with_host_and_remedy(tmp_path, old, new, said):
    assert old in RIGHT
    (tmp_path / "hosts.yaml").write_text(RIGHT.replace(old, new, 1))
    status, heard = look_at(tmp_path / "hosts.yaml", tmp_path, "all")
    assert status == 2 and said in " ".join(heard.split()), heard


def test_an_inventory_that_has_all_is_fine(tmp_path):
    (tmp_path / "hosts.yaml").write_text(RIGHT)
    status, heard = look_at(tmp_path / "hosts.yaml", tmp_path, "all")
    assert status == 0, heard


def test_an_inventory_without_hosts_for_rackmesh_is_an_error(tmp_path):
    (tmp_path / "hosts.yaml").write_text(RIGHT.replace("rackmesh:", "fabric:", 1))
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", "site.yaml"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    assert run.returncode == 2 and "no host is in the group rackmesh" in run.stdout


def test_a_host_that_goes_for_good_keeps_no_file_of_its_configs(inventory):
    tasks = yaml.safe_load((ROOT / "ansible/remove.yaml").read_text())[-1]["tasks"]
    (task,) = [task for task in tasks if task["name"].startswith("Remove certificates")]
    files = {"rackmesh_agent_files": {"a": "x", "b/c": "x"}, "rackmesh_aggregator_files": {"a": "y"}}
    for given, wanted in (({}, []), (files, ["/etc/rackmesh/a", "/etc/rackmesh/b/c"])):
        said = ansible(inventory, "gpu-1.r1.example", "host_agent", "-m", "debug",
                       "-a", "var=shown", shown=task["loop"], **task["vars"], **given)  # fmt: skip
        ((_, gone),) = answers(said)
        assert gone[len(task["vars"]["rackmesh_leftovers"]) :] == wanted


def test_a_copy_of_the_example_works_with_other_names_of_hosts(tmp_path):
    shutil.copytree(ROOT / "ansible/inventory/example", tmp_path / "prod")
    hosts = tmp_path / "prod/hosts.yaml"
    hosts.write_text(hosts.read_text().replace("ctl", "watch-"))
    command = ["ansible", "-i", tmp_path / "prod", "h11", "-m", "debug", "-a", "var=rackmesh_page_url"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    assert '"rackmesh_page_url": "https://172.31.0.101:9574"' in run.stdout, run.stdout + run.stderr


def test_git_takes_no_secrets_of_an_inventory():
    """docs/rollout.md has the operator copy the example inside the clone."""
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    for name, ignored in (("secrets/ca.key", True), ("hosts.yaml", False)):
        command = ["git", "check-ignore", "-q", f"ansible/inventory/prod/{name}"]
        assert (subprocess.run(command, cwd=ROOT).returncode == 0) == ignored, name


def test_secrets_beside_the_inventory_are_no_part_of_it(tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    (tmp_path / "secrets/ca.key").write_text("-----BEGIN PRIVATE KEY-----\n")
    run = subprocess.run(["ansible-inventory", "-i", tmp_path, "--list"], cwd=ROOT / "ansible",
                         env=ANSIBLE, text=True, capture_output=True, check=True)  # fmt: skip
    assert "gpu-1.r1.example" in run.stdout and "PRIVATE" not in run.stdout + run.stderr


def test_what_roles_make_themselves_is_watched_as_well_as_what_the_inventory_brings(inventory):
    def files(role, **variables):
        said = ansible(inventory, hosts_of(role), role, "-m", "debug", "-a", "var=shown",
                       shown=role_files(role), **variables)  # fmt: skip
        return dict(answers(said))

    controllers = files("region_controller", rackmesh_controller_files={"mine": "x"})
    assert controllers["ctl.r1.example"] == {
        "probe-secret": "probe-secret.r1", "etcd.password": "etcd.password", "mine": "x"}  # fmt: skip
    assert controllers["ctl.r2.example"] == {"probe-secret": "probe-secret.r2", "mine": "x"}
    analyzers = files("analyzer", rackmesh_analyzer_files={"mine": "x"})
    assert analyzers["ctl.r1.example"] == {"mine": "x"}
    analyzers = files("analyzer", rackmesh_influxdb=["ctl.r1.example"])
    assert analyzers["ctl.r1.example"] == {"influx.password": "influx.password"}


def role_files(role):
    """The files that the role passes to the daemon role, to install and to watch."""
    tasks = yaml.safe_load((ROOT / f"ansible/roles/{role}/tasks/main.yaml").read_text())
    return tasks[-1]["vars"]["rackmesh_daemon_files"]


def secrets_of(inventory, secrets, **variables):
    """{controller: (the secret in its config, the name of the secret's file on the control
    node)}"""
    shown = "{{ [rackmesh_controller_config.probe_keys, rackmesh_probe_secret_file] }}"
    said = ansible(inventory, "controllers", "region_controller", "-m", "debug", "-a", "var=shown",
                   shown=shown, rackmesh_secrets=str(secrets), **variables)  # fmt: skip
    return {host: (keys, pathlib.Path(file).name) for host, (keys, file) in answers(said)}


def test_each_region_has_a_secret_of_its_own_but_those_that_began_with_one(inventory, tmp_path):
    usual = {"secret_file": "/etc/rackmesh/probe-secret"}
    first, second = "ctl.r1.example", "ctl.r2.example"
    assert secrets_of(inventory, tmp_path) == {
        first: (usual, "probe-secret.r1"), second: (usual, "probe-secret.r2")}  # fmt: skip
    (tmp_path / "probe-secret").write_text("of both")
    assert secrets_of(inventory, tmp_path) == {
        first: (usual, "probe-secret"), second: (usual, "probe-secret")}  # fmt: skip
    (tmp_path / "probe-secret.r2").write_text("its own")
    assert secrets_of(inventory, tmp_path)[second] == (usual, "probe-secret.r2")


def test_the_secret_comes_to_the_place_that_the_config_names(inventory, tmp_path):
    def found(**keys):
        options = {"rackmesh_controller_options": {"probe_keys": keys}}
        said = ansible(inventory, "ctl.r2.example", "region_controller", "-m", "debug", "-a",
                       "var=shown", shown="{{ rackmesh_controller_all_files }}",
                       rackmesh_secrets=str(tmp_path), **options)  # fmt: skip
        ((_, files),) = answers(said)
        return secrets_of(inventory, tmp_path, **options)["ctl.r2.example"][0], files

    place = "/etc/rackmesh/keys/probes"
    assert found(secret_file=place) == ({"secret_file": place}, {"keys/probes": "probe-secret.r2"})
    place = "/run/vault/probes"
    assert found(secret_file=place) == ({"secret_file": place}, {})
    assert found(unauthenticated=True) == ({}, {})


def test_a_secret_that_is_there_is_not_made_again_wherever_it_is(inventory, tmp_path):
    tasks = yaml.safe_load((ROOT / "ansible/roles/region_controller/tasks/main.yaml").read_text())
    command = tasks[0]["ansible.builtin.command"]
    secrets, other = tmp_path / "secrets", tmp_path / "other"
    for folder in (secrets, other):
        folder.mkdir()
    for source, file in (("mine", secrets / "mine"), (str(other / "mine"), other / "mine")):
        file.write_text("kept")
        args = {"cmd": "touch made", "chdir": str(secrets), "creates": command["creates"]}
        play = [{"hosts": "ctl.r2.example", "gather_facts": False, "connection": "local", "tasks": [
            {"ansible.builtin.command": args, "loop": tasks[0]["loop"]}]}]  # fmt: skip
        (tmp_path / "make.yaml").write_text(yaml.safe_dump(play))
        if not (tmp_path / "group_vars").exists():
            (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
        given = {"rackmesh_secrets": str(secrets), "rackmesh_probe_secret": source}
        run = subprocess.run(
            ["ansible-playbook", "-i", inventory, tmp_path / "make.yaml",
             "-e", f"@{ROOT}/ansible/roles/region_controller/defaults/main.yaml",
             "-e", json.dumps(given)], cwd=ROOT / "ansible", env=ANSIBLE, text=True,
            capture_output=True)  # fmt: skip
        assert run.returncode == 0, run.stdout
        assert not (secrets / "made").exists(), run.stdout


@contextlib.contextmanager
def answering(port, answer, asked=lambda path: None):
    """A server on this host that answers every request with what answer contains at that time, after
    it has called asked(), which may return another status than 200."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status = asked(self.path) or 200
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError:
        pytest.skip("a daemon of Rackmesh runs on this host")
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield answer
        server.shutdown()


@pytest.fixture(scope="module")
def controllers_answer():
    """A controller of this release, or of a release that supports one secret only."""
    with answering(9473, {"leading": True, "probe_keys_differ": False}) as answer:
        yield answer


# A rack's host and a controller, both on this host.
HERE = """\
rackmesh:
  vars: { ansible_connection: local, ansible_become: false, rackmesh_region: r1 }
  children:
    racks: { hosts: { h1: } }
    controllers: { hosts: { c1: } }
"""


@pytest.mark.parametrize(
    ("playbook", "options", "said"),
    [
        ("brake", ["-e", "rackmesh_brake=on"],
         "c1: the brake of region r1 is NOT set, because none of the controllers that were asked leads (c1; here: no controller leads)"),
        ("drain", ["--limit", "h1", "-e", "rackmesh_state_folder=/nowhere"],
         "h1: not drained, because no controller of region r1 leads (c1)"),
    ],
)  # fmt: skip
def test_what_wants_the_leader_says_that_nobody_leads(
    controllers_answer, monkeypatch, tmp_path, playbook, options, said
):
    (tmp_path / "hosts.yaml").write_text(HERE)
    monkeypatch.setitem(controllers_answer, "leading", False)
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", *options, f"{playbook}.yaml"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    heard = " ".join(run.stdout.split())
    assert run.returncode == 2 and said in heard, heard
    assert "changed=1" not in heard


def brake(folder, rate, *options):
    (folder / "hosts.yaml").write_text(HERE)
    command = ["ansible-playbook", "-i", folder / "hosts.yaml", "-e", f"rackmesh_brake={rate}", *options, "brake.yaml"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    return run.returncode, " ".join(run.stdout.split())


@pytest.mark.parametrize(
    ("rate", "changes", "said"),
    [
        ("on", True, "r1: the brake allows 25.0 % of the planned probes now, and 0.0 % with this playbook"),
        ("off", True, "r1: the brake allows 25.0 % of the planned probes now, and 100.0 % with this playbook"),
        ("0.5%", True, "r1: the brake allows 25.0 % of the planned probes now, and 0.5 % with this playbook"),
        ("25", False, "r1: the brake allows 25.0 % of the planned probes now, and 25.0 % with this playbook"),
    ],
)  # fmt: skip
def test_a_dry_run_of_the_brake_says_what_would_change_and_does_not_brake(
    controllers_answer, monkeypatch, tmp_path, rate, changes, said
):
    monkeypatch.setitem(controllers_answer, "rate_permille", 250)
    status, heard = brake(tmp_path, rate, "--check")
    assert status == 0 and said in heard, heard
    assert f"changed={int(changes)} " in heard and "skipping: [c1]" in heard, heard


def test_a_brake_that_is_set_already_is_no_change(controllers_answer, monkeypatch, tmp_path):
    command = tmp_path / "rackmeshctl"
    command.write_text(f"#!/bin/sh\necho $* >>{tmp_path}/asked\n")
    command.chmod(0o755)
    monkeypatch.setitem(ANSIBLE, "PATH", f"{tmp_path}:{ANSIBLE['PATH']}")
    for permille, changed in ((1000, 1), (0, 0)):
        monkeypatch.setitem(controllers_answer, "rate_permille", permille)
        status, heard = brake(tmp_path, "on")
        assert status == 0 and f"changed={changed} " in heard, heard
    assert (tmp_path / "asked").read_text() == "brake on\nbrake on\n"


@pytest.mark.parametrize("rate", ["", "0", "0.05", "101", "half"])
def test_a_brake_that_is_no_rate_is_refused_before_anything_is_asked(tmp_path, rate):
    status, heard = brake(tmp_path, rate, "--check")
    assert status == 2, heard
    assert "Set the rate: -e rackmesh_brake=on, off, or a percentage from 0.1 to 100" in heard, heard


@pytest.mark.parametrize(
    ("file", "names", "answer", "said"),
    [
        ("roles/topology/tasks/main.yaml", ["Wait until a controller leads", "Check that a controller leads"],
         {"leader": None},
         "c1: after 4 s no controller of region r1 leads (this one knows of no leader). See why with curl http://127.0.0.1:9473/readyz"),
        ("probe-secret.yaml", ["Wait until all controllers have the secrets of the leader", "Check that all controllers have the secrets of the leader"],
         {"leader": "c2", "probe_keys_differ": True},
         "c1: its secrets are not those of the controller that leads region r1. Nothing is refused yet: run this again"),
        ("roles/packages/tasks/main.yaml", ["Check that there are packages"], {},
         "c1: there are no packages for it: no .deb files in rackmesh_packages_folder (not set) on the control node,"),
    ],
)  # fmt: skip
def test_what_was_waited_for_in_vain_is_said_with_host_and_remedy(
    controllers_answer, monkeypatch, tmp_path, file, names, answer, said
):
    given = yaml.safe_load((ROOT / "ansible" / file).read_text())
    given = [task for each in given for task in each.get("tasks", [each])]
    tasks = [task for task in given if task["name"] in names]
    assert len(tasks) == len(names)
    for key, value in answer.items():
        monkeypatch.setitem(controllers_answer, key, value)
    (tmp_path / "hosts.yaml").write_text(HERE)
    (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    play = [{"hosts": "controllers", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "wait.yaml").write_text(yaml.safe_dump(play))
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "wait.yaml",
               "-e", json.dumps({"rackmesh_gate_s": 4, "rackmesh_files": {}})]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    heard = " ".join(run.stdout.split())
    assert run.returncode == 2 and said in heard, heard


GATE = ROOT / "ansible/roles/gate/tasks"
# Variables of a host that does not answer: no sshd listens on this port.
SILENT = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}


def of_agent(letters, tors=("1",)):
    """An agent's answer. Capital letters: ports whose link is down."""
    rnics = [{"device": letter.lower(), "tors": list(tors), "up": True,
              "link": "down" if letter.isupper() else "up"} for letter in letters]  # fmt: skip
    return {"json": {"rnics": rnics}}


def config(rnics):
    return {"content": base64.b64encode(f"rnics: {rnics}\n".encode()).decode()}


def test_a_gate_expects_what_the_inventory_names_and_what_the_agent_has_or_had(inventory):
    """Each case: rackmesh_rnics, the agent's RNICs before and after the change, whether its config
    selects others since, and the RNICs that have to be good."""
    cases = [
        ("auto", "ab", "ab", False, "ab"),
        ("auto", "ab", "a", False, "ab"),
        ("auto", "ab", "a", True, "a"),
        ("auto", "ab", "aB", False, "ab"),
        ("auto", "aB", "aB", False, "a"),
        ("auto", None, "ab", False, "ab"),
        ({"?": 1}, "ab", "ab", False, "ab"),
        ({"a": 1, "b": {"tors": [1, 2]}}, "ab", "aB", True, "ab"),
    ]
    (block,) = yaml.safe_load((GATE / "main.yaml").read_text())
    given = [
        {"rackmesh_rnics": rnics,
         "rackmesh_rnics_before": {} if before is None else of_agent(before),
         "rackmesh_rnics_now": of_agent(now),
         "rackmesh_config_before": {} if before is None else config("those"),
         "rackmesh_config_now": config("others" if others else "those")}
        for rnics, before, now, others, _ in cases
    ]  # fmt: skip
    names = " ".join(f"{{%- set {name} = each.{name} -%}}" for name in given[0])
    shown = "{%- set all = [] -%}{%- for each in cases -%}" + names + (
        block["vars"]["rackmesh_gate_expected"].rstrip().removesuffix("{{ expected }}")
    ) + "{%- set _ = all.append(expected | map(attribute='device') | join) -%}{%- endfor -%}{{ all }}"
    said = ansible(inventory, "gpu-1.r1.example", "host_agent", "-m", "debug", "-a", "var=shown",
                   shown=shown, cases=given)  # fmt: skip
    ((_, found),) = answers(said)
    assert found == [expected for *_, expected in cases]


def gate(tmp_path, agent, good, asked, standby=None, left_out=()):
    """Runs the gate with a change between its two parts, on a host that has both the agent and the
    aggregator. agent: the agent's answer, which asked() may change; good: the RNICs that the
    aggregator reports as good; standby: a host that does not answer, with a second aggregator;
    left_out: the hosts that the run leaves out. Returns the status and the output."""
    file = tmp_path / "host-agent.yaml"
    file.write_text("rnics: auto\n")
    everything = yaml.safe_load(HERE)
    everything["rackmesh"]["children"]["racks"]["vars"] = {
        "rackmesh_rack": "r", "rackmesh_tors": {1: {"aggregators": ["h1", standby] if standby else ["h1"]}},
        "rackmesh_rnics": "auto"}  # fmt: skip
    if standby:
        everything["silent"] = {"hosts": {standby: SILENT}}
    everything["rackmesh_unreachable"] = {"hosts": dict.fromkeys(left_out)}
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(everything))
    (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    before, after = (yaml.safe_load((GATE / name).read_text()) for name in ("before.yaml", "main.yaml"))
    change = {"ansible.builtin.uri": {"url": "http://127.0.0.1:9471/change"}}
    play = [{"hosts": "racks", "gather_facts": False, "tasks": [*before, change, *after]}]
    text = yaml.safe_dump(play).replace("/etc/rackmesh/host-agent.yaml", str(file))
    (tmp_path / "gate.yaml").write_text(text)
    reported = [{"host": "h1", "device": device, "tor": "1", "health": "good"} for device in good]
    with answering(9471, agent, asked), answering(9472, {"rnics": reported}):
        command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "gate.yaml",
                   "-e", json.dumps({"rackmesh_gate_s": 2, "rackmesh_gate_quiet_s": 0})]  # fmt: skip
        run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True,
                             capture_output=True)  # fmt: skip
    return run.returncode, " ".join(run.stdout.split())


def test_a_gate_names_the_rnic_that_an_agent_no_longer_finds(tmp_path):
    answer = of_agent("ab")["json"]

    def lose(path):
        if path == "/change":
            answer.update(of_agent("a")["json"])

    status, said = gate(tmp_path, answer, "a", lose)
    assert status == 2 and "h1: after 2 s b is not known to the aggregator on h1." in said, said


def test_a_gate_asks_an_agent_again_that_gives_no_answer_at_first(tmp_path):
    paths = []

    def refuse_first_after_change(path):
        paths.append(path)
        return 503 if paths[-3:] == ["/change", "/readyz", "/v1/rnics"] else 200

    status, said = gate(tmp_path, of_agent("a")["json"], "a", refuse_first_after_change)
    assert status == 0, said
    assert paths == ["/v1/rnics", "/change", "/readyz", "/v1/rnics", "/v1/rnics"]


def test_a_gate_names_the_rnic_that_an_agent_does_not_open_and_why(tmp_path):
    """The agent had no RNICs before, as on a new host."""
    answer = {"rnics": []}
    closed = {"device": "b", "tors": ["1"], "up": False, "link": "unknown", "error": "no memory"}

    def find(path):
        if path == "/change":
            answer["rnics"] = [*of_agent("aC")["json"]["rnics"], closed]

    status, said = gate(tmp_path, answer, "a", find)
    assert status == 2 and "h1: after 2 s b is not open (no memory)" in said, said
    assert "c is not" not in said


@pytest.mark.parametrize("tors", [["7"], []])
def test_a_gate_names_the_rnic_whose_tor_the_inventory_lacks(tmp_path, tors):
    """No aggregator is asked about it, so that the rack would pass without it."""
    answer = {"rnics": [*of_agent("a")["json"]["rnics"], *of_agent("b", tors)["json"]["rnics"]]}
    status, said = gate(tmp_path, answer, "a", lambda _: None)
    tor = "7" if tors else "no ToR"
    assert status == 2 and f"h1: b has its cable in {tor}, but rackmesh_tors has only 1: no" in said, said
    assert "Add the ToR to rackmesh_tors." in said and "a has its" not in said


def test_a_gate_expects_an_rnic_at_the_tor_that_its_agent_named_before(tmp_path):
    answer = of_agent("ab")["json"]

    def rename(path):
        if path == "/change":
            answer["rnics"][1] = of_agent("b", ["7"])["json"]["rnics"][0]

    status, said = gate(tmp_path, answer, "a", rename)
    assert status == 2 and "h1: after 2 s b is not known to the aggregator on h1." in said, said


@pytest.mark.parametrize("left_out", [[], ["h2"]])
def test_a_gate_does_not_ask_the_aggregator_of_a_host_that_is_left_out(tmp_path, left_out):
    status, said = gate(tmp_path, of_agent("a")["json"], "a", lambda _: None, "h2", left_out)
    assert ("no longer reachable: h2" in said, status) == ((False, 0) if left_out else (True, 2)), said


def test_a_gate_waits_for_an_rnic_that_an_agent_opens_late(tmp_path):
    answer = {"rnics": []}
    opened = of_agent("a")["json"]["rnics"]

    def open_at_the_second_question(path):
        if path == "/change":
            answer["rnics"] = [{**opened[0], "up": False, "link": "unknown", "error": "no memory"}]
        elif path == "/v1/rnics" and answer["rnics"]:
            answer["rnics"], answer["next"] = answer.get("next", answer["rnics"]), opened

    status, said = gate(tmp_path, answer, "a", open_at_the_second_question)
    assert status == 0, said


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_a_host_is_drained_while_another_controller_than_the_leader_is_off(
    controllers_answer, tmp_path, options
):
    everything = yaml.safe_load(HERE)
    everything["rackmesh"]["children"]["controllers"] = {"hosts": {"c2": SILENT, "c1": None}}
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(everything, sort_keys=False))
    (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    tasks = yaml.safe_load((ROOT / "ansible/tasks/leader.yaml").read_text())
    assert "ansible.builtin.assert" in tasks[-1]
    play = [{"hosts": "racks", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "drain.yaml").write_text(yaml.safe_dump(play))
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "drain.yaml", *options]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    assert run.returncode == 0 and "c2" in run.stdout, run.stdout


def remove(folder, limit, *options):
    """h1 and h2 do not answer, h3 does."""
    everything = yaml.safe_load(HERE)
    everything["rackmesh"]["children"]["racks"] = {"hosts": {"h1": SILENT, "h2": SILENT, "h3": None}}
    (folder / "hosts.yaml").write_text(yaml.safe_dump(everything))
    command = ["ansible-playbook", "-i", folder / "hosts.yaml", "--limit", limit, *options, "remove.yaml"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    return run.returncode, " ".join(run.stdout.split())


ONLY_PLANS = "did not answer: only its RNICs {} removed from the plans. Delete its line"


@pytest.mark.parametrize(
    ("limit", "gone", "options", "verb"),
    [
        ("h1", "rackmesh_gone=h1", [], "were"),
        ("h1", "rackmesh_gone=h1", ["--check"], "would be"),
        ("h1,h2", "rackmesh_gone=h2,h1", [], "were"),
        ("h1,h2", '{"rackmesh_gone": ["h1", "h2"]}', [], "were"),
    ],
)  # fmt: skip
def test_of_hosts_that_are_named_as_gone_only_the_rnics_are_removed(
    controllers_answer, monkeypatch, tmp_path, limit, gone, options, verb
):
    monkeypatch.setitem(controllers_answer, "rnics", [{"host": "another", "id": "1"}])
    status, heard = remove(tmp_path, limit, "-e", gone, *options)
    assert status == 0, heard
    for host in limit.split(","):
        assert f"{host} {ONLY_PLANS.format(verb)}" in heard, heard
    assert "Drain the host" not in heard and "changed=0" in heard, heard


@pytest.mark.parametrize(
    ("limit", "gone", "said"),
    [
        ("h1", "", "h1 does not answer, so nothing can be removed from it: switch it on. If it will never answer again, repeat "
                   "the command with -e rackmesh_gone=h1, which"),
        ("h1,h2", "h1", "h2 does not answer, so nothing can be removed from it"),
        ("h1,h2", "true", "rackmesh_gone has true, which is no host of the group racks that --limit selects: name the hosts "
                          "that are gone, e.g. -e rackmesh_gone=h1,h2"),
        ("h1", "h1,h2", "rackmesh_gone has h2, which is no host of the group racks that --limit selects"),
        ("h1", "h1, h9", "rackmesh_gone has h9, which is"),
        ("h1,c1", "h1,c1", "rackmesh_gone has c1, which is"),
        ("h1,h3", "h1,h3", "h3 answers, so it is not gone, and nothing was changed: take it out of rackmesh_gone"),
    ],
)  # fmt: skip
def test_a_host_is_gone_only_if_it_is_named_and_does_not_answer(
    controllers_answer, monkeypatch, tmp_path, limit, gone, said
):
    """A dry run, as h3 is this machine."""
    monkeypatch.setitem(controllers_answer, "rnics", [{"host": "another", "id": "1"}])
    status, heard = remove(tmp_path, limit, "-e", json.dumps({"rackmesh_gone": gone}), "--check")
    assert status == 2 and said in heard, heard
    assert "Remove hosts permanently" not in heard and "changed=1" not in heard, heard


# One rack with two aggregators and a canary, and a controller, all on this host.
REACHED = """\
rackmesh:
  vars: { ansible_connection: local, ansible_become: false }
  children:
    racks:
      vars: { rackmesh_rack: a, rackmesh_rnics: { eth1: t1 }, rackmesh_tors: { t1: { aggregators: [h1, h2] } } }
      hosts: { h1: {}, h2: {}, h3: {}, h4: {} }
    canary: { hosts: { h3: {} } }
    controllers: { hosts: { c1: {} } }
"""


@pytest.mark.parametrize(
    ("silent", "skip", "status", "rolled_out", "said"),
    [
        ([], False, 0, "h1 h2 h3 h4", ""),
        (["h2", "h4"], False, 2, "", "Nothing was changed, because these hosts did not answer: h2, h4. Switch them on, or"),
        (["h2", "h4"], True, 4, "h1 h3", "NOT rolled out, because they did not answer: h2 (its RNICs eth1), h4 (its RNICs eth1). Run"),
        (["c1", "h4"], True, 2, "", "did not answer: c1, h4. No run is possible without c1: a host of"),
        (["h3"], True, 2, "", "No run is possible without h3: a host of"),
        (["h1", "h2"], True, 2, "", "h3: nobody could tell whether its rack is healthy, because no host with an aggregator of ToR t1 answers (h1, h2)."),
    ],
)  # fmt: skip
def test_hosts_that_do_not_answer_stop_all_or_are_left_out_and_named(
    tmp_path, silent, skip, status, rolled_out, said
):
    """Runs site.yaml's first two plays and its last, and between them a batch in place of the
    rollout."""
    everything = yaml.safe_load(REACHED)
    everything["rackmesh"]["children"]["off"] = {"hosts": dict.fromkeys(silent, SILENT)}
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(everything))
    for name in ("group_vars", "tasks", "vars"):
        (tmp_path / name).symlink_to(ROOT / "ansible" / name)
    plays = {play["name"]: play for play in yaml.safe_load((ROOT / "ansible/site.yaml").read_text())}
    plays["Check all hosts"]["tasks"] = [
        task for task in plays["Check all hosts"]["tasks"] if "ansible.builtin.include_role" not in task]  # fmt: skip
    batch = {**plays["Rack by rack"], "tasks": [{"ansible.builtin.debug": {
        "msg": "batch {{ ansible_play_batch | join(' ') }}, lost {{ rackmesh_lost }}"}, "run_once": True}]}  # fmt: skip
    batch["vars_files"] = ["vars/order.yaml", str(ROOT / "ansible/roles/rollout/defaults/main.yaml")]
    names = ("Reach all hosts", "Check all hosts", batch, "Hosts that were left out")
    play = [plays[name] if isinstance(name, str) else name for name in names]
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(play, sort_keys=False))
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "site.yaml",
               "-e", json.dumps({"rackmesh_skip_unreachable": skip, "rackmesh_secrets": str(tmp_path)})]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    heard = " ".join(run.stdout.split())
    assert said in heard and run.returncode == status, heard
    assert (f"batch {rolled_out}, lost []" in heard) == ("batch" in heard) == bool(rolled_out), heard
    assert ("NOT rolled out" in heard) == (status == 4)


def test_the_host_that_was_lost_is_the_one_that_a_run_names(tmp_path):
    everything = {"all": {"hosts": {"h1": {"ansible_connection": "local"}, "h2": SILENT}}}
    (tmp_path / "hosts.yaml").write_text(yaml.safe_dump(everything))
    tasks = [{"ansible.builtin.ping": {}}, {"ansible.builtin.include_role": {
        "name": str(ROOT / "ansible/roles/rollout")}, "vars": {"rackmesh_stages": [], "rackmesh_gate": False}}]  # fmt: skip
    play = [{"hosts": "all", "gather_facts": False, "tasks": tasks, "vars": {"rackmesh_unreachable": []}}]
    (tmp_path / "lost.yaml").write_text(yaml.safe_dump(play))
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "lost.yaml"]
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    said = "stopped here, because of h2. Check that no host was lost so far: no longer reachable: h2"
    assert said in " ".join(run.stdout.split()), run.stdout


@pytest.mark.parametrize("playbook", ["site", "rotate"])
def test_nobody_waits_for_the_agent_of_a_drained_host(tmp_path, playbook):
    """Runs the tasks with which the playbook checks the region at its end. No agent answers here."""
    (tmp_path / "hosts.yaml").write_text(HERE)
    for name in ("group_vars", "tasks"):
        (tmp_path / name).symlink_to(ROOT / "ansible" / name)
    (play,) = [play for play in yaml.safe_load((ROOT / f"ansible/{playbook}.yaml").read_text())
               if "tasks/ready.yaml" in str(play)]  # fmt: skip
    checks = ("tasks/drained.yaml", "tasks/ready.yaml")
    play["tasks"] = [task for task in play["tasks"] if task.get("ansible.builtin.include_tasks") in checks]
    (tmp_path / "end.yaml").write_text(yaml.safe_dump([play]))
    given = {"rackmesh_gate_s": 2, "rackmesh_state_folder": str(tmp_path), "rackmesh_rnics": {"eth1": "t1"}}
    command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "end.yaml", "--limit", "h1",
               "-e", json.dumps(given)]  # fmt: skip

    def status():
        return subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, capture_output=True).returncode

    assert status() == 2
    (tmp_path / "drained").write_text("")
    assert status() == 0


def next_secrets(inventory, folder, *options, **variables):
    """Runs the playbook of a new secret on all controllers, or with --limit."""
    if not (folder / "group_vars").exists():
        (folder / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    tasks = [{"ansible.builtin.include_tasks": str(ROOT / "ansible/tasks/probe-secret.yaml")}]
    play = [{"hosts": "controllers", "gather_facts": False, "connection": "local",
             "any_errors_fatal": True, "tasks": tasks}]  # fmt: skip
    (folder / "next.yaml").write_text(yaml.safe_dump(play))
    given = {"rackmesh_secrets": str(folder), "rackmesh_next_secret_command": str(NEXT_SECRET),
             **variables}  # fmt: skip
    command = ["ansible-playbook", "-i", inventory, folder / "next.yaml", "-e", json.dumps(given),
               *options]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT / "ansible", env=ANSIBLE, text=True, capture_output=True)
    lines = {file.name: file.read_text().splitlines() for file in folder.glob("probe-secret*")}
    return run.returncode, run.stdout, lines


def test_every_region_of_an_inventory_gets_another_secret(inventory, controllers_answer, tmp_path):
    for region in ("r1", "r2"):
        (tmp_path / f"probe-secret.{region}").write_text(region * 22)
    limit = ("--limit", "ctl.r2.example")
    status, said, lines = next_secrets(inventory, tmp_path, *limit)
    assert status == 0, said
    assert [len(lines[f"probe-secret.{region}"]) for region in ("r1", "r2")] == [1, 2]
    status, said, after = next_secrets(inventory, tmp_path)
    assert status == 0, said
    assert after["probe-secret.r2"] == lines["probe-secret.r2"]
    assert after["probe-secret.r1"][0] == "r1" * 22 and len(after["probe-secret.r1"]) == 2


def test_regions_of_one_secret_wait_for_the_longest_epoch(inventory, controllers_answer, tmp_path):
    (tmp_path / "probe-secret").write_text("a" * 44)
    keys = {"epoch_s": "{{ 3600 if rackmesh_region == 'r1' else 360000 }}"}
    status, said, lines = next_secrets(inventory, tmp_path,
                                       rackmesh_controller_options={"probe_keys": keys})  # fmt: skip
    assert status == 0, said
    _, begins = lines["probe-secret"][1].split(" from ")
    ahead = calendar.timegm(time.strptime(begins, "%Y-%m-%dT%H:%M:%SZ")) - time.time()
    assert 2 * 360000 - 60 < ahead <= 3 * 360000


# Cases of one region with two controllers: the expected message; nothing has been written then.
@pytest.mark.parametrize(
    "options, variables, said",
    [
        (["--limit", "c1"], {}, "without c2, which r1 has, too"),
        ([], {"rackmesh_controller_options": {"probe_keys": {"secret_file": "/run/x"}}}, "/run/x, which others"),
        ([], {"rackmesh_controller_options": {"plaintext": True}}, "are not authenticated"),
        ([], {"rackmesh_probe_secret": "{{ inventory_hostname }}"}, "have different rackmesh_probe_secret"),
        ([], {"old": True}, "accepts one secret only"),
    ],
)  # fmt: skip
def test_no_next_secret_is_written_that_some_controller_would_lack(
    controllers_answer, monkeypatch, tmp_path, options, variables, said
):
    inventory = tmp_path / "hosts.yaml"
    one = {"ansible_host": "127.0.0.1", "rackmesh_region": "r1"}
    inventory.write_text(yaml.safe_dump({"controllers": {"hosts": {"c1": one, "c2": one}}}))
    (tmp_path / "probe-secret").write_text("a" * 44)
    if variables.pop("old", False):
        monkeypatch.delitem(controllers_answer, "probe_keys_differ")
    status, heard, lines = next_secrets(inventory, tmp_path, *options, **variables)
    assert status == 2 and said in " ".join(heard.split()), heard
    assert lines == {"probe-secret": ["a" * 44]}


def test_an_agent_has_the_rights_that_the_inventory_gives_it(inventory):
    tasks = yaml.safe_load((ROOT / "ansible/roles/host_agent/tasks/main.yaml").read_text())
    asked = tasks[-1]["vars"]["rackmesh_daemon_unit_options"]

    def lines(**variables):
        said = ansible(inventory, "gpu-1.r1.example", "host_agent", "-m", "debug", "-a", "var=shown",
                       shown=asked, **variables)  # fmt: skip
        ((_, found),) = answers(said)
        return found

    def example(name):
        text = (ROOT / f"host-agent/host-agent-{name}.conf").read_text()
        return [line for line in text.splitlines() if "=" in line and line[0] != "#"]

    assert lines() == []
    names = ["tracing", "optics", "namespaces"]
    wanted = [line for name in names for line in example(name)]
    assert len(wanted) == 7
    assert lines(rackmesh_agent_rights=names, rackmesh_unit_options=["Nice=0"]) == ["Nice=0", *wanted]


def test_the_next_secret_of_the_probes_stands_behind_the_one_in_use(tmp_path):
    file, epoch_s, now = tmp_path / "probe-secret", 3600, time.time()

    def run():
        command = [NEXT_SECRET, file, str(epoch_s)]
        said = subprocess.run(command, text=True, capture_output=True, check=True).stdout
        return said.startswith("changed: "), file.read_text().splitlines()

    first, form = "a" * 44, "%Y-%m-%dT%H:%M:%SZ"
    file.write_text(f"{first}\n")
    changed, (old, fresh) = run()
    assert changed and old == first
    second, begins = fresh.split(" from ")
    assert len(second) == 44 and second != first
    ahead = calendar.timegm(time.strptime(begins, form)) - now
    assert 2 * epoch_s < ahead <= 3 * epoch_s
    assert file.stat().st_mode & 0o777 == 0o600
    # While the second secret is not the only one in use, no third one is made.
    for age, over in ((-1, False), (epoch_s, False), (3 * epoch_s, True)):
        text = time.strftime(form, time.gmtime(now - age))
        file.write_text(f"{first}\n{second} from {text}\n")
        changed, lines = run()
        assert changed == over
        assert lines[0] == (second if over else first) and len(lines) == 2


def test_a_file_that_has_no_secrets_gets_no_next_one(tmp_path):
    file = tmp_path / "probe-secret"
    vault = "$ANSIBLE_VAULT;1.1;AES256\n" + ("61" * 40 + "\n") * 2 + "62" * 20 + "\n"
    for text in ("", "\n", "short\n", f"{'a' * 65}\n", f"{'a' * 44}\n{'b' * 44}\n", vault):
        file.write_text(text)
        done = subprocess.run([NEXT_SECRET, file, "3600"], text=True, capture_output=True)
        assert done.returncode != 0 and "probe-secret" in done.stderr.splitlines()[-1], text
        assert file.read_text() == text


def test_rnics_keep_what_the_inventory_says_of_each(rendered):
    agents = rendered["host_agent"]
    one = agents["gpu-1.r1.example"]["rackmesh_agent_config"]
    assert [(each["device"], str(each["tor"])) for each in one["rnics"]] == [("mlx5_0", "101")]
    two = agents["gpu-2.r1.example"]["rackmesh_agent_config"]
    assert two["rnics"][1] == {"device": "mlx5_bond*", "tors": ["leaf_1.b"], "transport": "udp"}


def test_the_topology_is_of_one_region_and_has_all_of_it(inventory, tmp_path):
    file = tmp_path / "topology.yaml"
    ansible(inventory, "ctl.r1.example", "topology", "-m", "template",
            "-a", f"src=roles/topology/templates/topology.yaml.j2 dest={file}")  # fmt: skip
    topology = yaml.safe_load(file.read_text())
    first, second = "[fd00:0:0:1::1]:7471", "[fd00:0:0:1::2]:7471"
    assert topology["racks"] == [
        {"tor": 101, "aggregators": [first, second], "hosts": 2, "rnics": 2},
        {"tor": "leaf_1.b", "aggregators": [second], "hosts": 1, "rnics": 1},
    ]
    # The topology does not contain how a switch is read.
    assert topology["switches"] == [
        {"name": 101, "role": "tor"}, {"name": "leaf_1.b", "role": "tor"}]  # fmt: skip


def test_a_tor_brings_its_switch_to_its_aggregators(rendered):
    tors = rendered["tor_aggregator"]["gpu-2.r1.example"]["rackmesh_aggregator_config"]["tors"]
    assert [(str(tor["name"]), tor.get("switch")) for tor in tors] == [
        ("101", {"kind": "sonic", "address": "sw:6379"}), ("leaf_1.b", None)]  # fmt: skip


@pytest.mark.parametrize("name", ["IP:fd00:0:0:1::1", "IP:10.0.0.1", "DNS:gpu-1.r1.example"])
def test_the_small_authority_signs_every_kind_of_name(tmp_path, name):
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    files = ["-keyout", "ca.key", "-out", "ca.pem"]
    subprocess.run(["openssl", "req", "-x509", *curve, "-subj", "/CN=ca", *files], cwd=tmp_path,
                   check=True, capture_output=True)  # fmt: skip
    request = subprocess.run(["openssl", "req", "-new", *curve, "-keyout", "key", "-subj", "/O=x"],
                             cwd=tmp_path, check=True, capture_output=True).stdout  # fmt: skip
    reported = {"RACKMESH_SECRETS": str(tmp_path), "RACKMESH_REGION": "r1", "RACKMESH_URI": "",
            "RACKMESH_NAMES": f"DNS:localhost,{name}", "RACKMESH_HOURS": "1"}  # fmt: skip
    signed = subprocess.run([ROOT / "ansible/roles/certificates/files/sign"], input=request,
                            env={**os.environ, **reported}, capture_output=True)  # fmt: skip
    assert signed.returncode == 0, signed.stderr.decode()
    kind, value = name.split(":", 1)
    check = {"IP": "-checkip", "DNS": "-checkhost"}[kind]
    said = subprocess.run(["openssl", "x509", "-noout", check, value], input=signed.stdout,
                          check=True, capture_output=True).stdout  # fmt: skip
    assert b"does match" in said
