"""Reads and writes the memory of a team: one small SQLite file in the store's folder.

It is never inside a generation: a load replaces generations, and what people decided stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from callgauge.memory.records import Acknowledgement, Baseline, Goal, ModelPrice, TeamRecords

FILE = "memory.sqlite"
SCHEMA_VERSION = 1
_SCHEMA = Path(__file__).with_name("schema.sql")
_PATIENCE = 5.0  # seconds to wait for another writer; each writes for milliseconds
_LONGEST = 2_000  # characters of a note, a name
_ALL = (
    "SELECT alert, note, by, at FROM acknowledgements",
    "SELECT rate, goal, by, at FROM goals",
    "SELECT name, first_day, last_day, by, at FROM baselines ORDER BY last_day DESC, name",
    """SELECT model, from_day, input, output, cached_input, cache_write, currency, source
    FROM prices ORDER BY model, from_day""",
)


class MemoryProblemError(Exception):
    """Raised when the memory cannot be read or written; the message names the file and the next step."""


class TeamMemory:
    """The memory of the team that uses the store in `folder`.

    Reading a memory that does not exist yet gives nothing; the first write makes the file. Every method
    opens and closes the file, so several processes may use it at once. All raise MemoryProblemError.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def read(self) -> TeamRecords:
        """Return all that the memory holds, read at one moment."""
        if not self.path.exists():
            return TeamRecords({}, {}, [], [])
        with self._open(f"{self.path.absolute().as_uri()}?mode=ro") as connection:
            if not _version_of(connection):
                return TeamRecords({}, {}, [], [])
            connection.execute("BEGIN")
            seen, goals, baselines, prices = (connection.execute(query).fetchall() for query in _ALL)
        return TeamRecords(
            {alert: Acknowledgement(alert, note, by, _to_time(at)) for alert, note, by, at in seen},
            {rate: Goal(rate, goal, by, _to_time(at)) for rate, goal, by, at in goals},
            [
                Baseline(name, date.fromisoformat(first), date.fromisoformat(last), by, _to_time(at))
                for name, first, last, by, at in baselines
            ],
            [ModelPrice(model, date.fromisoformat(day), *rest) for model, day, *rest in prices],
        )

    def acknowledgements(self) -> Mapping[str, Acknowledgement]:
        """Return the acknowledged alerts by their key."""
        return self.read().acknowledgements

    def acknowledge(self, alert: str, *, note: str = "", by: str = "") -> None:
        """Note that somebody has seen the alert; a second time replaces the note."""
        self._write(
            "INSERT OR REPLACE INTO acknowledgements VALUES (?, ?, ?, ?)",
            [(alert, _cut(note), _cut(by), _now())],
        )

    def withdraw_acknowledgement(self, alert: str) -> None:
        self._write("DELETE FROM acknowledgements WHERE alert = ?", [(alert,)])

    def goals(self) -> Mapping[str, Goal]:
        """Return the goals by the name of their rate."""
        return self.read().goals

    def set_goal(self, rate: str, goal: float, *, by: str = "") -> None:
        """Keep the goal of a rate, 0 to 1. Raises ValueError beyond that."""
        if not 0 <= goal <= 1:
            raise ValueError(f"a goal is a share from 0 to 1, not {goal}")
        self._write("INSERT OR REPLACE INTO goals VALUES (?, ?, ?, ?)", [(rate, goal, _cut(by), _now())])

    def remove_goal(self, rate: str) -> None:
        self._write("DELETE FROM goals WHERE rate = ?", [(rate,)])

    def baselines(self) -> Sequence[Baseline]:
        """Return the named baselines, the newest days first."""
        return self.read().baselines

    def save_baseline(self, name: str, first_day: date, last_day: date, *, by: str = "") -> None:
        """Keep a span of days under a name. Raises ValueError without a name or with its ends swapped."""
        if not name.strip() or first_day > last_day:
            raise ValueError("a baseline has a name, and its first day is not after its last")
        kept = (_cut(name.strip()), first_day.isoformat(), last_day.isoformat(), _cut(by), _now())
        self._write("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?, ?)", [kept])

    def remove_baseline(self, name: str) -> None:
        self._write("DELETE FROM baselines WHERE name = ?", [(name,)])

    def prices(self) -> Sequence[ModelPrice]:
        """Return the team's own prices, by model and day."""
        return self.read().prices

    def replace_prices(self, prices: Iterable[ModelPrice]) -> None:
        """Keep these prices in place of all that were kept before, or none of them if one is refused."""
        rows = [(one.model, one.from_day.isoformat(), *astuple(one)[2:]) for one in prices]
        self._write("INSERT INTO prices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows, first="DELETE FROM prices")

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
