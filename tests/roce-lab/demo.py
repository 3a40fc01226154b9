#!/usr/bin/python3
"""The demo's chapters over RoCE, inside the lab's machine: tests/fabric/demo.py boots it.

usage: demo.py --chapter N FOLDER       N: number of the last chapter so far"""

import argparse
import contextlib
import pathlib
import sys

from guest.fabric import FOUR_TORS, RoceFabric
from guest.faults import CarrierLost, MtuBroken, UplinkSilent
from guest.verbs import Rping
from guest.world import RoceWorld
from lab.demo_output import DemoOutput
from lab.wait import Overdue, until

FIRES_S, RESOLVES_S, HEALTHY_S, TRACED_S, SERVICE_S = 20, 40, 5, 90, 10


def healthy(world, screen):
    screen.chapter("The same over RoCE, in an emulated machine")
    screen.text(
        "The machine runs Debian's kernel with eight Soft-RoCE devices: four ToRs with two RNICs"
        " each, two spines, ECMP. Now the agents probe over UD queue pairs, not over sockets."
    )
    world.start()
    mark, before = world.mark(), world.lab.totals()
    world.plain.silence(HEALTHY_S, mark[0])
    after = world.lab.totals()
    sent, lost = (after[key] - before[key] for key in ("sent", "no_reply"))
    assert sent > 50 * len(world.fabric.rnics), f"only {sent} probes were sent"
    screen.came_true(f"{HEALTHY_S} s: {sent:,.0f} probes, {lost:.0f} without a reply, and no alert")
    view = world.lab.agent_view(world.rnic("h1/rxe0"))
    screen.text("rackmeshctl rnics at the agent of h1:")
    screen.plain(cut(world.lab.agent_ctl("h1", "rnics")))
    assert view["transport"] == "roce", f"probed over {view['transport']}"


def cut(table):
    return "\n".join(f"   {line[:110]}" for line in table.splitlines())


def story(world, screen, title, text, fault, traced=False):
    screen.chapter(title)
    screen.text(text)
    if traced:
        world.lab.wait_traced(TRACED_S)
    mark = world.mark()
    at = fault.begin()
    try:
        alert = world.plain.wait_for(fault.fires, FIRES_S, mark[0], f"the alert on {fault}")
        screen.came_true(f"{alert.alertname} {alert.part} after {alert.at - at:.2f} s:")
        screen.quote(alert.annotations["summary"])
        assert fault.bit(), "the fault had no effect"
        assert alert.annotations["kind"] == fault.kind, f"called {alert.annotations['kind']}"
    finally:
        fault.end()
    world.plain.wait_for(fault.resolves, RESOLVES_S, mark[0], f"the end of {fault}")
    others = [str(each) for each in world.since(mark) if not fault.names(each)]
    assert not others, f"others were named: {'; '.join(others)}"
    screen.came_true("resolved; no other part was named")


def service(world, screen, folder):
    screen.chapter("A service opens a connection")
    source, target = world.rnic("h1/rxe0"), world.rnic("h3/rxe4")
    screen.text(
        f"rping from {source.name} to {target.name}. The agents of h1 and h3 see in the kernel that"
        " its queue pairs get a peer; the controller knows which RNIC has the peer's address."
    )

    def listed():
        flows = world.lab.services("h1")
        return [flow for flow in flows if flow["comm"] == "rping" and flow["probe_port"]]

    with Rping(folder, source, target) as rping:
        until("its path is probed", SERVICE_S, listed, [rping.client])
        screen.came_true("rackmeshctl services:")
        screen.plain(cut(world.lab.agent_ctl("h1", "services")))
        rping.kill()
        until("it is removed from the list", SERVICE_S, lambda: not world.lab.services("h1"))
    screen.came_true("after kill -9, rping is not in the list any more")


def play(folder, screen):
    with contextlib.ExitStack() as undo:
        fabric = undo.enter_context(RoceFabric(FOUR_TORS))
        world = undo.enter_context(RoceWorld(fabric, folder, analyzer={}))
        healthy(world, screen)
        rnic = world.rnic("h4/rxe7")
        story(
            world,
            screen,
            "A cable is unplugged",
            f"{rnic.name} loses its carrier at {rnic.tor}. Sends on it would still \"succeed\".",
            CarrierLost(world.lab, rnic),
        )
        story(
            world,
            screen,
            "A port is configured wrongly",
            f"{rnic.tor}'s port to {rnic.name} has an MTU of 1,500 bytes from now on, as after a"
            " wrong change: small packets pass, and the large ones of a training job are lost.",
            MtuBroken(world.lab, rnic),
        )
        story(
            world,
            screen,
            "An uplink loses everything, silently",
            "Everything that tor1 sends to spine2 is lost; the link stays up. The flows that were"
            " traced through it lose everything, all others nothing.",
            UplinkSilent(world.lab, "tor1", "spine2"),
            traced=True,
        )
        service(world, screen, pathlib.Path(folder) / "rping")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapter", type=int, default=0)
    parser.add_argument("folder")
    asked = parser.parse_args()
    screen = DemoOutput(asked.chapter)
    try:
        play(asked.folder, screen)
    except (AssertionError, Overdue, RuntimeError, OSError) as error:
        screen.failure(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
