"""A region from bare machines on: what Ansible makes of it."""


def test_ansible_reaches_every_machine(region):
    said = region.control("ansible", "-i", region.inventory, "-m", "ping", "all")
    assert {line.split()[0] for line in said.splitlines() if "SUCCESS" in line} == set(region.names)
