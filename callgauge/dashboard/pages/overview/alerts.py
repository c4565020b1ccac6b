"""Finds the rates whose newest days lie beyond what the days before show, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from callgauge.dashboard.measures.slices import Slice, merge_slices, relate_slices
from callgauge.stats import Difference, benjamini_hochberg
from callgauge.stats.day_effects import LEAST_DAYS, DayCounts, compare_with_days_before, count_days

FALSE = 0.05  # the share of false ones among the alerts
# The newest day stands alone where it has as many calls and sessions; else the newest week, else 30 days.
_CALLS = 100
_SESSIONS = 30  # three slices of which each may be judged
_LENGTHS = (1, 7, 30)
_SHORTEST_BEFORE = 28
_BEFORE = 4  # times as long
_SATURDAY = 5

Days = tuple[date, date]


@dataclass(frozen=True, slots=True)
class AlertWindows:
    """Two spans of days: the newest days and the earlier days to compare with, both ends inclusive.

    `days_before`: on how many of the earlier days there are calls.
    """

    now: Days
    before: Days
    days_before: int

    @property
    def is_long_enough(self) -> bool:
        """True when the earlier days are enough to show how much days differ."""
        return self.days_before >= LEAST_DAYS


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rate of one value of a dimension on the newest days and on the days before: by day, and in all."""

    dimension: str
    before: Slice
    now: Slice
    days_before: Mapping[date, Slice]
    days_now: Mapping[date, Slice]


@dataclass(frozen=True, slots=True)
class Alert:
    """A changed rate of one value of a dimension; `q` is the p-value corrected by Benjamini and Hochberg.

    `difference`: of the newest days from what the days before predict.
    """

    dimension: str
    before: Slice
    now: Slice
    difference: Difference
    q: float

    @property
    def expected(self) -> float:
        """The rate that the days before let one expect for the newest days, 0 to 1."""
        return min(1.0, max(0.0, (self.now.share.rate or 0.0) - self.difference.estimate))

    @property
    def is_worse(self) -> bool:
        return (self.difference.estimate > 0) != self.now.rate.is_good

    @property
    def least_change(self) -> float:
        """The absolute end of the difference's interval nearer to zero; 0 when it includes zero."""
        return max(self.difference.low, -self.difference.high, 0.0)


def choose_windows(
    calls: Mapping[date, int], sessions: Mapping[date, int] | None = None
) -> AlertWindows | None:
    """Return the days to compare, given the numbers of calls and of sessions on each day.

    The newest window is 1, 7 or 30 days long, the shortest with enough calls and sessions. Return None when
    no earlier day exists.
    """
    if not calls:
        return None
    newest = max(calls)
    for length in _LENGTHS:
        start = newest - timedelta(length - 1)
        if _sum_from(start, calls) >= _CALLS and (
            sessions is None or _sum_from(start, sessions) >= _SESSIONS
        ):
            break
    back = max(_SHORTEST_BEFORE, _BEFORE * length)
    first, last = max(start - timedelta(back), min(calls)), start - timedelta(1)
    if first > last:
        return None
    several = sum(bool(number) for day, number in calls.items() if first <= day <= last)
    return AlertWindows((start, newest), (first, last), several)


def _sum_from(start: date, numbers: Mapping[date, int]) -> int:
    return sum(number for day, number in numbers.items() if day >= start)


def list_candidates(dimension: str, by_day: Iterable[Slice], windows: AlertWindows) -> list[Candidate]:
    """Return the rates to check for a change, from slices by `dimension` whose `also` is the day.

    A rate is checked when one of its directions is better, when both windows have enough observations and
    sessions of it, and when it was observed on enough of the days before.
    """
    groups: dict[tuple[str, str], tuple[dict[date, Slice], dict[date, Slice]]] = {}
    for one in by_day:
        if one.also != "unknown" and one.total and one.rate.better is not None:
            day = date.fromisoformat(one.also)
            for window, span in enumerate((windows.before, windows.now)):
                if span[0] <= day <= span[1]:
                    groups.setdefault((one.rate.name, one.name), ({}, {}))[window][day] = one
    known = [
        (earlier, newest, before, now)
        for (_, name), (earlier, newest) in groups.items()
        if sum(one.share.n > 0 for one in earlier.values()) >= LEAST_DAYS
        and (before := merge_slices(earlier.values(), name))
        and (now := merge_slices(newest.values(), name))
    ]
    befores = relate_slices([before for *_, before, _ in known])
    nows = relate_slices([now for *_, now in known])
    return [
        Candidate(dimension, before, now, earlier, newest)
        for (earlier, newest, *_), before, now in zip(known, befores, nows, strict=True)
        if before.is_solid and now.is_solid
    ]


def find_alerts(candidates: Sequence[Candidate], windows: AlertWindows) -> list[Alert]:
    """Return the alerts among the candidates: rates that became worse, then rates that became better.

    Each group is sorted by `least_change`, the largest first.
    """
    if not candidates:
        return []
    before = _count_days(
        windows.before, [one.days_before for one in candidates], [one.before for one in candidates]
    )
    now = _count_days(windows.now, [one.days_now for one in candidates], [one.now for one in candidates])
    compared = zip(candidates, compare_with_days_before(before, now), strict=True)
    known = [(one, found) for one, found in compared if found]
    corrected = benjamini_hochberg([found.p for _, found in known])
    certain = [
        Alert(one.dimension, one.before, one.now, found, q)
        for (one, found), q in zip(known, corrected, strict=True)
        if q <= FALSE
    ]
    return sorted(certain, key=lambda one: (not one.is_worse, -one.least_change, one.q, one.now.name))


def _count_days(span: Days, by_day: Sequence[Mapping[date, Slice]], wholes: Sequence[Slice]) -> DayCounts:
    days = [span[0] + timedelta(number) for number in range((span[1] - span[0]).days + 1)]
    counts = [
        [(series[day].share.k, series[day].share.n) if day in series else (0, 0) for day in days]
        for series in by_day
    ]
    effects = [whole.share.design_effect for whole in wholes]
    return count_days(counts, effects, [day.weekday() >= _SATURDAY for day in days])
