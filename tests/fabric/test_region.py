"""What an operator does with a region: brake, resolve, drill, topology, incidents, health."""

import json
import re
import time

import pytest
import yaml

from lab import machine, places
from lab.faults import RnicDead
from lab.innocents import accused
from lab.process import Process
from lab.rackmesh import REGION, topology
from lab.wait import FULL, PATIENCE_S, in_time, until
from lab.world import World

RACKS = {"tor1": ["h1", "h2", "h3"], "tor2": ["h1", "h4"]}
OFTEN = {"summary": {"interval_s": 1, "rnic_interval_s": 1}}
BRAKED_S = 2.0
REPORTED_S = 10
FIRES_S, RESOLVES_S = 10, 30
STEADY_S = 2.0  # long enough to measure a rate
STILL = 0.15  # share of this time for which the machine may not have run
TRIES = 5
LOOKS = 10  # the counts are read at least this often in the second without probes
# Shares of the full rate. A busy machine sends some probes late, and these are left out.
HALF = (0.4, 0.6) if FULL else (0.1, 0.75)
ALL = (0.85, 1.15) if FULL else (0.75, 2)


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    folder = tmp_path_factory.mktemp("region")
    with World(
        RACKS,
        folder,
        alertmanager=False,
        controllers=2,
        etcd=1,
        analyzer={},
        family="any",
        aggregator=OFTEN,
    ) as world:
        world.start().fabric.count()
        yield world


# ---- rackmeshctl and rates -------------------------------------------------------------


def leading(region):
    """The arguments for the controller that leads, which accepts changes."""
    return "--controller", f"unix:{region.lab.wait_leader().socket}"


def output_of(region, place, *words):
    """The output of rackmeshctl there; its exit status must be 0."""
    done = region.lab.ctl_run(place, *words)
    assert done.returncode == 0, f"{words}: {done}"
    return done.stdout


def refuses(region, place, *words, status=3):
    """The sentence with which rackmeshctl fails there."""
    done = region.lab.ctl_run(place, *words)
    assert done.returncode == status, f"{words}: {done}"
    assert not done.stdout, f"{words}: {done}"
    return done.stderr.strip()


def probes(region):
    """{RNIC: probes that it has sent on the wire}"""
    return {
        name: region.fabric.counted(rnic)[0] for name, rnic in region.fabric.rnics.items()
    }


def rates(region, seconds=STEADY_S):
    """{RNIC: probes per second} on the wire, in the next so many seconds."""
    for _ in range(TRIES):
        before, began = probes(region), time.monotonic()
        region.plain.silence(seconds, region.plain.mark())
        took, after = time.monotonic() - began, probes(region)
        if machine.lost(began) <= STILL * seconds:
            break
    return {name: (count - before[name]) / took for name, count in after.items()}


def last_change(region, since):
    """Waits until no RNIC probes any more; returns the seconds from then to the last probe."""
    seen, changed, looks = probes(region), time.monotonic(), 0
    while time.monotonic() - changed < 1 or looks < LOOKS:
        now = probes(region)
        looks += 1
        if now != seen:
            seen, changed, looks = now, time.monotonic(), 0
        assert changed - since < PATIENCE_S, "the probes never stopped"
    return changed - since


def wait_rate(region, low, high, full, what):
    """Waits until every RNIC's rate is between these shares of its full rate; returns the
    seconds. A busy machine sends some probes late: there it is enough if each RNIC was seen at
    that rate once."""
    began, left = time.monotonic(), set(full)

    def right():
        now = rates(region, 1)
        shares = {name: now[name] / full[name] for name in full}
        if FULL:
            left.update(full)
        left.difference_update(n for n, share in shares.items() if low <= share <= high)
        if left:
            raise OSError(f"shares of the full rate: {shares}")  # not yet
        return True

    until(what, REPORTED_S, right)
    return time.monotonic() - began - 1


# ---- the brake -------------------------------------------------------------------------


