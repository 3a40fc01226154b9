"""What a bare Debian host has after the packages are installed, upgraded and removed."""

import re

import packages
import pytest
import yaml
from debian_root import wait_for
from packages import DAEMONS, DEBS, HOST, HTTP, TOR, debs, give_certificate, newer

ACTIVE_S = 60
STATEFUL = ("host-agent", "tor-aggregator", "analyzer")  # the controller has etcd


def edit(root, daemon, change):
    path = root.path / f"etc/rackmesh/{daemon}.yaml"
    config = yaml.safe_load(path.read_text())
    change(config)
    path.write_text(yaml.safe_dump(config))


def test_there_is_a_package_for_every_daemon_with_the_version_of_the_source():
    made = dict(deb.name.split("_")[:2] for deb in (*debs(DEBS), *packages.tracing(DEBS)))
    assert made == dict.fromkeys({*packages.NAMES, packages.TRACING}, packages.version())


def test_user_folders_and_rights_are_there_after_the_installation(installed):
    assert installed.run("getent", "passwd", "rackmesh").endswith(":/usr/sbin/nologin\n")
    stat = ("stat", "--format=%U:%G %a")
    assert installed.run(*stat, "/run/rackmesh") == "rackmesh:rackmesh 755\n"
    assert installed.run(*stat, "/etc/rackmesh/tls") == "root:rackmesh 750\n"
    for program in (*DAEMONS, "rackmeshctl"):
        assert installed.run(program, "--version") == f"{program} {packages.version()}\n"


def test_systemd_finds_nothing_wrong_with_the_units(installed):
    units = [f"{daemon}.service" for daemon in DAEMONS]
    assert installed.run("systemd-analyze", "verify", "--man=no", *units) == ""
    for unit in units:
        text = installed.run("cat", f"/lib/systemd/system/{unit}")
        for document in re.findall(r"^Documentation=file://(.*)$", text, re.M):
            assert (installed.path / document.lstrip("/")).is_file(), document


def test_dashboards_are_where_their_provisioning_looks(installed):
    provisioning = installed.path / "usr/share/rackmesh/grafana/provisioning/dashboards.yaml"
    for provider in yaml.safe_load(provisioning.read_text())["providers"]:
        folder = installed.path / provider["options"]["path"].lstrip("/")
        assert list(folder.glob("*.json")), folder


def test_the_package_for_tracing_gives_the_agent_one_more_capability(installed):
    dropin = installed.path / "lib/systemd/system/host-agent.service.d/50-tracing.conf"

    installed.install(packages.tracing(DEBS))
    lines = dropin.read_text().splitlines()
    assert "CapabilityBoundingSet=CAP_SYS_ADMIN" in lines
    assert "AmbientCapabilities=CAP_SYS_ADMIN" in lines
    verify = ("systemd-analyze", "verify", "--man=no", "host-agent.service")
    assert installed.run(*verify) == ""

    installed.run("dpkg", "--purge", packages.TRACING)
    assert not dropin.parent.exists()


def test_nothing_is_enabled_before_somebody_has_edited_the_config(installed):
    for daemon in DAEMONS:
        state = installed.run("systemctl", "is-enabled", f"{daemon}.service", status=1)
        assert state == "disabled\n"


@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_finds_its_installed_config_good(installed, daemon):
    config = f"/etc/rackmesh/{daemon}.yaml"
    give_certificate(installed, daemon)
    edit(installed, daemon, name_it(daemon))
    installed.run("cp", "/usr/share/doc/rackmesh/examples/topology.example.yaml",
                  "/etc/rackmesh/topology.yaml")  # fmt: skip
    (installed.path / "etc/rackmesh/probe-secret").write_text("c2VjcmV0" * 8 + "\n")
    installed.run("chown", "rackmesh:", "/etc/rackmesh/probe-secret")
    installed.run("chmod", "600", "/etc/rackmesh/probe-secret")

    check = (daemon, "--check", "--config", config)
    assert installed.run(*check, user="rackmesh").endswith(f"{config}: good\n")
    # Root checks as the unit's user, who cannot read root's keys.
    output = installed.run(*check)
    assert "as user rackmesh:\n" in output and output.endswith(f"{config}: good\n")
    installed.run("chown", "root:", "/etc/rackmesh/tls/key.pem", "/etc/rackmesh/probe-secret")
    installed.run(*check, status=1)
    installed.run(*check, "--user", "root")


