"""Everything that the documentation names exists: links, commands, options, paths, metrics."""

import re
import runpy
import subprocess

from config_reference import DAEMONS, program, reference
from conftest import ROOT, tracked

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.M)
FENCED = re.compile(r"^```.*?^```$|^(?: {4}[^\n]*\n)+", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+)`")
METRIC = re.compile(
    r"\brackmesh_(?:agent|aggregator|controller|analyzer|rnic|rack|region|config|name|build)_[a-z0-9_]*[a-z0-9]\b"
)
NAMED_FILES = re.compile(r"`([a-z][\w-]*/[\w./-]*\w)`")
NAMED_TESTS = re.compile(r"`(tests/[^`]+\.(?:c|py))`: (`\w+`(?:, `\w+`)*)")
PROMISE = re.compile(r"^### (\d\..*?)$(.*?)(?=^##|\Z)", re.M | re.S)
FOLDERS_OF_PEOPLE = ("docs", "README.md", "ansible", "CONTRIBUTING.md")


def for_people(documents):
    return {
        path: text
        for path, text in documents.items()
        if path.relative_to(ROOT).parts[0] in FOLDERS_OF_PEOPLE
    }


def anchors(text):
    """Returns the anchors that GitHub makes of the headings."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    titles = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in HEADING.findall(prose))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def typed(text):
    """Returns commands as a person would type them: code blocks and inline code, with continued
    lines joined."""
    code = FENCED.findall(text) + INLINE.findall(re.sub(FENCED, "", text))
    return [piece.replace("\\\n", "") for piece in code]


def parsed(words):
    """Returns the command, and all options. Options in front of the command have a value, except
    -j."""
    options = [word for word in words if re.match(r"--?[a-z]", word)]
    while words and words[0].startswith("-"):
        words = words[1 if words[0] in ("-j", "--json", "-h", "--help", "--version") else 2 :]
    return (words[0].strip(".',:\"") if words else ""), options


def test_every_link_leads_somewhere(documents):
    lost = []
    for path, text in documents.items():
        for target in LINK.findall(re.sub(FENCED, "", text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists():
                lost.append(f"{path.relative_to(ROOT)}: {target}: no such file")
            elif anchor and anchor not in anchors(documents.get(there, "")):
                lost.append(f"{path.relative_to(ROOT)}: {target}: no such heading")
    assert lost == []


def test_every_file_of_the_tree_that_is_named_exists(documents):
    """`folder/noun` stands for its source and header."""
    lost, seen = [], 0
    for path, text in for_people(documents).items():
        for name in NAMED_FILES.findall(text):
            top = name.split("/")[0]
            if top == "build" or not (ROOT / top).is_dir() or "FAMILY" in name:
                continue
            seen += 1
            if not any((ROOT / (name + end)).exists() for end in ("", ".c", ".h", ".py")):
                lost.append(f"{path.relative_to(ROOT)}: {name}")
    assert lost == [] and seen > 50


def test_every_option_is_in_the_reference(build):
    assert (ROOT / "docs" / "config.md").read_text() == reference(build)


def test_help_texts_have_blanks_between_their_parts():
    """In a text of several C strings, the blank between two strings is easily forgotten."""
    reference = (ROOT / "docs" / "config.md").read_text()
    assert re.findall(r'.{,20}(?:e\.g\.\S|;["A-Za-z]).{,20}', reference) == []


def test_every_command_of_rackmeshctl_exists(documents, build):
    """Also those in rules and playbooks. Its options are those that its --help prints."""
    ctl = build / "ctl" / "rackmeshctl"
    usage = subprocess.run([ctl, "--help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.M))
    shared = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", usage))
    texts = {path: "\n".join(typed(text)) for path, text in for_people(documents).items()}
    texts |= {path: path.read_text() for path in tracked("docs/**/*.yaml", "ansible/**/*.yaml")}
    wrong, seen = [], 0
    for path, text in texts.items():
        for line in re.findall(r"\brackmeshctl +((?:-|[a-z])[^|;&`\n]*)", text):
            command, options = parsed(line.split("#")[0].split())
            if command not in commands:
                wrong.append(f"{path.relative_to(ROOT)}: rackmeshctl {line}: no such command")
                continue
            helped = subprocess.run([ctl, command, "--help"], capture_output=True, text=True)
            known = shared | set(re.findall(r"--[a-z][a-z-]*", helped.stdout))
            wrong += [
                f"{path.relative_to(ROOT)}: rackmeshctl {command}: no {option}"
                for option in options
                if option not in known
            ]
            seen += 1
    assert wrong == [] and seen > 10


def test_every_command_of_dev_exists(documents):
    usage = subprocess.run([ROOT / "dev", "--help"], capture_output=True, text=True).stdout
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.M)) | {"ca"}
    named = {
        (path.relative_to(ROOT), command)
        for path, text in documents.items()
        for command in re.findall(r"\./dev ([a-z]+)", "\n".join(typed(text)))
    }
    assert len(named) > 10
    assert [each for each in named if each[1] not in commands] == []


def test_every_path_of_the_api_is_served(documents, sources):
    named = {
        (path.relative_to(ROOT), served)
        for path, text in for_people(documents).items()
        for served in re.findall(r"`(?:GET |POST )?(/v1/[a-z_/]+)", text)
    }
    assert len(named) > 20
    assert [each for each in named if f'"{each[1]}' not in sources] == []


def is_registered(metric, sources):
    """A table of metrics leaves the first two or three words to a macro."""
    words = metric.split("_")
    return any('"' + "_".join(words[cut:]) + '"' in sources for cut in (0, 2, 3))


def test_every_metric_that_is_named_exists(documents, sources):
    texts = for_people(documents) | {path: path.read_text() for path in tracked("docs/**/*.yaml")}
    del texts[ROOT / "docs" / "renamed.md"]
    named = {
        (path.relative_to(ROOT), metric)
        for path, text in texts.items()
        for metric in METRIC.findall(text)
    }
    assert len(named) > 50
    assert [each for each in named if not is_registered(each[1], sources)] == []


def test_every_daemon_has_a_config_example(build):
    for daemon in DAEMONS:
        example = ROOT / daemon / f"{daemon}.yaml"
        assert example.exists() and program(build, daemon).exists()


def defines(source, test):
    return re.search(rf"^(?:def )?{test}\((?:void|\w+|\))", source, re.M) is not None


def test_every_promise_names_tests_that_exist(documents):
    page = documents[ROOT / "docs" / "architecture.md"]
    promises = PROMISE.findall(page)
    assert [title[0] for title, _ in promises] == list("123456")
    assert [title for title, text in promises if not NAMED_TESTS.search(text)] == []
    wrong = []
    for path, names in NAMED_TESTS.findall(page):
        source = (ROOT / path).read_text() if (ROOT / path).exists() else ""
        wrong += [f"{path}: {n}" for n in re.findall(r"\w+", names) if not defines(source, n)]
    assert wrong == []


def test_every_fuzzer_and_its_files_are_in_the_coverage_table():
    """What `./dev fuzz --coverage` refuses before it measures anything."""
    script = runpy.run_path(str(ROOT / "tests" / "fuzz" / "coverage.py"))
    fuzzers = [path.stem.removeprefix("fuzz_") for path in tracked("fuzz_*.c")]
    assert fuzzers and script["check"](script["table"](), fuzzers) == []


def test_every_playbook_and_variable_of_ansible_is_in_the_page_of_rollouts():
    """Variables that are computed are not on the page, because operators do not set them."""
    page = (ROOT / "docs/rollout.md").read_text()
    table = page[page.index("## Variables") :]
    text = (ROOT / "ansible/group_vars/all.yaml").read_text()
    set_by_people = text[: text.index("# ---- computed values")]
    names = re.findall(r"^(rackmesh_\w+):", set_by_people, re.M)
    assert len(names) > 30
    assert [name for name in names if f"`{name}`" not in table] == []
    known = set(re.findall(r"^(rackmesh_\w+):", text, re.M)) | {
        "rackmesh_brake", "rackmesh_new_authority"}  # fmt: skip
    assert set(re.findall(r"`(rackmesh_[a-z_]+)`", table)) <= known
    playbooks = {path.name for path in (ROOT / "ansible").glob("*.yaml")}
    readme = (ROOT / "ansible/README.md").read_text()
    assert [name for name in playbooks if f"`{name}`" not in readme or name not in page] == []


def test_look_and_do_begin_a_line():
    """The page and rackmeshctl take the advice for a verdict from these lines of verdicts.md."""
    lines = (ROOT / "docs/verdicts.md").read_text().splitlines()
    advice = [line for line in lines if "**Look**" in line or "**Do**" in line]
    assert len(advice) > 30
    assert [line for line in advice if not line.startswith(("**Look**", "**Do**"))] == []


def test_the_page_counts_only_probes_without_a_reply_as_lost():
    """rackmeshctl, SLA and history do the same: a reply after the time-out is late, not lost."""
    scripts = (ROOT / "analyzer/page").glob("*.js")
    sums = re.compile(r"late_reply\s*[-+*/]|[-+*/]=?\s*\w+\.late_reply")
    assert [path.name for path in scripts if sums.search(path.read_text())] == []
