"""Groups files that are not logs by kind and folder, and formats a line for each group."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from callgauge.cli.render.printable import escape_for_terminal
from ingest.load_report import ForeignKind

FEW_FOREIGN = 3  # files that are listed one by one
_FOLDERS = 4  # named for each kind of file
_KINDS = {
    ForeignKind.JSON: "JSON files of other kinds",
    ForeignKind.BROKEN: "files of broken JSON",
    ForeignKind.TEXT: "texts without JSON",
    ForeignKind.BINARY: "binary files",
    ForeignKind.EMPTY: "empty files",
}


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """A foreign file; `reason` is the part of a sentence that follows the file's path."""

    path: str
    kind: ForeignKind
    reason: str


@dataclass(frozen=True, slots=True)
class ForeignGroup:
    """The foreign files of one kind in a folder, or (`below`) also in folders below it.

    `example` is the first of them by path.
    """

    folder: str
    below: bool
    files: int
    example: ForeignFile


def foreign_lines(files: Iterable[ForeignFile]) -> Iterator[str]:
    """Yield a line for each kind and folder of foreign files; nothing when there are none."""
    for group in group_foreign_files(files, _FOLDERS):
        yield escape_for_terminal(f"no logs: {_describe_group(group)}")


def _describe_group(group: ForeignGroup) -> str:
    example = group.example
    if group.files == 1:
        return f"{example.path}, which {_shorten(example.reason)}"
    place = f"{group.folder or 'the archive'}{' and below' if group.below else ''}"
    why = f", which {_shorten(example.reason)}" if example.kind is ForeignKind.JSON else ""
    name = example.path.removeprefix(f"{group.folder}/")
    return f"{group.files:,} {_KINDS[example.kind]} in {place}, such as {name}{why}"


def _shorten(reason: str) -> str:
    """Return a reason without what to do about it: that is the same for all."""
    return reason.split(";", maxsplit=1)[0]


def group_foreign_files(files: Iterable[ForeignFile], most: int) -> list[ForeignGroup]:
    """Return foreign files by kind and folder, the kinds in the order of `ForeignKind`.

    Where more than `most` folders hold files of a kind, the deepest are counted with the folder above them.
    """
    by_kind: dict[ForeignKind, dict[str, list[ForeignFile]]] = {kind: {} for kind in ForeignKind}
    for file in files:
        by_kind[file.kind].setdefault(posixpath.dirname(file.path), []).append(file)
    return [group for folders in by_kind.values() for group in _group_by_folder(folders, most)]


def _group_by_folder(folders: dict[str, list[ForeignFile]], most: int) -> list[ForeignGroup]:
    groups: dict[str, list[ForeignFile]] = {}
    shown = _choose_shown_folders(folders, most)
    for folder, files in folders.items():
        groups.setdefault(shown[folder], []).extend(files)
    below = {shown[folder] for folder in folders if shown[folder] != folder}
    return [
        ForeignGroup(folder, folder in below, len(files), min(files, key=lambda file: file.path))
        for folder, files in sorted(groups.items())
    ]


def _choose_shown_folders(folders: Collection[str], most: int) -> dict[str, str]:
    """Return for each folder the folder under which it is counted: itself, or one above it."""
    shown = {folder: folder for folder in folders}
    while len(names := set(shown.values())) > most and (deepest := max(map(_count_parts, names))) > 1:
        above = {name: posixpath.dirname(name) for name in names if _count_parts(name) == deepest}
        shown = {folder: above.get(name, name) for folder, name in shown.items()}
    return shown


def _count_parts(folder: str) -> int:
    return folder.rstrip("/").count("/")
