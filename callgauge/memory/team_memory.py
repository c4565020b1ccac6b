"""Reads and writes what a team decided on alerts, goals, baselines and prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import date, datetime
from pathlib import Path
from typing import Any

from callgauge.memory.memory_file import MemoryFile, cut_text, write_now
from callgauge.memory.records import Acknowledgement, Baseline, Goal, ModelPrice, TeamRecords

_ALL = (
    "SELECT alert, note, by, at FROM acknowledgements",
    "SELECT rate, goal, by, at FROM goals",
    "SELECT name, first_day, last_day, by, at FROM baselines ORDER BY last_day DESC, name",
    """SELECT model, from_day, input, output, cached_input, cache_write, currency, source
    FROM prices ORDER BY model, from_day""",
)


class TeamMemory:
    """The memory of the team that uses the store in `folder`.

    Every method opens and closes the file. All raise MemoryProblemError.
    """

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)
        self.path = self._file.path

    def read(self) -> TeamRecords:
        """Return all that the memory holds, read at one moment."""
        seen, goals, baselines, prices = self._file.read_rows(*_ALL)
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
            [(alert, cut_text(note), cut_text(by), write_now())],
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
        self._write(
            "INSERT OR REPLACE INTO goals VALUES (?, ?, ?, ?)", [(rate, goal, cut_text(by), write_now())]
        )

    def remove_goal(self, rate: str) -> None:
        self._write("DELETE FROM goals WHERE rate = ?", [(rate,)])

    def baselines(self) -> Sequence[Baseline]:
        """Return the named baselines, the newest days first."""
        return self.read().baselines

    def save_baseline(self, name: str, first_day: date, last_day: date, *, by: str = "") -> None:
        """Keep a span of days under a name. Raises ValueError without a name or with its ends swapped."""
        if not name.strip() or first_day > last_day:
            raise ValueError("a baseline has a name, and its first day is not after its last")
        kept = (
            cut_text(name.strip()),
            first_day.isoformat(),
            last_day.isoformat(),
            cut_text(by),
            write_now(),
        )
        self._write(
            "INSERT OR REPLACE INTO baselines (name, first_day, last_day, by, at) VALUES (?, ?, ?, ?, ?)",
            [kept],
        )

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
        self._file.write(*([(first, [()])] if first else []), (query, rows))


def _to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
