"""Finds the days (or versions) at which a rate changed, and for each change the range of days on which it may
have begun.

Binary segmentation proposes the changes. It finds the split that explains the counts best, and then splits
both halves (Vostrikova 1981). A split is proposed when at most 1 % of random orders of the days have an
equally good split (a permutation test; Matteson & James 2014).

Neighbouring days may be correlated, and shuffling removes this correlation. So the autocorrelation of the
days between the proposed changes is estimated and added to the shuffled days (a sieve bootstrap; Bühlmann
1997). A proposed change is kept when at most 1 % of these series have an equally clear split.

The range of a change is found by test inversion. The range contains every day for which the hypothesis "the
change is on this day" is not rejected at 5 %. The distribution of the statistic under this hypothesis comes
from shuffling the days on each side of that day. Only shuffled series in which a change is found are counted,
because a range is shown only for a found change.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

SHUFFLES = 499
LEVEL = 0.01  # the significance level of each test
MOST_FALSE = 0.04
"""The largest chance of a false change in a series without a change, if the days correlate by at most 0.6.

In simulations, the chance is 1 % or less for independent days and 1–3 % at a correlation of 0.6. It is 4 %
at 0.6 if days have so many calls that the calls add no noise.
"""
SHORTEST = 2  # minimum number of days on each side of a change
_OUTSIDE = 0.05  # the chance that the range does not contain the day of the change
_RANGE_SHUFFLES = 199  # number of shuffles for each day whose critical value is simulated
_ENOUGH_FOUND = 8  # with fewer detected changes in shuffled series, all series count
_STEPS = (0, 2, 8, 32)  # distances in days from the most likely day; critical values are simulated there
# If days are correlated, this is the smallest simulated correlation of one day's deviation with the next
# day's deviation.
_MEMORY = 0.6
_MOST_ALIKE = 0.9  # the largest autocorrelation that is simulated
_MOST_DOUBT, _DOUBT = 0.18, 5.4
"""The standard deviation of an autocorrelation r is 5.4 (1 - r²) / days, but at most 0.18.

The numbers come from simulations. With the usual standard error, short series would hardly show a change.
"""
_TINY = 1e-12
_Array = np.ndarray


class ChangePoint(msgspec.Struct, frozen=True):
    """A change of a rate in a series of days. `at`, `first` and `last` are indices into the series.

    `at` is the first day of the new rate. Given that the change was found, the change began on a day from
    `first` to `last` with 95 % confidence. `before` and `after` are the rates up to the neighbouring changes.
    `p` is the p-value of the permutation test, which includes the autocorrelation of the days.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


class _Series(msgspec.Struct, frozen=True):
    """Rates of consecutive days and their effective numbers of observations. The last axis of the arrays
    holds the days.

    The variance of a rate is proportional to 1 / `size`. The other axes hold many series.
    """

    rate: _Array
    size: _Array

    def __getitem__(self, days: slice) -> _Series:
        return _Series(self.rate[..., days], self.size[..., days])

    @property
    def mean(self) -> _Array:
        return np.asarray((self.rate * self.size).sum(axis=-1) / np.maximum(self.size.sum(axis=-1), _TINY))

    @property
    def noise(self) -> _Array:
        """The deviations from the mean, in units of a binomial standard error (Pearson residuals)."""
        mean = self.mean[..., None]
        return np.asarray((self.rate - mean) * np.sqrt(self.size / np.maximum(mean * (1 - mean), _TINY)))


class _Alike(msgspec.Struct, frozen=True):
    """The correlation of neighbouring days, and its uncertainty as a standard deviation."""

    value: float
    doubt: float


class _Split(msgspec.Struct, frozen=True):
    """The best split of a section of a series. The split is a change if its `clarity` exceeds `critical`."""

    at: int
    p: float
    critical: float


def find_changes(counts: Sequence[tuple[int, int]], *, seed: int = 1) -> list[ChangePoint]:
    """Return the changes in a series of days, in order.

    `counts` holds (k, n) of each day, k hits out of n. The same seed gives the same changes.
    """
    k, n = np.asarray(counts, dtype=float).reshape(-1, 2).T
    rate = np.divide(k, n, out=np.zeros_like(k), where=n > 0)
    series = _Series(rate, _effective_numbers(rate, n))
    random = np.random.default_rng(seed)
    days = _propose_days(series, 0, len(n), random)
    while days:
        alike = _estimate_autocorrelation(series, days)
        edges = [0, *days, len(n)]
        splits = [
            _test_best_split(series[start:end], start, alike, random)
            for start, end in zip(edges, edges[2:], strict=False)
        ]
        worst = max(splits, key=lambda split: split.p)
        if worst.p <= LEVEL:
            break
        del days[splits.index(worst)]
    else:
        return []
    changes = []
    for split, start, end in zip(splits, edges, edges[2:], strict=False):
        first, last = _range_of_days(series[start:end], split, start, alike, random)
        before, after = _pooled_rate(k, n, start, split.at), _pooled_rate(k, n, split.at, end)
        changes.append(ChangePoint(split.at, first, last, before, after, split.p))
    return changes


