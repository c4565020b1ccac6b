"""Follows changes of daily rates: on which night each was found, since when, and whether it is still there.

Every night, the newest days of all series are compared with the days before (`day_effects`), and the
p-values of the series without an open change go through Benjamini & Hochberg (1995). A change that is found
is from then on compared with the days before it began: they stay the same, however long it lasts. Each later
day makes "still changed" or "back" the likelier; the change is over when "back" has gained odds of 100 to 1
since some day (the cumulative sum of Page 1954, over log likelihood ratios of normal deviations on the
arcsine scale). When "twice as far off" has, the change has become worse. The days of a change that is over
are left out of what later nights are compared with.

All of it follows from the counts of the days up to a night: a later night never changes what an earlier one
found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from math import inf, log
from typing import Any

import numpy as np

from callgauge.stats.corrections import benjamini_hochberg
from callgauge.stats.over_time.day_effects import LEAST_DAYS, DayCounts, find_unlike_days, measure_deviations
from callgauge.stats.rates import ENOUGH, ENOUGH_SESSIONS, Share, judge_rates

FALSE = 0.05
"""The share of false ones among the changes of a night, on average."""
_SURE = log(100)  # the log odds at which a change is over, or has become worse; chosen by simulation
LOOK_BACK = 6
"""Days before the window that showed a change, on which it may have begun."""
_MEASURED_ENOUGH = 0.2  # of a window, for a rate to be judged
_SATURDAY = 5
_CAUTION = 2.0  # standard errors by which a change may be more than it showed, before it is called worse
_TINY = 1e-9
_Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class DailySeries:
    """Counts of several series on the days with calls, the oldest first.

    `counts`: k and n by random group of sessions, of shape (series, 2, days, GROUPS). `sessions`, `totals`:
    of shape (series, days); a total counts what could not be measured, too. `tables`: for each series the
    number of its table, whose rates lend each other how alike the calls of a session are.
    """

    days: Sequence[date]
    counts: _Array
    sessions: _Array
    totals: _Array
    tables: _Array
    sums: _Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", self.counts.sum(axis=-1, dtype=float))

    @classmethod
    def from_rows(
        cls,
        calendar: Sequence[date],
        names: Sequence[Hashable],
        days: Sequence[date],
        sessions: Sequence[int],
        totals: Sequence[int],
        by_group: _Array,
        table_of: Callable[[Any], Hashable],
    ) -> tuple[list[Any], DailySeries]:
        """Return the names of the series and their counts, given a row for each series and day.

        `calendar`: the days that count, the oldest first; each row is of one of them. `by_group`: k and n of
        each row, of shape (rows, 2, GROUPS). `table_of`: the table of a series' name.
        """
        known = list(dict.fromkeys(names))
        place = {name: number for number, name in enumerate(known)}
        column = {day: number for number, day in enumerate(calendar)}
        tables = {table: number for number, table in enumerate(dict.fromkeys(map(table_of, known)))}
        its = np.array([place[name] for name in names], dtype=int)
        when = np.array([column[day] for day in days], dtype=int)
        shape = len(known), 2, len(calendar), by_group.shape[-1]
        counts = np.zeros(shape, dtype=np.float32)  # whole up to 16 million in a group and day
        counts[its, :, when] = by_group
        numbers = np.zeros((2, len(known), len(calendar)))
        numbers[0, its, when], numbers[1, its, when] = sessions, totals
        of_table = np.array([tables[table_of(name)] for name in known], dtype=int)
        return known, cls(calendar, counts, numbers[0], numbers[1], of_table)

    def take(self, chosen: _Array) -> DailySeries:
        """Return a copy of some of the series."""
        return DailySeries(
            self.days, self.counts[chosen], self.sessions[chosen], self.totals[chosen], self.tables[chosen]
        )

    def clear(self, series: int, first: int, last: int) -> None:
        """Forget what was observed of one series on the days `first` to `last`, inclusive."""
        days = slice(first, last + 1)
        self.counts[series, :, days] = self.sums[series, :, days] = 0
        self.sessions[series, days] = self.totals[series, days] = 0

    def count_days(self, series: int, places: Sequence[int], effect: float) -> DayCounts:
        """Return the counts of one series on some days, given the design effect of its rate."""
        k, n = self.sums[series][:, list(places)]
        weekend = np.array([self.days[place].weekday() >= _SATURDAY for place in places], dtype=bool)
        return DayCounts(k[None], n[None], np.array([[effect]]), weekend)

    def sum_days(self, series: int, places: Sequence[int]) -> Share:
        """Return the share of one series on some days together."""
        chosen = list(places)
        k, n = self.counts[series][:, chosen].sum(axis=1, dtype=float)
        return Share.from_groups(k, n, int(self.sessions[series, chosen].sum()))


@dataclass(frozen=True, slots=True)
class Night:
    """What a night compares: the days `start` to `stop` - 1 with those from `first`, as places in the days.

    `is_single`: the newest days are one calendar day.
    """

    first: int
    start: int
    stop: int
    is_single: bool


@dataclass(frozen=True, slots=True)
class LastingChange:
    """A change of one series; days are places in the days of the series.

    `found`: the night that found it, `q` its corrected p-value then; `began`: its most likely first day,
    which is not after that. `reference`: the days before that it is compared with. `effects`: the design
    effects of the reference and of the days that showed it. `worse_since`: the first day on which it was
    twice as far off.
    `back`: the first day on which the rate was back; `over`: the night that knew. None while it is not.
    """

    series: int
    rose: bool
    found: int
    began: int
    q: float
    reference: tuple[int, ...]
    effects: tuple[float, float]
    worse_since: int | None = None
    back: int | None = None
    over: int | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """All changes that the nights found, by night, and how many series the newest night compared."""

    changes: tuple[LastingChange, ...]
    compared: int


@dataclass(slots=True)
class _Tests:
    """What each night says of each series: arrays of shape (nights, series)."""

    compared: _Array
    p: _Array
    rose: _Array
    effect_before: _Array
    effect_now: _Array

    @classmethod
    def of_nothing(cls, nights: int, series: int) -> _Tests:
        shape = (nights, series)
        no, one = np.zeros(shape, dtype=bool), np.ones(shape)
        return cls(no, one, no.copy(), one.copy(), one.copy())

    def replace(self, nights: slice, series: _Array, by: _Tests, of: _Array) -> None:
        """Take what others say of some series: of the series `of` there."""
        for each in fields(self):
            getattr(self, each.name)[nights, series] = getattr(by, each.name)[:, of]


def follow_changes(series: DailySeries, nights: Sequence[Night]) -> Following:
    """Return the changes that the nights find one after the other, and what became of them."""
    several = len(series.counts)
    left = series.take(np.arange(several))  # without the days of changes that are over
    tests = _test_nights(left, nights)
    busy_to = np.full(several, -1)  # the last day on which a change of the series was open
    cleared = np.zeros(several, dtype=int)  # days
    found: list[LastingChange] = []
    for number, night in enumerate(nights):
        places = np.nonzero(tests.compared[number] & (busy_to < night.stop - 1))[0]
        p = tests.p[number, places]
        if not (p <= FALSE).any():
            continue
        for place, q in zip(places.tolist(), benjamini_hochberg(p.tolist()), strict=True):
            if q > FALSE:
                continue
            effects = float(tests.effect_before[number, place]), float(tests.effect_now[number, place])
            longer = replace(night, first=max(0, night.first - int(cleared[place])))
            change = _follow(left, _begin(left, longer, place, bool(tests.rose[number, place]), q, effects))
            found.append(change)
            busy_to[place] = len(series.days) if change.over is None else change.over
            if change.back is not None:
                left.clear(place, change.began, change.back - 1)
                cleared[place] += change.back - change.began
                _test_again(left, nights, number + 1, place, int(cleared[place]), tests)
    compared = int(tests.compared[-1].sum()) if nights else 0
    return Following(tuple(found), compared)


def _test_nights(series: DailySeries, nights: Sequence[Night]) -> _Tests:
    """Compare the newest days of every series with the days before, on all nights.

    A table at a time: all at once, thousands of series would take gigabytes.
    """
    tests = _Tests.of_nothing(len(nights), len(series.counts))
    for table in np.unique(series.tables):
        its = np.nonzero(series.tables == table)[0]
        found = _test_table(series.take(its), nights)
        tests.replace(slice(None), its, found, np.arange(len(its)))
    return tests


def _test_table(series: DailySeries, nights: Sequence[Night]) -> _Tests:
    """Compare the newest days of the series of one table with the days before, on all nights at once."""
    tests = _Tests.of_nothing(len(nights), len(series.counts))
    if not nights:
        return tests
    first, start, stop = (
        np.array([getattr(night, name) for night in nights]) for name in ("first", "start", "stop")
    )
    observed, totals = _cumulate(series.sums[:, 1] > 0), _cumulate(series.totals)
    n, sessions = _cumulate(series.sums[:, 1]), _cumulate(series.sessions)
    known = observed[:, start] - observed[:, first] >= LEAST_DAYS
    for begin, last in ((first, start), (start, stop)):
        its, of_all = n[:, last] - n[:, begin], totals[:, last] - totals[:, begin]
        known &= (its >= ENOUGH) & (its >= _MEASURED_ENOUGH * of_all)
        known &= sessions[:, last] - sessions[:, begin] >= ENOUGH_SESSIONS
    place, night = np.nonzero(known)
    if not len(place):
        return tests
    counts = _cumulate(series.counts.swapaxes(1, 2))
    of_night = np.unique(night, return_inverse=True)[1]
    (enough_before, effect_before), (enough_now, effect_now) = (
        judge_rates(
            counts[place, last[night]] - counts[place, begin[night]],
            sessions[place, last[night]] - sessions[place, begin[night]],
            of_night,
        )
        for begin, last in ((first, start), (start, stop))
    )
    enough = enough_before & enough_now
    singles = np.array([one.is_single for one in nights])[night]
    for rows in (np.nonzero(enough & singles)[0], np.nonzero(enough & ~singles)[0]):
        if len(rows):
            its, when = place[rows], night[rows]
            before = _gather_days(series, its, first[when], start[when], effect_before[rows], 1)
            now = _gather_days(
                series, its, start[when], stop[when], effect_now[rows], 1 if singles[rows[0]] else 2
            )
            tests.p[when, its], tests.rose[when, its] = find_unlike_days(before, now)
    tests.compared[night[enough], place[enough]] = True
    tests.effect_before[night, place], tests.effect_now[night, place] = effect_before, effect_now
    return tests


def _cumulate(values: _Array) -> _Array:
    """Return the sums over all days before each, the second axis, with a last one over all days."""
    summed = np.zeros((values.shape[0], values.shape[1] + 1, *values.shape[2:]))
    np.cumsum(values, axis=1, dtype=float, out=summed[:, 1:])
    return summed


def _gather_days(
    series: DailySeries, its: _Array, begin: _Array, stop: _Array, effects: _Array, least: int
) -> DayCounts:
    """Return the counts of each row's series on its own span of days, as wide as the longest."""
    width = max(least, int((stop - begin).max()))
    place = stop[:, None] - 1 - np.arange(width)
    inside = place >= begin[:, None]
    place = np.where(inside, place, 0)
    k, n = (np.where(inside, series.sums[its[:, None], part, place], 0.0) for part in (0, 1))
    weekend = np.array([day.weekday() >= _SATURDAY for day in series.days])
    # The newest day comes last: it says what kind of day is compared.
    return DayCounts(k[:, ::-1], n[:, ::-1], effects[:, None], weekend[place][:, ::-1])


