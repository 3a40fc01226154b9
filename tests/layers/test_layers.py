"""layers.py itself: on small trees, each with one thing wrong."""
import pathlib
import subprocess
import sys

import pytest

import layers

LAYERS = pathlib.Path(layers.__file__)


class Repository:
    """A rackmesh/ of a folder core, and a ctl/ of the folders low, high and its root."""

    def __init__(self, root):
        self.root = root
        self.write("rackmesh/CMakeLists.txt", "add_subdirectory(core)\n")
        self.folder("rackmesh/core", "rackmesh_core")
        self.write("rackmesh/core/clock.h")
        self.write("ctl/CMakeLists.txt", "add_subdirectory(low)\nadd_subdirectory(high)\n"
                   "add_library(ctl_core STATIC wiring.c)\n"
                   "target_link_libraries(ctl_core PRIVATE ctl_high)\n")
        self.write("ctl/wiring.h")
        self.write("ctl/wiring.c", includes=["ctl/wiring.h", "ctl/high/b.h"])
        self.write("ctl/main.c", includes=["ctl/wiring.h"])
        self.folder("ctl/low", "ctl_low", "rackmesh_core")
        self.write("ctl/low/a.h")
        self.write("ctl/low/a.c", includes=["ctl/low/a.h", "rackmesh/core/clock.h"])
        self.folder("ctl/high", "ctl_high", "ctl_low")
        self.write("ctl/high/b.h")
        self.write("ctl/high/b.c", includes=["ctl/high/b.h", "ctl/low/a.h"])

    def write(self, path, text="", includes=()):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "".join(f'#include "{name}"\n' for name in includes))

    def folder(self, folder, target, *links):
        self.write(f"{folder}/CMakeLists.txt", f"add_library({target} STATIC\n\tsome.c\n)\n"
                   f"target_link_libraries({target}\n\tPUBLIC {' '.join(links)}\n"
                   "\tPRIVATE PkgConfig::JANSSON)\n")

    def wrong(self):
        tree = layers.Tree(self.root)
        return [line for rule in layers.RULES for line in rule(tree)]


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_a_clean_tree_passes(repository):
    assert repository.wrong() == []


def test_what_a_folder_includes_and_does_not_link_is_named(repository):
    repository.write("ctl/high/c.c", includes=["rackmesh/core/clock.h"])
    assert repository.wrong() == [
        "ctl/high/c.c includes rackmesh/core/clock.h: ctl_high does not link rackmesh_core"]


def test_an_include_without_a_folder_is_of_the_same_folder(repository):
    repository.write("ctl/high/c.c", includes=["b.h"])
    assert repository.wrong() == []


def test_an_include_of_a_file_outside_the_tree_is_allowed(repository):
    repository.write("ctl/high/c.c", includes=["jansson/jansson.h", "made/by_the_build.h"])
    assert repository.wrong() == []


def test_a_link_to_a_later_folder_is_named(repository):
    repository.folder("ctl/low", "ctl_low", "rackmesh_core", "ctl_high")
    repository.write("ctl/low/c.c", includes=["ctl/high/b.h"])
    assert repository.wrong() == ["ctl/low links ctl_high, which comes after it"]


def test_a_link_to_another_kind_is_named(repository):
    repository.write("analyzer/CMakeLists.txt", "add_subdirectory(blind)\n")
    repository.folder("analyzer/blind", "analyzer_blind")
    repository.write("analyzer/blind/blind.h")
    repository.folder("ctl/high", "ctl_high", "ctl_low", "analyzer_blind")
    repository.write("ctl/high/c.c", includes=["analyzer/blind/blind.h"])
    assert repository.wrong() == ["ctl/high links analyzer_blind: ctl may not know analyzer"]


def test_a_needless_link_is_named(repository):
    repository.folder("ctl/high", "ctl_high", "ctl_low", "rackmesh_core")
    assert repository.wrong() == ["ctl/high links rackmesh_core and includes nothing of it"]


