"""Tests the summary of files that are not logs."""

from __future__ import annotations

import pytest

from callgauge.cli.render.loads import ForeignFile, foreign_lines, group_foreign_files
from ingest.load_report import ForeignKind


def files(*paths: str, kind: ForeignKind = ForeignKind.JSON) -> list[ForeignFile]:
    return [ForeignFile(path, kind, "is in no format (keys a); `callgauge formats`") for path in paths]


def folders(foreign_files: list[ForeignFile], most: int) -> list[tuple[str, bool, int]]:
    return [(group.folder, group.below, group.files) for group in group_foreign_files(foreign_files, most)]


def test_few_folders_stand_each_for_itself() -> None:
    assert folders(files("/a/1", "/a/2", "/b/1"), 2) == [("/a", False, 2), ("/b", False, 1)]


def test_the_deepest_of_many_folders_are_counted_with_those_above() -> None:
    foreign_files = files("/a/x/1", "/a/y/1", "/a/y/z/1", "/b/1")
    assert folders(foreign_files, 3) == [("/a/x", False, 1), ("/a/y", True, 2), ("/b", False, 1)]
    assert folders(foreign_files, 2) == [("/a", True, 3), ("/b", False, 1)]


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_no_file_is_lost(most: int) -> None:
    foreign_files = files(*(f"/{a}/{b}/{c}/f" for a in "xyz" for b in "pqr" for c in "uv"))
    assert sum(count for _, _, count in folders(foreign_files, most)) == len(foreign_files)


def test_kinds_are_apart_and_a_single_file_is_named_with_its_reason() -> None:
    foreign_files = [*files("/a/1.json", "/a/2.json"), *files("/a/x.bin", kind=ForeignKind.BINARY)]
    assert list(foreign_lines(foreign_files)) == [
        (
            "not logs (skipped): 2 JSON files of other kinds in /a, "
            "such as 1.json, which is in no format (keys a)"
        ),
        "not a log (skipped): /a/x.bin, which is in no format (keys a)",
    ]
