"""Every command in the documentation is run by a test, or is a program of the operating system
that needs a separate machine."""

import re
import subprocess

from config_reference import DAEMONS, program
from conftest import ROOT

FENCED = re.compile(r"^```\w*\n.*?^```$|(?:(?<=\n\n)|^)(?: {4}[^\n]*\n)+", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+)`")
# The test that runs the commands of each program.
RUN_BY = {
    "rackmeshctl": "tests/fabric/test_documented.py",
    "./dev": "tests/docs/test_docs.py",
    "amtool": "tests/fabric/test_routes.py",
    "promtool": "tests/fabric/test_dashboards.py",
    "ansible-playbook": "tests/rollout/region.py",
    "influx": "tests/fabric/test_dashboards.py",
    "openssl": "tests/docs/test_commands.py",
    "DAEMON": "tests/docs/test_commands.py",
    **dict.fromkeys(DAEMONS, "tests/docs/test_commands.py"),
}
NEVER_NAMED = {"tor-aggregator"}
# Programs that change the machine, or need devices that a test machine lacks.
OF_THE_SYSTEM = {
    "apt", "cmake", "cp", "editor", "ethtool", "install", "journalctl", "kill", "lldpcli", "rdma", "ssh", "sysctl",
    "systemctl", "systemd-sysusers",
}


def lines(text):
    """Returns commands as a person would type them: each line of code blocks, and each inline
    span."""
    for block in FENCED.findall(text):
        body = re.sub(r"\\\n\s*", "", block)
        yield from (line.strip() for line in body.splitlines())
    yield from INLINE.findall(re.sub(FENCED, "", text))


def commands():
    """Returns (page, words) of all commands that begin with one of the programs above."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if page.stem in ("renamed", "logs"):  # lines of logs begin with the names of daemons
            continue
        for line in lines(page.read_text()):
            words = re.sub(r"^sudo |\s#.*|\s\|$", "", line).split(" ", 1)
            is_one = len(words) == 2 and not words[1].startswith((" ", "\u25c4", "<"))  # no diagram
            if is_one and words[0] in RUN_BY.keys() | OF_THE_SYSTEM:
                yield page, words[0], words[1].strip()


def test_every_command_has_a_test():
    seen = {name for _, name, _ in commands()} | NEVER_NAMED
    assert seen == RUN_BY.keys() | OF_THE_SYSTEM, seen ^ (RUN_BY.keys() | OF_THE_SYSTEM)
    for name, test in RUN_BY.items():
        assert name in DAEMONS or name in (ROOT / test).read_text(), f"{test} does not name {name}"


def test_daemons_accept_the_documented_command_lines(build, tmp_path):
    """On this machine folders and RNICs are missing, so --check of a daemon may fail."""
    ran = set()
    for _, name, words in commands():
        for daemon in DAEMONS if name == "DAEMON" else [name] if name in DAEMONS else []:
            words = re.sub(r"(?<=--config )\S+", str(ROOT / daemon / f"{daemon}.yaml"), words)
            if "--check" in words and "--config" not in words:
                words += f" --config {ROOT / daemon / daemon}.yaml"
            said = run([program(build, daemon), *words.split()], tmp_path)
            good = said.returncode in ((0, 1) if "--check" in words else (0,))
            assert good and "usage" not in said.stderr and said.stdout + said.stderr, f"{daemon} {words}: {said}"
            ran.add((daemon, words))
    assert len(ran) >= 7


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, **more)


def block_of(page, start):
    """Returns the code block that begins with `start`, as a shell reads it."""
    text = (ROOT / "docs" / page).read_text()
    return re.search(rf"^ {{4}}{start}.*\n(?: {{4}}.*\n)*", text, re.M)[0]


def test_a_person_gets_a_certificate_as_documented(tmp_path):
    """The certificate is signed by the authority of a rollout, and packed for a browser."""
    secrets, sign = tmp_path / "inventory/prod/secrets", "roles/certificates/files/sign"
    (tmp_path / sign).parent.mkdir(parents=True)
    (tmp_path / sign).symlink_to(ROOT / "ansible" / sign)
    secrets.mkdir(parents=True)
    made = run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", secrets / "ca.key", "-out", secrets / "ca.pem", "-subj", "/O=rackmesh"], tmp_path)
    assert made.returncode == 0, made.stderr
    packs = re.search(r"`(openssl pkcs12 [^`]+)`", (ROOT / "docs" / "page.md").read_text())[1]
    for line in (block_of("rollout.md", "openssl req"), packs + " -passout pass:x"):
        said = run(["sh", "-ec", line], tmp_path)
        assert said.returncode == 0, said
    shown = run(["openssl", "x509", "-in", "ann.pem", "-noout", "-text"], tmp_path).stdout
    assert "URI:rackmesh://r1/operator/ann" in shown and (tmp_path / "ann.p12").stat().st_size > 0


def test_a_secret_is_made_as_documented(tmp_path):
    line = block_of("security.md", "openssl rand").splitlines()[0]
    line = line.replace("-o rackmesh -g rackmesh ", "").replace("/etc/rackmesh/", f"{tmp_path}/")
    said = run(["sh", "-ec", line], tmp_path)
    secret = tmp_path / "probe-secret"
    assert said.returncode == 0 and secret.stat().st_mode & 0o777 == 0o600, said
    assert len(secret.read_text()) == 45
