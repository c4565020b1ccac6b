"""Differences of two rates, each with its interval and p-value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import msgspec
import numpy as np

from callgauge.stats.day_spread import DayExcess, measure_excesses, widen_estimates
from callgauge.stats.intervals import LEVEL, Floats, t_quantiles, two_sided_p, wilson_bounds
from callgauge.stats.rates import Estimate, EstimateArrays, Share
from callgauge.stats.session_groups import Integers
from callgauge.stats.special_functions import stdtrit_of

_AT_ONCE = 1_000_000  # maximum number of random numbers in memory
_WORTH_A_SEARCH = 0.05  # with thousands of differences, larger p-values are not computed
_TINY = 1e-12  # a smaller lower bound of a rate counts as 0
_MOST_FREEDOM = 1e6  # above this, Student's t and the normal distribution agree to six digits
_FARTHEST, _HALVINGS = 40.0, 36  # limits of the search for the t at which one end of the interval is 0
_HALVINGS_AT_ONCE, _FEW = 6, 32  # at most 32 differences need a sixth of the steps
_SHARED_FROM = 0.3  # with 50 groups, a smaller correlation of two rates may be chance
_SHARED_DOUBT = 10.0  # weight, in degrees of freedom, of the prior assumption that two rates are uncorrelated

EstimatePair = tuple[Estimate, Estimate]
_Reach = Callable[[Floats], tuple[Floats, Floats]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]


class _Pairs(NamedTuple):
    """Many pairs of rates. `correlation` is the correlation of both rates from common sessions."""

    first: EstimateArrays
    other: EstimateArrays
    correlation: Floats

    @classmethod
    def make(cls, first: EstimateArrays, other: EstimateArrays) -> _Pairs:
        return cls(first, other, _correlate(first.moves, first.own_freedom, other.moves, other.own_freedom))

    @classmethod
    def read(cls, pairs: Sequence[EstimatePair]) -> _Pairs:
        firsts, others = zip(*pairs, strict=True)
        return cls.make(EstimateArrays.stack(firsts), EstimateArrays.stack(others))

    @property
    def difference(self) -> Floats:
        return self.first.rate - self.other.rate

    @property
    def freedom(self) -> Floats:
        return _joint_freedom([self.first, self.other])

    def take(self, rows: Integers) -> _Pairs:
        return _Pairs(self.first.take(rows), self.other.take(rows), self.correlation[rows])

    def find_bounds(self, quantile: Floats) -> list[tuple[Floats, Floats]]:
        """Return both ends of the intervals of `first`, then of `other`, at a quantile of t."""
        return [wilson_bounds(rates.rate, rates.effective_n, quantile) for rates in (self.first, self.other)]

    def reach(self, quantile: Floats) -> tuple[Floats, Floats]:
        """Return the half-widths of the intervals below and above the differences, at a quantile of t."""
        (low1, high1), (low2, high2) = self.find_bounds(quantile)
        p1, p2 = self.first.rate, self.other.rate
        return (
            _combine(p1 - low1, high2 - p2, self.correlation),
            _combine(high1 - p1, p2 - low2, self.correlation),
        )


class Difference(msgspec.Struct, frozen=True):
    """The difference of two rates, `of` minus `against`, with its 95 % interval.

    -0.013 means that `of` is 1.3 percentage points lower than `against`. `p` is the two-sided p-value.
    `method` is the displayed name of the statistical method.
    """

    estimate: float
    low: float
    high: float
    p: float
    method: str

    @property
    def is_decisive(self) -> bool:
        """True when the interval does not contain 0."""
        return self.low > 0 or self.high < 0

    def is_within(self, size: float) -> bool:
        """Return True when the whole interval lies between -`size` and `size`."""
        return -size < self.low and self.high < size


def compare_rates(share: Share, against: Share) -> Difference | None:
    """Return the difference of two rates, `share` minus `against`.

    Return None when a rate has no observations.
    """
    return compare_shares([(share, against)])[0]


def compare_shares(
    pairs: Sequence[tuple[Share, Share]],
    excesses: Sequence[DayExcess] | None = None,
    level: float = LEVEL,
) -> list[Difference | None]:
    """Return the difference of each pair of rates, including the variation between days.

    `excesses` may be the result of `measure_excesses` for these pairs, so that it is not computed again.
    `level` is the confidence of the intervals.
    """
    day_excesses = measure_excesses(pairs) if excesses is None else excesses
    estimates = [
        widen_estimates(a, b, excess) if (a := share.estimate) and (b := against.estimate) else None
        for (share, against), excess in zip(pairs, day_excesses, strict=True)
    ]
    differences = iter(compare_estimates([pair for pair in estimates if pair], level))
    return [next(differences) if pair else None for pair in estimates]


def compare_estimates(pairs: Sequence[EstimatePair], level: float = LEVEL) -> list[Difference]:
    """Return the difference of each pair of rates, the first minus the second, in the same order.

    `level` is the confidence of the intervals.

    The interval is Newcombe's hybrid score interval (Newcombe 1998, method 10), which combines the Wilson
    intervals of the two rates (MOVER; Zou & Donner 2008). Both Wilson intervals use the same quantile of
    Student's t, with Satterthwaite's degrees of freedom (1946). If both rates have enough sessions in common,
    the correlation of the rates narrows the interval. The p-value is 1 minus the highest confidence at which
    the interval excludes 0.
    """
    if not pairs:
        return []
    arrays = _Pairs.read(pairs)
    methods = [
        "Newcombe" if first.moves is None and other.moves is None else "Newcombe over sessions"
        for first, other in pairs
    ]
    return _make_differences(arrays.difference, arrays.reach, arrays.freedom, methods, level)


class RateRatio(msgspec.Struct, frozen=True):
    """A rate divided by another rate, with the 95 % interval. `high` is infinite if the other rate may be
    0.
    """

    estimate: float
    low: float
    high: float


def divide_rates(share: Share, against: Share) -> RateRatio | None:
    """Return the ratio of two rates, `share` divided by `against`, including the variation between days.

    Return None when a rate has no observations, or when `against` has no hits. The interval combines the
    Wilson intervals of the two rates (MOVER for ratios; Donner & Zou 2012), with the quantile and the
    correlation that `compare_rates` uses. So the interval of the ratio excludes 1 exactly when the interval
    of the difference excludes 0.
    """
    excess = measure_excesses([(share, against)])[0]
    if not (first := share.estimate) or not (other := against.estimate) or not other.rate:
        return None
    pair = _Pairs.read([widen_estimates(first, other, excess)])
    (low1, high1), (low2, high2) = np.array(pair.find_bounds(t_quantiles(pair.freedom)))[..., 0].tolist()
    p1, p2, correlation = first.rate, other.rate, float(pair.correlation[0])

    def solve(reach: float, other_reach: float) -> tuple[float, float, float]:
        """Return the terms of the quadratic equation whose roots are the ends of the interval."""
        middle = p1 * p2 - correlation * reach * other_reach
        top, bottom = p1 * p1 - reach * reach, p2 * p2 - other_reach * other_reach
        return middle + sqrt(max(0.0, middle**2 - top * bottom)), top, bottom

    root, top, _ = solve(p1 - low1, high2 - p2)
    low = max(0.0, top) / root if root > 0 else 0.0
    root, _, bottom = solve(high1 - p1, p2 - low2)
    high = root / bottom if bottom > _TINY else inf
    return RateRatio(first.rate / other.rate, low, high)


def compare_differences(quads: Sequence[tuple[EstimatePair, EstimatePair]]) -> list[Difference]:
    """Return how much the first pair's difference exceeds the second pair's difference (an interaction
    contrast).

    The intervals of both differences are combined like the intervals of two rates (MOVER; Zou & Donner 2008).
    All four rates use the same quantile of Student's t.
    """
    if not quads:
        return []
    first, second = (_Pairs.read(pairs) for pairs in zip(*quads, strict=True))
    correlation = _correlate(
        first.first.moves - first.other.moves,
        np.minimum(first.first.own_freedom, first.other.own_freedom),
        second.first.moves - second.other.moves,
        np.minimum(second.first.own_freedom, second.other.own_freedom),
    )

    def reach(quantile: Floats) -> tuple[Floats, Floats]:
        (below, above), (other_below, other_above) = first.reach(quantile), second.reach(quantile)
        return _combine(below, other_above, correlation), _combine(above, other_below, correlation)

    return _make_differences(
        first.difference - second.difference,
        reach,
        _joint_freedom([first.first, first.other, second.first, second.other]),
        ["difference of differences (MOVER)"] * len(quads),
    )


def find_small_p(
    candidates: EstimateArrays, against: EstimateArrays, at_most: float = _WORTH_A_SEARCH
) -> Floats:
    """Return the p-values that `compare_estimates` would give for `candidates` minus `against`.

    A p-value above `at_most` is returned as 1, which saves the search for the exact value.
    """
    pairs = _Pairs.make(candidates, against)
    p = np.ones(len(candidates.rate))
    small = np.nonzero(_exclude_zero(pairs, at_most))[0]
    if len(small):
        pairs = pairs.take(small)
        p[small] = two_sided_p(_find_t(pairs.difference, pairs.reach), pairs.freedom)
    return p


def have_small_p(candidates: EstimateArrays, against: EstimateArrays, at_most: float) -> _Flags:
    """Return for each difference whether its p-value is at most `at_most`. No exact p-value is searched."""
    return _exclude_zero(_Pairs.make(candidates, against), at_most)


def _make_differences(
    estimate: Floats, reach: _Reach, freedom: Floats, methods: Sequence[str], level: float = LEVEL
) -> list[Difference]:
    """Return the differences with their intervals and p-values.

    A p-value is 1 minus the highest confidence at which the interval excludes 0.
    """
    below, above = reach(t_quantiles(freedom, level))
    # For a few differences, a step with many parts takes hardly longer than a halving.
    t = _find_t(estimate, reach, _HALVINGS_AT_ONCE if len(estimate) <= _FEW else 1)
    p = np.where(estimate == 0, 1.0, two_sided_p(t, freedom))
    percent = f"{100 * level:.3g} %"
    rows = zip(estimate, estimate - below, estimate + above, p, methods, strict=True)
    return [
        Difference(float(middle), float(low), float(high), float(chance), f"{method}, {percent}")
        for middle, low, high, chance, method in rows
    ]


def _find_t(difference: Floats, reach: _Reach, halvings: int = 1) -> Floats:
    """Return for each difference the quantile of t at which the interval begins to contain 0.

    Each step of the search divides the range of the quantile in half as often as `halvings` says.
    """
    parts = np.arange(1, 2**halvings)[:, None]
    least, width = np.zeros(len(difference)), _FARTHEST
    for _ in range(_HALVINGS // halvings):
        width /= 2**halvings
        towards = np.where(difference > 0, *reach(least + parts * width))
        least = least + width * (towards < np.abs(difference)).sum(0)
    return least


def _exclude_zero(pairs: _Pairs, p: float) -> _Flags:
    """Return for each difference whether its interval with the confidence 1 - `p` excludes 0."""
    quantile = np.asarray(stdtrit_of(1 - p / 2)(np.minimum(pairs.freedom, _MOST_FREEDOM)))
    difference = pairs.difference
    return np.asarray(np.where(difference > 0, *pairs.reach(quantile)) < np.abs(difference))


def _joint_freedom(several: Sequence[EstimateArrays]) -> Floats:
    """Return Satterthwaite's degrees of freedom of each difference."""
    total, squares = np.zeros(1), np.zeros(1)
    for rates in several:
        n = rates.effective_n
        centre = (rates.rate * n + 2) / (n + 4)
        variance = centre * (1 - centre) / n
        total, squares = total + variance, squares + variance * variance / rates.freedom
    return np.asarray(total**2 / (squares + 1e-300))


