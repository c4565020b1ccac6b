"""Finds the days (or versions) at which a rate changed, each with the range of days that fit the data.

Binary segmentation proposes the changes: the split that explains the counts best is found first, then the
splits of both halves (Vostrikova 1981). A split is proposed when at most 1 % of random orders of the days
have one as good (a permutation test; Matteson & James 2014). Whole days are shuffled, so the usual spread of
days is not taken for a change, whatever its cause: sessions whose calls are alike, or days that differ.

Neighbouring days may be alike as well, and then shuffled days look too even. So the autocorrelation of the
days between the proposed changes is estimated, and each proposal has to stand out of shuffled days to which
this autocorrelation is given back (a sieve bootstrap; Bühlmann 1997).

The range of days of a change is found by inversion: it holds every day for which "the change is on this day"
is not rejected at 5 %. Shuffling the days on each side of that day gives the distribution of the statistic
when this is so, without a model of the spread. Only shuffled series in which the change would have been found
are counted, because a range is shown only where a change was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SHUFFLES = 499
LEVEL = 0.01  # of each test
MOST_FALSE = 0.04
"""The chance that a series without a change shows one, at most, with an autocorrelation of days up to 0.6.

Simulated: 1 % or less where days are independent, 1–3 % at 0.6, 4 % where so many calls a day leave no other
noise.
"""
SHORTEST = 2  # days on each side of a change
_OUTSIDE = 0.05  # the chance that the range misses the day of the change
_RANGE_SHUFFLES = 199  # for each day whose critical value is simulated
_ENOUGH_FOUND = 8  # of _RANGE_SHUFFLES: with fewer detected changes, all series count
_STEPS = (0, 2, 8, 32)  # days from the best day to those whose critical value is simulated
_MEMORY = 0.6  # the smallest correlation of one day's deviation with the next, if days are correlated at all
_MOST_ALIKE = 0.9  # the largest autocorrelation that is simulated
_MOST_DOUBT, _DOUBT = 0.18, 5.4
"""How unsure an autocorrelation r is: at most so much, and so much times (1 - r²) / days.

Chosen by simulation: with its standard error hardly anything would be found in short series.
"""
_TINY = 1e-12
_Array = np.ndarray


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of a rate in a series of days; `at`, `first` and `last` are indices into the series.

    `at` is the first day of the new rate. The change began on a day from `first` to `last` with 95 %
    confidence, given that it was found. `before` and `after` are the rates up to the neighbouring changes.
    `p` is the p-value of the permutation test with the autocorrelation of the days.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


@dataclass(frozen=True, slots=True)
class _Series:
    """Rates of consecutive days, the last axis, and how many observations each of them is worth.

    The variance of a rate is proportional to 1 / `size`. Leading axes hold many such series.
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


@dataclass(frozen=True, slots=True)
class _Alike:
    """The correlation of neighbouring days and how unsure it is, as a standard deviation."""

    value: float
    doubt: float


@dataclass(frozen=True, slots=True)
class _Split:
    """The best split of a part of a series; it is found where its clarity exceeds `critical`."""

    at: int
    p: float
    critical: float


def find_changes(counts: Sequence[tuple[int, int]], *, seed: int = 1) -> list[ChangePoint]:
    """Return the changes of a series of days in order; [] when there are none.

    `counts`: (k, n) of each day, k hits out of n. The same seed gives the same changes.
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
    """Return how many observations each day is worth, up to a factor: n, or less where days differ.

    The variance of a day's rate is p(1-p)(1/n + r), where r is what days differ beyond their calls. It is
    estimated by moments from the differences of neighbouring days, which a change hardly touches (von Neumann
    1941). Days with many calls then weigh about as much as days with few.
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
    """Return the days in series[start:end] that start a new rate which shuffled days do not explain."""
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
    """Return the best split of `part`, which begins at day `start`, with its p-value."""
    gains = _likelihood_gains(part)
    series = _shuffle_days(part, (), alike, SHUFFLES, random)
    shuffled = np.sort(_clarity(series, _likelihood_gains(series)))
    p = float(1 + (shuffled >= _clarity(part, gains)).sum()) / (1 + SHUFFLES)
    return _Split(start + int(gains.argmax()) + SHORTEST, p, float(shuffled[-round(LEVEL * (1 + SHUFFLES))]))


