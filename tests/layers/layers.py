#!/usr/bin/env python3
"""Checks which folders include which; each folder's CMakeLists.txt defines what is allowed.

A folder is a stage of the flow and one target. It may include its own headers and those of the
targets that its target_link_libraries() names, and no others. It may only name targets whose
folder was added before it, so the targets are in the order of the flow, and there are no circles
of folders. There are no circles of files either: a noun (noun.h, noun.c and its private header)
never includes itself through others.

A folder without a CMakeLists.txt belongs to the one above it: a daemon's root and its api/
connect the stages. They are the last target; their files may include all stages, and each other.

layers.py [ROOT]          prints what breaks these rules; exit status 1 if anything does
layers.py --table [ROOT]  prints each folder, its number of files, and what it may include
"""
import pathlib
import re
import sys

MAX_FILES = 25
PRODUCT = ("rackmesh", "schemas", "bpf", "host-agent", "tor-aggregator", "region-controller",
           "analyzer", "ctl")
# What a folder of the key may link besides its own kind.
KINDS = {
    "rackmesh": ("rackmesh",),
    "schemas": (),
    "bpf": (),
    "ctl": ("rackmesh",),
    "host-agent": ("rackmesh", "schemas", "bpf"),
    "tor-aggregator": ("rackmesh", "schemas"),
    "region-controller": ("rackmesh", "schemas"),
    "analyzer": ("rackmesh", "schemas"),
}
SOURCES = (".c", ".h", ".cc")
PRIVATE = ("_internal", "_state")  # noun_state.h belongs to noun.c
# The loop's watchdog asks the worker, which is an event source of the loop.
KNOWN_CIRCLES = ({"rackmesh/loop/loop", "rackmesh/loop/notify", "rackmesh/loop/turn",
                  "rackmesh/loop/worker"},)


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.flow = []  # targets, as they are added
        self.folder = {}  # target -> the folder it is defined in
        self.target = {}  # folder -> target
        self.links = {}  # target -> targets and libraries it names
        for top in PRODUCT:
            if (self.root / top / "CMakeLists.txt").exists():
                self.read(top)

    def read(self, folder):
        text = (self.root / folder / "CMakeLists.txt").read_text()
        text = re.sub(r"#.*", "", text)
        for command, words in re.findall(r"^\s*(\w+)\(([^)]*)\)", text, re.M):
            words = words.split()
            if command == "add_subdirectory":
                self.read(f"{folder}/{words[0]}")
            elif command == "add_library":
                self.flow.append(words[0])
                self.folder[words[0]] = folder
                self.target.setdefault(folder, words[0])
            elif command == "target_link_libraries":
                names = [w for w in words[1:] if w not in ("PUBLIC", "PRIVATE", "INTERFACE")]
                self.links.setdefault(words[0], []).extend(names)

    def owner(self, path):
        """The target that a file belongs to: its folder's, or the nearest one above."""
        for folder in path.parents:
            if str(folder) in self.target:
                return self.target[str(folder)]
        return None

    def sources(self):
        for top in PRODUCT:
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in SOURCES:
                    yield path.relative_to(self.root)

    def files(self):
        """Folder -> how many sources."""
        count = {}
        for path in self.sources():
            count[str(path.parent)] = count.get(str(path.parent), 0) + 1
        return count

    def includes(self):
        """(file, included file): of files of this tree."""
        for path in self.sources():
            for name in re.findall(r'^#include "([^"]+)"', (self.root / path).read_text(), re.M):
                at = pathlib.PurePath(name) if "/" in name else path.parent / name
                if at.parts[0] in PRODUCT and (self.root / at).exists():
                    yield path, at


def wrong_includes(tree):
    for path, at in tree.includes():
        ours, theirs = tree.owner(path), tree.owner(at)
        if path.name == "main.c":  # its executable links the root
            continue
        if ours is None:
            yield f"{path}: no CMakeLists.txt above it defines a target"
        elif theirs is None:
            yield f"{path} includes {at}, which belongs to no target"
        elif ours != theirs and theirs not in tree.links.get(ours, ()):
            yield f"{path} includes {at}: {ours} does not link {theirs}"


def wrong_links(tree):
    for target in tree.flow:
        folder = tree.folder[target]
        top = folder.split("/")[0]
        for link in tree.links.get(target, ()):
            if link not in tree.folder:
                continue
            other = tree.folder[link].split("/")[0]
            if other != top and other not in KINDS[top]:
                yield f"{folder} links {link}: {top} may not know {other}"
            elif tree.flow.index(link) >= tree.flow.index(target):
                yield f"{folder} links {link}, which comes after it"


def needless_links(tree):
    used = {(tree.owner(path), tree.owner(at))
            for path, at in tree.includes()}
    for target in tree.flow:
        for link in tree.links.get(target, ()):
            if link in tree.folder and (target, link) not in used:
                yield f"{tree.folder[target]} links {link} and includes nothing of it"


def full_folders(tree):
    for folder, count in sorted(tree.files().items()):
        if count > MAX_FILES:
            yield f"{folder}: {count} files, more than {MAX_FILES}"


def noun(path):
    name = str(path.with_suffix(""))
    for ending in PRIVATE:
        name = name.removesuffix(ending)
    return name


def reach(graph, start):
    """All that can be reached from there, which need not be there itself."""
    seen, left = set(), [start]
    while left:
        for node in graph.get(left.pop(), ()):
            if node not in seen:
                seen.add(node)
                left.append(node)
    return seen


def circles(tree):
    graph = {}
    for path, at in tree.includes():
        wiring = KINDS[path.parts[0]] and tree.folder.get(tree.owner(path)) == path.parts[0]
        if not wiring and noun(path) != noun(at):
            graph.setdefault(noun(path), set()).add(noun(at))
    reached = {node: reach(graph, node) for node in graph}
    reported = set()
    for node in sorted(graph):
        if node in reported or node not in reached[node]:
            continue
        circle = {other for other in reached[node] if node in reached.get(other, ())}
        reported |= circle
        if circle not in KNOWN_CIRCLES:
            yield f"a circle of files: {' '.join(sorted(circle))}"


RULES = (wrong_includes, wrong_links, needless_links, full_folders, circles)


def table(tree):
    files = tree.files()
    for target in tree.flow:
        links = [tree.folder[link] for link in tree.links.get(target, ()) if link in tree.folder]
        print(f"{tree.folder[target]:32}{files.get(tree.folder[target], 0):4}  {' '.join(links)}")


def main(arguments):
    show = arguments[:1] == ["--table"]
    root = pathlib.Path(__file__).resolve().parents[2]
    tree = Tree(arguments[-1] if len(arguments) > show else root)
    if show:
        table(tree)
        return 0
    wrong = [line for rule in RULES for line in rule(tree)]
    print("\n".join(wrong) or f"{len(tree.flow)} folders, {len(list(tree.includes()))} includes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