def test_manual_pages_and_completion_name_every_option(installed):
    for program in (*DAEMONS, "rackmeshctl"):
        options = set(re.findall(r"--[a-z-]+", installed.run(program, "--help")))
        page = "man1/rackmeshctl.1" if program == "rackmeshctl" else f"man8/{program}.8"
        texts = {
            "man": installed.run("zcat", f"/usr/share/man/{page}.gz").replace("\\-", "-"),
            "bash": installed.run("cat", f"/usr/share/bash-completion/completions/{program}"),
            "zsh": installed.run("cat", f"/usr/share/zsh/vendor-completions/_{program}"),
        }
        for kind, text in texts.items():
            assert [option for option in options if option not in text] == [], (program, kind)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("hea", "health"),
        ("topology ch", "check"),
        ("-j rnics --t", "--tor --through --token-file"),
        ("drill h1/eth1 --s", "--seconds"),
        ("brake o", "on off"),
        ("incidents d", ""),
        ("incidents --through an", "analyzer"),
        ("--analyzer ", ""),
    ],
)
def test_bash_completes_what_rackmeshctl_takes(installed, line, expected):
    words = ["rackmeshctl", *line.split(" ")]
    script = (
        ". /usr/share/bash-completion/completions/rackmeshctl; COMP_WORDS=(\"$@\"); "
        "COMP_CWORD=$(($# - 1)); _rackmesh_rackmeshctl; echo \"${COMPREPLY[@]}\""
    )
    assert installed.run("bash", "-c", script, "-", *words) == f"{expected}\n"


def test_an_upgrade_keeps_what_somebody_has_changed_in_a_config(installed, tmp_path):
    changed = installed.path / "etc/rackmesh/host-agent.yaml"
    untouched = installed.path / "etc/rackmesh/analyzer.yaml"
    ours = changed.read_text() + "# of this host\n"
    changed.write_text(ours)
    state = installed.path / "var/lib/rackmesh/host-agent/pinglists"
    state.parent.mkdir(parents=True)
    state.write_text("kept")

    installed.install(newer(DEBS, tmp_path / "same", "etc/rackmesh/analyzer.yaml"))
    assert changed.read_text() == ours
    assert untouched.read_text().endswith("# of the newer version\n")
    status = installed.run("dpkg-query", "--show", "--showformat=${Version} ", *packages.NAMES)
    assert set(status.split()) == {f"{packages.version()}+newer"}

    # If both sides changed the config, dpkg asks; --force-confold keeps the host's version.
    again = newer(tmp_path / "same", tmp_path / "both", "etc/rackmesh/host-agent.yaml")
    installed.install(again, "--force-confold")
    assert changed.read_text() == ours
    assert changed.with_suffix(".yaml.dpkg-dist").read_text().endswith("newer version\n")
    assert state.read_text() == "kept"


def test_a_removed_package_leaves_config_and_state_and_a_purged_one_nothing(root):
    before = root.files()
    root.install(debs(DEBS))
    for daemon in STATEFUL:
        state = root.path / "var/lib/rackmesh" / daemon
        state.mkdir()
        (state / "spool").write_text("kept")

    root.run("dpkg", "--remove", *sorted(packages.NAMES))
    left = root.files() - before
    assert not {path for path in left if path.startswith(("usr/", "lib/"))}
    assert {f"etc/rackmesh/{daemon}.yaml" for daemon in DAEMONS} < left
    for daemon in STATEFUL:
        assert f"var/lib/rackmesh/{daemon}/spool" in left

    root.run("dpkg", "--purge", *sorted(packages.NAMES))
    assert root.files() == before
    # The user stays, so that no other user gets a uid that may own old keys.
    root.run("getent", "passwd", "rackmesh")


def test_a_purge_leaves_keys_that_somebody_has_put_there(installed):
    give_certificate(installed, "host-agent")
    installed.run("dpkg", "--purge", *sorted(packages.NAMES))
    assert (installed.path / "etc/rackmesh/tls/key.pem").exists()


