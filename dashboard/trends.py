"""Rates by day in, the series of a trend and the days out on which each of them changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from dashboard.charts import DayRate
from dashboard.slices import Slice
from dashboard.statistics.changes import LEVEL, changes

ENOUGH_DAYS = 12
"""Of fewer, shuffling hardly rules out chance: of ten days, 2 of 252 orders are as clear as any split."""
LOOKED_AT = 6  # series, the longest first: each is shuffled some hundred times
DAYS = 120  # the newest with data, of each series


@dataclass(frozen=True, slots=True)
class Shift:
    """From `day` on the rate of `series` is another; it began on one of the days from `first` to `last`.

    `before` and `after` are the rates (shares) up to the neighbouring shifts.
    """

    series: str
    day: date
    first: date
    last: date
    before: float
    after: float
    p: float


def by_day(several: Iterable[Slice]) -> dict[str, list[DayRate]]:
    """The points of each slice in the order of their days, from slices whose `also` is the day.

    Days on which nothing could be observed are left out, and so is what has no day.
    """
    points: dict[str, list[DayRate]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            day = date.fromisoformat(one.also)
            points.setdefault(one.name, []).append(DayRate(day, one.name, one.share.k, one.share.n))
    return {name: sorted(its, key=lambda point: point.day) for name, its in points.items()}


def looked_at(points: Mapping[str, Sequence[DayRate]]) -> list[str]:
    """The series that `shifts` examines: the most observed of those with enough days for a change."""
    long = [name for name, its in points.items() if len(its) >= ENOUGH_DAYS]
    return sorted(long, key=lambda name: (-sum(point.n for point in points[name]), name))[:LOOKED_AT]


def shifts(points: Mapping[str, Sequence[DayRate]]) -> list[Shift]:
    """What changed in the series that are `looked_at`, the newest first."""
    found = []
    for name in looked_at(points):
        its = points[name][-DAYS:]
        for change in changes([(point.k, point.n) for point in its]):
            at, first, last = (its[place].day for place in (change.at, change.first, change.last))
            found.append(Shift(name, at, first, last, change.before, change.after, change.p))
    return sorted(found, key=lambda shift: (shift.day, shift.series), reverse=True)


def doubt(series: int) -> str:
    """How many of the shifts that so many series show are to be expected from chance alone, in words."""
    return f"By chance alone {series} series would show {series * LEVEL:.2f} on average."
