"""Foreign files: files that are no logs of any known format, and their summary by kind and folder."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum


class ForeignKind(StrEnum):
    """What a foreign file holds, as its first bytes show; the values of `files.foreign_kind`."""

    JSON = "json"  # JSON objects, but in no known format
    BROKEN = "broken"  # begins like JSON, but no object can be read
    TEXT = "text"  # no JSON object
    BINARY = "binary"
    EMPTY = "empty"


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