def test_a_unit_without_certificates_tries_until_they_come(installed):
    edit(installed, "host-agent", name_it("host-agent"))
    with installed.booted() as machine:
        def restarts():
            shown = machine.run("systemctl", "show", "--property=NRestarts", "host-agent")
            return int(shown.split("=")[1])

        machine.run("systemctl", "start", "--no-block", "host-agent")
        wait_for(lambda: restarts() > 6, ACTIVE_S, "systemd goes on trying")
        give_certificate(installed, "host-agent", "etc/rackmesh/tls")
        wait_for(lambda: machine.run("systemctl", "is-active", "host-agent", status=None)
                 == "active\n", ACTIVE_S, "it starts")  # fmt: skip


def name_it(daemon):
    """Sets the names of the certificate; it contains one ToR only."""

    def name(config):
        config["host" if daemon == "host-agent" else "name"] = HOST
        if daemon == "tor-aggregator":
            config["tors"] = [{"name": TOR, "primary": True}]

    return name


def configure_all(root):
    """All four daemons on one host, with TLS between them."""
    (root.path / "etc/hostname").write_text(HOST)
    for daemon in DAEMONS:
        folder = f"etc/rackmesh/tls/{daemon}"
        give_certificate(root, daemon, folder)
        files = {key: f"/{folder}/{key}.pem" for key in ("certificate", "key", "authorities")}
        edit(root, daemon, lambda config, files=files: config.update(tls=files))
    secret = root.path / "etc/rackmesh/probe-secret"
    secret.write_text("c2VjcmV0" * 8 + "\n")
    root.run("chown", "rackmesh:", "/etc/rackmesh/probe-secret")
    root.run("chmod", "600", "/etc/rackmesh/probe-secret")
    (root.path / "etc/rackmesh/topology.yaml").write_text(
        yaml.safe_dump({"region": "default", "switches": [{"name": TOR, "role": "tor"}]})
    )
    for daemon in DAEMONS:
        edit(root, daemon, name_it(daemon))
    edit(root, "host-agent", lambda config: config.update(
        rnics=[{"device": "eth1", "tor": TOR}], aggregators=[{"address": "127.0.0.1:7471"}]))
    edit(root, "tor-aggregator", lambda config: config.update(
        tors=[{"name": TOR, "primary": True}], controllers=["127.0.0.1:7481"],
        analyzers=["127.0.0.1:7491"], alerts={"webhooks": ["http://127.0.0.1:8080/"]}))


KEEP = packages.ROOT / "ansible/roles/daemon/files/keep"
KEPT = "/var/lib/rackmesh-rollout/kept"


def crash_of_an_upgraded_daemon(root, machine, daemon):
    """During a rollout, before its stage: systemd starts its former program, by the command line
    that the administrator has given it."""
    drop_in = root.path / f"etc/systemd/system/{daemon}.service.d/wrapper.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text(
        "[Service]\nExecStart=\nExecStart=/usr/bin/env WRAPPED=yes"
        f" /usr/bin/{daemon} --config /etc/rackmesh/{daemon}.yaml\n"
    )
    (root.path / "root/keep").write_text(KEEP.read_text())
    machine.run("sh", "/root/keep", KEPT.removesuffix("/kept"), daemon)
    pid = machine.run("systemctl", "show", "--property=MainPID", "--value", daemon).strip()
    machine.run("systemctl", "kill", "--signal=KILL", daemon)
    wait_for(lambda: machine.run("systemctl", "show", "--property=MainPID", "--value", daemon)
             .strip() not in ("0", pid), ACTIVE_S, "it is started again")  # fmt: skip
    wait_for(lambda: machine.run("systemctl", "is-active", daemon, status=None) == "active\n",
             ACTIVE_S, "it is up again")  # fmt: skip
    pid = machine.run("systemctl", "show", "--property=MainPID", "--value", daemon).strip()
    machine.run("cmp", f"/proc/{pid}/exe", f"{KEPT}/{daemon}")
    assert "WRAPPED=yes" in machine.run("cat", f"/proc/{pid}/environ")


def change_unit(tree):
    """Changes the unit of host-agent, if this package contains it."""
    unit = tree / "lib/systemd/system/host-agent.service"
    if unit.exists():
        text = unit.read_text()
        unit.write_text(text.replace("[Service]\n", "[Service]\nEnvironment=OF_THE_NEWER=unit\n"))


