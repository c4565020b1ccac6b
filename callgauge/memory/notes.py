"""Notes of people about a day, model, prompt, tool, error signature, session or call."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from callgauge.memory.memory_file import (
    MemoryFile,
    MemoryProblemError,
    cut_name,
    cut_text,
    make_id,
    make_insert,
    require_text,
    write_day,
    write_now,
)

SubjectKind = Literal["day", "model", "prompt", "tool", "signature", "session", "call"]
SUBJECT_KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)
SELECT_NOTES = "SELECT id, subject_kind, subject, day, text, by, at FROM notes ORDER BY at DESC, id"
_ABOUT = "SELECT subject_kind, subject FROM notes WHERE subject_kind IN ('session', 'call')"
_DELETE = "DELETE FROM notes WHERE subject_kind = ? AND subject = ?"
_PATIENCE = 5.0  # A writer waits this many seconds for another writer.


@dataclass(frozen=True, slots=True)
class Note:
    """A note. `subject` is the value of the dimension, an id, or a date.

    `day` is the day at which trends show a mark for the note. None means no mark.
    """

    id: str
    kind: SubjectKind
    subject: str
    day: date | None
    text: str
    by: str
    at: datetime


def read_note(row: Sequence[Any]) -> Note:
    key, kind, subject, day, text, by, at = row
    when = date.fromisoformat(day) if day else None
    return Note(key, kind, subject, when, text, by, datetime.fromisoformat(at))


def add_note(
    file: MemoryFile, kind: SubjectKind, subject: str, text: str, *, day: date | None = None, by: str = ""
) -> None:
    """Save a note. Raises ValueError for an empty text."""
    row = {
        "id": make_id(),
        "subject_kind": kind,
        "subject": cut_text(subject),
        "day": write_day(day),
        "text": cut_text(require_text(text, "a note has a text")),
        "by": cut_name(by),
        "at": write_now(),
    }
    file.write(make_insert("notes", row))


def change_note(file: MemoryFile, note: Note, text: str, *, day: date | None) -> None:
    """Change the text and the day of a note. The author stays the same.

    Raises ValueError for an empty text, or when `day` is None for a note about a day.
    """
    note_text = cut_text(require_text(text, "a note has a text"))
    if note.kind == "day" and day is None:
        raise ValueError("a note on a day has a day")
    subject = day.isoformat() if note.kind == "day" and day else note.subject
    # Update the time, so that an import of an older export does not undo the change.
    row = (subject, write_day(day), note_text, write_now(), note.id)
    file.write(("UPDATE notes SET subject = ?, day = ?, text = ?, at = ? WHERE id = ?", [row]))


def delete_note(file: MemoryFile, note: Note) -> None:
    file.write(("DELETE FROM notes WHERE id = ?", [(note.id,)]))


def remove_notes(
    folder: Path, sessions: Collection[str], calls: Collection[str], *, dry_run: bool = False
) -> int:
    """Remove the notes about these sessions and calls. Return the number of notes.

    If `dry_run` is True, only count the notes. The file keeps no trace of removed texts. Raises
    MemoryProblemError.
    """
    file = MemoryFile(folder)
    leaving = {("session", cut_text(key)) for key in sessions} | {("call", cut_text(key)) for key in calls}
    (about,) = file.read_rows(_ABOUT)
    removed = [row for row in about if row in leaving]
    if removed and not dry_run:
        file.write((_DELETE, sorted(set(removed))))
        _overwrite_deleted(file.path)
    return len(removed)


def _overwrite_deleted(path: Path) -> None:
    """Rewrite the file, because SQLite leaves deleted rows in the file's free space."""
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as problem:
        raise MemoryProblemError(
            f"{path} cannot be rewritten ({problem}): free some space and run this again."
        ) from None
