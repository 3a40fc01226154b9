"""When a certificate of the playbooks' authority is renewed, and how the authority is made."""

import os
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
    """With an authority, and a certificate that it has signed."""
    into = tmp_path_factory.mktemp("certificates")
    authority = ("-x509", "-days", "9", "-subj", "/CN=a", "-keyout", "ca.key", "-out", "ca.pem",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign")  # fmt: skip
    subprocess.run([*NEW, *authority], cwd=into, check=True, capture_output=True)
    request = subprocess.run([*NEW, "-new", "-subj", "/O=rackmesh", "-keyout", "key.pem"], cwd=into,
                             check=True, capture_output=True).stdout  # fmt: skip
    given = {"RACKMESH_SECRETS": str(into), "RACKMESH_URI": URI, "RACKMESH_HOURS": "48",
             "RACKMESH_NAMES": ",".join(NAMES)}  # fmt: skip
    signed = subprocess.run([FILES / "sign"], cwd=into, input=request, check=True,
                            capture_output=True, env={**os.environ, **given})  # fmt: skip
    (into / "certificate.pem").write_bytes(signed.stdout)
    return into


@pytest.mark.parametrize(
    ("uri", "seconds", "names", "said"),
    [
        (URI, 3600, NAMES, ""),
        (URI, 3600, [], ""),
        ("", 3600, NAMES, ""),
        (URI, 3600, ["IP:FD00:0::1"], ""),
        (URI, 3600 * 49, NAMES, "it expires soon"),
        (URI + "0", 3600, NAMES, f"it is not for {URI}0"),
        (URI, 3600, [*NAMES, "IP:10.0.0.2"], "it is not for IP:10.0.0.2"),
        (URI, 3600, [*NAMES, "IP:fd00::2"], "it is not for IP:fd00::2"),
        (URI, 3600, ["DNS:h2", *NAMES], "it is not for DNS:h2"),
    ],
)
def test_a_certificate_is_renewed_if_it_lacks_time_or_a_name(folder, uri, seconds, names, said):
    command = [FILES / "judge", "certificate.pem", "key.pem", "ca.pem", uri, str(seconds), *names]
    run = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    assert (run.returncode, run.stdout.strip()) == (0, said), run.stderr


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
