"""--check and --check --connect of the real daemons: a rollout may trust them."""

import re
import subprocess

import yaml

from lab.ca import Authority, identity
from lab.places import program
from lab.rackmesh import REGION
from lab.wait import PATIENCE_S, until

RACKS = {"tor1": ["h1", "h2"]}
KINDS = {
    "h1": "host-agent",
    "agg-tor1": "tor-aggregator",
    "controller1": "region-controller",
    "analyzer": "analyzer",
}


def checked(lab, daemon, *words, config=None):
    config = config or lab.folder / "config" / f"{daemon.name}.yaml"
    there = ["ip", "netns", "exec", daemon.netns] if daemon.netns else []
    check = [program(KINDS[daemon.name], lab.build), "--check", "--user", "root", *words]
    return subprocess.run(
        [*there, *map(str, check), "--config", str(config)], capture_output=True, text=True
    )


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("<3>")]


def changed(lab, daemon, folder, **options):
    """Its config, with some other options."""
    config = yaml.safe_load((lab.folder / "config" / f"{daemon.name}.yaml").read_text())
    config.update(options)
    path = folder / f"{daemon.name}.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def test_what_runs_is_found_good_and_reaches_its_peers(world, say):
    lab = world(RACKS, alertmanager=False, analyzer={}).start().lab
    daemons = {
        "h1": lab.agents["h1"],
        "agg-tor1": lab.aggregators["tor1"],
        "controller1": lab.controllers[0],
        "analyzer": lab.analyzer,
    }
    begun = daemons["agg-tor1"].metrics().sum("rackmesh_aggregator_sessions_total")
    for name, daemon in daemons.items():
        done = checked(lab, daemon, "--connect")
        say(done.stdout)
        assert done.returncode == 0 and not errors(done), (name, done)
        assert done.stdout.endswith(f"{name}.yaml: good\n")

    reached = checked(lab, daemons["h1"], "--connect").stdout
    assert re.search(
        r"^aggregators\[0\]\.address: \S+: reached \"agg-tor1\", "
        r"rackmesh://lab/aggregator/agg-tor1/tor1$",
        reached,
        re.M,
    ), reached
    reached = checked(lab, daemons["agg-tor1"], "--connect").stdout
    assert "\ncontrollers[0]: " in f"\n{reached}" and "\nanalyzers[0]: " in f"\n{reached}"

    # The agent of the same name went on, and nobody was refused.
    metrics = daemons["agg-tor1"].metrics()
    assert metrics.sum("rackmesh_aggregator_sessions_total") == begun
    assert metrics.sum("rackmesh_aggregator_links_refused_total") == 0


def test_who_is_not_reached_is_named_with_the_option(world, tmp_path):
    lab = world(RACKS, alertmanager=False, analyzer={}).start().lab
    agent, aggregator = lab.agents["h1"], lab.aggregators["tor1"]
    lab.analyzer.stop()
    done = checked(lab, aggregator, "--connect")
    assert done.returncode == 1
    found, total = errors(done)
    assert re.search(r"agg-tor1\.yaml:\d+:\d+: analyzers\[0\]: \S+: Connection refused$", found)
    assert total.endswith("agg-tor1.yaml: 1 error")
    assert "controllers[0]" in done.stdout

    # A webhook's path may be a secret: its server alone is shown.
    hook = {"alerts": {"webhooks": ["http://me:hidden@127.0.0.1:9/hidden"]}}
    done = checked(lab, lab.analyzer, "--connect", config=changed(lab, lab.analyzer, tmp_path, **hook))
    assert "alerts.webhooks[0]: http://127.0.0.1:9/...: " in errors(done)[0], done
    assert "hidden" not in done.stdout + done.stderr

    # Who refuses us says so, and so do we when somebody else answers.
    foreign = Authority(tmp_path / "foreign")
    (tmp_path / "both.pem").write_bytes(
        foreign.certificate_path.read_bytes() + lab.authority.certificate_path.read_bytes()
    )
    shown = foreign.issue(identity(REGION, "agent", "h1"), "h1").options()
    shown["tls"]["authorities"] = str(tmp_path / "both.pem")
    done = checked(lab, agent, "--connect", config=changed(lab, agent, tmp_path, **shown))
    assert done.returncode == 1
    assert "the peer refused the certificate" in errors(done)[0], done

    true = yaml.safe_load((lab.folder / "config" / "h1.yaml").read_text())
    wrong = {
        "rnics": [dict(rnic, tor="tor9") for rnic in true["rnics"]],
        "aggregators": [dict(each, tors=["tor9"]) for each in true["aggregators"]],
    }
    done = checked(lab, agent, "--connect", config=changed(lab, agent, tmp_path, **wrong))
    assert "may not serve agents for ToR tor9" in errors(done)[0], done


def test_an_aggregator_with_the_certificate_of_another_does_not_start(world, tmp_path):
    """It would dial several times a second, and be refused each time."""
    lab = world(RACKS, alertmanager=False).start().lab
    aggregator = lab.aggregators["tor1"]
    config = lab.folder / "config" / "agg-tor1.yaml"
    good = config.read_text()
    other = lab.authority.issue(identity(REGION, "aggregator", "agg9", ["tor1"]), "other")
    aggregator.stop()
    config.write_text(changed(lab, aggregator, tmp_path, **other.options()).read_text())

    done = checked(lab, aggregator)
    wrong = "the certificate is of 'agg9', and the config says 'agg-tor1'"
    assert done.returncode == 1 and wrong in errors(done)[0], done
    aggregator.start()
    until("it gives up", PATIENCE_S, lambda: not aggregator.alive)
    assert wrong in aggregator.log.read_text()
    aggregator.stop()
    config.write_text(good)
    aggregator.start()
    aggregator.wait_ready()
