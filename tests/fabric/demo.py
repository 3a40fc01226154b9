#!/usr/bin/python3
"""The demo: a small fabric on this machine, some faults, and what Rackmesh reports.

Everything runs in network namespaces, which are removed at the end; the last chapters, over
RoCE, run in an emulated machine (tests/roce-lab). Every step is checked: the exit status is 0
only if all expectations came true."""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import machine, places  # noqa: E402
from lab.faults import AgentFrozen, FlowsBlackholed, RnicDead  # noqa: E402
from lab.innocents import accused  # noqa: E402
from lab.signals import end_on_signals  # noqa: E402
from lab.story import TURNS_S, last_kind  # noqa: E402
from lab.demo_output import DemoOutput  # noqa: E402
from lab.wait import Overdue, until  # noqa: E402
from lab.world import World  # noqa: E402

RACKS = {
    "tor1": ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"],
    "tor2": ["h1", "h2", "h9", "h10"],
    "tor3": ["h10", "h11"],
}
VICTIM, WITNESS, FROZEN = "h11/r0", "h10/r1", "h5"
SPINE, SWALLOWED = "spine1", "tor1"  # its port towards this ToR drops whole flows
FIRES_S, RESOLVES_S, HEALTHY_S = 10, 30, 5
TRACED_S, RETURNED_S, WRITTEN_S = 60, 40, 40
SUMMARIES_S = 2  # the default of 10 would make the demo too long
GAP_S = 2 * SUMMARIES_S + 1
MACHINE_S = 1800
ROCE_LAB = pathlib.Path(__file__).resolve().parents[1] / "roce-lab"

PICTURE = """\
               spine1            spine2
              /  |   \\          /  |   \\        every ToR has a link to both spines,
             /   |    \\        /   |    \\       flows are spread over them (ECMP)
          tor1        tor2        tor3
        8 RNICs     4 RNICs     2 RNICs         h1, h2 and h10 have two RNICs each,
         h1-h8    h1 h2 h9 h10  h10 h11         in different racks
"""

SUGGESTIONS = """\
The region:
  {analyzer} {ctl} health
  {analyzer} {ctl} incidents --follow
  {analyzer} {ctl} explain INCIDENT
  {analyzer} {ctl} drill {victim} --seconds 2 --through analyzer
  {centre} {ctl} leader

The state of the rack of two:
  {rack} {ctl} racks
  {rack} {ctl} rnics
  {rack} {ctl} drill {victim} --seconds 2
  {rack} {ctl} pinglist {victim}
  {rack} {ctl} --through aggregator incidents

The topology at the controller:
  {centre} {ctl} topology show

Cause a fault, and end it; rnics and incidents show it seconds later:
  {tor} nft 'add table netdev mine; add chain netdev mine in {{ type filter hook ingress \
device {port} priority 0; }}; add rule netdev mine in drop'
  {tor} nft delete table netdev mine

Stop an agent, and continue it:
  kill -STOP {pid}        (the agent of {frozen})
  kill -CONT {pid}

Pause the probing of a host, resume it, and list the alerts of Alertmanager:
  {ctl} --agent unix:{agent} pause
  {ctl} --agent unix:{agent} resume
  {centre} {amtool} --alertmanager.url={alertmanager} alert
"""


def healthy(world, screen):
    screen.chapter("A healthy fabric")
    hosts, rnics = len(world.fabric.hosts), len(world.fabric.rnics)
    screen.text(
        f"{rnics} RNICs on {hosts} hosts. Every host runs a host-agent; every ToR has a"
        " tor-aggregator. There are two region-controllers and an etcd with three members. One"
        " controller leads: it has read the topology and sent a plan to every ToR. The"
        " analyzer combines the reports of the racks, and writes the history to InfluxDB."
    )
    started = time.monotonic()
    world.start()
    screen.came_true(
        f"all daemons run, and every RNIC probes and is probed, after"
        f" {time.monotonic() - started:.1f} s"
    )
    ctl = world.lab.ctl("controller1", "leader").splitlines()[0]
    screen.came_true(f"rackmeshctl leader: {ctl}")
    mark = world.mark()
    before = world.lab.totals()
    world.plain.silence(HEALTHY_S, mark[0])
    after = world.lab.totals()
    sent = after["sent"] - before["sent"]
    lost = after["no_reply"] - before["no_reply"]
    assert sent > 10 * rnics, f"only {sent} probes were sent"
    screen.came_true(f"{HEALTHY_S} s: {sent:,.0f} probes, {lost:.0f} without a reply, and no alert")
    return before