def _test_again(
    left: DailySeries, nights: Sequence[Night], number: int, place: int, cleared: int, tests: _Tests
) -> None:
    """Test one series anew on the nights from `number`: as many days longer before as were cleared of it."""
    table = np.nonzero(left.tables == left.tables[place])[0]
    later = [replace(night, first=max(0, night.first - cleared)) for night in nights[number:]]
    again = _test_table(left.take(table), later)
    tests.replace(slice(number, None), np.array([place]), again, np.nonzero(table == place)[0])


def _begin(
    series: DailySeries, night: Night, place: int, rose: bool, q: float, effects: tuple[float, float]
) -> LastingChange:
    """Return the change with its most likely first day, given the rates before it and now."""
    observed = np.nonzero(series.sums[place, 1, night.first : night.stop])[0] + night.first
    # Enough days stay before it.
    earliest = max(night.start - LOOK_BACK, int(observed[LEAST_DAYS]))
    days = observed[observed >= earliest]
    deviations, variances = measure_deviations(
        series.count_days(place, observed[observed < night.start].tolist(), effects[0]),
        series.count_days(place, days.tolist(), effects[1]),
    )
    now = days >= night.start
    weights = 1 / variances[0]
    change = float((deviations[0] * weights)[now].sum() / weights[now].sum())
    likelier = (deviations[0] ** 2 - (deviations[0] - change) ** 2) * weights
    began = int(days[::-1][np.argmax(np.cumsum(likelier[::-1]))])
    reference = tuple(int(day) for day in observed if day < began)
    return LastingChange(place, rose, night.stop - 1, began, q, reference, effects)