RESTARTED = ("h1", "h2")


def was_away(arrival):
    """Whether the alert is on a daemon that was killed here: if its start took seconds, the alert
    is right."""
    killed = {"RackmeshAgent": RESTARTED, "RackmeshAggregator": ("agg-tor1",)}
    return arrival.part in killed.get(arrival.alertname, ())


def test_the_brake_stops_all_probes_and_stays_without_controllers(region, print_line):
    lab, mark, first = region.lab, region.plain.mark(), time.monotonic()
    full = rates(region)
    assert min(full.values()) > 5, full

    began = time.monotonic()
    output_of(region, "centre", *leading(region), "brake", "on")
    stopped = last_change(region, began)
    quiet = probes(region)
    in_time("the last probe under the brake", stopped, BRAKED_S, began)

    until("health calls every rack paused", REPORTED_S, lambda: states(region) == {"paused"})
    health = lab.ctl_run("analyzer", "health")
    assert health.returncode == 1 and "2 paused" in health.stdout, health
    until("every host is paused", REPORTED_S, lambda: hosts_are(region) == {"paused"})

    for controller in lab.controllers:
        controller.kill()
    for daemon in (lab.aggregators["tor1"], lab.agents["h2"], lab.agents["h1"]):
        daemon.kill()
        daemon.start()
    for host in RESTARTED:
        until(f"{host} is back", REPORTED_S, lambda: connected(lab, host), every=0.1)
    region.plain.silence(STEADY_S, mark, was_away)
    assert probes(region) == quiet, "somebody has probed under the brake"
    for controller in lab.controllers:
        controller.start()
    lab.wait_leader()

    until("half is taken", REPORTED_S, lambda: half(region), every=0.2)
    region.plain.silence(BRAKED_S, mark, was_away)
    wait_rate(region, *HALF, full, "all probe at half the rate")
    shares = [rate / full[name] for name, rate in rates(region).items()]

    output_of(region, "centre", *leading(region), "brake", "off")
    back = wait_rate(region, *ALL, full, "all probe as before")
    print_line(
        f"stopped {stopped:.2f} s after the order; at half: {min(shares):.2f} to"
        f" {max(shares):.2f} of the rate; all of it after {back:.2f} s"
    )
    others = accused(region.plain.since(mark), first, was_away)
    assert not others, "nobody was at fault"
    until("health is good again", REPORTED_S, lambda: states(region) == {"ok"}, every=0.1)


def hosts_are(region):
    """The states of the hosts at the racks."""
    return {
        host["state"]
        for aggregator in region.lab.aggregators.values()
        for host in aggregator.get("/v1/hosts").json["hosts"]
    }


def states(region):
    answer = region.lab.analyzer.get("/v1/health").json
    return {rack["state"] for rack in answer["racks"]}


def connected(lab, host):
    listed = lab.agents[host].get("/v1/aggregators").json["aggregators"]
    return all(each["connected"] for each in listed)


def half(region):
    return region.lab.ctl_run("centre", *leading(region), "brake", "rate", "50").returncode == 0


# ---- messages between daemons -----------------------------------------------------------


def test_the_analyzer_knows_the_summary_interval_of_its_aggregators(region):
    lab = region.lab

    def reported():
        listed = lab.analyzer.get("/v1/aggregators").json["aggregators"]
        return len(listed) == len(lab.aggregators) and listed

    listed = until("all aggregators at the analyzer", REPORTED_S, reported)
    assert {each["summary_interval_s"] for each in listed} == {1}
    judged_by = f'rackmesh_analyzer_row_interval_seconds{{region="{REGION}"}} 1\n'
    assert judged_by in lab.analyzer.get("/metrics").text


