"""Formats files that are no logs: one line for each kind and folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from callgauge.cli.render.printable import escape_for_terminal
from ingest.foreign_files import ForeignFile, ForeignGroup, ForeignKind, group_foreign_files

FEW_FOREIGN = 3  # files that are listed one by one
_FOLDERS = 4  # named for each kind of file
_KINDS = {
    ForeignKind.JSON: "JSON files of other kinds",
    ForeignKind.BROKEN: "files of broken JSON",
    ForeignKind.TEXT: "texts without JSON",
    ForeignKind.BINARY: "binary files",
    ForeignKind.EMPTY: "empty files",
}


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
