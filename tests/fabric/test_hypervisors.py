"""The counters of ESXi hosts, read by the rack's aggregator from a real sshd. Hosts that hang,
flood, have another key or are down do not delay anything else."""

import itertools
import json
import shutil
import signal

import pytest

from lab.esxi import Esxi, make_key
from lab.faults import RnicDead
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
PORT = 2201
READ_S = 60
OWN = "rackmesh_aggregator_hypervisor_"
FAILED = "hypervisor {}: cannot read its counters"


class Rack:
    """A world whose aggregator reads these hosts."""

    def __init__(self, world, folder, names, sshd):
        self.hosts = {}

        def options(fabric):
            for i, name in enumerate(names):
                self.hosts[name] = Esxi(name, fabric.netns("centre"),
                                        fabric.management["centre"], PORT + i, folder,
                                        sshd.get(name, ""))
            return {"hypervisors": [host.option(name) for name, host in self.hosts.items()]}

        self.world = world(RACKS, spines=0, alertmanager=False, aggregator=options)
        self.aggregator = self.world.lab.aggregators["tor1"]

    def start_hosts(self):
        for host in self.hosts.values():
            host.start().wait_ready()
            host.nic("vmnic5", rx_global_pause=0)

    def start(self):
        self.start_hosts()
        self.world.start()
        return self

    def stop(self):
        for host in self.hosts.values():
            host.recover()
            host.stop()

    def own(self, name, host):
        return self.aggregator.metrics().sum(OWN + name, host=host)

    def shown(self, name, **labels):
        try:
            return self.aggregator.metrics().sum("rackmesh_hypervisor_" + name, **labels)
        except KeyError:
            return None  # no reading yet

    def answer(self, host, query=""):
        text = self.aggregator.get(f"/v1/hypervisors?host={host}&{query}").text
        found, = json.loads(text)["hypervisors"]
        return found

    def wait_up(self, host, up):
        until(f"up of {host} is {up}", READ_S, lambda: self.own("up", host) == up,
              [self.aggregator])

    def wait_error(self, host, words):
        until(f"{host}: {words}", READ_S,
              lambda: words in (self.answer(host)["error"] or ""), [self.aggregator])

    def lines(self, words):
        return [line for line in self.aggregator.log.read_text().splitlines() if words in line]

    def times_logged(self, words):
        return len(self.lines(words))


@pytest.fixture
def hypervisors(world, tmp_path):
    made = []

    def make(*names, **sshd):
        """sshd: additional lines of the config of some hosts."""
        made.append(Rack(world, tmp_path / "esxi", names, sshd))
        return made[-1]

    yield make
    for rack in made:
        rack.stop()


