"""When a certificate of the playbooks' authority is renewed."""

import os
import subprocess

import pytest
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