def test_a_link_in_a_comment_does_not_count(repository):
    repository.write("ctl/high/CMakeLists.txt", "add_library(ctl_high STATIC b.c)\n"
                     "target_link_libraries(ctl_high PUBLIC # ctl_low\n)\n")
    assert repository.wrong() == [
        "ctl/high/b.c includes ctl/low/a.h: ctl_high does not link ctl_low"]


def test_no_stage_includes_the_root_of_its_daemon(repository):
    repository.write("ctl/high/c.c", includes=["ctl/wiring.h"])
    assert repository.wrong() == [
        "ctl/high/c.c includes ctl/wiring.h: ctl_high does not link ctl_core"]


def test_a_folder_without_a_target_is_of_the_one_above_it(repository):
    repository.write("ctl/api/api.h")
    repository.write("ctl/api/api.c", includes=["ctl/api/api.h", "ctl/high/b.h"])
    assert repository.wrong() == []


def test_main_may_include_the_root_and_all_stages(repository):
    repository.write("ctl/main.c", includes=["ctl/wiring.h", "rackmesh/core/clock.h"])
    assert repository.wrong() == []


def test_a_file_of_no_target_is_named(repository):
    repository.write("analyzer/page/page.c", includes=["ctl/low/a.h"])
    assert repository.wrong() == [
        "analyzer/page/page.c: no CMakeLists.txt above it defines a target"]


def test_25_files_are_not_too_many(repository):
    for i in range(layers.MAX_FILES - 2):
        repository.write(f"ctl/low/f{i}.h")
    assert repository.wrong() == []


def test_26_files_are_too_many(repository):
    for i in range(layers.MAX_FILES - 1):
        repository.write(f"ctl/low/f{i}.h")
    assert repository.wrong() == ["ctl/low: 26 files, more than 25"]


def test_a_circle_of_files_is_named(repository):
    repository.write("ctl/low/c.h")
    repository.write("ctl/low/c.c", includes=["ctl/low/c.h", "ctl/low/d.h"])
    repository.write("ctl/low/d.h")
    repository.write("ctl/low/d.c", includes=["ctl/low/d.h", "ctl/low/e.h"])
    repository.write("ctl/low/e.h", includes=["ctl/low/c.h"])
    repository.write("ctl/low/f.c", includes=["ctl/low/c.h"])
    assert repository.wrong() == ["a circle of files: ctl/low/c ctl/low/d ctl/low/e"]


def test_a_private_header_is_no_circle(repository):
    repository.write("ctl/low/a_state.h", includes=["ctl/low/a.h"])
    repository.write("ctl/low/a.c", includes=["ctl/low/a_state.h", "rackmesh/core/clock.h"])
    assert repository.wrong() == []


def test_files_of_the_root_may_include_each_other(repository):
    repository.write("ctl/wiring.h", includes=["ctl/api/api.h"])
    repository.write("ctl/api/api.h")
    repository.write("ctl/api/api.c", includes=["ctl/api/api.h", "ctl/wiring.h"])
    assert repository.wrong() == []


def run(*arguments):
    return subprocess.run([sys.executable, LAYERS, *arguments], capture_output=True, text=True)


def test_the_script_fails_and_names_what_is_wrong(repository):
    repository.write("ctl/high/c.c", includes=["rackmesh/core/clock.h"])
    done = run(repository.root)
    assert (done.returncode, done.stdout) == (1, "ctl/high/c.c includes rackmesh/core/clock.h:"
                                              " ctl_high does not link rackmesh_core\n")


def test_the_script_counts_what_it_found_clean(repository):
    done = run(repository.root)
    assert (done.returncode, done.stdout) == (0, "4 folders, 7 includes\n")


def test_the_table_shows_who_may_include_whom(repository):
    rows = [line.split() for line in run("--table", repository.root).stdout.splitlines()]
    assert rows == [["rackmesh/core", "1"], ["ctl/low", "2", "rackmesh/core"],
                    ["ctl/high", "2", "ctl/low"], ["ctl", "3", "ctl/high"]]