def dead_rnic(world, screen):
    rnic = world.rnic(VICTIM)
    screen.chapter("One RNIC of the rack of two dies")
    screen.text(
        f"The rack of {rnic.tor} is {WITNESS} and {VICTIM}. Whatever {VICTIM} sends, and"
        f" whatever is sent to it, is dropped at the ToR from now on; its link stays up."
        " Each of the two sees the other one fail, so the rack cannot decide by its own"
        " probes which one is dead."
    )
    fault = RnicDead(world.lab, rnic)
    mark = world.mark()
    at = fault.begin()
    try:
        alert = world.plain.wait_for(fault.fires, FIRES_S, mark[0], f"the alert on {VICTIM}")
        assert fault.bit(), "the fault dropped no packet"
        screen.came_true(f"{alert.alertname} {alert.part} at the webhook after {alert.at - at:.2f} s:")
        screen.quote(alert.annotations["summary"])
        grouped = world.grouped.wait_for(
            fault.fires, FIRES_S, mark[1], f"Alertmanager's notification of {VICTIM}"
        )
        screen.came_true(f"the same through Alertmanager after {grouped.at - at:.2f} s")
        assert alert.annotations["kind"] == fault.kind, f"called {alert.annotations['kind']}"
        eaten = sum(fault.eaten())
    finally:
        fault.end()
    screen.chapter("The RNIC recovers")
    screen.text(f"The ToR forwards its packets again; {eaten} were dropped.")
    healed = time.monotonic()
    last = resolved(world, fault, mark)
    screen.came_true(f"resolved, at both, after {last.at - healed:.2f} s")
    nobody_else(world, fault, mark)
    screen.came_true("no other part was named, neither its neighbour nor the ToR")


def frozen_agent(world, screen):
    screen.chapter("An agent freezes")
    screen.text(
        f"The host-agent of {FROZEN} is stopped (SIGSTOP), as on a host that is out of CPU."
        f" It answers no probes, so for the rack its RNIC looks as dead as the other one did."
    )
    fault = AgentFrozen(world.lab, FROZEN)
    mark = world.mark()
    at = fault.begin()
    try:
        alert = world.plain.wait_for(fault.fires, FIRES_S, mark[0], f"the alert on {FROZEN}")
        screen.came_true(f"{alert.alertname} {alert.part} after {alert.at - at:.2f} s:")
        screen.quote(alert.annotations["summary"])
        assert fault.bit(), "the agent was not frozen"
        assert alert.annotations["kind"] == fault.kind, f"called {alert.annotations['kind']}"
        world.plain.silence(3, mark[0], fault.names)
        screen.came_true("and no RNIC is blamed, though none of its probes is answered")
    finally:
        fault.end()
    resolved(world, fault, mark)
    nobody_else(world, fault, mark)
    screen.came_true("the agent continues: resolved")


def swallowed_flows(world, screen):
    screen.chapter(f"A port of {SPINE} drops all packets of some flows")
    screen.text(
        f"The port from {SPINE} to {SWALLOWED} drops every second flow, chosen by a hash of the"
        " 5-tuple; the other flows pass. No rack can see where: each only sees that some of"
        " its flows lose everything. But the agents have traced the path of every flow, so the"
        " analyzer can find the port."
    )
    world.lab.wait_traced(TRACED_S)
    fault = FlowsBlackholed(world.lab, SPINE, SWALLOWED)
    mark = world.mark()
    at = fault.begin()
    try:
        alert = world.plain.wait_for(fault.fires, FIRES_S, mark[0], f"the alert on {fault}")
        screen.came_true(f"{alert.alertname} {alert.part} after {alert.at - at:.2f} s:")
        screen.quote(alert.annotations["summary"])
        assert fault.bit(), "no flow was dropped"
        if alert.annotations["kind"] != fault.kind:
            # The flows that have failed so far fit a fault of the whole link, too; later ones
            # distinguish the two.
            world.plain.silence(TURNS_S, mark[0], fault.names)
        number = alert.annotations["incident"]
        explained = world.lab.ctl("analyzer", "explain", number, news=True)
        screen.came_true(f"rackmeshctl explain {number}:")
        screen.plain("\n".join(f"   {line[:86]}" for line in explained.splitlines()[2:8]))
    finally:
        fault.end()
    resolved(world, fault, mark)
    nobody_else(world, fault, mark)
    kind = last_kind(world.plain, fault, mark[0])
    assert kind == fault.kind, f"called {kind}"
    screen.came_true("it forwards all flows again: resolved; no RNIC was blamed")


