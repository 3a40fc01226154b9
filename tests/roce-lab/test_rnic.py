"""An RNIC that loses its link, its device or its MTU, and gets it back: the agent reports it at
once, sends no probe meanwhile, and continues afterwards."""

import json

import pytest

from guest import verbs
from guest.fabric import MTU
from lab.netns import batch, run
from lab.places import program
from lab.process import Daemon, Pack
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
SPINES = 1
REPORTED_S = 2  # seconds from the fault until the aggregator has it
# Seconds from the end of the fault until its probes are answered, and until its health is good.
BACK_S = 5
REMADE_S = 8  # seconds; the agent reads its devices every 3 s
PORT = 19471


@pytest.fixture
def region(world):
    return world().start()


@pytest.fixture
def rnic(region):
    return region.rnic("h2/rxe1")


def seen_by_rack(region, rnic):
    listed = region.lab.aggregators[rnic.tor].get("/v1/rnics").json["rnics"]
    return next(each for each in listed if each["host"] == rnic.host)


def wait_reported(region, rnic, link):
    until(
        f"the rack knows the link of {rnic.name} to be {link}",
        REPORTED_S,
        lambda: seen_by_rack(region, rnic)["link"] == link,
    )


def wait_back(region, rnic, seconds=BACK_S):
    """Waits until the RNIC probes and is probed again, and all RNICs are good."""
    view = until(
        f"{rnic.name} is up", seconds, lambda: (v := region.lab.agent_view(rnic))["up"] and v
    )
    fine, replied = view["prober"]["results"]["ok"], view["reflector"]["replied"]

    def probes():
        now = region.lab.agent_view(rnic)
        return (
            now["prober"]["results"]["ok"] > fine + 10
            and now["reflector"]["replied"] > replied + 10
        )

    until(f"{rnic.name} probes again", seconds, probes)
    for each in region.fabric.rnics.values():
        until(f"{each.name} is good", seconds, lambda: region.lab.health(each) == "good")


def tries(region, rnic):
    prober = region.lab.agent_view(rnic)["prober"]
    return prober["sent"] + prober["send_failed"]


def check_silent(region, rnic):
    """While the link is down no probe is sent, so none fails."""
    before = tries(region, rnic)
    other = region.rnic("h1/rxe0")
    sent = region.lab.sent(other)
    until("others go on", BACK_S, lambda: region.lab.sent(other) > sent + 30)
    assert tries(region, rnic) == before


def replug(fabric, rnic):
    """Creates its network device, cable and RDMA device again."""
    netns = fabric.netns(rnic.tor)
    cable = f"link add {rnic.netdev} address {rnic.mac} mtu {MTU} type veth peer name"
    batch([f"{cable} {rnic.port} mtu {MTU} netns {netns}"], None)
    batch([f"link set {rnic.port} master rack up"], netns)
    lines = [f"addr add {rnic.ipv4}/24 dev {rnic.netdev}", f"link set {rnic.netdev} up"]
    batch([*lines, f"route replace {rnic.route}"], None)
    run("rdma", "link", "add", rnic.rdma, "type", "rxe", "netdev", rnic.netdev)
    fabric.wait_active(rnic)


def test_a_link_goes_down_and_comes_back_and_the_numbers_stay(region, rnic, print_line):
    qpns = region.lab.agent_view(rnic)["rdma"]["qpn"]
    for _ in range(3):
        region.fabric.rnic_down(rnic)
        wait_reported(region, rnic, "down")
        check_silent(region, rnic)
        region.fabric.rnic_up(rnic)
        wait_reported(region, rnic, "up")
        wait_back(region, rnic)
    view = region.lab.agent_view(rnic)
    print_line(f"QPs reset {view['rdma']['reset']}, rebuilt {view['rdma']['rebuilt']}")
    assert view["rdma"]["qpn"] == qpns
    assert view["prober"]["results"]["invalid"] == 0


def test_a_lost_carrier_is_reported_until_it_is_back(region, rnic):
    region.fabric.unplug(rnic)
    wait_reported(region, rnic, "down")
    check_silent(region, rnic)
    region.fabric.plug(rnic)
    wait_reported(region, rnic, "up")
    wait_back(region, rnic)


def test_an_address_goes_and_returns(region, rnic):
    batch([f"addr del {rnic.ipv4}/24 dev {rnic.netdev}"], None)
    until("it has no GID", REPORTED_S, lambda: rnic.sysfs("gids/1").endswith(":0000"))
    batch([f"addr add {rnic.ipv4}/24 dev {rnic.netdev}", f"route replace {rnic.route}"], None)
    region.fabric.wait_active(rnic)
    wait_back(region, rnic)


def test_another_mtu_is_registered(region, rnic):
    batch([f"link set {rnic.netdev} mtu 2200"], None)
    until(
        "its path MTU is known",
        REMADE_S,
        lambda: seen_by_rack(region, rnic)["mtu_bytes"] == 2048,
    )
    wait_back(region, rnic, REMADE_S)
    batch([f"link set {rnic.netdev} mtu {MTU}"], None)
    until(
        "its path MTU is known",
        REMADE_S,
        lambda: seen_by_rack(region, rnic)["mtu_bytes"] == 4096,
    )
    wait_back(region, rnic, REMADE_S)


