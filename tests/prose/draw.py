#!/usr/bin/env python3
"""Sentences drawn at random from comments, texts and documents, for reviewers.

usage: draw.py [--seed N] [--count 50] [--changed] [BEFORE] AFTER

With two commits, each sentence of BEFORE is followed by the sentence that replaces it in AFTER
("=": the same). --changed draws only from sentences that differ. The seed is printed: the same
seed, count and commits give the same sentences.
"""

import argparse
import difflib
import random

from text import files, git, sentences


def renamed(before, after):
    found = {}
    for line in git("diff", "--name-status", "-M40%", before, after).split("\n"):
        if line.startswith("R"):
            _, old, new = line.split("\t")
            found[old] = new
    return found


def nearest(sentence, candidates):
    """Returns the candidate that has most words in common with the sentence."""

    def alike(other):
        return difflib.SequenceMatcher(None, sentence.split(), other.split()).ratio()

    return max(candidates, key=alike, default="(gone)")


def pairs(before, after):
    """(place, sentence, what is there now) of each sentence of a commit."""
    old, new, moved = files(before), files(after), renamed(before, after)
    for name, source in old.items():
        was = sentences(name, source)
        other = moved.get(name, name)
        now = sentences(other, new.get(other, ""))
        lists = [text for _, text in was], [text for _, text in now]
        for kind, a, b, c, d in difflib.SequenceMatcher(None, *lists, autojunk=False).get_opcodes():
            if kind == "insert":
                continue
            for i in range(a, b):
                instead = "=" if kind == "equal" else nearest(lists[0][i], lists[1][c:d])
                yield f"{other}:{was[i][0]}", was[i][1], instead


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("commits", nargs="+")
    given = parser.parse_args()
    commits = given.commits if len(given.commits) > 1 else given.commits * 2
    every = list(pairs(*commits[:2]))
    other = [each for each in every if each[2] != "="]
    print(f"seed {given.seed}: {given.count} of {len(every)} sentences, {len(other)} of them changed\n")
    drawn = other if given.changed else every
    for place, before, after in random.Random(given.seed).sample(drawn, min(given.count, len(drawn))):
        print(f"{place}\n  {before}")
        if len(given.commits) > 1:
            print(f"  -> {after}")


if __name__ == "__main__":
    main()