def no_centre(world, screen):
    screen.chapter("All central daemons are killed, and an RNIC dies")
    screen.text(
        "kill -9 of both controllers, all of etcd, the analyzer and InfluxDB. Only the racks are"
        f" left. Now {VICTIM} dies again."
    )
    centres = [*world.lab.controllers, *world.etcd.members.values(), world.lab.analyzer]
    centres.append(world.influx)
    for each in centres:
        each.kill()
    assert not any(each.alive for each in centres)
    fault = RnicDead(world.lab, world.rnic(VICTIM))
    mark = world.mark()
    at = fault.begin()
    try:
        alert = world.plain.wait_for(fault.fires, FIRES_S, mark[0], f"the alert on {VICTIM}")
        screen.came_true(f"from the rack alone: {alert.alertname} {alert.part} after {alert.at - at:.2f} s")
        assert fault.bit(), "the fault dropped no packet"
    finally:
        fault.end()
    resolved(world, fault, mark)
    nobody_else(world, fault, mark)
    screen.came_true("and resolved, by the rack alone")
    return centres


def centres_return(world, screen, centres, since):
    screen.chapter("The central daemons return, and the history has no gap")
    started = time.monotonic()
    for each in reversed(centres):
        each.start()
    for each in centres:
        until(f"{each.name} is back", RETURNED_S, lambda: world.is_up(each))
    world.lab.wait_leader(RETURNED_S)
    screen.came_true(f"all are back and a controller leads after {time.monotonic() - started:.1f} s")
    now = time.time_ns()
    gaps = until(
        "the racks have sent what they had stored, and InfluxDB has it",
        WRITTEN_S,
        lambda: gaps_until(world, since, now),
        every=0.5,
    )
    for tor, gap in gaps.items():
        may = GAP_S + machine.lost(0)
        assert gap <= may, f"{tor}: nothing is known of {gap:.1f} s"
    longest = ", ".join(f"{tor} {gap:.1f} s" for tor, gap in gaps.items())
    screen.came_true(f"the longest time between two summaries of a rack: {longest}")


def gaps_until(world, since, now):
    """{tor: its longest gap in seconds}, once all have sent rows after `now`."""
    times = {}
    for row in world.influx.query("SELECT taken FROM rm_rack GROUP BY tor"):
        times.setdefault(row["tor"], []).append(row["time"])
    if set(times) != set(world.fabric.tors) or any(max(t) < now for t in times.values()):
        return None
    gaps = {}
    for tor, each in times.items():
        known = sorted([since, *(t for t in each if since < t <= now), now])
        gaps[tor] = max(b - a for a, b in zip(known, known[1:])) / 1e9
    return gaps


def read_back(world, screen):
    screen.chapter("What happened today? From InfluxDB")
    rows = world.influx.query(
        "SELECT id, state, kind, sentence FROM rm_incident GROUP BY part"
    )
    openings = sorted(
        (row for row in rows if row["state"] == "opened"), key=lambda row: row["time"]
    )
    for row in openings:
        at = time.strftime("%H:%M:%S", time.gmtime(row["time"] / 1e9))
        screen.came_true(f"{at} UTC  {row['kind']}  {row['part']}")
    parts = {row["part"] for row in openings}
    link = "--".join(sorted((SPINE, SWALLOWED)))
    for part in (VICTIM, FROZEN, link):
        assert part in parts, f"{part} is missing in InfluxDB: {parts}"
    resolved = {row["id"] for row in rows if row["state"] == "resolved"}
    assert all(row["id"] in resolved for row in openings), "one of them was never resolved"
    screen.came_true("each of them is resolved")
    history = world.lab.ctl("analyzer", "history", VICTIM, "--since", "1h")
    screen.text(f"The last lines of rackmeshctl history {VICTIM}:")
    screen.plain("\n".join(f"   {line[:86]}" for line in history.splitlines()[-4:]))


def resolved(world, fault, mark):
    """Waits for the resolution at both sinks; returns the last one."""
    what = f"the end of {fault}"
    world.plain.wait_for(fault.resolves, RESOLVES_S, mark[0], what)
    return world.grouped.wait_for(fault.resolves, RESOLVES_S, mark[1], what)


def nobody_else(world, fault, mark):
    others = accused(world.since(mark), fault.at, fault.names)
    assert not others, f"others were named: {'; '.join(others)}"


def upstream(world, screen):
    screen.chapter("How much data the racks sent")
    flows = until(
        "every rack has sent summaries", 15, lambda: all_sent(world.lab.upstream()), every=0.2
    )
    for tor, (raw, up) in flows.items():
        screen.came_true(
            f"{tor}: received {raw / 1024:6,.0f} KiB of raw results,"
            f" sent {up / 1024:5,.1f} KiB of summaries and verdicts"
        )


