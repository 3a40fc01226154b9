"""docs/logs.md lists every message that the daemons log, and no other."""

import re

from conftest import ROOT, tracked

FOLDERS = ("rackmesh", "host-agent", "tor-aggregator", "region-controller", "analyzer")
SHARED = "All daemons"
CALL = re.compile(r"\brm_log_(error|warn|info|at)\(")
LEVEL = re.compile(r"\bRM_LOG_(ERROR|WARNING|INFO)\b")
NAMES = {"error": "error", "warn": "warning", "info": "info"}
FORMAT_AT = {"error": 1, "warn": 1, "info": 0, "at": 4}  # which argument
STRING = r'"(?:[^"\\]|\\.)*"'
STRINGS = re.compile(rf"{STRING}(?:\s*{STRING})*")
CONVERSION = re.compile(r"(?<!%)%(?!%)[-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
ROW = re.compile(r"^\| (\w+(?: or \w+)*) \| `(.+?)` \| (.+?) \|$", re.M)


def arguments(source, begin):
    """The arguments of a call whose opening bracket is before begin. A string may contain commas
    and brackets."""
    found, depth, start = [], 1, begin
    for token in re.finditer(rf"{STRING}|[(),\[\]{{}}]", source[begin:]):
        at = begin + token.start()
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and token[0] == ","):
            found.append(source[start:at])
            start = at + 1
        if depth == 0:
            return found
    raise AssertionError(f"a call without an end: {source[begin:begin + 80]}")


def shape(text, placeholder):
    """Returns the message without the parts that differ from line to line; text without a blank
    before it belongs to the part before it."""
    return re.sub("\0+", "\0", placeholder.sub("\0", text)).replace("%%", "%")


def formats(argument):
    """Returns several messages if a condition chooses one of them."""
    for run in STRINGS.findall(argument):
        yield "".join(piece[1:-1] for piece in re.findall(STRING, run))


def logged():
    """(folder, level, shape) of every message, with a place of it."""
    found = {}
    for path in tracked("*.c"):
        name = path.relative_to(ROOT)
        if name.parts[0] not in FOLDERS:
            continue
        source = path.read_text()
        for call in CALL.finditer(source):
            if path.name == "log.c" and call[1] == "at":
                continue  # what the macros call
            given = arguments(source, call.end())
            texts = list(formats(given[FORMAT_AT[call[1]]]))
            assert texts, f"{name}: {given}: expected a format that is a string"
            levels = [NAMES.get(call[1])]
            if call[1] == "at":
                levels = [level.lower() for level in LEVEL.findall(given[0])]
            for level in levels:
                for text in texts:
                    key = name.parts[0], level, shape(text, CONVERSION)
                    found[key] = f"{name}: {level}: {text}"
    return found


def documented():
    """Returns the same of the page, with the message as the page has it."""
    page = (ROOT / "docs" / "logs.md").read_text()
    found = {}
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        rows = ROW.findall(text)
        assert len(rows) == text.count("\n| ") - 1, f"{title}: rows that are none"
        for levels, message, _ in rows:
            for level in levels.split(" or "):
                key = title, level, shape(message, re.compile(r"<[^>]*>"))
                assert key not in found, f"{title}: twice: {message}"
                found[key] = f"{title}: {level}: {message}"
    return found


def test_every_message_is_explained():
    listed = documented()
    assert [
        place
        for (folder, level, text), place in logged().items()
        if (folder, level, text) not in listed and (SHARED, level, text) not in listed
    ] == []


def test_every_explained_message_is_logged():
    """Messages in the section of all daemons are logged by shared code, or by more than one
    daemon."""
    code = logged()
    assert len(code) > 150
    gone = []
    for (section, level, text), message in documented().items():
        by = {folder for folder in FOLDERS if (folder, level, text) in code}
        if section == SHARED and ("rackmesh" in by or len(by) > 1):
            continue
        if section not in by:
            gone.append(message)
    assert gone == []