def _correlate(moves: Floats, freedom: Floats, others: Floats, other_freedom: Floats) -> Floats:
    """Return the correlation of two rates from common sessions, for each pair of rates.

    `moves` and `others` say by how much a rate falls when each group is left out, with `freedom` and
    `other_freedom` degrees of freedom. The correlation is 0 if it may be chance or is negative. A correlation
    from few sessions with a hit is shrunk towards 0.
    """
    size = np.sqrt(np.vecdot(moves, moves) * np.vecdot(others, others))
    correlation = np.divide(np.vecdot(moves, others), size, out=np.zeros_like(size), where=size > 0)
    behind = np.where(correlation > _SHARED_FROM, np.minimum(freedom, other_freedom), 0.0)
    return np.asarray(np.minimum(0.95, correlation) * behind / (behind + _SHARED_DOUBT))


def _combine(first: Floats, other: Floats, correlation: Floats) -> Floats:
    return np.asarray(
        np.sqrt(np.maximum(0.0, first * first + other * other - 2 * correlation * first * other))
    )


def bootstrap_interval(
    observed: Sequence[tuple[int, int]],
    against: Sequence[tuple[int, int]],
    weights: tuple[Sequence[int], Sequence[int]] | None = None,
    *,
    draws: int = 2000,
    seed: int = 1,
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval (low, high) of the difference of two rates, to check other methods.

    The result is the percentile interval over resampled sessions. A session is a pair (k, n). `weights` holds
    the number of sessions for each pair of both lists. Return None if a list is empty. The same seed gives
    the same interval.
    """
    random = np.random.default_rng(seed)

    def rates(sessions: Sequence[tuple[int, int]], weights: Sequence[int] | None) -> np.ndarray:
        counts = np.asarray(sessions, dtype=float)
        many = np.ones(len(counts), dtype=np.int64) if weights is None else np.asarray(weights)
        chances, batch = many / many.sum(), max(1, _AT_ONCE // len(counts))
        sums = np.concatenate(
            [
                random.multinomial(many.sum(), chances, size=min(batch, draws - done)) @ counts
                for done in range(0, draws, batch)
            ]
        )
        return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1))

    if not observed or not against:
        return None
    first, second = weights or (None, None)
    low, high = np.quantile(
        rates(observed, first) - rates(against, second), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]
    )
    return float(low), float(high)