def test_rnics_without_counters_of_congestion_are_named(region):
    """Network devices of the kernel have no CNP counters."""

    def named():
        cnps = region.lab.analyzer.get("/v1/health").json["regions"][0]["cnps"]
        return cnps["rnics"] == sum(map(len, RACKS.values())) and cnps

    cnps = until("CNPs of all RNICs are judged", REPORTED_S, named)
    assert (cnps["state"], cnps["rnics_counting"]) == ("not-known", 0), cnps
    racks = dict(rack.split(": ") for rack in cnps["uncounted"].split("; "))
    hosts = {tor: [rnic.split("/")[0] for rnic in rnics.split(", ")] for tor, rnics in racks.items()}
    assert {tor: sorted(names) for tor, names in hosts.items()} == RACKS
    assert cnps["uncounted"] in cnps["sentence"]
    ratio = f'rackmesh_region_cnp_counting_ratio{{region="{REGION}"}} 0\n'
    assert ratio in region.lab.analyzer.get("/metrics").text


# ---- addresses -------------------------------------------------------------------------


def test_an_address_is_resolved_in_every_notation(region):
    rnic, lab = region.rnic("h4/r0"), region.lab
    rnic_id = lab.agent_view(rnic)["id"]
    leader = lab.wait_leader()

    for address in (rnic.ipv4, rnic.ipv6, f"::ffff:{rnic.ipv4}"):
        answer = output_of(region, leader.name, "resolve", address)
        assert answer == f"{address} is h4/r0 ({rnic_id}) at tor2\n"
    assert "no RNIC has this address" in refuses(region, leader.name, "resolve", "10.9.9.9")
    assert "expected an address or a GID" in refuses(region, leader.name, "resolve", "h4")


# ---- drill -----------------------------------------------------------------------------


def test_a_drill_returns_the_same_through_every_tier(region):
    lab, places_of = region.lab, {"aggregator": "agg-tor2", "analyzer": "analyzer"}
    places_of["controller"] = lab.wait_leader().name
    heads, keys = set(), []

    for tier, place in places_of.items():
        drill = ("--through", tier, "drill", "h4/r0", "--seconds", "10")
        heads.add(output_of(region, place, *drill).splitlines()[0].split()[0])

        def enough():
            found = json.loads(output_of(region, place, *drill, "--json"))["results"]
            return len(found) > 50 and found

        rows = until(f"50 results through the {tier}", PATIENCE_S, enough)
        assert all("h4/r0" in (row["from"], row["to"]) for row in rows)
        answered = next(row for row in rows if row["outcome"] == "ok")  # others have no RTT
        keys.append(set(answered) & {"sent", "from", "to", "outcome", "kind", "seq", "rtt_ns"})
        wrong = refuses(region, place, "--through", tier, "drill", "h9/r9")
        assert "RNIC" in wrong and len(wrong) < 160, f"{tier}: {wrong}"
    assert heads == {"SENT"} and keys[0] == keys[1] == keys[2] and "rtt_ns" in keys[0], keys


# ---- topology --------------------------------------------------------------------------


def test_a_topology_is_exported_as_it_was_imported_and_bad_ones_are_refused(region):
    lab, place = region.lab, region.lab.wait_leader().name
    change = leading(region)
    good = lab.folder / "good.yaml"
    good.write_text("# kept: comments, too\n" + yaml.safe_dump(topology(region.fabric)))
    output_of(region, "centre", *change, "topology", "import", good)
    until(  # etcd has it when the import is answered; its watch tells the controllers
        "the topology as it was imported",
        PATIENCE_S,
        lambda: output_of(region, place, "topology", "export") == good.read_text(),
    )

    bad = lab.folder / "bad.yaml"
    bad.write_text("region: lab\nswitches:\n  - name: tor1\n    role: tower\n")
    words = refuses(region, "centre", *change, "topology", "import", bad, status=1)
    assert re.match(rf'{bad}:4:11: role of "tor1": expected tor', words), words
    other = lab.folder / "other.yaml"
    other.write_text(yaml.safe_dump({**topology(region.fabric), "region": "elsewhere"}))
    words = refuses(region, "centre", *change, "topology", "import", other)
    assert "elsewhere" in words and REGION in words, words
    standby = next(each for each in lab.controllers if each is not lab.leader())
    at = ("--controller", f"unix:{standby.socket}")
    words = refuses(region, "centre", *at, "topology", "import", good)
    assert lab.leader().name in words, words
    assert output_of(region, place, "topology", "export") == good.read_text()

    answer = output_of(region, standby.name, "leader")
    assert answer.startswith(f"{lab.leader().name} leads since "), answer
    assert f"Asked: {standby.name}, a standby." in answer
    assert "which is the leader" in output_of(region, place, "leader")

    def controllers():
        """{controller: the last column of its row}"""
        rows = map(str.split, output_of(region, "centre", *change, "versions").splitlines())
        return {row[1]: row[-1] for row in rows if row[:1] == ["region-controller"]}

    roles = {place: "yes", standby.name: "standby"}
    until("a healthy standby is shown as such", PATIENCE_S, lambda: controllers() == roles)


