"""Records of nightly runs, with one record for each step that has begun."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from callgauge.memory.memory_file import MemoryFile, cut_text, write_now

StepName = Literal["load", "retention", "backup", "report"]
STEPS: tuple[StepName, ...] = get_args(StepName)
"""The steps of a nightly run, in order."""

Outcome = Literal["done", "failed", "skipped", "stopped", "broken off"]
# A repeated run skips steps with these outcomes, and repeats all others.
OVER: tuple[Outcome, ...] = ("done", "skipped")

_NEWEST = """
    SELECT night, step, began, ended, outcome, told FROM night_steps
    WHERE night IN (SELECT DISTINCT night FROM night_steps WHERE night <= ? ORDER BY night DESC LIMIT ?)
    ORDER BY night DESC"""


@dataclass(frozen=True, slots=True)
class NightStep:
    """A step of a nightly run. `outcome` is None while the step runs, and also if the step's process was
    killed.

    `figures` contains numbers for people. After a failure `figures` has the item `problem`, a sentence. For a
    skipped step `figures` has the item `reason`. `tries` counts how often the step began in this nightly run.
    """

    night: date
    step: StepName
    began: datetime
    ended: datetime | None
    outcome: Outcome | None
    figures: Mapping[str, Any]

    @property
    def is_over(self) -> bool:
        return self.outcome in OVER


class NightRecords:
    """The records of nightly runs for the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def list_steps(self, nights: int, until: date = date.max) -> Sequence[NightStep]:
        """Return the steps of the newest nightly runs. The newest nightly run comes first, with its steps in
        order.

        Ignores nightly runs after `until`, which were recorded with a wrong clock.
        """
        (rows,) = self._file.read_rows(_NEWEST, values=(until.isoformat(), nights))
        steps = (_make_step(*row) for row in rows)
        return sorted(steps, key=lambda step: (-step.night.toordinal(), STEPS.index(step.step)))

    def begin_step(self, night: date, step: StepName, tries: int) -> None:
        """Record the start of a step. The record of an earlier try in the same nightly run is replaced."""
        values = (night.isoformat(), step, write_now(), json.dumps({"tries": tries}))
        self._file.write(
            (
                "INSERT OR REPLACE INTO night_steps (night, step, began, told) VALUES (?, ?, ?, ?)",
                [values],
            )
        )

    def end_step(self, night: date, step: StepName, outcome: Outcome, figures: Mapping[str, Any]) -> None:
        """Record the end of a step."""
        cut_figures = {
            name: cut_text(value) if isinstance(value, str) else value for name, value in figures.items()
        }
        values = (write_now(), outcome, json.dumps(cut_figures, default=str), night.isoformat(), step)
        self._file.write(
            (
                "UPDATE night_steps SET ended = ?, outcome = ?, told = ? WHERE night = ? AND step = ?",
                [values],
            )
        )

    def close_broken_steps(self) -> None:
        """Mark steps left running by a killed process. Call only while holding the nightly lock."""
        self._file.write(
            ("UPDATE night_steps SET outcome = 'broken off' WHERE outcome IS NULL", [()]),
        )


def _make_step(
    night: str, step: StepName, began: str, ended: str | None, outcome: Outcome | None, figures_text: str
) -> NightStep:
    return NightStep(
        date.fromisoformat(night),
        step,
        _to_time(began),
        None if ended is None else _to_time(ended),
        outcome,
        json.loads(figures_text),
    )


def _to_time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
