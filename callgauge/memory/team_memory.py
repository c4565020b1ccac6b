"""Read a team's memory in one snapshot. Write acknowledgements, goals and prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import date, datetime
from pathlib import Path
from typing import Any

from callgauge.memory.alert_rules import SELECT_RULES, read_rule
from callgauge.memory.baselines import SELECT_BASELINES, Baseline, read_baseline
from callgauge.memory.decisions import SELECT_DECISIONS, read_decision
from callgauge.memory.memory_file import MemoryFile, MemoryProblemError, cut_text, write_now
from callgauge.memory.notes import SELECT_NOTES, read_note
from callgauge.memory.public_rates import SELECT_PUBLIC_RATES, make_public_rate
from callgauge.memory.records import Acknowledgement, Goal, ModelPrice, TeamRecords
from callgauge.memory.signature_states import SELECT_STATES, read_state
from callgauge.memory.views import SELECT_VIEWS, read_view

_ALL = (
    "SELECT alert, note, by, at FROM acknowledgements",
    "SELECT rate, goal, by, at FROM goals",
    """SELECT model, from_day, input, output, cached_input, cache_write, currency, source
    FROM prices ORDER BY model, from_day""",
    SELECT_BASELINES,
    SELECT_VIEWS,
    SELECT_NOTES,
    SELECT_DECISIONS,
    SELECT_RULES,
    SELECT_STATES,
    SELECT_PUBLIC_RATES,
)


class TeamMemory:
    """The memory of the team that uses the store in `folder`.

    Every method opens and closes the file. All methods raise MemoryProblemError.
    """

    def __init__(self, folder: Path) -> None:
        self.file = MemoryFile(folder)
        self.path = self.file.path

    def read(self) -> TeamRecords:
        """Return all records of the memory, from one snapshot."""
        try:
            return self._make_records(self.file.read_rows(*_ALL))
        except (ValueError, TypeError, AttributeError) as problem:
            raise MemoryProblemError(
                f"{self.path} has an unreadable record ({problem}): restore a backup, or move it "
                "away to start with an empty one."
            ) from None

    def _make_records(self, rows: Sequence[Sequence[Sequence[Any]]]) -> TeamRecords:
        acknowledgements, goals, prices, baselines, views, notes, decisions, rules, states, public = rows
        return TeamRecords(
            {
                alert: Acknowledgement(alert, note, by, _to_time(at))
                for alert, note, by, at in acknowledgements
            },
            {rate: Goal(rate, goal, by, _to_time(at)) for rate, goal, by, at in goals},
            [read_baseline(row) for row in baselines],
            [ModelPrice(model, date.fromisoformat(day), *rest) for model, day, *rest in prices],
            [read_view(row) for row in views],
            [read_note(row) for row in notes],
            [read_decision(row) for row in decisions],
            [read_rule(row) for row in rules],
            {state.signature: state for state in map(read_state, states)},
            [make_public_rate(row) for row in public],
        )

    def acknowledgements(self) -> Mapping[str, Acknowledgement]:
        """Return the acknowledged alerts by the key of the alert."""
        return self.read().acknowledgements

    def acknowledge(self, alert: str, *, note: str = "", by: str = "") -> None:
        """Record that somebody has seen an alert. An earlier note on the alert is replaced."""
        self._write(
            "INSERT OR REPLACE INTO acknowledgements VALUES (?, ?, ?, ?)",
            [(alert, cut_text(note), cut_text(by), write_now())],
        )

    def withdraw_acknowledgement(self, alert: str) -> None:
        self._write("DELETE FROM acknowledgements WHERE alert = ?", [(alert,)])

    def goals(self) -> Mapping[str, Goal]:
        """Return the goals by the name of the rate."""
        return self.read().goals

    def set_goal(self, rate: str, goal: float, *, by: str = "") -> None:
        """Save the goal of a rate, from 0 to 1. Raises ValueError for other values."""
        if not 0 <= goal <= 1:
            raise ValueError(f"a goal is a share from 0 to 1, not {goal}")
        self._write(
            "INSERT OR REPLACE INTO goals VALUES (?, ?, ?, ?)", [(rate, goal, cut_text(by), write_now())]
        )

    def remove_goal(self, rate: str) -> None:
        self._write("DELETE FROM goals WHERE rate = ?", [(rate,)])

    def baselines(self) -> Sequence[Baseline]:
        """Return the saved baselines, the newest days first."""
        return self.read().baselines

    def prices(self) -> Sequence[ModelPrice]:
        """Return the team's own prices, sorted by model and day."""
        return self.read().prices

    def replace_prices(self, prices: Iterable[ModelPrice]) -> None:
        """Replace all prices of the team with `prices`. If a price is invalid, change nothing."""
        rows = [(price.model, price.from_day.isoformat(), *astuple(price)[2:]) for price in prices]
        self._write("INSERT INTO prices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows, first="DELETE FROM prices")

    def _write(self, query: str, rows: list[tuple[Any, ...]], first: str | None = None) -> None:
        self.file.write(*([(first, [()])] if first else []), (query, rows))


def _to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
