"""Finds the rates that changed in the newest days by more than chance explains, the worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from callgauge.dashboard.measures.slices import Slice
from callgauge.stats import ENOUGH, Difference, benjamini_hochberg, compare_rates

FALSE = 0.05  # the share of false ones among the alerts
_CALLS = 100  # the newest day stands alone where it has as many calls; else the newest week, else 30 days
_LENGTHS = (1, 7, 30)
_SHORTEST_BEFORE = 28
_BEFORE = 4  # times as long

Days = tuple[date, date]


@dataclass(frozen=True, slots=True)
class AlertWindows:
    """Two spans of days: the newest days and the earlier days to compare with, both ends inclusive."""

    now: Days
    before: Days


@dataclass(frozen=True, slots=True)
class Alert:
    """A changed rate of one value of a dimension; `q` is the p-value corrected by Benjamini and Hochberg."""

    dimension: str
    before: Slice
    now: Slice
    difference: Difference
    q: float

    @property
    def is_worse(self) -> bool:
        return (self.difference.estimate > 0) != self.now.rate.is_good

    @property
    def least_change(self) -> float:
        """The absolute end of the difference's interval nearer to zero; 0 when it includes zero."""
        return max(self.difference.low, -self.difference.high, 0.0)


def choose_windows(calls: Mapping[date, int]) -> AlertWindows | None:
    """Return the days to compare, given the number of calls on each day.

    The newest window is 1, 7 or 30 days long, the shortest with enough calls. Return None when no earlier day
    exists.
    """
    if not calls:
        return None
    newest = max(calls)
    for length in _LENGTHS:
        start = newest - timedelta(length - 1)
        if sum(number for day, number in calls.items() if day >= start) >= _CALLS:
            break
    back = max(_SHORTEST_BEFORE, _BEFORE * length)
    before = (max(start - timedelta(back), min(calls)), start - timedelta(1))
    return AlertWindows((start, newest), before) if before[0] <= before[1] else None


def list_candidates(
    dimension: str, now: Sequence[Slice], before: Sequence[Slice]
) -> list[tuple[str, Slice, Slice]]:
    """Return (dimension, slice now, slice before) for each rate to check for a change.

    A rate is checked when one of its directions is better and both windows have enough observations of it.
    """
    then = {(one.rate.name, one.name): one for one in before}
    return [
        (dimension, one, other)
        for one in now
        if one.share.n >= ENOUGH
        and one.rate.better is not None
        and one.is_rankable
        and (other := then.get((one.rate.name, one.name)))
        and other.share.n >= ENOUGH
        and other.is_rankable
    ]


def find_alerts(compared: Sequence[tuple[str, Slice, Slice]]) -> list[Alert]:
    """Return the alerts among the compared slices: rates that became worse, then rates that became better.

    Each group is sorted by `least_change`, the largest first.
    """
    known = [
        (dimension, now, before, found)
        for dimension, now, before in compared
        if (found := compare_rates(now.share, before.share))
    ]
    corrected = benjamini_hochberg([found.p for *_, found in known])
    certain = [
        Alert(dimension, before, now, change, q)
        for (dimension, now, before, change), q in zip(known, corrected, strict=True)
        if q <= FALSE and change.estimate
    ]
    return sorted(certain, key=lambda one: (not one.is_worse, -one.least_change, one.q, one.now.name))
