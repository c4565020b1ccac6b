"""Finds changes of rates: each night compares the newest days of many series with the weeks before.

A night tests four windows of each series, the newest 1, 3, 7 and 14 days, against the 28 days before the
window. All p-values of a night are corrected together (Benjamini & Hochberg 1995). A p-value compares two
rates over sessions (`compare_estimates`). Before the comparison, the variation between days that sessions do
not explain reduces the effective numbers of observations of both rates. The variation is estimated from both
spans together (the ratio estimator with days as clusters; Cochran 1977, chapter 6), with degrees of freedom
by Satterthwaite (1946).

While a change is open, its series is not tested, and the baseline remains the days before the change. The
change ends when the newest 7 days no longer differ from the baseline and are nearer to the baseline than to
the changed rate. The days of a past change are left out of windows and baselines. After 42 days, the changed
rate becomes the usual rate. docs/statistics.md has the simulated false alarms and the power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from callgauge.stats.corrections import benjamini_hochberg, holm
from callgauge.stats.day_spread import LEAST_DAYS, inflate_mean
from callgauge.stats.differences import (
    Difference,
    compare_differences,
    compare_estimates,
    find_small_p,
    have_small_p,
)
from callgauge.stats.intervals import Floats
from callgauge.stats.rates import ENOUGH, ENOUGH_SESSIONS, RateArrays, Share, estimate_rates
from callgauge.stats.session_groups import GROUPS, Integers

WINDOWS = (1, 3, 7, 14)
"""The lengths in days of the windows of newest days that a night tests."""
BEFORE = 28
"""The number of days before a window that the window is compared with."""
LEVEL = 0.02
"""The largest corrected p-value of a change. In simulations, at most 2 % of quiet nights show a change."""
STANDS = 42
"""The number of days after which a changed rate becomes the usual rate."""
EARLIER = max(WINDOWS) + BEFORE + STANDS
"""The number of days needed before the first night: a window, its baseline and a past change."""
# At least this many nights are followed. The rate of an earlier change has then become the usual rate.
_NIGHTS = STANDS + 14
_STEP = 28
LOOK_BACK = 6
"""A change may have begun up to this many days before the window that showed it."""
NEWEST = 7
"""The number of newest days that show whether a rate is back at its baseline."""
_BACK = 0.05  # from this p-value on, a rate no longer differs from its baseline
_TINY = 1e-9

_Rows = np.ndarray[Any, np.dtype[np.int64]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]


class DailySeries(msgspec.Struct, frozen=True):
    """Counts of several series on consecutive days.

    `counts` holds k and n by random group of sessions, of shape (series, 2, days, GROUPS). `sessions` is the
    number of sessions, of shape (series, days). `tables` holds a table number for each series. The rates of
    series with the same number share one estimate of the intra-session correlation.
    """

    counts: np.ndarray[Any, Any]
    sessions: Floats
    tables: Integers

    @classmethod
    def from_entries(
        cls,
        shape: tuple[int, int],
        entries: tuple[Integers, Integers, Integers, Floats, Floats],
        sessions: tuple[Integers, Integers, Floats],
        tables: Sequence[int],
    ) -> DailySeries:
        """Return the series from entries in any order.

        `shape` holds the number of series and the number of days. `entries` holds arrays of series, day,
        group, k and n. `sessions` holds arrays of series, day and number of sessions.
        """
        series, days, groups, k, n = entries
        # float32 is exact for integers up to 16 million.
        counts = np.zeros((shape[0], 2, shape[1], GROUPS), dtype=np.float32)
        counts[series, 0, days, groups], counts[series, 1, days, groups] = k, n
        numbers = np.zeros(shape)
        numbers[sessions[0], sessions[1]] = sessions[2]
        return cls(counts, numbers, np.asarray(tables, dtype=int))

    @classmethod
    def from_days(
        cls, days: int, places: Sequence[int], by_group: Floats, sessions: Sequence[int]
    ) -> DailySeries:
        """Return one series of `days` days.

        `by_group` holds k and n on the days `places`, of shape (len(places), 2, GROUPS).
        """
        counts, numbers = np.zeros((1, 2, days, GROUPS), dtype=np.float32), np.zeros((1, days))
        counts[0, :, list(places)] = by_group
        numbers[0, list(places)] = sessions
        return cls(counts, numbers, np.zeros(1, dtype=int))


class WindowChange(msgspec.Struct, frozen=True):
    """A change of one series. Days are indices into the series.

    `found` is the night that found the change, with the corrected p-value `q`. `since` is the most likely
    first day of the change. `baseline` holds the earlier days that the change is compared with. `back` is the
    first of the newest days on which the rate had returned to the baseline. `over` is the night that showed
    this return. `back` and `over` are None while the change is open.
    """

    series: int
    rose: bool
    found: int
    since: int
    q: float
    baseline: tuple[int, ...]
    back: int | None = None
    over: int | None = None

    def list_days(self, newest: int) -> list[int]:
        """Return the days of the change, until the day `newest` at the latest."""
        return list(range(self.since, newest + 1 if self.back is None else self.back))


class Walk(msgspec.Struct, frozen=True):
    """All changes that the nights found, and the numbers of compared series and tests in the newest night."""

    changes: tuple[WindowChange, ...]
    series: int
    tests: int


def choose_first_night(newest: int) -> int:
    """Return the night from which to follow changes up to the night `newest` (`date.toordinal` numbers).

    The result stays the same for four weeks, so that the first day of a change does not differ from night to
    night.
    """
    return newest - _NIGHTS - newest % _STEP


def follow_changes(series: DailySeries, first_night: int) -> Walk:
    """Return the changes that the nights from `first_night` on find, in order.

    A night has the number of its newest day.
    """
    state = _CountedDays.read(series)
    open_changes: dict[int, WindowChange] = {}
    changes: list[WindowChange] = []
    tested, tests = 0, 0
    for night in range(first_night, series.sessions.shape[1]):
        for place, change in _end_changes(state, open_changes, night):
            del open_changes[place]
            changes.append(change)
            if change.back is not None:
                state.clear(place, change.since, change.back - 1)
        test = _test_night(state, night, np.array([place not in open_changes for place in state.places]))
        tested, tests = len(set(test.series.tolist())), len(test.series)
        for change in _open_changes(state, test, night):
            open_changes[change.series] = change
    return Walk((*changes, *open_changes.values()), tested, tests)


# --- sums of days ---------------------------------------------------------------------------------


class _CountedDays(msgspec.Struct):
    """The series without the days of past changes.

    `summed` holds k and n by group, summed over the days before each day, of shape (series, 2, days + 1,
    GROUPS). `daily` holds k and n of each day, of shape (series, 2, days). `sessions` and `observed` are sums
    over the days before each day: the number of sessions, and the number of days with an observation.
    `is_clear` has the shape (series, days) and says which days are counted.
    """

    summed: Floats
    daily: Floats
    sessions: Floats
    observed: Floats
    is_clear: _Flags
    tables: Integers
    places: range = range(0)

    @classmethod
    def read(cls, series: DailySeries) -> _CountedDays:
        several, days = series.sessions.shape
        summed = np.zeros((several, 2, days + 1, GROUPS), dtype=np.float32)
        np.cumsum(series.counts, axis=2, out=summed[:, :, 1:])
        daily = series.counts.sum(axis=-1, dtype=float)
        return cls(
            summed,
            daily,
            _sum_before(series.sessions),
            _sum_before(daily[:, 1] > 0),
            np.ones((several, days), dtype=bool),
            series.tables,
            range(several),
        )

    def clear(self, place: int, first: int, last: int) -> None:
        """Leave out the days `first` to `last` of one series, both inclusive."""
        self.is_clear[place, first : last + 1] = False
        is_clear = self.is_clear[place]
        counts = np.diff(self.summed[place], axis=1) * is_clear[None, :, None]
        np.cumsum(counts, axis=1, out=self.summed[place, :, 1:])
        self.daily[place] *= is_clear
        sessions = np.diff(self.sessions[place]) * is_clear
        self.sessions[place, 1:] = np.cumsum(sessions)
        self.observed[place, 1:] = np.cumsum(self.daily[place, 1] > 0)

    def begin_baseline(self, stop: int) -> _Rows:
        """Return for each series the first of the 28 counted days before the day `stop`."""
        begin = np.full(len(self.places), max(0, stop - BEFORE))
        lacking = np.nonzero(~self.is_clear[:, :stop].all(axis=1))[0]
        for place in lacking.tolist():
            clear_days = np.nonzero(self.is_clear[place, :stop])[0]
            begin[place] = clear_days[-BEFORE:][0] if len(clear_days) else stop
        return begin

    def list_baseline(self, place: int, stop: int) -> tuple[int, ...]:
        """Return the 28 counted days before the day `stop` of one series."""
        return tuple(np.nonzero(self.is_clear[place, :stop])[0][-BEFORE:].tolist())

    def count_days(self, sums: Floats, rows: _Rows, begin: _Rows, stop: _Rows) -> Floats:
        """Return for each row the total of `sums` over the days `begin` to `stop` - 1."""
        return np.asarray(sums[rows, stop] - sums[rows, begin])


def _sum_before(values: np.ndarray[Any, Any]) -> Floats:
    """Return the sums over all days before each day, then over all days.

    The shape is (series, days + 1).
    """
    summed = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=summed[:, 1:])
    return summed


class DaySpread(msgspec.Struct, frozen=True):
    """The variation between the days of a span, for many rows.

    `seen` is the variance of the span's rate, estimated from the days of the span. `weights` is the sum of
    the squared shares of the days. `days` is the number of days with an observation.
    """

    seen: Floats
    weights: Floats
    days: Floats

    @classmethod
    def measure(cls, k: Floats, n: Floats) -> DaySpread:
        """Return the variation of days with the counts `k` and `n`, each of shape (rows, days)."""
        total = np.maximum(n.sum(-1), _TINY)
        rate = k.sum(-1) / total
        days = (n > 0).sum(-1).astype(float)
        squares = ((k - rate[:, None] * n) ** 2).sum(-1) / total**2
        free = np.where(days > 1, days / np.maximum(days - 1, 1), 0.0)
        return cls(squares * free, (n * n).sum(-1) / total**2, days)


class _Spans(msgspec.Struct, frozen=True):
    """One span of days for each of many rows: estimates of the rates over sessions, and the variation between
    days.
    """

    estimates: RateArrays
    spread: DaySpread

    @classmethod
    def measure(cls, state: _CountedDays, rows: _Rows, begin: _Rows, stop: _Rows, tables: Integers) -> _Spans:
        counts = (state.summed[rows, :, stop] - state.summed[rows, :, begin]).astype(float)
        sessions = state.count_days(state.sessions, rows, begin, stop)
        day = begin[:, None] + np.arange(int((stop - begin).max(initial=1)))
        inside = day < stop[:, None]
        day = np.where(inside, day, 0)
        k, n = (np.where(inside, state.daily[rows[:, None], part, day], 0.0) for part in (0, 1))
        return cls(estimate_rates(counts, sessions, tables), DaySpread.measure(k, n))


def _widen(now: _Spans, before: _Spans) -> tuple[RateArrays, RateArrays]:
    spans = (now, before)
    freedom = sum((np.maximum(0.0, span.spread.days - 1) for span in spans), np.zeros(1))
    beyond = np.zeros(1)
    for span in spans:
        rates, spread = span.estimates, span.spread
        sampling = rates.rate * (1 - rates.rate) / rates.effective_n
        free = np.maximum(0.0, spread.days - 1)
        beyond = beyond + free * (spread.seen - sampling) / np.maximum(spread.weights, _TINY)
    of_a_day = np.maximum(0.0, beyond / np.maximum(freedom, 1.0))
    observed = [span.estimates.n for span in spans]
    hits = sum(n * span.estimates.rate for n, span in zip(observed, spans, strict=True))
    pooled = hits / np.maximum(observed[0] + observed[1], 1.0)
    unit = np.maximum(pooled * (1 - pooled), _TINY)
    first, other = (_widen_one(span, of_a_day / unit, freedom) for span in spans)
    return first, other


def _widen_one(span: _Spans, of_a_day: Floats, freedom: Floats) -> RateArrays:
    """Return estimates to which the variance of a day is added.

    `of_a_day` is this variance divided by the variance of an observation.
    """
    rates, spread = span.estimates, span.spread
    by_sessions = 1 / rates.effective_n
    by_days = of_a_day * inflate_mean(spread.days) * spread.weights
    both = by_sessions + by_days
    joint = both**2 / (by_sessions**2 / rates.freedom + by_days**2 / np.maximum(freedom, 1.0) + 1e-300)
    return replace(rates, effective_n=1 / both, freedom=np.where(by_days > 0, joint, rates.freedom))


# --- one night ------------------------------------------------------------------------------------


class _NightTest(msgspec.Struct, frozen=True):
    """The tests of a night.

    Each test has a series, a window (in days), a p-value, and whether the rate rose.
    """

    series: _Rows
    window: _Rows
    p: Floats
    rose: _Flags


def _test_night(state: _CountedDays, night: int, may_test: _Flags) -> _NightTest:
    """Compare the newest days of each series in `may_test` with the days before, in all windows."""
    stop = night + 1
    rows, windows, begins = [], [], []
    for length in WINDOWS:
        start = stop - length
        if start <= 0:
            continue
        begin = state.begin_baseline(start)
        enough = may_test & (state.observed[:, start] - state.observed[state.places, begin] >= LEAST_DAYS)
        for first, last in ((begin, start), (np.full(len(begin), start), stop)):
            n = _count_observed(state, first, last)
            sessions = state.sessions[:, last] - state.sessions[state.places, first]
            enough &= (n >= ENOUGH) & (sessions >= ENOUGH_SESSIONS)
        chosen = np.nonzero(enough)[0]
        rows.append(chosen)
        windows.append(np.full(len(chosen), length))
        begins.append(begin[chosen])
    nothing = np.zeros(0, dtype=int)
    places, window, begin = (np.concatenate([*several, nothing]) for several in (rows, windows, begins))
    if not len(places):
        return _NightTest(places, window, np.zeros(0), np.zeros(0, dtype=bool))
    tables = np.unique(state.tables[places] * (max(WINDOWS) + 1) + window, return_inverse=True)[1]
    starts, end = stop - window, np.full(len(places), stop)
    now = _Spans.measure(state, places, starts, end, tables)
    before = _Spans.measure(state, places, begin, starts, tables)
    is_enough = now.estimates.has_enough & before.estimates.has_enough
    rates = _widen(now, before)
    p = find_small_p(*rates) if _may_have_change(*rates, is_enough) else np.ones(len(is_enough))
    rose = now.estimates.rate > before.estimates.rate
    return _NightTest(places[is_enough], window[is_enough], p[is_enough], rose[is_enough])


def _may_have_change(now: RateArrays, before: RateArrays, is_enough: _Flags) -> bool:
    """Return False when no corrected p-value of the tests in `is_enough` can be at most `LEVEL`.

    The correction rejects a number of tests whose p-values are at most this number's share of `LEVEL`. The
    share is rounded up to a power of two, because each new level takes time.
    """
    tests = several = int(is_enough.sum())
    while several:
        level = LEVEL / 2 ** int(np.log2(tests / several))
        small = int((have_small_p(now, before, level) & is_enough).sum())
        if small == several:
            return True
        several = small
    return False


def _count_observed(state: _CountedDays, first: _Rows, last: int) -> Floats:
    sums = state.summed[:, 1, last].sum(axis=-1) - state.summed[state.places, 1, first].sum(axis=-1)
    return np.asarray(sums, dtype=float)


def _open_changes(state: _CountedDays, test: _NightTest, night: int) -> Iterator[WindowChange]:
    if not (test.p <= LEVEL).any():
        return
    q = np.array(benjamini_hochberg(test.p.tolist()))
    for place in sorted(set(test.series[q <= LEVEL].tolist())):
        own = np.nonzero(test.series == place)[0]
        best = own[np.argmin(test.p[own])]
        rose = bool(test.rose[best])
        since = _find_first_day(state, place, night + 1 - int(test.window[best]), night, rose=rose)
        yield WindowChange(place, rose, night, since, float(q[best]), state.list_baseline(place, since))


def _find_first_day(state: _CountedDays, place: int, start: int, night: int, *, rose: bool) -> int:
    """Return the most likely first day of a change that the days `start` to `night` show.

    From this day on, the counts differ most from the rate of the 28 days before, by the likelihood ratio of a
    binomial rate. The day may be up to six days before the window.
    """
    earliest = max(start - LOOK_BACK, 0)
    before = list(state.list_baseline(place, earliest)) or [*range(start)]
    k, n = state.daily[place]
    usual = (k[before].sum() + 0.5) / (n[before].sum() + 1)
    hits, totals = (np.cumsum(each[earliest : night + 1][::-1])[::-1] for each in (k, n))
    rate = np.clip(hits / np.maximum(totals, 1.0), _TINY, 1 - _TINY)
    gain = hits * np.log(rate / usual) + (totals - hits) * np.log((1 - rate) / (1 - usual))
    likely = np.where((rate > usual) == rose, gain, -np.inf)
    likely[n[earliest : night + 1] == 0] = -np.inf
    return earliest + int(np.argmax(likely))


def _end_changes(
    state: _CountedDays, open_changes: dict[int, WindowChange], night: int
) -> list[tuple[int, WindowChange]]:
    """Return the changes that end on a night, because the rate has returned or has become the usual rate."""
    ended = [(place, change) for place, change in open_changes.items() if night - change.since >= STANDS]
    usual = {place for place, _ in ended}
    later = [change for place, change in open_changes.items() if place not in usual and night > change.found]
    starts = np.array([max(change.since, night + 1 - NEWEST) for change in later], dtype=int)
    rows = np.array([change.series for change in later], dtype=int)
    sinces = np.array([change.since for change in later], dtype=int)
    stop = np.full(len(later), night + 1)
    if not later:
        return ended
    n = _count_rows(state, rows, starts, stop)
    judged = np.nonzero(n[1] >= ENOUGH)[0]
    if not len(judged):
        return ended
    rows, starts, sinces, stop = rows[judged], starts[judged], sinces[judged], stop[judged]
    later = [later[place] for place in judged.tolist()]
    begin = np.array([change.baseline[0] for change in later])
    ends = np.array([change.found + 1 for change in later])
    alone = np.arange(len(later))  # each rate is its own table, so no estimates are shared
    now = _Spans.measure(state, rows, starts, stop, alone).estimates
    before = _Spans.measure(state, rows, begin, sinces, alone).estimates
    hits, totals = _count_rows(state, rows, sinces, ends)
    changed = hits / np.maximum(totals, 1.0)
    is_back = (find_small_p(now, before, _BACK) >= _BACK) & (
        np.abs(now.rate - before.rate) < np.abs(now.rate - changed)
    )
    for change, start, back in zip(later, starts.tolist(), is_back.tolist(), strict=True):
        if back:
            ended.append((change.series, replace(change, back=max(start, change.since + 1), over=night)))
    return ended


def _count_rows(state: _CountedDays, rows: _Rows, begin: _Rows, stop: _Rows) -> Floats:
    """Return k and n on the days `begin` to `stop` - 1 of some series, of shape (2, rows)."""
    sums = state.summed[rows, :, stop] - state.summed[rows, :, begin]
    return np.asarray(sums.sum(axis=-1, dtype=float).T)


# --- one change: how large it is, and where -------------------------------------------------------


class MeasuredChange(msgspec.Struct, frozen=True):
    """The rates on the days of a change and before it, and their difference.

    The difference includes the variation between days. The difference is None where either rate has too few
    sessions.
    """

    now: Share
    before: Share
    difference: Difference | None

    @property
    def p(self) -> float:
        return self.difference.p if self.difference else 1.0


def sum_entries(days: int, entries: tuple[Integers, Integers, Floats, Floats]) -> Floats:
    """Return the counts of one series, of shape (2, days, GROUPS).

    `entries` holds arrays of day, group, k, n.
    """
    day, group, k, n = entries
    counts = np.zeros((2, days, GROUPS))
    counts[0, day, group], counts[1, day, group] = k, n
    return counts


def measure_change(counts: Floats, before: Sequence[int], now: Sequence[int]) -> MeasuredChange:
    """Compare two sets of days of one series. `counts` holds k and n, of shape (2, days, GROUPS)."""
    spans = [np.asarray(counts[:, list(days)], dtype=float) for days in (now, before)]
    shares = [Share.from_groups(*span.sum(axis=1)) for span in spans]
    if not all(share.has_enough_to_compare for share in shares):
        return MeasuredChange(shares[0], shares[1], None)
    measured = [
        _Spans(
            estimate_rates(span.sum(axis=1)[None], np.full(1, np.inf), np.zeros(1, dtype=int)),
            DaySpread.measure(*span.sum(axis=-1)[:, None]),
        )
        for span in spans
    ]
    first_span, other = _widen(measured[0], measured[1])
    difference = compare_estimates([(first_span.make_estimate(0), other.make_estimate(0))])[0]
    return MeasuredChange(shares[0], shares[1], difference)


def locate_change(
    whole: Floats, parts: Sequence[Floats], before: Sequence[int], now: Sequence[int]
) -> tuple[int, bool] | None:
    """Return the part of a series (such as one model) that changed, and whether the rest of the series did
    not change.

    Return None if no part differs from the rest. `whole` and each part hold k and n, of shape (2, days,
    GROUPS). Holm's correction (1979) covers all parts, which may be values of several dimensions.
    """
    rose = measure_change(whole, before, now).difference
    measured_places, quads = [], []
    for place, part in enumerate(parts):
        shares = [
            Share.from_groups(*counts[:, list(days)].sum(axis=1))
            for counts in (part, whole - part)
            for days in (now, before)
        ]
        estimates = [share.estimate for share in shares if share.has_enough_to_compare]
        if len(estimates) == 4:
            part_now, part_before, rest_now, rest_before = estimates
            if part_now and part_before and rest_now and rest_before:
                measured_places.append(place)
                quads.append(((part_now, part_before), (rest_now, rest_before)))
    if not quads or rose is None:
        return None
    differences = compare_differences(quads)
    p = holm([difference.p for difference in differences])
    same_way = [
        (p[number], place)
        for number, place in enumerate(measured_places)
        if p[number] < _BACK and (differences[number].estimate > 0) == (rose.estimate > 0)
    ]
    if not same_way:
        return None
    place = min(same_way)[1]
    rest = measure_change(whole - parts[place], before, now)
    return place, rest.p >= _BACK
