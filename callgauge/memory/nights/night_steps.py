"""What each night did: one record for each of its steps that began."""

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
"""The steps of a night, in their order."""

Outcome = Literal["done", "failed", "skipped", "stopped", "broken off"]
# One that is done or has nothing to do is over; the others are done again when the night is.
OVER: tuple[Outcome, ...] = ("done", "skipped")

_NEWEST = """
    SELECT night, step, began, ended, outcome, told FROM night_steps
    WHERE night IN (SELECT DISTINCT night FROM night_steps WHERE night <= ? ORDER BY night DESC LIMIT ?)
    ORDER BY night DESC"""


@dataclass(frozen=True, slots=True)
class NightStep:
    """A step of a night. `outcome` None: it runs, or its process was killed and no other night began since.

    `told`: figures for people, of the step's own kind; among them `problem`, a sentence, where it failed, and
    `reason` where it was skipped. `tries` counts how often the step began that night.
    """

    night: date
    step: StepName
    began: datetime
    ended: datetime | None
    outcome: Outcome | None
    told: Mapping[str, Any]

    @property
    def is_over(self) -> bool:
        return self.outcome in OVER


class NightRecords:
    """The records of the nights of the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def list_steps(self, nights: int, until: date = date.max) -> Sequence[NightStep]:
        """Return the steps of the newest nights, so many at most: the newest night first, its steps in order.

        Nights after `until` do not count: a clock may have been wrong.
        """
        (rows,) = self._file.read_rows(_NEWEST, values=(until.isoformat(), nights))
        steps = (_make_step(*row) for row in rows)
        return sorted(steps, key=lambda step: (-step.night.toordinal(), STEPS.index(step.step)))

    def begin_step(self, night: date, step: StepName, tries: int) -> None:
        """Note that a step begins, in place of what an earlier try of the same night left."""
        values = (night.isoformat(), step, write_now(), json.dumps({"tries": tries}))
        self._file.write(
            (
                "INSERT OR REPLACE INTO night_steps (night, step, began, told) VALUES (?, ?, ?, ?)",
                [values],
            )
        )

    def end_step(self, night: date, step: StepName, outcome: Outcome, figures: Mapping[str, Any]) -> None:
        """Note how a step that began has ended."""
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
        """Mark the steps whose process was killed. Only who holds the night's lock knows that none runs."""
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
