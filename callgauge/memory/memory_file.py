"""Open a team's memory: one small SQLite file in the store's folder.

A load publishes a new store file, but does not change the memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from ingest.safe_files import new_files_like

FILE = "memory.sqlite"
SCHEMA_VERSION = 3
_HERE = Path(__file__).parent
_SCRIPTS = ("schema.sql", *(f"to_{version}.sql" for version in range(2, SCHEMA_VERSION + 1)))
_PATIENCE = 5.0  # A writer waits this many seconds for another writer; a write takes only milliseconds.
LONGEST = 2_000
"""The maximum number of characters of a stored text."""
LONGEST_LINK = 16_000
_LONGEST_NAME = 200

Statement = tuple[str, Sequence[Sequence[Any]]]
"""An SQL statement and its rows of parameters."""


class MemoryProblemError(Exception):
    """Raised when the memory cannot be read or written. The message names the file and the next step."""


class MemoryFile:
    """The memory of the team that uses the store in `folder`.

    A missing file counts as empty, and the first write creates the file. Files of older versions are
    migrated. Every method opens and closes the file, so several processes may use it. All methods raise
    MemoryProblemError.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def read_rows(self, *queries: str, values: Sequence[Any] = ()) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each query, from one snapshot. `values` are the parameters of each query."""
        if not self.path.exists():
            return [[] for _ in queries]
        with self._open(f"{self.path.absolute().as_uri()}?mode=ro") as connection:
            version = _version_of(connection)
            if version == SCHEMA_VERSION:
                connection.execute("BEGIN")
                return [connection.execute(query, values).fetchall() for query in queries]
        if not version:  # The file exists, but nothing has been written to it.
            return [[] for _ in queries]
        self.write()  # An empty write migrates the file.
        return self.read_rows(*queries, values=values)

    def write(self, *statements: Statement) -> None:
        """Execute all statements in one transaction. If one statement fails, no statement takes effect."""
        with suppress(OSError), new_files_like(self.path.parent):  # SQLite's own files get this file's mode
            self.path.touch()
        with self._open(f"{self.path.absolute().as_uri()}?mode=rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            for script in _SCRIPTS[_version_of(connection) :]:
                for statement in _read_statements(script):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            for query, rows in statements:
                connection.executemany(query, rows)
            connection.execute("COMMIT")

    @contextmanager
    def _open(self, address: str) -> Iterator[sqlite3.Connection]:
        try:
            with closing(
                sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
            ) as connection:
                if _version_of(connection) > SCHEMA_VERSION:
                    raise MemoryProblemError(
                        f"{self.path} was written by a newer Callgauge: upgrade this one, or move it away."
                    )
                yield connection
        except sqlite3.IntegrityError as refused:
            raise MemoryProblemError(f"{self.path} does not allow this: {refused}.") from None
        except sqlite3.DatabaseError as problem:
            raise MemoryProblemError(
                f"{self.path} cannot be read or written ({problem}): check its permissions and the free "
                "space; if it is damaged, restore a backup, or move it away to begin with an empty one."
            ) from None


def make_insert(table: str, row: Mapping[str, Any], *, replaces: bool = False) -> Statement:
    """Return the SQL statement that inserts a row. A row with the same key is replaced."""
    verb = "INSERT OR REPLACE" if replaces else "INSERT"
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    return f"{verb} INTO {table} ({columns}) VALUES ({marks})", [tuple(row.values())]


def _read_statements(script: str) -> Iterable[str]:
    return filter(str.strip, (_HERE / script).read_text("utf-8").split(";\n"))


def _version_of(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def write_now() -> str:
    """Return the current time in the format of the memory: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_day(day: date | None) -> str | None:
    """Return a day in the format of the memory, YYYY-MM-DD. Return None for None."""
    return day.isoformat() if day else None


def make_id() -> str:
    """Return a new random id, which does not collide when two memories are merged."""
    return uuid4().hex


def cut_text(text: str) -> str:
    """Return a string without invalid Unicode, cut to 2,000 characters."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")


def cut_name(text: str) -> str:
    """Return a name cut to 200 characters, without spaces at its ends."""
    return cut_text(text.strip()[:_LONGEST_NAME])


def check_link(link: str) -> str:
    """Return the link. Raises ValueError when the link is too long."""
    if len(link) > LONGEST_LINK:
        raise ValueError("this address is too long to be kept: choose fewer values")
    return link


def require_text(text: str, otherwise: str) -> str:
    """Return a string without spaces at its ends.

    If the string is empty, raises ValueError with the message `otherwise`.
    """
    if not (stripped := text.strip()):
        raise ValueError(otherwise)
    return stripped
