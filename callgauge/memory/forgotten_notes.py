"""Removes the notes on sessions and calls that are forgotten, with their bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from callgauge.memory.memory_file import MemoryFile, MemoryProblemError, cut_text

_ABOUT = "SELECT subject_kind, subject FROM notes WHERE subject_kind IN ('session', 'call')"
_DELETE = "DELETE FROM notes WHERE subject_kind = ? AND subject = ?"
_PATIENCE = 5.0  # seconds to wait for another writer


def remove_notes(
    folder: Path, sessions: Collection[str], calls: Collection[str], *, dry_run: bool = False
) -> int:
    """Remove the notes on these sessions and calls from a store's memory; return their number.

    With `dry_run`, only count them. Nothing of their text stays in the file. Raises MemoryProblemError.
    """
    file = MemoryFile(folder)
    leaving = {("session", cut_text(one)) for one in sessions} | {("call", cut_text(one)) for one in calls}
    (about,) = file.read_rows(_ABOUT)
    found = [row for row in about if row in leaving]
    if found and not dry_run:
        file.write((_DELETE, sorted(set(found))))
        _overwrite_deleted(file.path)
    return len(found)


def _overwrite_deleted(path: Path) -> None:
    """Write the file anew: SQLite leaves deleted rows in free space."""
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as problem:
        raise MemoryProblemError(
            f"{path} cannot be written anew ({problem}): free some space and run this again."
        ) from None