def _clarity(part: _Series, gains: _Array) -> _Array:
    """Return the gain of the best split relative to the spread of the days (Pearson's chi-squared)."""
    return np.asarray(gains.max(axis=-1) / np.maximum((part.noise**2).sum(axis=-1), _TINY))


def _range_of_days(
    part: _Series, split: _Split, start: int, alike: _Alike, random: np.random.Generator
) -> tuple[int, int]:
    """Return the first and the last day on which the change may have begun.

    A day is compared by how much worse it explains the counts than the best day. The critical values of some
    days are simulated, those between are interpolated.
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
    """Return the 95 % quantile of how far the true day is behind the best one, for a change at `place`.

    Only series in which the change is found count; all of them if it is hardly ever found.
    """
    shuffled = _shuffle_days(part, (place + SHORTEST,), alike, _RANGE_SHUFFLES, random)
    gains = _likelihood_gains(shuffled)
    behind = gains.max(axis=-1) - gains[:, place]
    clear_cases = behind[_clarity(shuffled, gains) >= clear]
    return float(np.quantile(clear_cases if len(clear_cases) >= _ENOUGH_FOUND else behind, 1 - _OUTSIDE))


def _shuffle_days(
    part: _Series, cuts: tuple[int, ...], alike: _Alike, draws: int, random: np.random.Generator
) -> _Series:
    """Return `draws` series of the days of `part`, shuffled between the cuts, with their autocorrelation.

    Each series has its own autocorrelation, drawn within its uncertainty. Its days are a first-order
    autoregression plus noise without memory (the calls), which together are an ARMA(1, 1). With the same
    lag-1 correlation, they vary more slowly than an autoregression alone (Granger & Morris 1976).
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
    """Return the correlation of neighbouring days around the rates between the changes at `days`.

    The lag-1 estimate is too small, by more the more rates are fitted to few days (Kendall 1954; here with
    the coefficients that a simulation of the best split gave).
    """
    edges = [0, *days, series.rate.size]
    noise = np.concatenate([series[start:end].noise for start, end in pairwise(edges)])
    square = float(noise @ noise)
    raw = float(noise[1:] @ noise[:-1]) / square if square else 0.0
    value = raw + (len(days) + 1) * (1.2 + 4.5 * max(raw, 0.0)) / len(noise)
    value = min(max(value, 0.0), _MOST_ALIKE)
    return _Alike(value, min(_DOUBT * (1 - value**2) / len(noise), _MOST_DOUBT))


def _likelihood_gains(part: _Series) -> _Array:
    """Return the gain in log likelihood of a split before each day that leaves SHORTEST on both sides."""
    hits, size = (part.rate * part.size).cumsum(axis=-1), part.size.cumsum(axis=-1)
    inner = slice(SHORTEST - 1, -SHORTEST)
    left, whole = (hits[..., inner], size[..., inner]), (hits[..., -1:], size[..., -1:])
    right = (whole[0] - left[0], whole[1] - left[1])
    return np.asarray(_log_likelihood(*left) + _log_likelihood(*right) - _log_likelihood(*whole))


def _log_likelihood(k: _Array, n: _Array) -> _Array:
    """Return the maximum log likelihood of k hits out of n."""
    return np.asarray(_x_log_x(k) + _x_log_x(n - k) - _x_log_x(n))


def _x_log_x(x: _Array) -> _Array:
    # Rounding errors of sums can be slightly below zero.
    return np.asarray(x * np.log(np.maximum(x, _TINY)))


def _pooled_rate(k: _Array, n: _Array, start: int, end: int) -> float:
    observed = float(n[start:end].sum())
    return float(k[start:end].sum()) / observed if observed else 0.0