def _follow(series: DailySeries, change: LastingChange) -> LastingChange:
    """Return the change with what became of it on the days after the night that found it."""
    places = range(change.began, len(series.days))
    before, now = change.effects
    deviations, variances = measure_deviations(
        series.count_days(change.series, change.reference, before),
        series.count_days(change.series, places, now),
    )
    side = 1 if change.rose else -1
    weight = deviation_sum = 0.0
    odds_back = odds_worse = 0.0
    back = worse = 0
    worse_since = None
    for place, deviation, variance in zip(
        places, (side * deviations[0]).tolist(), variances[0].tolist(), strict=True
    ):
        if variance == inf:
            continue
        if place > change.found:
            usual = max(deviation_sum / weight, _TINY)
            step = ((deviation - usual) ** 2 - deviation**2) / (2 * variance)
            back = back if odds_back > 0 else place
            odds_back = max(0.0, odds_back + step)
            if odds_back >= _SURE:
                return replace(change, worse_since=worse_since, back=back, over=place)
            usual += _CAUTION / weight**0.5  # what is not sure yet is not taken for worse
            step = ((deviation - usual) ** 2 - (deviation - 2 * usual) ** 2) / (2 * variance)
            worse = worse if odds_worse > 0 else place
            odds_worse = max(0.0, odds_worse + step)
            if odds_worse >= _SURE:
                worse_since, odds_worse, weight, deviation_sum = worse, 0.0, 0.0, 0.0
        weight += 1 / variance
        deviation_sum += deviation / variance
    return replace(change, worse_since=worse_since)