# ---- incidents -------------------------------------------------------------------------


@pytest.fixture
def follower(region):
    """rackmeshctl incidents --follow, at the analyzer."""
    log = region.lab.folder / "log" / "follow.log"
    command = [places.program("rackmeshctl", region.lab.build), "incidents", "--follow"]
    process = Process("follow", command, region.fabric.netns("analyzer"), log).start()
    yield process
    process.stop()


def test_an_incident_is_followed_explained_and_resolved(region, follower):
    lab, mark = region.lab, region.plain.mark()
    fault = RnicDead(lab, region.rnic("h4/r0"))
    fault.begin()
    try:
        alert = region.plain.wait_for(fault.fires, FIRES_S, mark, str(fault))
        number = alert.annotations["incident"]
        opened = re.compile(rf"^open .*{number}.*\n +.*h4/r0", re.MULTILINE)
        until(
            "it is followed",
            REPORTED_S,
            lambda: opened.search(follower.log.read_text()),
            [follower],
        )
        until("tor2 is bad", REPORTED_S, lambda: "bad" in states(region))
        check_health(region)
        explained = lab.ctl_run("analyzer", "explain", number)
        assert explained.returncode == 1, explained
        for words in ("What was seen", "Ruled out", "Reported by agg-tor2", "e.g. h"):
            assert words in explained.stdout, explained.stdout
        listed = lab.ctl_run("analyzer", "incidents", "--open")
        assert listed.returncode == 1 and number in listed.stdout, listed
        assert fault.bit()
    finally:
        fault.end()
    region.plain.wait_for(fault.resolves, RESOLVES_S, mark, f"the end of {fault}")
    ended = re.compile(rf"^resolved .*{number}", re.MULTILINE)
    until(
        "its end is followed", REPORTED_S, lambda: ended.search(follower.log.read_text()), [follower]
    )
    until("all is well", REPORTED_S, lambda: states(region) == {"ok"})
    assert "No incidents are open" in output_of(region, "analyzer", "incidents", "--open")
    assert "resolved" in output_of(region, "analyzer", "explain", number)
    assert "no incident has this id" in refuses(region, "analyzer", "explain", "abc")
    others = accused(region.plain.since(mark), fault.at, fault.names)
    assert not others, others


def check_health(region):
    """The bad rack comes first, and the table fits into 80 columns."""
    until(
        "tor2 is bad and tor1 is well",
        REPORTED_S,
        lambda: [
            (rack["tor"], rack["state"])
            for rack in region.lab.analyzer.get("/v1/health").json["racks"]
        ]
        == [("tor2", "bad"), ("tor1", "ok")],
    )
    health = region.lab.ctl_run("analyzer", "health")
    assert health.returncode == 1, health
    table = [line.split()[:2] for line in health.stdout.splitlines() if line]
    assert ["tor2", "bad"] in table and ["tor1", "ok"] not in table, health.stdout
    assert max(map(len, health.stdout.splitlines())) <= 80, health.stdout
