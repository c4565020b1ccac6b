"""Finds the rates of models, prompts and tools that changed, since when, and which of them are back."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import pandas as pd

from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.stats import Difference, Share, place_in_groups
from callgauge.stats.over_time.day_effects import LEAST_DAYS, compare_with_days_before
from callgauge.stats.over_time.lasting_changes import (
    LOOK_BACK,
    DailySeries,
    LastingChange,
    Night,
    follow_changes,
)

# The newest day stands alone where it has as many calls and sessions; else the newest week, else 30 days.
_CALLS = 100
_SESSIONS = 30  # three slices of which each may be judged
_LENGTHS = (1, 7, 30)
_SHORTEST_BEFORE = 28
_BEFORE = 4  # times as long
STANDS = 42
"""Days that an alert stands at most; after six weeks the new rate is the usual one."""
_WARM_UP = 14  # days walked before these, so that what began earlier is not taken for new
SHOWN_AFTER = 7
"""Days on which an alert is shown that is over."""
_ECHOED = 0.8  # of the hits of an alert, which larger ones must have as well
MOST_DAYS = STANDS + _WARM_UP + _LENGTHS[-1] * (1 + _BEFORE)
"""Days before the newest one that can matter."""

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
class Alert:
    """A changed rate of one value of a dimension.

    `since`: its first day; `worse_since`: the day from which it was twice as far off; `back`: the first day
    on which it was back, and `over` the night that showed it. `now`: the rate from its first day (or from
    `worse_since`) on, while it lasts; `before`: that of the baseline, the days before it began. `difference`:
    of `now` from what the baseline predicts. `q`: the p-value of the night that found it, corrected by
    Benjamini and Hochberg. `days`, `baseline`: both spans of days.
    """

    dimension: str
    name: str
    rate: RateDefinition
    since: date
    worse_since: date | None
    back: date | None
    over: date | None
    before: Share
    now: Share
    difference: Difference
    q: float
    days: Days
    baseline: Days

    @property
    def key(self) -> str:
        """The name of the alert in the team's memory; one that begins anew, or grows worse, has another."""
        began = self.worse_since or self.since
        return json.dumps(["rate", self.dimension, self.name, self.rate.name, began.isoformat()])

    @property
    def is_open(self) -> bool:
        return self.over is None

    @property
    def rose(self) -> bool:
        return self.difference.estimate > 0

    @property
    def is_worse(self) -> bool:
        return self.rose != self.rate.is_good

    @property
    def expected(self) -> float:
        """The rate that the baseline lets one expect, 0 to 1."""
        return min(1.0, max(0.0, (self.now.rate or 0.0) - self.difference.estimate))

    @property
    def excess(self) -> float:
        """By how many hits there are more, or fewer, than the baseline lets one expect."""
        return abs(self.difference.estimate) * self.now.n

    @property
    def least_change(self) -> float:
        """The absolute end of the difference's interval nearer to zero; 0 when it includes zero."""
        return max(self.difference.low, -self.difference.high, 0.0)


@dataclass(frozen=True, slots=True)
class NewError:
    """An error that was first seen on `first_day`, and in how many calls since; `text` is log text."""

    signature_id: str
    fault_layer: str
    text: str
    first_day: date
    calls: int
    sessions: int

    @property
    def key(self) -> str:
        """The name of the alert in the team's memory."""
        return json.dumps(["error", self.signature_id, self.first_day.isoformat()])


@dataclass(frozen=True, slots=True)
class AlertReport:
    """The alerts of the newest night, the worst first, and how many rates that night compared."""

    alerts: tuple[Alert, ...]
    compared: int


def choose_windows(
    calls: Mapping[date, int], sessions: Mapping[date, int] | None = None
) -> AlertWindows | None:
    """Return the days to compare, given the numbers of calls and of sessions on each day.

    The newest window is 1, 7 or 30 days long, the shortest with enough calls and sessions. Return None when
    no earlier day exists.
    """
    if not calls:
        return None
    start, newest = choose_newest_days(calls, sessions)
    back = max(_SHORTEST_BEFORE, _BEFORE * ((newest - start).days + 1))
    first, last = max(start - timedelta(back), min(calls)), start - timedelta(1)
    if first > last:
        return None
    several = sum(bool(number) for day, number in calls.items() if first <= day <= last)
    return AlertWindows((start, newest), (first, last), several)


def choose_newest_days(calls: Mapping[date, int], sessions: Mapping[date, int] | None = None) -> Days:
    """Return the newest 1, 7 or 30 days: the shortest span with enough calls and sessions, or the longest."""
    newest = max(calls)
    for length in _LENGTHS:
        start = newest - timedelta(length - 1)
        if _sum_from(start, calls) >= _CALLS and (
            sessions is None or _sum_from(start, sessions) >= _SESSIONS
        ):
            break
    return start, newest


def _sum_from(start: date, numbers: Mapping[date, int]) -> int:
    return sum(number for day, number in numbers.items() if day >= start)


