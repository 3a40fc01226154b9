"""The sentences of a commit: comments, strings of the product, and documents."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STRING = r'"(?:[^"\\\n]|\\.)*"'
C_TOKEN = re.compile(
    r"(?m:^)[ \t]*#[ \t]*include[^\n]*"
    r"|(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)"
    rf"|(?P<text>{STRING}(?:\s*(?:PRI\w+\s*)?{STRING})*)"
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<name>[A-Za-z_]\w*)",
    re.S,
)
C_FILES = (".c", ".h", ".cc")
LEFT_OUT = ("tests/otlp/", "tests/golden/", "tests/fuzz/corpus/")


def git(*words):
    return subprocess.run(
        ("git", "-C", ROOT, *words), check=True, capture_output=True, text=True, errors="replace"
    ).stdout


def files(commit):
    """Returns the code and documents of a commit: name -> content."""
    names = [
        name
        for name in git("ls-tree", "-r", "--name-only", commit).split("\n")
        if name.endswith((*C_FILES, ".md")) and not name.startswith(LEFT_OUT)
    ]
    asked = "".join(f"{commit}:{name}\n" for name in names).encode()
    bytes_ = subprocess.run(
        ("git", "-C", ROOT, "cat-file", "--batch"), input=asked, check=True, capture_output=True
    ).stdout
    found, at = {}, 0
    for name in names:
        end = bytes_.index(b"\n", at)
        size = int(bytes_[at:end].split()[2])
        found[name] = bytes_[end + 1 : end + 1 + size].decode(errors="replace")
        at = end + 2 + size
    return found


def plain(comment):
    """A comment without its stars, on one line."""
    text = re.sub(r"^(/\*+|//)|\*/$", "", comment)
    text = re.sub(r"\n[ \t]*(?:\*(?!/)|//)?", " ", text)
    return " ".join(text.split())


def joined(text):
    """A string of several pieces as one."""
    return "".join(
        piece[1:-1] if piece[0] == '"' else piece for piece in re.findall(rf"{STRING}|PRI\w+", text)
    )


def of_c(source, with_strings):
    for token in C_TOKEN.finditer(source):
        if token["comment"]:
            yield token.start(), plain(token["comment"])
        elif token["text"] and with_strings:
            yield token.start(), joined(token["text"])


def of_document(source):
    """Paragraphs, items of lists and rows of tables; no code."""
    at, fenced = 0, False
    paragraph, begin = [], 0
    for line in (*source.split("\n"), ""):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        ends = fenced or stripped == "" or stripped.startswith(("|", "- ", "#", "```", "* "))
        if (ends or line.startswith("    ")) and paragraph:
            yield begin, " ".join(paragraph)
            paragraph = []
        if stripped.startswith(("|", "- ", "* ")) and not fenced:
            begin, paragraph = at, [stripped.strip("|-* ")]
        elif not ends and not line.startswith("    "):
            begin = begin if paragraph else at
            paragraph.append(stripped)
        at += len(line) + 1


def sentences(name, source):
    """[(line, sentence)], in order."""
    parts = of_document(source) if name.endswith(".md") else of_c(source, not name.startswith("tests/"))
    found = []
    for at, text in parts:
        line = source.count("\n", 0, at) + 1
        for sentence in re.split(r"(?<=[.?!:]) (?=[A-Z])", text):
            if len(re.findall(r"(?:^| )[A-Za-z',]{2,}", sentence)) >= 4:
                found.append((line, sentence.strip()))
    return found
