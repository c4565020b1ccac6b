"""Estimates which change of a rate the nightly tests can find, given a store's traffic."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from statistics import median

import numpy as np

from callgauge.stats.day_spread import inflate_mean
from callgauge.stats.differences import have_small_p
from callgauge.stats.intervals import Floats
from callgauge.stats.over_time.window_changes import (
    BEFORE,
    LEVEL,
    DailySeries,
    DaySpread,
)
from callgauge.stats.rates import (
    ENOUGH,
    ENOUGH_SESSIONS,
    LEAST_FREEDOM,
    OF_SESSIONS,
    EstimateArrays,
    estimate_rates,
)
from callgauge.stats.session_groups import GROUPS
from callgauge.stats.special_functions import ndtri

# computed chance to find a change of the computed size; in simulations, the change is found in 54 to 83 % of
# stores
_CHANCE = 0.8
NIGHT, WEEK = 1, 7  # numbers of days
_LEAST_DAYS = 14  # minimum number of days with calls in the newest 28 days; with fewer, traffic is unknown
_RISES = np.geomspace(0.002, 0.9, 120)  # the rises that are tried


def find_visible_changes(
    series: DailySeries, places: Sequence[int], tests: int
) -> tuple[float | None, float | None]:
    """Return the smallest rises of a rate that the tests of one night and of one week are likely to find.

    The results are medians over some series. A rise is a share: 0.06 is 6 points. A rise is None if the
    sessions are too few to show any rise. `tests` is the number of tests in a night.
    """
    sizes = [[find_visible_change(series, place, days, tests) for place in places] for days in (NIGHT, WEEK)]
    night, week = (median(size if size is not None else inf for size in row) if row else inf for row in sizes)
    return night if isfinite(night) else None, week if isfinite(week) else None


def find_visible_change(series: DailySeries, place: int, days: int, tests: int) -> float | None:
    """Return the smallest rise that is likely to be found in the first `days` days of the rise.

    Return None if no rise is likely to be found. These days are assumed to have the traffic of the newest 28
    days, and the same variation between sessions and days.
    """
    counts = series.counts[place, :, -BEFORE:].astype(float)
    k, n = counts.sum(axis=-1)
    counted_days = int((n > 0).sum())
    part = days / max(counted_days, 1)
    sessions = series.sessions[place, -BEFORE:].sum() * part
    if counted_days < _LEAST_DAYS or sessions < ENOUGH_SESSIONS or n.sum() * part < ENOUGH:
        return None
    nowhere = np.zeros(1, dtype=int)
    before = estimate_rates(counts.sum(axis=1)[None], np.full(1, inf), nowhere)
    spread = DaySpread.measure(k[None], n[None])
    rate, effective_n = float(before.rate[0]), float(before.effective_n[0])
    beyond = float((spread.seen[0] - rate * (1 - rate) / effective_n) / spread.weights[0])
    later = rate + _RISES[1 - rate > _RISES]
    unit = np.maximum(later * (1 - later), 1e-9)
    of_a_day = max(0.0, beyond) / unit
    of_sessions = 1 / effective_n + of_a_day * inflate_mean(spread.days) * spread.weights
    of_newest = 1 / (effective_n * part) + of_a_day * inflate_mean(np.full(1, float(days))) / days
    # The newest days show at least this rate with the chance `_CHANCE`.
    shown = later + ndtri(1 - _CHANCE) * np.sqrt(unit * of_newest)
    # Few sessions give few degrees of freedom, as in `estimate_rates`.
    shares = counts[1].sum(axis=0) / n.sum()
    squares = (float((shares**2).sum()) - 1 / GROUPS) / (1 - 1 / GROUPS)
    # This many sessions of equal size have as much information as the sessions of the newest days.
    evenly = part / max(squares, 1e-9)
    known_well = float(before.freedom[0])
    few = min(known_well, max(LEAST_FREEDOM, OF_SESSIONS * (evenly - 1)))
    usual = np.full(len(later), rate)
    level = LEVEL / max(tests, 1)
    newest, earlier = _repeat(shown, 1 / of_newest, few), _repeat(usual, 1 / of_sessions, known_well)
    is_found = have_small_p(newest, earlier, level) & (shown > rate)
    return float(_RISES[np.argmax(is_found)]) if is_found.any() else None


def _repeat(rate: Floats, effective_n: Floats, freedom: float) -> EstimateArrays:
    many = np.full(len(rate), freedom)
    return EstimateArrays(np.clip(rate, 0.0, 1.0), effective_n, many, many, np.zeros((len(rate), 1)))
