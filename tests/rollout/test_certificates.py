"""When a certificate of the playbooks' authority is renewed, and how the authority is made."""

import json
import os
import re
import shlex
import subprocess

import pytest
import yaml
from packages import ROOT

FILES = ROOT / "ansible/roles/certificates/files"
URI = "rackmesh://r1/agent/h1"
NAMES = ["DNS:h1", "DNS:localhost", "IP:10.0.0.1", "IP:fd00::1"]
NEW = ("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With an authority, and a key with its request."""
    into = tmp_path_factory.mktemp("certificates")
    authority = ("-x509", "-days", "9", "-subj", "/CN=a", "-keyout", "ca.key", "-out", "ca.pem",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign")  # fmt: skip
    request = ("-new", "-subj", "/O=rackmesh", "-keyout", "key.pem", "-out", "request.pem")
    for options in (authority, request):
        subprocess.run([*NEW, *options], cwd=into, check=True, capture_output=True)
    return into


def judge(folder, signed_for, uri, seconds, names):
    """Signs a certificate for (URI, names), and returns why it has to be renewed."""
    given = {"RACKMESH_SECRETS": str(folder), "RACKMESH_URI": signed_for[0], "RACKMESH_HOURS": "48",
             "RACKMESH_NAMES": ",".join(signed_for[1])}  # fmt: skip
    signed = subprocess.run([FILES / "sign"], cwd=folder, check=True, capture_output=True,
                            input=(folder / "request.pem").read_bytes(),
                            env={**os.environ, **given})  # fmt: skip
    (folder / "certificate.pem").write_bytes(signed.stdout)
    command = [FILES / "judge", "certificate.pem", "key.pem", "ca.pem", uri, str(seconds), *names]
    run = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("uri", "seconds", "names", "said"),
    [
        (URI, 3600, NAMES, ""),
        (URI, 3600, NAMES[::-1], ""),
        (URI, 3600, [], ""),
        (URI, 3600, [*NAMES[:3], "IP:FD00:0::1"], ""),
        (URI, 3600 * 49, NAMES, "it expires soon"),
        (URI + "0", 3600, NAMES, f"it is not for {URI}0"),
        (URI, 3600, [*NAMES, "IP:10.0.0.2"], "it is not for IP:10.0.0.2"),
        (URI, 3600, [*NAMES, "IP:fd00::2"], "it is not for IP:fd00::2"),
        (URI, 3600, ["DNS:h2", *NAMES], "it is not for DNS:h2"),
        (URI, 3600, [*NAMES[:2], "IP:10.0.0.2", NAMES[3]], "it is not for IP:10.0.0.2"),
    ],
)
def test_a_certificate_is_renewed_if_it_lacks_time_or_a_name(folder, uri, seconds, names, said):
    assert judge(folder, (URI, NAMES), uri, seconds, names) == said


@pytest.mark.parametrize("uri", [URI, "", "rackmesh://r1/aggregator/h1/tor1,tor2"])
@pytest.mark.parametrize("gone", [*NAMES, None])
def test_a_certificate_is_renewed_if_it_has_a_name_that_its_host_has_no_more(folder, uri, gone):
    names = [name for name in NAMES if name != gone]
    said = judge(folder, (uri, NAMES), uri, 3600, names)
    assert bool(said) == bool(gone), said
    if gone:
        assert said.startswith("it is for ") and said.endswith(" ".join(filter(None, [uri, *names]))), said


def test_a_certificate_of_a_daemon_is_not_good_for_a_program_without_uri(folder):
    assert f"URI:{URI}" in judge(folder, (URI, NAMES), "", 3600, NAMES)


def test_a_second_run_renews_nothing_until_a_name_goes(tmp_path):
    """The names as of a host "localhost" with the address 127.0.0.1: two of them come twice."""
    (tmp_path / "roles").symlink_to(ROOT / "ansible/roles")
    (tmp_path / "group_vars").symlink_to(ROOT / "ansible/group_vars")
    (tmp_path / "hosts.yaml").write_text("all: { hosts: { localhost: { ansible_connection: local } } }")
    role = "ansible.builtin.include_role"
    play = [{"hosts": "all", "gather_facts": False, "tasks": [
        {role: {"name": "certificates", "tasks_from": "authority"}}, {role: {"name": "certificates"}}]}]  # fmt: skip
    (tmp_path / "certificate.yaml").write_text(yaml.safe_dump(play))
    given = {"rackmesh_secrets": str(tmp_path / "secrets"), "ansible_become": False,
             "rackmesh_certificate_folder": str(tmp_path), "rackmesh_certificate_owner": "root",
             "rackmesh_certificate_uri": URI}  # fmt: skip
    names = ["DNS:localhost", "IP:127.0.0.1"]

    def changes(names):
        command = ["ansible-playbook", "-i", tmp_path / "hosts.yaml", tmp_path / "certificate.yaml",
                   "-e", json.dumps({**given, "rackmesh_certificate_names": names})]  # fmt: skip
        run = subprocess.run(command, cwd=ROOT / "ansible", text=True, capture_output=True,
                             env={**os.environ, "ANSIBLE_NOCOLOR": "1"})  # fmt: skip
        assert run.returncode == 0, run.stdout
        return int(re.search(r"changed=(\d+)", run.stdout).group(1))

    assert changes([*names, *names, "IP:fd00:0::1"]) > 0
    assert changes([*names, *names, "IP:fd00:0::1"]) == 0
    assert changes(names) > 0 and changes(names) == 0


def task(file, play, name):
    """The arguments of a task of the playbooks."""
    given = yaml.safe_load((ROOT / "ansible" / file).read_text())
    tasks = given[play]["tasks"] if play is not None else given
    (found,) = [each["ansible.builtin.command"] for each in tasks if each["name"] == name]
    return found


MAKE = task("roles/certificates/tasks/authority.yaml", None, "Create the certificate authority")
ADD = task("rotate.yaml", 0, "Create the new authority")
USE = task("rotate.yaml", 2, "Use the new authority")


def run_task(given, folder, path):
    """As Ansible: with creates and removes. Returns whether it has done all."""
    there = [(folder / given[key].rsplit("/")[-1]).exists() for key in ("creates", "removes") if key in given]
    if there and there[0] == ("creates" in given):
        return True
    command = given.get("argv") or shlex.split(given["cmd"])
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path},
                          capture_output=True).returncode == 0  # fmt: skip