def test_a_link_that_comes_back_ends_no_pause(region, rnic):
    region.lab.agents[rnic.host].post("/v1/pause")
    check_silent(region, rnic)
    region.fabric.rnic_down(rnic)
    wait_reported(region, rnic, "down")
    region.fabric.rnic_up(rnic)
    wait_reported(region, rnic, "up")
    check_silent(region, rnic)
    region.lab.agents[rnic.host].post("/v1/resume")
    wait_back(region, rnic)


def test_a_network_device_is_known_as_its_rdma_port(fabric, tmp_path):
    rnics = [{"device": each.netdev, "tor": each.tor} for each in fabric.rnics.values()]
    options = {
        "host": "h9",
        "state_folder": "",
        "plaintext": True,
        "rnics": rnics,
        "aggregators": [{"address": "127.0.0.1:9"}],
        "http": {"listen": f"127.0.0.1:{PORT}", "socket": ""},
    }
    config = tmp_path / "agent.yaml"
    config.write_text(json.dumps(options))
    command = [program("host-agent"), "--config", config]
    agent = Daemon("agent", command, None, tmp_path / "agent.log", PORT)
    with Pack() as pack:
        pack.add(agent)
        agent.start()

        def all_up():
            listed = agent.get("/v1/rnics").json["rnics"]
            return all(each["up"] for each in listed) and listed

        listed = until("all are up", REMADE_S, all_up, [agent])
        for each, rnic in zip(listed, fabric.rnics.values(), strict=True):
            assert (each["device"], each["netdev"]) == (rnic.netdev, rnic.netdev)
            assert each["rdma"]["device"] == rnic.rdma
            assert each["transport"] == "roce"
            assert each["addresses"] == [f"{rnic.ipv4}:4791"]


COUNTED_S = 20  # seconds; a reading every half second, on an emulated machine


def counted(region, rnic):
    ports = region.lab.agents[rnic.host].get("/v1/counters").json["ports"]
    port = next(each for each in ports if each["device"] == rnic.rdma)
    return {each["name"]: each.get("total", each.get("value")) for each in port["counters"]}


def wait_counted(region, rnic):
    """The agent shows the kernel's values, and keeps showing them."""

    def same():
        shown, kernel = counted(region, rnic), rnic.counters()
        pairs = {
            "rdma_rx_pkts": "rcvd_pkts",
            "rdma_tx_pkts": "sent_pkts",
            "tx_send_req": "rdma_sends",
            "dup_req": "duplicate_request",
            "oos_rx": "out_of_seq_request",
        }
        return all(shown.get(ours) == kernel[theirs] for ours, theirs in pairs.items()) and shown

    return until(f"the counters of {rnic.name} are the kernel's", COUNTED_S, same)


def test_counters_are_those_of_the_kernel_and_of_the_wire(world, print_line):
    region = world(agent={"counters": {"interval_ms": 500}}).start()
    source, target = region.rnic("h1/rxe0"), region.rnic("h3/rxe2")
    for agent in region.lab.agents.values():
        agent.post("/v1/pause")
    before = [wait_counted(region, each) for each in (source, target)]
    region.fabric.count_flows()
    verbs.send(source, target, messages=500, size=4096)
    after = [wait_counted(region, each) for each in (source, target)]
    arrived = region.fabric.arrived().items()
    for rnic, was, now in zip((source, target), before, after, strict=True):
        wire = sum(packets for flow, packets in arrived if flow[1] == rnic.ipv4)
        grown = now["rdma_rx_pkts"] - was["rdma_rx_pkts"]
        print_line(f"{rnic.name}: {wire} packets arrived on the wire, {grown} were counted")
        assert wire >= (500 if rnic is target else 1)
        assert abs(grown - wire) <= wire / 100
    assert after[0]["port_state"] == 4
    assert after[0]["active_qp"] > 0  # by RDMA netlink


def test_a_device_is_removed_and_created_again(region, rnic, print_line):
    """Removes it with its network device: Soft-RoCE removes a device only after its last user has
    closed it."""
    qpn = region.lab.agent_view(rnic)["rdma"]["qpn"]
    batch([f"link del {rnic.netdev}"], None)
    until("the agent misses it", REMADE_S, lambda: not region.lab.agent_view(rnic)["up"])
    # The agents must log the loss: without it the RNIC would look healthy.
    wait_reported(region, rnic, "down")
    replug(region.fabric, rnic)
    wait_back(region, rnic, REMADE_S)
    wait_reported(region, rnic, "up")
    now = region.lab.agent_view(rnic)["rdma"]["qpn"]
    print_line(f"QPN {qpn} -> {now}")
    assert seen_by_rack(region, rnic)["qpn"] == now
