"""When etcd, InfluxDB and Alertmanager are restarted. systemctl is imitated."""

import json
import os
import subprocess

import pytest
from packages import ROOT

SYSTEMCTL = """\
#!/bin/sh
[ "$1" != --no-block ] || shift
echo "$1 $2 $3" >>{log}
case $1 in
show) printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\nUnitFileState=enabled\\n' ;;
is-enabled) echo enabled ;;
esac
"""
PLAY = """\
- hosts: localhost
  gather_facts: false
  vars: {{ ansible_connection: local, ansible_become: false, rackmesh_absent: false }}
  tasks:
    - ansible.builtin.include_role:
        name: {role}
"""


@pytest.fixture
def host(tmp_path):
    """Returns a function that runs the role and returns how many times it has restarted etcd."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "systemctl").write_text(SYSTEMCTL.format(log=tmp_path / "log"))
    (tools / "systemctl").chmod(0o755)
    (tmp_path / "play.yaml").write_text(PLAY.format(role=ROOT / "ansible/roles/engine"))
    files = [str(tmp_path / "config"), str(tmp_path / "authorities")]
    for file in files:
        (tmp_path / file).write_text("first")
    given = {"rackmesh_state_folder": str(tmp_path / "state"), "rackmesh_engine_unit": "etcd",
             "rackmesh_engine_files": {"etcd": files}}  # fmt: skip

    def play(changed, *options):
        (tmp_path / "log").write_text("")
        command = ["ansible-playbook", "-i", "localhost,", tmp_path / "play.yaml", *options,
                   "-e", json.dumps({**given, "rackmesh_engine_changed": changed})]  # fmt: skip
        run = subprocess.run(command, cwd=ROOT / "ansible", text=True, capture_output=True, env={
            **os.environ, "ANSIBLE_NOCOLOR": "1", "PATH": f"{tools}:{os.environ['PATH']}"})  # fmt: skip
        assert run.returncode == 0, run.stdout
        restarts = (tmp_path / "log").read_text().count("restart")
        assert (restarts > 0) == ("changed=1" in run.stdout) or "--check" in options, run.stdout
        return restarts

    return play


def test_an_engine_is_restarted_once_for_each_change(host):
    assert [host(True), host(False)] == [1, 0]


def test_a_change_of_a_run_that_was_interrupted_is_made_up_for(host, tmp_path):
    host(True)
    (tmp_path / "authorities").write_text("of a run that ended before the restart")
    assert [host(False, "--check"), host(False), host(False)] == [0, 1, 0]