def is_whole(folder):
    """The key is that of the certificate, which is among those that daemons trust."""
    keys = [subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True).stdout
            for words in (["pkey", "-pubout", "-in", "ca.key"], ["x509", "-noout", "-pubkey", "-in", "ca.pem"])]  # fmt: skip
    trusted = (folder / "authorities.pem").read_text()
    return keys[0] == keys[1] and (folder / "ca.pem").read_text() in trusted


@pytest.mark.parametrize("calls", range(4))
@pytest.mark.parametrize("before", [[], [MAKE], [MAKE, ADD]])
def test_an_authority_is_whole_after_a_run_that_was_interrupted(tmp_path, before, calls):
    """calls: how many times the task may call cp, mv, cat or rm before it is interrupted."""
    folder, tools = tmp_path / "secrets", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    for name in ("cp", "mv", "cat", "rm"):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\necho >>{tmp_path}/calls\n'
                        f'[ $(wc -l <{tmp_path}/calls) -le {calls} ] || exit 1\nexec /bin/{name} "$@"\n')  # fmt: skip
        tool.chmod(0o755)
    path = os.environ["PATH"]
    for given in before:
        assert run_task(given, folder, path)
    run_task((MAKE, ADD, USE)[len(before)], folder, f"{tools}:{path}")
    for given in (MAKE, ADD, USE):
        assert run_task(given, folder, path)
        assert before or is_whole(folder)
    assert is_whole(folder)
    assert not list(folder.glob("next.*"))
