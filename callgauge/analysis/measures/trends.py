"""Rates by day or by version, and the days or versions at which a rate changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from msgspec import structs

from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.stats import Share
from callgauge.stats.over_time.change_points import MOST_FALSE, find_changes

ENOUGH_DAYS = 12
"""With fewer days, chance cannot be ruled out: of the 252 orders of ten days, 2 look like a clear change."""
LOOKED_AT = 6  # maximum number of searched series, because each search takes long
NAMED = 5
"""The number of series that have their own line if there are too many series."""
_MOST_USED = 3
DAYS = 120  # maximum number of days with data in a series, the newest


@dataclass(frozen=True, slots=True)
class DayRate:
    """One point of a trend: the share of a series on a day."""

    day: date
    series: str
    share: Share


@dataclass(frozen=True, slots=True)
class RateShift:
    """A change of the rate of a series. `day` is the first day of the new rate.

    Given that a change was found, the change began on a day from `first` to `last` with 95 % confidence.
    `before` and `after` are the rates (shares) up to the neighbouring changes.
    """

    series: str
    day: date
    first: date
    last: date
    before: float
    after: float
    p: float


def group_by_day(several: Iterable[Slice], last: date | None = None) -> dict[str, list[DayRate]]:
    """Return the points of each slice in the order of their days.

    The field `also` of a slice contains the day. Slices without observations or without a day are left out.
    Days after `last`, the newest complete day, are left out if there are other days.
    """
    points: dict[str, list[DayRate]] = {}
    dated = [
        (date.fromisoformat(slice_.also), slice_)
        for slice_ in several
        if slice_.also != "unknown" and slice_.share.n
    ]
    over = [pair for pair in dated if last is None or pair[0] <= last]
    for day, slice_ in over or dated:
        points.setdefault(slice_.name, []).append(DayRate(day, slice_.name, slice_.share))
    return {name: sorted(series, key=lambda point: point.day) for name, series in points.items()}


def name_series(points: Mapping[str, Sequence[DayRate]], rate: RateDefinition) -> list[str]:
    """Return the series that a chart names, the most used first.

    If there are six series or fewer, all are named. Otherwise the chart names the three most used series, and
    the two worst of the other series with enough observations and sessions. If fewer than two series have
    enough, the next most used series are named.
    """
    by_use, worst = _sort_series(points, rate)
    if len(by_use) <= NAMED + 1:
        return by_use
    filled = [*worst, *(name for name in by_use[_MOST_USED:] if name not in worst)][: NAMED - _MOST_USED]
    return [name for name in by_use if name in {*by_use[:_MOST_USED], *filled}]


def describe_named(points: Mapping[str, Sequence[DayRate]], rate: RateDefinition) -> str:
    """Return a sentence that says which of many series have their own line."""
    worst = len(_sort_series(points, rate)[1])
    if not worst:
        return f"Named: the {NAMED} most used of {len(points)}."
    others = f"the {worst} worst others" if worst > 1 else "the worst other"
    return f"Named of {len(points)}: the {NAMED - worst} most used, and {others} with enough sessions."


def _sort_series(
    points: Mapping[str, Sequence[DayRate]], rate: RateDefinition
) -> tuple[list[str], list[str]]:
    whole = {name: Share.sum_up([point.share for point in series]) for name, series in points.items()}
    by_use = sorted(whole, key=lambda name: (-whole[name].n, name))
    if not rate.better:
        return by_use, []
    way = -1 if rate.better == "low" else 1
    # A sum over days counts a session once per day, so session groups are counted instead.
    solid = [name for name in by_use[_MOST_USED:] if structs.replace(whole[name], sessions=None).has_enough]
    worst = sorted(solid, key=lambda name: way * (whole[name].rate or 0.0))
    return by_use, worst[: NAMED - _MOST_USED]


def examined_series(points: Mapping[str, Sequence[DayRate]]) -> list[str]:
    """Return the names of the series that `find_shifts` searches.

    These are the most observed series with enough days.
    """
    long = [name for name, series in points.items() if len(series) >= ENOUGH_DAYS]
    return sorted(long, key=lambda name: (-sum(point.share.n for point in points[name]), name))[:LOOKED_AT]


def find_shifts(points: Mapping[str, Sequence[DayRate]]) -> list[RateShift]:
    """Return the changes in the series that `examined_series` names, the newest first."""
    shifts = []
    for name in examined_series(points):
        series_points = points[name][-DAYS:]
        for change in find_changes([(point.share.k, point.share.n) for point in series_points]):
            at, first, last = (series_points[place].day for place in (change.at, change.first, change.last))
            shifts.append(RateShift(name, at, first, last, change.before, change.after, change.p))
    return sorted(shifts, key=lambda shift: (shift.day, shift.series), reverse=True)


@dataclass(frozen=True, slots=True)
class VersionShift:
    """A change of a rate at `version`.

    With 95 % confidence the change began at a version from `first` to `last`.
    """

    version: str
    first: str
    last: str
    before: float
    after: float
    p: float


def order_versions(several: Iterable[Slice]) -> list[tuple[str, Slice]]:
    """Return each version as (day of its first use, slice), in the order of these days.

    `several` holds the slices by version. The field `also` of a slice contains the day. Slices without a
    version or a day are left out.
    """
    used: dict[str, list[Slice]] = {}
    for slice_ in several:
        if slice_.name != "unknown" and slice_.also != "unknown":
            used.setdefault(slice_.name, []).append(slice_)
    wholes = [
        (min(slice_.also for slice_ in slices), merge_slices(slices, name)) for name, slices in used.items()
    ]
    return sorted(
        ((first, whole) for first, whole in wholes if whole is not None),
        key=lambda pair: (pair[0], pair[1].name),
    )


def find_version_shifts(versions: Sequence[tuple[str, Slice]]) -> list[VersionShift] | None:
    """Return the changes of the rate from version to version, in the order of their first use.

    Return None with fewer than 12 versions.
    """
    measured = [slice_ for _, slice_ in versions if slice_.share.n]
    if len(measured) < ENOUGH_DAYS:
        return None
    return [
        VersionShift(
            measured[change.at].name, measured[change.first].name, measured[change.last].name,
            change.before, change.after, change.p,
        )
        for change in find_changes([(slice_.share.k, slice_.share.n) for slice_ in measured])
    ]  # fmt: skip


def describe_doubt(series: int) -> str:
    """Return a sentence on how many of the series may show a change by chance alone."""
    return f"By chance alone at most {series * MOST_FALSE:.2f} of {series} series would show one on average."
