"""The events of QPs that the tracer gets: by fexit, kprobe and fprobe, of rping and perftest, after
errors and kill -9, and of QPs that are older than the tracer."""

import os
import pathlib
import subprocess

import pytest

from guest.events import PROGRAM, Events, fields
from guest.verbs import Rping, Stream, connections, pingpong, send
from lab.wait import until

REPORTED_S = 5
RC, UC = 2, 3
# From Linux 6.2 on, fprobes can attach to functions of modules.
HAS_FPROBE = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 2)
WAYS = ["fexit", "kprobe", *(["fprobe"] if HAS_FPROBE else [])]
CHURN = 300  # QPs to create and destroy
EPHEMERAL = 32768  # rdma_cm assigns ports from here on


@pytest.fixture
def pair(fabric):
    return fabric.rnics["h1/rxe0"], fabric.rnics["h2/rxe3"]


def mapped(rnic):
    return f"::ffff:{rnic.ipv4}"


def listed():
    done = subprocess.run([PROGRAM, "list"], capture_output=True, text=True, check=True)
    return [fields(line) for line in done.stdout.splitlines() if line.startswith("listed ")]


def connected_event(events, process, peer_process, own, peer):
    """Waits for the only "connected" event of a process, and compares it with what rdma shows."""
    reported = until(
        "it is reported", REPORTED_S, lambda: events.by_pid("connected", process.pid), [process]
    )[-1]
    (qp,) = connections(process)
    (other,) = connections(peer_process)
    assert reported["device"] == own.rdma and reported["port"] == "1"
    assert int(reported["type"]) == RC
    assert int(reported["qpn"]) == qp["lqpn"] == other["rqpn"]
    assert int(reported["dest_qpn"]) == qp["rqpn"] == other["lqpn"]
    assert reported["has_sgid"] == "1" and reported["sgid"] == mapped(own)
    assert reported["dgid"] == mapped(peer) and reported["sgid_index"] == "1"
    return reported


def wait_gone(events, qpn, rnic):
    def reported():
        return any((e["qpn"], e["device"]) == (qpn, rnic.rdma) for e in events.of("destroyed"))

    until("its end is reported", REPORTED_S, reported, [events.process])


@pytest.mark.every_kernel
@pytest.mark.parametrize("way", WAYS)
def test_both_ends_of_an_rping_are_reported_until_a_kill(pair, tmp_path, way):
    source, target = pair
    with Events(tmp_path, way) as events, Rping(tmp_path, source, target) as traffic:
        ends = traffic.client, traffic.server
        assert events.of("traces")[0]["by"] == way
        near = connected_event(events, *ends, source, target)
        far = connected_event(events, *reversed(ends), target, source)
        assert near["comm"] == far["comm"] == "rping"
        assert near["service"] == far["service"] == "comm:rping"
        assert near["flow_label"] == far["flow_label"] != "0"
        traffic.kill()
        wait_gone(events, near["qpn"], source)
        wait_gone(events, far["qpn"], target)
        assert events.stop() == {"events": 4, "dropped": 0, "malformed": 0}


@pytest.mark.parametrize("way", WAYS)
def test_perftest_s_flow_is_reported_with_its_class(pair, tmp_path, way):
    source, target = pair
    with (
        Events(tmp_path, way) as events,
        Stream(tmp_path, source, target, more=["--tclass", "104"]) as traffic,
    ):
        traffic.client.freeze()
        traffic.server.freeze()
        near = connected_event(events, traffic.client, traffic.server, source, target)
        assert near["comm"] == "ib_send_bw" and near["traffic_class"] == "104"
        assert near["flow_label"] == "0"
        traffic.kill()
        wait_gone(events, near["qpn"], source)


@pytest.mark.parametrize("way", WAYS)
def test_unconnected_qps_and_failed_calls_are_not_reported(pair, tmp_path, way):
    with Events(tmp_path, way) as events:
        assert "20 iters" in pingpong(*pair, messages=20)  # over UD
        assert "20" in send(*pair, messages=20, more=["-c", "UC"])
        until("the end of UC is reported", REPORTED_S, lambda: len(events.of("destroyed")) == 2)
        assert [int(each["type"]) for each in events.of("connected")] == [UC, UC]