def all_sent(flows):
    return flows if all(up > 0 for _, up in flows.values()) else None


def over_roce(options, folder, screen):
    """The emulated machine runs the rest of the demo with its own clock, so a slow host does not
    change the measured seconds."""
    sys.path.insert(0, str(ROCE_LAB))
    from vm.machine import Lost, Machine, warm_programs

    build = pathlib.Path(options.build).resolve()
    os.environ["RACKMESH_BUILD"] = str(build)
    machine = Machine(options.lab_kernel, pathlib.Path(folder) / "machine", "virtual")
    keep = f"tar -C /run --exclude=*.sock -cf - demo | tar -C {machine.out} -xf -"
    play_it = f"{ROCE_LAB}/demo.py --chapter {screen.number} /run/demo"
    story = f"mkdir /run/demo; {play_it}; status=$?; [ $status = 0 ] || {keep}; exit $status"
    warm = f"{warm_programs(build)}; {ROCE_LAB}/demo.py --help"
    print("\n   Now an emulated machine with eight Soft-RoCE devices starts: a minute or two.", flush=True)
    try:
        status = machine.run(story, MACHINE_S, warm=warm)
    except Lost as lost:
        raise AssertionError(str(lost)) from lost
    assert status == 0, f"over RoCE; the machine's logs are in {machine.out}"


def keep(world, screen, engines):
    """Keeps everything running until Ctrl-C."""
    ctl = places.program("rackmeshctl", world.lab.build)
    victim = world.rnic(VICTIM)
    screen.chapter("Try it yourself, in another terminal")
    screen.plain(
        SUGGESTIONS.format(
            ctl=ctl,
            rack=f"ip netns exec {world.fabric.netns('agg-' + victim.tor)}",
            analyzer=f"ip netns exec {world.fabric.netns('analyzer')}",
            centre=f"ip netns exec {world.fabric.netns('controller1')}",
            tor=f"ip netns exec {world.fabric.netns(victim.tor)}",
            agent=world.lab.agents[FROZEN].socket,
            pid=world.lab.agents[FROZEN].pid,
            alertmanager=world.alertmanager.url,
            amtool=engines / "usr/bin/amtool",
            victim=VICTIM,
            frozen=FROZEN,
            port=victim.port,
        )
    )
    print("\n   Ctrl-C here ends the demo and removes everything.", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=places.BUILD, help="build folder of the daemons")
    parser.add_argument("--engines", default=places.ENGINES, help="unpacked Debian packages")
    parser.add_argument("--lab-kernel", help="kernel of tests/roce-lab; without it, no chapters over RoCE")
    parser.add_argument("--keep", action="store_true", help="keep it running, and print what to try")
    return parser.parse_args()


def play(options, folder, screen):
    print("Rackmesh watches a fabric, beginning in the racks. This fabric is in network")
    print("namespaces of this machine: real daemons, real packets.\n")
    print(PICTURE)
    with World(
        RACKS,
        folder,
        engines=options.engines,
        build=options.build,
        controllers=2,
        etcd=3,
        analyzer={},
        influx=True,
        aggregator={"summary": {"interval_s": SUMMARIES_S}},
    ) as world:
        healthy(world, screen)
        since = time.time_ns()
        dead_rnic(world, screen)
        frozen_agent(world, screen)
        swallowed_flows(world, screen)
        centres = no_centre(world, screen)
        centres_return(world, screen, centres, since)
        read_back(world, screen)
        upstream(world, screen)
        if options.keep:
            keep(world, screen, pathlib.Path(options.engines).resolve())
    if options.lab_kernel:
        over_roce(options, folder, screen)


def main():
    options = arguments()
    if os.geteuid() != 0:
        sys.exit("the demo makes network namespaces and needs root")
    end_on_signals()
    folder = tempfile.mkdtemp(prefix="rackmesh-demo-")
    screen = DemoOutput()
    machine.watch()
    started = time.monotonic()
    try:
        play(options, folder, screen)
    except (AssertionError, Overdue, RuntimeError, OSError) as error:
        screen.failure(str(error))
        print(f"The daemons' logs are in {folder}/log.")
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; everything is removed")
        shutil.rmtree(folder, ignore_errors=True)
        return 130
    except SystemExit:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    print(f"\nAll expectations came true, in {time.monotonic() - started:.0f} s.", end=" ")
    print("Nothing is left running.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
