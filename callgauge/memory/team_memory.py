"""Reads and writes the memory of a team: one small SQLite file in the store's folder.

It is never inside a generation: a load replaces generations, and what people decided stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from callgauge.memory.records import Acknowledgement, Baseline, Goal, ModelPrice

FILE = "memory.sqlite"
SCHEMA_VERSION = 1
_SCHEMA = Path(__file__).with_name("schema.sql")
_PATIENCE = 5.0  # seconds to wait for another writer; each writes for milliseconds
_LONGEST = 2_000  # characters of a note, a name


class MemoryProblemError(Exception):
    """Raised when the memory cannot be read or written; the message names the file and the next step."""


class TeamMemory:
    """The memory of the team that uses the store in `folder`.

    Reading a memory that does not exist yet gives nothing; the first write makes the file. Every method
    opens and closes the file, so several processes may use it at once. All raise MemoryProblemError.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def acknowledgements(self) -> dict[str, Acknowledgement]:
        """Return the acknowledged alerts by their key."""
        rows = self._read("SELECT alert, note, by, at FROM acknowledgements")
        return {alert: Acknowledgement(alert, note, by, _to_time(at)) for alert, note, by, at in rows}

    def acknowledge(self, alert: str, *, note: str = "", by: str = "") -> None:
        """Note that somebody has seen the alert; a second time replaces the note."""
        self._write(
            "INSERT OR REPLACE INTO acknowledgements VALUES (?, ?, ?, ?)",
            [(alert, _cut(note), _cut(by), _now())],
        )

    def withdraw_acknowledgement(self, alert: str) -> None:
        self._write("DELETE FROM acknowledgements WHERE alert = ?", [(alert,)])

    def goals(self) -> dict[str, Goal]:
        """Return the goals by the name of their rate."""
        rows = self._read("SELECT rate, goal, by, at FROM goals")
        return {rate: Goal(rate, goal, by, _to_time(at)) for rate, goal, by, at in rows}

    def set_goal(self, rate: str, goal: float, *, by: str = "") -> None:
        """Keep the goal of a rate, 0 to 1. Raises ValueError beyond that."""
        if not 0 <= goal <= 1:
            raise ValueError(f"a goal is a share from 0 to 1, not {goal}")
        self._write("INSERT OR REPLACE INTO goals VALUES (?, ?, ?, ?)", [(rate, goal, _cut(by), _now())])

    def remove_goal(self, rate: str) -> None:
        self._write("DELETE FROM goals WHERE rate = ?", [(rate,)])

    def baselines(self) -> list[Baseline]:
        """Return the named baselines, the newest days first."""
        rows = self._read(
            "SELECT name, first_day, last_day, by, at FROM baselines ORDER BY last_day DESC, name"
        )
        return [
            Baseline(name, date.fromisoformat(first), date.fromisoformat(last), by, _to_time(at))
            for name, first, last, by, at in rows
        ]

    def save_baseline(self, name: str, first_day: date, last_day: date, *, by: str = "") -> None:
        """Keep a span of days under a name. Raises ValueError without a name or with its ends swapped."""
        if not name.strip() or first_day > last_day:
            raise ValueError("a baseline has a name, and its first day is not after its last")
        kept = (_cut(name.strip()), first_day.isoformat(), last_day.isoformat(), _cut(by), _now())
        self._write("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?, ?)", [kept])

    def remove_baseline(self, name: str) -> None:
        self._write("DELETE FROM baselines WHERE name = ?", [(name,)])

    def prices(self) -> list[ModelPrice]:
        """Return the team's own prices, by model and day."""
        rows = self._read(
            "SELECT model, from_day, input, output, cached_input, cache_write, currency, source "
            "FROM prices ORDER BY model, from_day"
        )
        return [ModelPrice(model, date.fromisoformat(day), *rest) for model, day, *rest in rows]

    def replace_prices(self, prices: Iterable[ModelPrice]) -> None:
        """Keep these prices in place of all that were kept before, or none of them if one is refused."""
        rows = [(one.model, one.from_day.isoformat(), *astuple(one)[2:]) for one in prices]
        self._write("INSERT INTO prices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows, first="DELETE FROM prices")

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self._open(f"{self.path.absolute().as_uri()}?mode=ro") as connection:
            return connection.execute(query).fetchall() if _version_of(connection) else []

    def _write(self, query: str, rows: list[tuple[Any, ...]], first: str | None = None) -> None:
        with self._open(f"{self.path.absolute().as_uri()}?mode=rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not _version_of(connection):
                for statement in _SCHEMA.read_text("utf-8").split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            if first:
                connection.execute(first)
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
            raise MemoryProblemError(f"{self.path} refuses this: {refused}.") from None
        except sqlite3.DatabaseError as problem:
            raise MemoryProblemError(
                f"{self.path} cannot be read or written ({problem}): check its permissions and the free "
                "space; if it is damaged, restore a backup, or move it away to begin with an empty one."
            ) from None


def _version_of(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _cut(text: str) -> str:
    return text[:_LONGEST]