def test_a_storm_of_qps_is_reported_or_counted(pair, tmp_path, print_line):
    with Events(tmp_path) as events:
        send(*pair, qps=CHURN, messages=5, seconds=60)
        until("all ends are reported", 20, lambda: len(events.of("destroyed")) >= 2 * CHURN)
        worst = max(int(each["latency_us"]) for each in events.of("connected"))
        counts = events.stop()
        print_line(f"{counts}, the slowest reported after {worst / 1000:.1f} ms")
        assert counts == {"events": 4 * CHURN, "dropped": 0, "malformed": 0}


@pytest.mark.every_kernel
def test_older_qps_are_listed_with_addresses_where_the_kernel_has_them(pair, tmp_path):
    source, target = pair
    with (
        Events(tmp_path) as events,
        Rping(tmp_path / "a", source, target) as known,
        Stream(tmp_path / "b", *pair) as other,
    ):
        other.client.freeze()
        other.server.freeze()
        rows = {int(row["pid"]): row for row in listed()}
        row = rows[known.client.pid]
        assert (row["src"], row["dst"]) == (source.ipv4, target.ipv4)
        assert row["device"] == source.rdma and int(row["type"]) == RC
        # The agent derives the flow label from these. No event reports them for an older QP.
        (reported,) = events.by_pid("connected", known.client.pid)
        ours, theirs = int(row["src_port"]), int(row["dst_port"])
        assert int(reported["flow_label"]) == (ours * 31 + theirs) & 0xFFFFF
        assert ours >= EPHEMERAL > theirs
        one, two = rows[other.client.pid], rows[other.server.pid]
        assert one["dst"] == two["dst"] == "-"
        assert (one["qpn"], one["dest_qpn"]) == (two["dest_qpn"], two["qpn"])


def test_a_service_is_named_by_its_cgroup(pair, tmp_path):
    group = pathlib.Path("/sys/fs/cgroup/trainer.service")  # named as systemd would name it
    group.mkdir()
    with Events(tmp_path) as events:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            with Rping(tmp_path, *pair) as traffic:
                pid = traffic.client.pid
                (reported,) = until("it is reported", REPORTED_S, lambda: events.by_pid("connected", pid))
        finally:
            (group.parent / "cgroup.procs").write_text(str(os.getpid()))
    assert reported["service"] == "unit:trainer.service"
    assert int(reported["cgroup_id"]) == group.stat().st_ino
    until("the group is empty", REPORTED_S, lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


def with_only(*capabilities):
    """Words before a command that run it as an ordinary user with these capabilities."""
    words = [f"+{each}" for each in capabilities]
    return [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        f"--inh-caps={','.join(['-all', *words])}",
        f"--ambient-caps={','.join(['-all', *words])}",
        f"--bounding-set={','.join(['-all', *words])}",
    ]


def missing(*capabilities):
    """The error of the program for a service with only these capabilities."""
    line = [*with_only(*capabilities), PROGRAM, "any"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as events:
        said = next(line for line in events.stdout if line.startswith(("unable ", "traces ")))
        events.kill()
    return said


@pytest.fixture
def usual_paranoia():
    """Sets the value that kernels other than Debian's have; Debian's has a stricter one as default."""
    knob = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    before = knob.read_text()
    knob.write_text("2")
    yield
    knob.write_text(before)


@pytest.mark.every_kernel
def test_two_capabilities_of_an_ordinary_user_are_enough(usual_paranoia, pair, tmp_path):
    with Events(tmp_path, wrap=with_only("bpf", "perfmon")) as events:
        assert events.of("traces")[0]["by"] == "kprobe"  # fexit needs CAP_SYS_ADMIN
        with Rping(tmp_path, *pair) as traffic:
            connected_event(events, traffic.client, traffic.server, *pair)


@pytest.fixture
def debians_paranoia():
    knob = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    before = knob.read_text()
    knob.write_text("3")
    yield
    knob.write_text(before)


@pytest.mark.every_kernel
def test_they_are_with_debians_paranoia_too_where_there_are_fprobes(
    debians_paranoia, pair, tmp_path
):
    if not HAS_FPROBE:
        said = missing("bpf", "perfmon")
        assert "unable reason=no CAP_SYS_ADMIN" in said and "before Linux 6.2" in said
        return
    with Events(tmp_path, wrap=with_only("bpf", "perfmon")) as events:
        assert events.of("traces")[0]["by"] == "fprobe"
        with Rping(tmp_path, *pair) as traffic:
            connected_event(events, traffic.client, traffic.server, *pair)


def test_missing_capabilities_are_reported():
    assert "unable reason=no CAP_BPF and CAP_PERFMON, nor CAP_SYS_ADMIN" in missing("perfmon")
