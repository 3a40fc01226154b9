"""Agents read the names of pods from kubelets over https. Kubelets that hang, send nonsense,
flood, refuse or are other servers delay no probe."""

import json

import pytest

from lab.ca import Authority
from lab.kubelet import ADDRESS, KUBELET_PORT, Kubelet
from lab.wait import PATIENCE_S, until

HUGE = b"[" * (17 << 20)  # more than is read of an answer
BAD = {  # part of the error that is shown for the kubelet of each host
    "h2": "in time",
    "h3": "larger than",
    "h4": "not a PodList",
    "h5": "token_file",
    "h6": "nodes/pods",
    "h7": "certificate",
    "h8": "onnect",  # there is none
}
HOSTS = ["h1", *BAD]
OWN = "rackmesh_agent_kubelet_"
FAILED = "kubelet: cannot read its pods"


@pytest.fixture
def rack(world, tmp_path):
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("a token of the lab\n")
    authority = Authority(tmp_path / "kubelet-ca")
    asked = {"kubelet": f"https://{ADDRESS}:{KUBELET_PORT}", "token_file": str(token),
             "authorities": str(authority.certificate_path), "interval_s": 10}
    rack = world({"tor1": HOSTS}, spines=0, alertmanager=False, agent={"kubernetes": asked})
    rack.agents = rack.lab.agents
    rack.authority = authority
    rack.other = Authority(tmp_path / "other-ca")
    rack.kubelets = {
        host: Kubelet(rack.fabric.netns(host),
                      rack.other if host == "h7" else authority, "a token of the lab")
        for host in HOSTS if host != "h8"}
    try:
        yield rack
    finally:
        for each in rack.kubelets.values():
            each.stop()


def reported(agent):
    return json.loads(agent.get("/v1/services?limit=1").text)["kubelet"]


def test_pods_are_read_and_a_broken_kubelet_delays_no_probe(rack, print_line):
    kubelets, agents = rack.kubelets, rack.agents
    kubelets["h2"].hang()
    kubelets["h3"].raw = HUGE
    kubelets["h4"].raw = b'{"kind":"Status","apiVersion":"v1","code":500}'
    kubelets["h5"].token = "another"
    kubelets["h6"].allows = False
    rack.start()
    every = list(agents.values())
    until("h1's pods are read", PATIENCE_S, lambda: reported(agents["h1"])["up"], every)
    assert reported(agents["h1"]) | {"age_ms": 0} == {
        "up": True, "error": None, "age_ms": 0, "pods": 7}
    metrics = agents["h1"].metrics()
    assert metrics.sum(OWN + "pods") == 7
    assert metrics.sum(OWN + "age_seconds") >= 0
    assert metrics.sum(OWN + "pods_refused_total") == 0

    for host, words in BAD.items():
        until(f"{host}'s kubelet is reported", PATIENCE_S,
              lambda host=host, words=words: words in (reported(agents[host])["error"] or ""),
              every)
        assert agents[host].metrics().sum(OWN + "up") == 0
        assert agents[host].metrics().sum(OWN + "age_seconds") == -1
        until(f"{host}'s is asked again", PATIENCE_S, lambda host=host: agents[
            host].metrics().sum(OWN + "reads_failed_total") >= 2, every)
        assert sum(FAILED in line for line in agents[host].log.read_text().splitlines()) == 1
    assert kubelets["h7"].asked == 0  # it did not get the token
    for host in HOSTS:  # a kubelet that hangs or floods delays no probe
        sent = rack.lab.probe_counts(host)["sent"]
        until(f"{host} probes", PATIENCE_S,
              lambda host=host, sent=sent: rack.lab.probe_counts(host)["sent"] > sent, every)

    kubelets["h2"].wake()
    kubelets["h3"].raw = kubelets["h4"].raw = None
    kubelets["h5"].token = kubelets["h1"].token
    kubelets["h6"].allows = True
    kubelets["h7"].show(rack.authority.issue([], "kubelet7", hosts=[ADDRESS]))
    kubelets["h8"] = Kubelet(rack.fabric.netns("h8"), rack.authority, kubelets["h1"].token)
    for host in HOSTS:
        until(f"{host}'s pods are read", PATIENCE_S,
              lambda host=host: reported(agents[host])["up"], every)
        assert host == "h1" or "kubelet: pods read: 7, after " in agents[host].log.read_text()
    print_line(f"an agent has {agents['h3'].metrics().sum('rackmesh_agent_memory_bytes') / 2**20:.0f} "
        "MiB after a kubelet's flood")

    # The last known names stay.
    kubelets.pop("h1").stop()
    until("h1's is gone", PATIENCE_S, lambda: not reported(agents["h1"])["up"], every)
    assert agents["h1"].metrics().sum(OWN + "pods") == 7