def test_systemd_starts_all_four_and_an_upgrade_restarts_what_runs(installed, tmp_path):
    configure_all(installed)
    with installed.booted() as machine:

        def metrics(daemon):
            return machine.get(f"http://127.0.0.1:{HTTP[daemon]}/metrics")

        for daemon in DAEMONS:
            assert machine.run("systemctl", "is-active", daemon, status=3) == "inactive\n"
        machine.run("systemctl", "enable", "--now", *DAEMONS, status=None)
        for daemon in DAEMONS:
            journal = machine.run("journalctl", "--no-pager", "-n", "20", "-u", daemon)
            assert machine.run("systemctl", "is-active", daemon, status=None) == "active\n", journal
            labels = f'version="{packages.version()}",component="{daemon}"'
            assert f"rackmesh_build_info{{{labels}}} 1\n" in metrics(daemon)

        # The daemons connect to each other over TLS, from inside their units.
        wait_for(lambda: re.search(r"^rackmesh_agent_aggregator_connected\S* 1$",
                                   metrics("host-agent"), re.M),
                 ACTIVE_S, "the agent has connected to the aggregator")  # fmt: skip
        wait_for(lambda: TOR in machine.run("rackmeshctl", "health", "--json", status=None),
                 ACTIVE_S, "the analyzer knows the rack")  # fmt: skip

        # All daemons share the socket folder: it stays when one of them stops.
        machine.run("systemctl", "stop", "analyzer")
        sockets = machine.run("ls", "/run/rackmesh").split()
        assert {"host-agent.sock", "tor-aggregator.sock", "region-controller.sock"} <= set(sockets)

        pid = ("systemctl", "show", "--property=MainPID", "--value")
        was = {daemon: machine.run(*pid, daemon) for daemon in DAEMONS}
        fresh = newer(DEBS, tmp_path / "newer", change=change_unit)
        into = installed.path / "root"
        for deb in fresh:
            (into / deb.name).write_bytes(deb.read_bytes())
        # A daemon whose config the new program refuses is not restarted until the config is
        # repaired.
        broken = installed.path / "etc/rackmesh/tor-aggregator.yaml"
        good = broken.read_text()
        broken.write_text(good + "no_such_option: 1\n")
        reported = machine.run("sh", "-c", 'dpkg --install "$@" 2>&1', "-",
                           *(f"/root/{deb.name}" for deb in fresh))  # fmt: skip
        assert "tor-aggregator was NOT restarted" in reported and "no_such_option" in reported
        for daemon in ("host-agent", "tor-aggregator", "region-controller"):
            assert machine.run("systemctl", "is-active", daemon) == "active\n"
            is_old = machine.run(*pid, daemon) == was[daemon]
            assert is_old == (daemon == "tor-aggregator"), daemon
        # The running agent uses the changed unit.
        environment = f"/proc/{machine.run(*pid, 'host-agent').strip()}/environ"
        assert "OF_THE_NEWER=unit" in machine.run("cat", environment)
        broken.write_text(good)
        crash_of_an_upgraded_daemon(installed, machine, "tor-aggregator")
        machine.run("/usr/lib/rackmesh/restart-upgraded", "tor-aggregator")
        assert machine.run("systemctl", "is-active", "tor-aggregator") == "active\n"
        exe = f"/proc/{machine.run(*pid, 'tor-aggregator').strip()}/exe"
        machine.run("cmp", exe, "/usr/bin/tor-aggregator")
        assert machine.run("systemctl", "is-active", "analyzer", status=3) == "inactive\n"

        # A purge in the middle of a rollout.
        in_run = "/run/systemd/system/{}.service.d/rackmesh-kept.conf".format
        machine.run("sh", "-euc", 'for at; do mkdir -p "${at%/*}"; echo "[Service]" >"$at"; done',
                    "-", *map(in_run, DAEMONS))  # fmt: skip
        machine.run("dpkg", "--remove", "rackmesh-host-agent")
        machine.run("pgrep", "--exact", "host-agent", status=1)
        machine.run("dpkg", "--purge", *sorted(packages.NAMES))
        for daemon in DAEMONS:
            machine.run("test", "-e", in_run(daemon), status=1)
        units = machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend")
        assert not [line for line in units.splitlines() if line.startswith(DAEMONS)]
