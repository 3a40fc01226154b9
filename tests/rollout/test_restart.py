"""When a daemon is restarted after a change of files that its config names. Needs no machine."""

import os
import subprocess

import pytest
from packages import ROOT

SCRIPTS = ROOT / "ansible/roles/daemon/files"
DAEMON = "tor-aggregator"
FILES = ["sub/one", "-two"]
PID = "4711"


class Host:
    """A folder of configs, and a fake systemctl that records its arguments."""

    def __init__(self, folder):
        self._bin, self.etc, self.kept = folder / "bin", folder / "etc", folder / "kept"
        self.units, self._proc = folder / "units", folder / "proc"
        self.programs = folder / "programs"
        self.drop_in = self.units / f"{DAEMON}.service.d/rackmesh-kept.conf"
        for made in (self._bin, self.etc / "sub"):
            made.mkdir(parents=True)
        for name in FILES:
            (self.etc / name).write_text("first")
        self.answers()

    def answers(self, status=0):
        (self._bin / "systemctl").write_text(
            f'#!/bin/sh\necho "$1" >>{self._bin}/asked\n[ "$1" != show ] || echo {PID}\n'
            f'[ "$1" != restart ] || exit {status}\n'
        )
        (self._bin / "systemctl").chmod(0o755)

    def runs(self, program):
        exe = self._proc / PID / "exe"
        exe.parent.mkdir(parents=True, exist_ok=True)
        exe.unlink(missing_ok=True)
        exe.symlink_to(program)

    def asked(self, word):
        asked = self._bin / "asked"
        return asked.read_text().split().count(word) if asked.exists() else 0

    def restarts(self):
        return self.asked("restart")

    def run(self, script, *files):
        environment = {**os.environ, "PATH": f"{self._bin}:{os.environ['PATH']}",
                       "RACKMESH_UNITS": str(self.units), "RACKMESH_PROC": str(self._proc),
                       "RACKMESH_PROGRAMS": str(self.programs)}  # fmt: skip
        command = [SCRIPTS / script, self.kept, DAEMON, *files]
        return subprocess.run(command, cwd=self.etc, env=environment, text=True,
                              capture_output=True)  # fmt: skip

    def has_others(self, *files):
        said = self.run("started-with", *files)
        assert said.returncode == 0, said.stderr
        return bool(said.stdout)


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_a_daemon_that_was_never_restarted_has_not_read_its_files(host):
    assert host.has_others(*FILES)


def test_files_that_were_copied_just_before_the_restart_are_not_other_ones(host):
    assert host.run("restart", *FILES).returncode == 0
    assert host.restarts() == 1 and not host.has_others(*FILES)
    # File times far in the past and in the future.
    for stamp in (0, 4_000_000_000):
        os.utime(host.etc / FILES[0], (stamp, stamp))
        assert not host.has_others(*FILES)


def test_a_file_with_other_contents_is_another_one_whatever_its_time(host):
    host.run("restart", *FILES)
    before = (host.etc / FILES[1]).stat()
    (host.etc / FILES[1]).write_text("later")
    os.utime(host.etc / FILES[1], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert host.has_others(*FILES)
    host.run("restart", *FILES)
    assert not host.has_others(*FILES)


def test_a_file_that_comes_or_goes_is_noticed(host):
    host.run("restart", FILES[0])
    assert host.has_others(*FILES)
    host.run("restart", *FILES)
    assert host.has_others(FILES[0])


def test_files_that_a_daemon_did_not_come_up_with_count_as_not_read(host):
    host.run("restart", *FILES)
    (host.etc / FILES[0]).write_text("bad")
    host.answers(status=1)
    assert host.run("restart", *FILES).returncode != 0
    assert host.has_others(*FILES)


def test_a_daemon_without_files_leaves_nothing_behind(host):
    host.run("restart", *FILES)
    assert host.run("restart").returncode == 0
    assert list(host.kept.iterdir()) == []


def test_digests_of_secrets_are_for_root_alone(host):
    kept = host.kept / f"{DAEMON}.files"
    host.kept.mkdir()
    left = host.kept / f"{DAEMON}.files.next"  # of a run that was cut off
    left.write_text("")
    left.chmod(0o644)
    host.run("restart", *FILES)
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.chmod(0o644)  # as they were once kept
    assert not host.has_others(*FILES)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_daemon_that_apt_has_replaced_starts_as_what_it_was_until_it_is_restarted(host, tmp_path):
    former, kept = tmp_path / "program (deleted)", host.kept / "kept" / DAEMON
    former.write_text("the former one")
    host.runs(former)
    for _ in range(2):  # the second time it is known
        assert host.run("keep").returncode == 0
        assert kept.read_text() == "the former one" and os.access(kept, os.X_OK)
        over = f"BindReadOnlyPaths=-{kept}:{host.programs / DAEMON}"
        assert host.drop_in.read_text() == f"[Service]\n{over}\n"
        assert host.asked("daemon-reload") == 1
    # It has crashed, and the next upgrade takes the drop-in away. What runs is mounted elsewhere.
    mounted = host.etc / "mounted"
    mounted.write_bytes(kept.read_bytes())
    host.runs(mounted)
    host.drop_in.unlink()
    assert host.run("keep").returncode == 0
    assert host.drop_in.exists() and host.asked("daemon-reload") == 2
    assert host.run("restart").returncode == 0
    assert not host.drop_in.exists() and not kept.exists()


def test_the_user_of_a_daemon_can_start_what_was_kept_whatever_the_umask(host, tmp_path):
    former = tmp_path / "program (deleted)"
    former.write_text("the former one")
    host.runs(former)
    before = os.umask(0o077)
    try:
        assert host.run("keep").returncode == 0
    finally:
        os.umask(before)
    for made in (host.kept, host.kept / "kept", host.kept / "kept" / DAEMON):
        assert made.stat().st_mode & 0o777 == 0o755, made


def test_a_program_that_cannot_be_copied_leaves_no_part_of_it_behind(host, tmp_path):
    former = tmp_path / "program (deleted)"
    former.mkdir()  # as little to copy as where the disk is full
    host.runs(former)
    assert host.run("keep").returncode == 1
    assert list((host.kept / "kept").iterdir()) == [] and not host.drop_in.exists()


def test_a_daemon_that_runs_what_is_installed_is_left_alone(host):
    assert host.run("keep").returncode == 0  # it does not run
    host.runs(host.etc / FILES[0])
    assert host.run("keep").returncode == 0
    assert not host.drop_in.exists() and host.asked("daemon-reload") == 0
