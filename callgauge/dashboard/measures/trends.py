"""The series of a trend by day, and the days on which each of them changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from callgauge.dashboard.charts import DayRate
from callgauge.dashboard.measures.slices import Slice, merge_slices
from callgauge.stats.change_points import LEVEL, find_changes

ENOUGH_DAYS = 12
"""Of fewer, shuffling hardly rules out chance: of ten days, 2 of 252 orders are as clear as any split."""
LOOKED_AT = 6  # series, the longest first: each is shuffled some hundred times
DAYS = 120  # the newest with data, of each series


@dataclass(frozen=True, slots=True)
class RateShift:
    """A change of a rate: from `day` on it is another; it began on one of the days `first` to `last`.

    `before` and `after` are the rates (shares) up to the neighbouring shifts.
    """

    series: str
    day: date
    first: date
    last: date
    before: float
    after: float
    p: float


def group_by_day(several: Iterable[Slice]) -> dict[str, list[DayRate]]:
    """Return the points of each slice in the order of their days, from slices whose `also` is the day.

    Days on which nothing could be observed are left out, and so is what has no day.
    """
    points: dict[str, list[DayRate]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            day = date.fromisoformat(one.also)
            points.setdefault(one.name, []).append(DayRate(day, one.name, one.share))
    return {name: sorted(its, key=lambda point: point.day) for name, its in points.items()}


def examined_series(points: Mapping[str, Sequence[DayRate]]) -> list[str]:
    """The series that `shifts` examines: the most observed of those with enough days for a change."""
    long = [name for name, its in points.items() if len(its) >= ENOUGH_DAYS]
    return sorted(long, key=lambda name: (-sum(point.share.n for point in points[name]), name))[:LOOKED_AT]


def find_shifts(points: Mapping[str, Sequence[DayRate]]) -> list[RateShift]:
    """What changed in the series that are `looked_at`, the newest first."""
    found = []
    for name in examined_series(points):
        its = points[name][-DAYS:]
        for change in find_changes([(point.share.k, point.share.n) for point in its]):
            at, first, last = (its[place].day for place in (change.at, change.first, change.last))
            found.append(RateShift(name, at, first, last, change.before, change.after, change.p))
    return sorted(found, key=lambda shift: (shift.day, shift.series), reverse=True)


@dataclass(frozen=True, slots=True)
class VersionShift:
    """A change of a rate: from `version` on it is another; it began with one of `first` to `last`."""

    version: str
    first: str
    last: str
    before: float
    after: float
    p: float


def order_versions(several: Iterable[Slice]) -> list[tuple[str, Slice]]:
    """Each version with the day of its first use, in the order of these days: (day, slice).

    `several`: slices by version whose `also` is the day. What has no version or no day is left out.
    """
    used: dict[str, list[Slice]] = {}
    for one in several:
        if one.name != "unknown" and one.also != "unknown":
            used.setdefault(one.name, []).append(one)
    wholes = [(min(one.also for one in its), merge_slices(its, name)) for name, its in used.items()]
    return sorted(
        ((first, whole) for first, whole in wholes if whole is not None),
        key=lambda pair: (pair[0], pair[1].name),
    )


def find_version_shifts(versions: Sequence[tuple[str, Slice]]) -> list[VersionShift] | None:
    """Find where the rate changed along versions in the order of their use. None: too few to tell."""
    known = [one for _, one in versions if one.share.n]
    if len(known) < ENOUGH_DAYS:
        return None
    return [
        VersionShift(
            known[found.at].name, known[found.first].name, known[found.last].name,
            found.before, found.after, found.p,
        )
        for found in find_changes([(one.share.k, one.share.n) for one in known])
    ]  # fmt: skip


def describe_doubt(series: int) -> str:
    """How many of the shifts that so many series show are to be expected from chance alone, in words."""
    return f"By chance alone {series} series would show {series * LEVEL:.2f} on average."