def _effective_numbers(rate: _Array, n: _Array) -> _Array:
    """Return the effective number of observations of each day, up to a constant factor.

    The variance of a day's rate is p(1-p)(1/n + r), where r is the variation between days that the calls do
    not explain. r is estimated by moments from the differences of neighbouring days, on which a change has
    little effect (von Neumann 1941).
    """
    has_calls = n > 0
    y, m = rate[has_calls], n[has_calls]
    if len(m) < 2:
        return n
    calls = 1 / m[1:] + 1 / m[:-1]
    p = (y[1:] * m[1:] + y[:-1] * m[:-1]) / (m[1:] + m[:-1])
    beyond = float(((np.diff(y) ** 2 - p * (1 - p) * calls) / calls).sum())
    most = float((p * (1 - p) * (2 - calls) / calls).sum())
    share = min(max(beyond / most, 0.0), 1.0) if most > 0 else 0.0
    return np.asarray(n / (1 + np.maximum(n - 1, 0) * share))


def _propose_days(series: _Series, start: int, end: int, random: np.random.Generator) -> list[int]:
    """Return the days in series[start:end] on which, by the permutation test, a new rate starts."""
    part = series[start:end]
    if end - start < 2 * SHORTEST or not 0 < part.mean < 1:
        return []
    split = _test_best_split(part, start, _Alike(0, 0), random)
    if split.p > LEVEL:
        return []
    return [
        *_propose_days(series, start, split.at, random),
        split.at,
        *_propose_days(series, split.at, end, random),
    ]


def _test_best_split(part: _Series, start: int, alike: _Alike, random: np.random.Generator) -> _Split:
    """Return the best split of `part` and the p-value. `start` is the first day of `part`."""
    gains = _likelihood_gains(part)
    series = _shuffle_days(part, (), alike, SHUFFLES, random)
    shuffled = np.sort(_clarity(series, _likelihood_gains(series)))
    p = float(1 + (shuffled >= _clarity(part, gains)).sum()) / (1 + SHUFFLES)
    return _Split(start + int(gains.argmax()) + SHORTEST, p, float(shuffled[-round(LEVEL * (1 + SHUFFLES))]))


def _clarity(part: _Series, gains: _Array) -> _Array:
    """Return the gain in likelihood from the best split, relative to the variation of the days (Pearson's
    chi-squared).
    """
    return np.asarray(gains.max(axis=-1) / np.maximum((part.noise**2).sum(axis=-1), _TINY))


def _range_of_days(
    part: _Series, split: _Split, start: int, alike: _Alike, random: np.random.Generator
) -> tuple[int, int]:
    """Return the first and the last day on which the change may have begun.

    The statistic of a day says how much worse a split on this day explains the counts than the best split.
    Critical values are simulated for some days and interpolated for the remaining days.
    """
    gains = _likelihood_gains(part)
    best, end = split.at - start - SHORTEST, len(gains) - 1
    behind = gains[best] - gains
    critical: dict[int, float] = {}
    for side in (-1, 1):
        for step in (*_STEPS, len(gains)):
            place = min(max(best + side * step, 0), end)
            if place not in critical:
                critical[place] = _critical_value(part, place, split.critical, alike, random)
            beyond = behind[:place] if side < 0 else behind[place + 1 :]
            if not len(beyond) or beyond.min() > 3 * max(critical.values()):
                critical[0 if side < 0 else end] = critical[place]
                break
    sampled = sorted(critical)
    is_likely = behind <= np.interp(np.arange(len(gains)), sampled, [critical[place] for place in sampled])
    is_likely[best] = True
    places = np.nonzero(is_likely)[0] + start + SHORTEST
    return int(places[0]), int(places[-1])


