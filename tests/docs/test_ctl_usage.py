"""A wrong command line of rackmeshctl sends no request: it exits with 2, and says what is wrong."""

import subprocess

import pytest


def run(build, *words):
    nobody = ["--aggregator", "127.0.0.1:1", "--analyzer", "127.0.0.1:1", "--controller", "127.0.0.1:1"]
    ran = subprocess.run([build / "ctl" / "rackmeshctl", *nobody, *words], capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("words", (("mesh", ""), ("drill", ""), ("switch", "sw1", ""), ("services", "--host", ""), ("health", "--region", "")))
def test_an_empty_name_does_not_select_everything(build, words):
    assert run(build, *words) == (
        2,
        "rackmeshctl: an argument is empty: is a variable not set?\nTry: rackmeshctl --help, or COMMAND --help\n",
    )


@pytest.mark.parametrize("words", (("--analyzer", "", "health"), ("health", "--analyzer="), ("racks", "-a", "")))
def test_an_address_is_not_empty(build, words):
    status, error = run(build, *words)
    assert status == 2 and "is empty: is a variable not set?" in error, error
