"""Daemons that are stopped for a moment again and again, as by a hypervisor: messages wait in
their sockets meanwhile, and none is lost."""

import contextlib
import os
import signal
import subprocess
import threading

from lab import stalls as program
from lab.faults import RnicDead
from lab.process import Pack, Process
from lab.stalls import STOPPED, Pattern, Stalls, descendants, state_of
from lab.story import AGGREGATOR_FLAPPING, run_fault
from lab.wait import FULL, until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
STILL_S, RUNS_S = 0.4, 0.8
STALLS = 5  # stalls while a fault begins and ends
WORST_S = 6.0
TIMES = 3 if FULL else 1


@contextlib.contextmanager
def often_still(daemon):
    """Yields the list of the moments at which it was stopped."""
    over, stalls = threading.Event(), []

    def stall():
        while not over.wait(RUNS_S):
            daemon.freeze()
            over.wait(STILL_S)
            daemon.thaw()
            stalls.append(STILL_S)

    thread = threading.Thread(target=stall)
    thread.start()
    try:
        yield stalls
    finally:
        over.set()
        thread.join()


def test_an_aggregator_that_is_often_stopped_still_reports(world, rng, print_line):
    small = world(RACKS, alertmanager=False, aggregator=AGGREGATOR_FLAPPING).start()
    aggregator, seconds = small.lab.aggregators["tor1"], []
    for _ in range(TIMES):
        rnic = rng.choice(list(small.fabric.rnics.values()))
        peer = next(each for each in small.fabric.rnics.values() if each is not rnic)
        with often_still(aggregator) as stalls:
            small.plain.silence(2, small.mark()[0])
            fault = RnicDead(small.lab, rnic)
            reported = run_fault(small, fault, rng, peer, fires_s=WORST_S)
            small.plain.silence(1, small.mark()[0])
        seconds.append(reported.plain)
        assert reported.kind == "rnic-down"
        assert len(stalls) >= STALLS
    counted = aggregator.metrics().sum("rackmesh_aggregator_stalls_total")
    print_line(f"reported after {', '.join(f'{each:.1f}' for each in seconds)} s, {counted:.0f} stalls")
    assert counted >= TIMES * STALLS / 2


BUSY = """
import threading
def run():
    while True:
        pass
for _ in range(3):
    threading.Thread(target=run).start()
"""


def test_freeze_returns_when_no_thread_runs_any_more(tmp_path):
    with Pack() as pack:
        busy = pack.add(Process("busy", ["/usr/bin/python3", "-c", BUSY], None, tmp_path / "log"))
        tasks = f"/proc/{busy.start().pid}/task"
        until("all threads run", 5, lambda: len(os.listdir(tasks)) == 4, [busy])
        for _ in range(20):
            busy.freeze()
            assert {state_of(f"{busy.pid}/task/{each}") for each in os.listdir(tasks)} == {STOPPED}
            busy.thaw()


def test_a_stopped_command_ends_with_stalls_py():
    with subprocess.Popen([program.__file__, "often", "sleep", "1000"]) as running:
        until("the command runs", 5, lambda: descendants(running.pid))
        (pid,) = descendants(running.pid)
        until("it stands still", 5, lambda: state_of(pid) == STOPPED, every=0.005)
        running.terminate()
        running.wait(60)
    assert running.returncode != 0
    assert state_of(pid) is None, "the command is left behind"


def test_stalls_py_does_not_continue_processes_that_were_stopped_before():
    with subprocess.Popen(["sleep", "1000"]) as frozen, subprocess.Popen(["sleep", "1000"]) as other:
        try:
            frozen.send_signal(signal.SIGSTOP)
            until("it is frozen", 5, lambda: state_of(frozen.pid) == STOPPED)
            with Stalls(Pattern(0.01, 0.01, 0), lambda: [frozen.pid, other.pid]) as stalls:
                until("others stand still", 5, lambda: stalls.times > 3)
            assert state_of(other.pid) != STOPPED
            assert state_of(frozen.pid) == STOPPED
        finally:
            frozen.kill()
            other.kill()