def _critical_value(
    part: _Series, place: int, clear: float, alike: _Alike, random: np.random.Generator
) -> float:
    """Return the 95 % quantile of the statistic of the true day, for a change at `place`.

    Only series in which the change is found are counted. If the change is hardly ever found, all series are
    counted.
    """
    shuffled = _shuffle_days(part, (place + SHORTEST,), alike, _RANGE_SHUFFLES, random)
    gains = _likelihood_gains(shuffled)
    behind = gains.max(axis=-1) - gains[:, place]
    clear_cases = behind[_clarity(shuffled, gains) >= clear]
    return float(np.quantile(clear_cases if len(clear_cases) >= _ENOUGH_FOUND else behind, 1 - _OUTSIDE))


def _shuffle_days(
    part: _Series, cuts: tuple[int, ...], alike: _Alike, draws: int, random: np.random.Generator
) -> _Series:
    """Return `draws` random series: the days of `part`, shuffled between the cuts, with added
    autocorrelation.

    Each series gets its own autocorrelation, drawn at random within the uncertainty of the estimate. A series
    is the sum of a first-order autoregression and independent noise from the calls, which is an ARMA(1, 1)
    process (Granger & Morris 1976).
    """
    days = part.rate.size
    edges = [0, *cuts, days]
    segments = [np.arange(start, end) for start, end in pairwise(edges)]
    order = np.concatenate([random.permuted(np.tile(days, (draws, 1)), axis=1) for days in segments], axis=1)
    size = part.size[order]
    if not alike.doubt:
        return _Series(part.rate[order], size)
    fresh = np.concatenate([part[days[0] : days[-1] + 1].noise for days in segments])[order]
    near = np.clip(random.normal(alike.value, alike.doubt, draws), 0.0, _MOST_ALIKE)
    memory = np.maximum(near, _MEMORY)
    root = (1 + memory**2 - 2 * memory * near) / np.maximum(memory - near, _TINY)
    moving = 2 / (root + np.sqrt(np.maximum(root * root - 4, 0.0)))
    scale = np.sqrt((1 - memory**2) / (1 - 2 * moving * memory + moving**2))
    noise = fresh.copy()
    renewal = scale[:, None] * (fresh[:, 1:] - moving[:, None] * fresh[:, :-1])
    for day in range(1, days):
        noise[:, day] = memory * noise[:, day - 1] + renewal[:, day - 1]
    mean = np.concatenate([np.full(len(days), part[days[0] : days[-1] + 1].mean) for days in segments])
    rate = mean + noise * np.sqrt(np.maximum(mean * (1 - mean), _TINY) / np.maximum(size, _TINY))
    return _Series(np.clip(rate, 0.0, 1.0), size)


def _estimate_autocorrelation(series: _Series, days: Sequence[int]) -> _Alike:
    """Return the correlation of neighbouring days, after subtracting the rate between the changes at `days`.

    The lag-1 estimate is too small, above all with many fitted rates and few days (Kendall 1954). It is
    corrected with coefficients from a simulation of the best split.
    """
    edges = [0, *days, series.rate.size]
    noise = np.concatenate([series[start:end].noise for start, end in pairwise(edges)])
    square = float(noise @ noise)
    raw = float(noise[1:] @ noise[:-1]) / square if square else 0.0
    value = raw + (len(days) + 1) * (1.2 + 4.5 * max(raw, 0.0)) / len(noise)
    value = min(max(value, 0.0), _MOST_ALIKE)
    return _Alike(value, min(_DOUBT * (1 - value**2) / len(noise), _MOST_DOUBT))


def _likelihood_gains(part: _Series) -> _Array:
    """Return the gain in log likelihood of a split before each day.

    Each side of a split has at least SHORTEST days.
    """
    hits, size = (part.rate * part.size).cumsum(axis=-1), part.size.cumsum(axis=-1)
    inner = slice(SHORTEST - 1, -SHORTEST)
    left, whole = (hits[..., inner], size[..., inner]), (hits[..., -1:], size[..., -1:])
    right = (whole[0] - left[0], whole[1] - left[1])
    return np.asarray(_log_likelihood(*left) + _log_likelihood(*right) - _log_likelihood(*whole))


def _log_likelihood(k: _Array, n: _Array) -> _Array:
    return np.asarray(_x_log_x(k) + _x_log_x(n - k) - _x_log_x(n))


def _x_log_x(x: _Array) -> _Array:
    # With rounding errors, a sum can be slightly below zero.
    return np.asarray(x * np.log(np.maximum(x, _TINY)))


def _pooled_rate(k: _Array, n: _Array, start: int, end: int) -> float:
    observed = float(n[start:end].sum())
    return float(k[start:end].sum()) / observed if observed else 0.0
