"""Baselines: named ranges of days for comparisons with other days. A baseline may be limited to one slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from callgauge.memory.kept_slices import KeptSlice, read_slice, write_slice
from callgauge.memory.memory_file import MemoryFile, cut_name, make_insert, require_text, write_now

SELECT_BASELINES = (
    "SELECT name, first_day, last_day, slice, by, at FROM baselines ORDER BY last_day DESC, name"
)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A named range of days for comparisons. The first and the last day are included.

    `slice` is the slice to which the baseline is limited. It is empty when the filters of the page choose the
    slice.
    """

    name: str
    first_day: date
    last_day: date
    by: str
    at: datetime
    slice: KeptSlice = field(default_factory=dict)

    @property
    def days(self) -> tuple[date, date]:
        return self.first_day, self.last_day


def read_baseline(row: Sequence[Any]) -> Baseline:
    name, first, last, slice_text, by, at = row
    return Baseline(
        name,
        date.fromisoformat(first),
        date.fromisoformat(last),
        by,
        datetime.fromisoformat(at),
        read_slice(slice_text),
    )


def save_baseline(
    file: MemoryFile, name: str, days: tuple[date, date], kept_slice: KeptSlice | None = None, *, by: str = ""
) -> None:
    """Save a range of days and an optional slice under a name. A baseline of the same name is replaced.

    Raises ValueError for an empty name, or when the last day is before the first day.
    """
    first, last = days
    if not name.strip() or first > last:
        raise ValueError("a baseline has a name, and its first day is not after its last")
    row = {
        "name": cut_name(require_text(name, "a baseline has a name")),
        "first_day": first.isoformat(),
        "last_day": last.isoformat(),
        "slice": write_slice(kept_slice or {}),
        "by": cut_name(by),
        "at": write_now(),
    }
    file.write(make_insert("baselines", row, replaces=True))


def remove_baseline(file: MemoryFile, name: str) -> None:
    file.write(("DELETE FROM baselines WHERE name = ?", [(name,)]))