def test_counters_of_an_esxi_host_are_shown_and_explained(hypervisors, print_line):
    rack = hypervisors("esx1").start()
    host = rack.hosts["esx1"]
    rack.wait_up("esx1", 1)
    host.nic("vmnic4", rx_prio3_pause=41, rxPauseCtrlPhy=41, rx_global_pause=0,
             general={"Rx Missed Errors": 15948})
    counts = itertools.count(1000)

    def findings():
        """The findings of the last interval; the counters continue."""
        count = next(counts)
        host.nic("vmnic5", pause="true", pfc="false", rx_global_pause=count,
                 rxPauseCtrlPhy=count, txPauseStormWarningEvents=count)
        return {(nic["nic"], each["finding"]): each["text"]
                for nic in rack.answer("esx1")["nics"] for each in nic["findings"]}

    def storm():
        reported = findings()
        return reported if ("vmnic5", "pause-storm") in reported else None

    reported = until("the storm is reported", READ_S, storm)
    # PFC frames are no global pause.
    assert set(reported) == {("vmnic5", "global-pause-on"), ("vmnic5", "global-pause-used"),
                         ("vmnic5", "pause-storm")}
    assert "global pause frames (802.3x, not PFC)" in reported["vmnic5", "global-pause-used"]
    assert "storm warnings of its NIC" in reported["vmnic5", "pause-storm"]
    until("it is a metric", READ_S, lambda: findings() and
          rack.shown("finding", finding="global-pause-on") == 1)
    assert rack.shown("rx_priority_pause_total", nic="vmnic4", priority="3") == 41
    assert rack.shown("rx_missed_total", nic="vmnic4") == 15948
    assert rack.shown("rx_crc_errors_total", nic="vmnic4") == 4  # esxcli has it alone
    assert rack.shown("link_up") == 2
    assert rack.shown("priority_flow_control_on", nic="vmnic5") == 0
    assert rack.shown("rx_global_pause_total", nic="vmnic5") >= 1000
    assert rack.own("parse_errors_total", "esx1") == 0
    assert rack.own("values_exported", "esx1") > 0 and rack.own("values_refused", "esx1") == 0

    until("rackmeshctl reports it", READ_S, lambda: "esx1: global-pause-on: vmnic5 has" in
          rack.world.lab.ctl("agg-tor1", "hypervisors", "esx1", "vmnic5", news=True))

    def judged():
        findings()
        reported = json.loads(rack.aggregator.get("/v1/diagnosis?host=esx1").text)["findings"]
        return {(each["device"], each["diagnosis"]): each for each in reported}.get(("vmnic5", "global-pause"))

    finding = until("it is judged as the rack's RNICs are", READ_S, judged)
    assert finding["tor"] == "tor1" and finding["id"] is None
    answer = rack.answer("esx1")
    counters = {(each["name"], each.get("priority")): each
                for each in rack.answer("esx1", "nic=vmnic4")["nics"][0]["counters"]}
    assert counters["pfc_rx_frames", 3]["total"] == 41
    assert ("gpause_rx_frames", None) not in counters  # 0, and not asked for
    print_line(f"{len(answer['nics'])} NICs read in {answer['read_ms']} ms")


def test_each_failure_of_a_host_is_reported_and_delays_no_other_host(hypervisors, tmp_path):
    rack = hypervisors("esx1", "other", "refuses", "hangs", "floods", "gone")
    other = tmp_path / "other.key"
    make_key(other)
    rack.hosts["other"].know(other)
    rack.start_hosts()
    # The aggregator offers a key that the host does not accept.
    make_key(tmp_path / "stranger.key")
    (tmp_path / "stranger.key").rename(rack.hosts["refuses"].key)
    rack.hosts["hangs"].hang()
    rack.hosts["floods"].flood()
    rack.hosts["gone"].kill()
    rack.world.start()
    rack.wait_error("other", "its host key is not the one in")
    rack.wait_error("refuses", "refuses the key of user root")
    rack.wait_error("hangs", "its command has not ended in time")
    rack.wait_error("floods", "it prints more than")
    rack.wait_error("gone", "refused")
    rack.wait_up("esx1", 1)

    fault = RnicDead(rack.world.lab, rack.world.rnic("h3/r0"))  # judged as usual
    fault.begin()
    rack.world.plain.wait_for(fault.fires, 10, 0, str(fault))
    before = rack.own("read_seconds_total", "esx1")
    until("esx1 is read as ever", READ_S, lambda: rack.own("read_seconds_total", "esx1") > before)
    # An error is logged once for each cause, however often it occurs; reads are repeated at
    # growing intervals.
    until("it fails several times", READ_S, lambda: rack.own("reads_failed_total", "gone") >= 2)
    lines = rack.lines(FAILED.format("gone"))
    assert lines and all(a != b for a, b in itertools.pairwise(lines))
    assert rack.answer("gone")["wait_ms"] >= 16000
    assert rack.own("up", "other") == 0


