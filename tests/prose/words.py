#!/usr/bin/env python3
"""How often the words that CONTRIBUTING.md replaces still stand in names.

usage: words.py [COMMIT]

A row per word: uses in identifiers of the product, of tests, in names of tests (four "_"
and more), and in what users see: names of options, metrics and JSON keys.
"""

import collections
import re
import sys

from text import C_FILES, C_TOKEN, files, joined

WORDS = """why word tell tells told say says said hear heard speak speaks hush way ways stranger
strangers guest guests foreigner foreigners crowd face meeting site board calm voices believed
ceiling cutter oddities relay orders dispatch expansion""".split()
SEEN = re.compile(r"\b(?:rackmesh_\w+|[a-z]+(?:[._][a-z]+)+|[a-z]+)\b")


def main():
    counts = collections.Counter()
    for name, source in files(sys.argv[1] if len(sys.argv) > 1 else "HEAD").items():
        if not name.endswith(C_FILES):
            continue
        of_tests = name.startswith("tests/")
        for token in C_TOKEN.finditer(source):
            if token["name"]:
                column = "tests" if of_tests else "product"
                if of_tests and token["name"].count("_") >= 4:
                    column = "names of tests"
                text = token["name"]
            elif token["text"] and not of_tests and SEEN.fullmatch(joined(token["text"])):
                column, text = "seen", joined(token["text"])
            else:
                continue
            for word in set(re.split(r"[._]", text.lower())) & set(WORDS):
                counts[word, column] += 1
    columns = "product", "tests", "names of tests", "seen"
    print(("%-12s" + "%16s" * 4) % ("word", *columns))
    for word in WORDS:
        print(("%-12s" + "%16d" * 4) % (word, *(counts[word, column] for column in columns)))
    print(("%-12s" + "%16d" * 4) % ("sum", *(sum(counts[w, c] for w in WORDS) for c in columns)))


if __name__ == "__main__":
    main()
