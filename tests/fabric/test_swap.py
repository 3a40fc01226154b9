"""A swapped RNIC: the new one replaces the old one, without an alert."""

import time

import yaml

from lab.wait import in_time, until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h5", "h6"]}
TAKEN_OVER_S = 5
QUIET_S = 8  # a wrong verdict came after 5.4 s


def forget_keys(lab):
    """Turns off the authentication of probes."""
    path = lab.folder / "config" / f"{lab.controller.name}.yaml"
    options = yaml.safe_load(path.read_text())
    options["probe_keys"] = {"unauthenticated": True}
    path.write_text(yaml.safe_dump(options))


def registered(lab):
    return {each["id"] for each in lab.wait_leader().get("/v1/rnics").json["rnics"]}


def planned(lab, tor):
    plan = lab.wait_leader().get(f"/v1/plan/{tor}").json
    return {each["id"] for each in (*plan["members"], *plan["remote_rnics"])}


def has_taken_over(lab, new, old):
    """Whether the new RNIC is in the registry, in every plan, and in every agent's pinglist."""
    known = [registered(lab), *(planned(lab, tor) for tor in RACKS)]
    return all(new in ids and old not in ids for ids in known)


def is_answered(lab, prober, rnic):
    return any(each["outcome"] == "ok" for each in lab.drill(prober, rnic, 1))


def swap(small, rnic, mac):
    """Replaces the RNIC. Returns its old and new id once all daemons know the new one."""
    lab = small.lab
    old = lab.agent_view(rnic)["id"]
    small.fabric.swap(rnic, mac)
    until(
        "its agent has the new one",
        TAKEN_OVER_S,
        lambda: lab.agent_view(rnic)["up"] and lab.agent_view(rnic)["id"] == mac,
    )
    until("it takes the old one's place", TAKEN_OVER_S, lambda: has_taken_over(lab, mac, old))
    return old, mac


def assert_probed_and_innocent(small, rnic, mark, seconds):
    lab = small.lab
    until("it probes and is probed", 20, lambda: lab.probes(rnic))
    until("its rack finds it good", 20, lambda: lab.health(rnic) == "good")
    for other in (r for r in small.fabric.rnics.values() if r.tor == rnic.tor and r is not rnic):
        until(f"{other.name} gets answers", 20, lambda: is_answered(lab, other, rnic))
    small.plain.silence(seconds, mark[0])


def test_a_swapped_rnic_replaces_the_old_one_without_an_alert(world, print_line):
    small = world(RACKS, alertmanager=False, controllers=2, etcd=1).start()
    lab, rnic = small.lab, small.rnic("h2/r0")
    mark, began = small.mark(), time.monotonic()

    old, new = swap(small, rnic, "02:aa:00:00:00:01")
    took = time.monotonic() - began
    print_line(f"with keys: the new RNIC has the place of the old one after {took:.2f} s")
    in_time("the new RNIC takes the old one's place", took, TAKEN_OVER_S, began)
    assert_probed_and_innocent(small, rnic, mark, QUIET_S)

    # The old RNIC also does not return after a change of the leader, from etcd or from an
    # aggregator.
    leader = lab.wait_leader()
    leader.kill()
    until("another leads", 20, lambda: lab.leader() not in (None, leader))
    leader.start()
    lab.aggregators["tor1"].restart().wait_ready()
    until("the new leader knows the new RNIC", 20, lambda: has_taken_over(lab, new, old))
    assert_probed_and_innocent(small, rnic, mark, 2)


def test_without_keys_a_swapped_rnic_is_replaced_by_the_next_one_and_back(world, print_line):
    small = world(RACKS, alertmanager=False)
    forget_keys(small.lab)
    small.start()
    rnic = small.rnic("h2/r0")
    mark, first = small.mark(), rnic.mac

    for mac in ("02:aa:00:00:00:01", first):
        began = time.monotonic()
        swap(small, rnic, mac)
        print_line(f"without keys: replaced after {time.monotonic() - began:.2f} s")
    assert_probed_and_innocent(small, rnic, mark, QUIET_S)


def test_vfs_that_exchange_their_macs_at_a_reboot_are_replaced_without_an_alert(world, print_line):
    """The first VF gets the MAC that the second one had, and the second one a new MAC."""
    racks = {"tor1": ["h1", "h2", "h2", "h3", "h4"], "tor2": ["h5", "h6"]}
    small = world(racks, alertmanager=False).start()
    lab, first, second = small.lab, small.rnic("h2/r0"), small.rnic("h2/r1")
    mark, old, kept, fresh = small.mark(), first.mac, second.mac, "02:aa:00:00:00:01"

    lab.agents["h2"].kill()
    small.fabric.swap(second, fresh)
    small.fabric.swap(first, kept)
    began = time.monotonic()
    lab.agents["h2"].start().wait_ready()
    until("the new MAC takes the old one's place", 20, lambda: has_taken_over(lab, fresh, old))
    print_line(f"exchanged: known {time.monotonic() - began:.2f} s after the agent's start")
    assert kept in registered(lab)
    for rnic in (first, second):
        until(f"{rnic.name} probes and is probed", 20, lambda: lab.probes(rnic))
        until(f"its rack finds {rnic.name} good", 20, lambda: lab.health(rnic) == "good")
    small.plain.silence(QUIET_S, mark[0])


def rename(lab, host, name):
    """Gives the host's agent another name from its next start on, and a certificate for that
    name."""
    path = lab.folder / "config" / f"{host}.yaml"
    options = yaml.safe_load(path.read_text())
    options.update(host=name, **lab.credentials("agent", name))
    path.write_text(yaml.safe_dump(options))
    lab.agents[host].restart().wait_ready()


def hosts_by_id(lab):
    return {e["id"]: e["host"] for e in lab.wait_leader().get("/v1/rnics").json["rnics"]}


def test_a_renamed_host_keeps_its_rnics_without_an_alert(world, print_line):
    small = world(RACKS, alertmanager=False).start()
    lab, rnic = small.lab, small.rnic("h2/r0")
    mark, began = small.mark(), time.monotonic()

    rename(lab, "h2", "GPU_17.example")
    until(
        "the controller has the new name",
        TAKEN_OVER_S,
        lambda: hosts_by_id(lab)[rnic.mac] == "GPU_17.example",
    )
    took = time.monotonic() - began
    print_line(f"the new name is known after {took:.2f} s")
    assert "h2" not in hosts_by_id(lab).values()
    sent = lab.agents["h2"].metrics().sum("rackmesh_agent_results_total", outcome="ok")
    until(
        "it probes under the new name",
        20,
        lambda: lab.agents["h2"].metrics().sum("rackmesh_agent_results_total", outcome="ok")
        > sent + 100,
    )
    small.plain.silence(QUIET_S + 5, mark[0])  # an unknown agent is reported after 10 s