def test_a_host_that_refuses_the_key_is_asked_again_late_or_after_a_reload(hypervisors, tmp_path):
    """ESXi locks the user after five failed logins."""
    rack = hypervisors("esx1", "once", "cut", once="MaxAuthTries 1\n")
    rack.start_hosts()
    allowed, own = rack.hosts["esx1"].folder / "user.key.pub", tmp_path / "own.pub"
    shutil.copy(allowed, own)
    make_key(tmp_path / "stranger.key")
    for name in ("esx1", "once"):
        shutil.copy(tmp_path / "stranger.key.pub", rack.hosts[name].folder / "user.key.pub")
    rack.hosts["cut"].cut()
    rack.world.start()
    rack.wait_error("esx1", "refuses the key of user root; the next attempt is in 30 minutes")
    # This host does not even report that it refuses the key.
    rack.wait_error("once", "Too many authentication failures")
    rack.wait_error("once", "the next attempt is in 30 minutes")
    for name in ("esx1", "once"):
        assert rack.answer(name)["wait_ms"] == 30 * 60000
    # If the connection breaks during the login, it is not known whether the host accepts the key.
    rack.wait_error("cut", "not logged in")
    until("the host that breaks off is tried again", READ_S,
          lambda: rack.own("reads_failed_total", "cut") >= 2)
    assert rack.answer("cut")["wait_ms"] < 10 * 60000
    assert not [line for line in rack.lines(FAILED.format("cut")) if "30 minutes" in line]
    rack.hosts["cut"].recover()
    rack.wait_up("cut", 1)
    assert rack.own("reads_total", "esx1") == rack.own("reads_total", "once") == 1
    rack.aggregator.signal(signal.SIGHUP)
    until("a reload asks it at once", READ_S,
          lambda: rack.own("reads_failed_total", "esx1") == 2)
    shutil.copy(own, allowed)
    rack.aggregator.signal(signal.SIGHUP)
    rack.wait_up("esx1", 1)
    assert rack.own("reads_failed_total", "esx1") == 2


def test_a_host_that_returns_continues_its_totals(hypervisors):
    rack = hypervisors("esx1").start()
    host = rack.hosts["esx1"]
    host.nic("vmnic5", rx_global_pause=70)
    until("it is read", READ_S, lambda: rack.shown("rx_global_pause_total") == 70)
    times_logged = rack.times_logged(FAILED.format("esx1"))
    host.kill()
    rack.wait_up("esx1", 0)
    assert rack.times_logged(FAILED.format("esx1")) > times_logged
    assert rack.shown("rx_global_pause_total") == 70  # unchanged, with a growing age
    age = rack.own("age_seconds", "esx1")
    until("it ages", READ_S, lambda: rack.own("age_seconds", "esx1") > age)
    host.nic("vmnic5", rx_global_pause=100)
    host.start().wait_ready()
    rack.wait_up("esx1", 1)
    assert rack.shown("rx_global_pause_total") == 100
    assert rack.times_logged("hypervisor esx1: counters read: 1 NICs, after") >= 2


def test_no_key_is_offered_to_a_host_with_a_revoked_host_key(hypervisors):
    rack = hypervisors("esx1")
    known_hosts = rack.hosts["esx1"].known_hosts
    good = known_hosts.read_text()
    known_hosts.write_text(good + "@revoked * " + good.split(" ", 1)[1])
    rack.start()
    rack.wait_error("esx1", "its host key is revoked in")
    assert "publickey" not in rack.hosts["esx1"].log.read_text()
    known_hosts.write_text("@revoked * ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==\n" + good)
    rack.wait_up("esx1", 1)


def test_no_key_is_offered_to_an_unknown_host(hypervisors):
    rack = hypervisors("esx1")
    rack.hosts["esx1"].known_hosts.unlink()
    rack.start()  # the rack is also monitored without that file
    rack.wait_error("esx1", "known_hosts: No such file")
    assert rack.own("up", "esx1") == 0
    rack.hosts["esx1"].known_hosts.write_text("")
    rack.wait_error("esx1", "its host key is not in")
    assert "Accepted" not in rack.hosts["esx1"].log.read_text()
    assert "publickey" not in rack.hosts["esx1"].log.read_text()