def list_nights(
    days: Sequence[date], calls: Mapping[date, int], sessions: Mapping[date, int] | None, *, since: date
) -> list[Night]:
    """Return what each night from `since` on compares; `days`: those with calls, the oldest first."""
    nights = []
    for stop in range(bisect_left(days, since) + 1, len(days) + 1):
        known = days[bisect_left(days, days[stop - 1] - timedelta(MOST_DAYS)) : stop]
        windows = choose_windows(
            {day: calls[day] for day in known}, sessions and {day: sessions[day] for day in known}
        )
        if windows and windows.is_long_enough:
            first, start = (bisect_left(days, span[0]) for span in (windows.before, windows.now))
            nights.append(Night(first, start, stop, windows.now[0] == windows.now[1]))
    return nights


def leave_out_unused_days(
    days: Sequence[date], nights: Sequence[Night]
) -> tuple[Sequence[date], list[Night]]:
    """Return the days without the oldest ones, which no night looks at, and the nights as places in them."""
    if not nights:
        return days, []
    first = min(night.first for night in nights)
    # A night looks farther back by as many days as changes took that are over: they are days of these nights.
    unused = max(0, first - (len(days) - (nights[0].start - LOOK_BACK)))
    return days[unused:], [
        replace(night, first=night.first - unused, start=night.start - unused, stop=night.stop - unused)
        for night in nights
    ]


def first_night(newest: date) -> date:
    """Return the first night to walk, given the newest day."""
    return newest - timedelta(STANDS + _WARM_UP - 1)


def find_alerts(
    by_day: Mapping[str, pd.DataFrame], days: Sequence[date], nights: Sequence[Night]
) -> AlertReport:
    """Return the alerts that stand on the last of the `days`, and those that are over since a week.

    `by_day`: for each dimension the rows of the metric `slices` by it and by day. `days`: those with calls,
    the oldest first; `nights`: what each of them compares. What the logs do not name is left out: it is many
    things, and nobody could mend it.
    """
    known = {day.isoformat(): day for day in days}
    rows = pd.concat([its.assign(dimension=dimension) for dimension, its in by_day.items()])
    rows = rows[rows["also"].isin(known) & (rows["total"] > 0) & (rows["slice"] != "unknown")]
    if rows.empty:
        return AlertReport((), 0)
    names, series = DailySeries.from_rows(
        days,
        list(zip(rows["dimension"], rows["rate"], rows["slice"], strict=True)),
        [known[day] for day in rows["also"]],
        rows["sessions"].tolist(),
        rows["total"].tolist(),
        place_in_groups(rows["group_ids"], rows["group_k"], rows["group_n"]),
        lambda name: name[:2],
    )
    found = follow_changes(series, nights)
    alerts = [
        _describe_alert(series, change, *names[change.series])
        for change in found.changes
        if _is_shown(series, change)
    ]
    return AlertReport(tuple(sorted(alerts, key=_order)), found.compared)


def _order(one: Alert) -> tuple[object, ...]:
    """Return what alerts are sorted by: what is worse and open first, then the largest certain change."""
    return not one.is_worse, not one.is_open, -one.least_change, one.q, one.rate.name, one.name


def find_echoes(alerts: Sequence[Alert]) -> frozenset[str]:
    """Return the keys of alerts that may be another one, seen by another dimension.

    A model that fails more makes the prompts and tools that it uses look worse, each a little: the largest
    change leads. An alert echoes larger ones of the same rate, by one other dimension and on some of the same
    days, which have four fifths as many hits too many. It need not be the same calls.
    """
    leading: list[Alert] = []
    echoes = set()
    for one in sorted(alerts, key=lambda one: -one.least_change):
        told: dict[str, float] = {}
        for other in leading:
            is_same = other.rate.name == one.rate.name and other.is_worse == one.is_worse
            if is_same and other.dimension != one.dimension and _overlap(other.days, one.days):
                told[other.dimension] = told.get(other.dimension, 0.0) + other.excess
        if max(told.values(), default=0.0) >= _ECHOED * one.excess:
            echoes.add(one.key)
        else:
            leading.append(one)
    return frozenset(echoes)


def _overlap(one: Days, other: Days) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _is_shown(series: DailySeries, change: LastingChange) -> bool:
    newest = series.days[-1]
    if series.days[change.began] <= newest - timedelta(STANDS):
        return False
    return change.over is None or series.days[change.over] > newest - timedelta(SHOWN_AFTER)


def _describe_alert(
    series: DailySeries, change: LastingChange, dimension: str, rate: str, name: str
) -> Alert:
    first = change.began if change.worse_since is None else change.worse_since
    places = range(first, len(series.days) if change.back is None else change.back)
    difference = compare_with_days_before(
        series.count_days(change.series, change.reference, change.effects[0]),
        series.count_days(change.series, places, change.effects[1]),
    )[0]
    if difference is None:
        raise ValueError("a change has observations, and enough days before it")
    days = [series.days[place] for place in (places[0], places[-1])]
    return Alert(
        dimension,
        name,
        RATES[rate],
        series.days[change.began],
        None if change.worse_since is None else series.days[change.worse_since],
        None if change.back is None else series.days[change.back],
        None if change.over is None else series.days[change.over],
        series.sum_days(change.series, change.reference),
        series.sum_days(change.series, places),
        difference,
        change.q,
        (days[0], days[1]),
        (series.days[change.reference[0]], series.days[change.reference[-1]]),
    )
