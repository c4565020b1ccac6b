"""Differences of two rates, each with its interval and p-value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from callgauge.stats.day_spread import DayExcess, measure_excesses, widen_estimates
from callgauge.stats.intervals import LEVEL, Floats, t_quantiles, two_sided_p, wilson_bounds
from callgauge.stats.rates import Estimate, RateArrays, Share
from callgauge.stats.special_functions import stdtrit_of

_AT_ONCE = 1_000_000  # maximum number of random numbers in memory
_WORTH_A_SEARCH = 0.05  # with thousands of differences, larger p-values are not computed
_TINY = 1e-12  # a smaller lower bound of a rate counts as 0
_MOST_FREEDOM = 1e6  # above this, Student's t and the normal distribution agree to six digits

EstimatePair = tuple[Estimate, Estimate]
_Reaches = Callable[[Floats], tuple[Floats, Floats]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]
_Moves = tuple[Floats | None, float]


class _Rates(NamedTuple):
    rate: Floats
    effective_n: Floats
    freedom: Floats


@dataclass(frozen=True, slots=True)
class Difference:
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
    estimate, reaches, rates = _read_pairs(pairs)
    clustered = [first.moves is not None or other.moves is not None for first, other in pairs]
    methods = [f"Newcombe{_OVER[each]}" for each in clustered]
    return _invert(estimate, reaches, _joint_freedom(rates), methods, level)


@dataclass(frozen=True, slots=True)
class RateRatio:
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
    pair = widen_estimates(first, other, excess)
    _, _, rates = _read_pairs([pair])
    quantile = t_quantiles(_joint_freedom(rates))
    (p1, n1, _), (p2, n2, _) = rates
    (low1, high1), (low2, high2) = wilson_bounds(p1, n1, quantile), wilson_bounds(p2, n2, quantile)
    shared = _shared_part(*((each.moves, each.own_freedom) for each in pair))

    def solve(reach: Floats, other_reach: Floats) -> tuple[float, float, float]:
        """Return the terms of the quadratic equation whose roots are the ends of the interval."""
        middle = float((p1 * p2 - shared * reach * other_reach)[0])
        top, bottom = float((p1**2 - reach**2)[0]), float((p2**2 - other_reach**2)[0])
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
    firsts, seconds = zip(*quads, strict=True)
    (first, reach_first, first_rates), (other, reach_other, other_rates) = map(_read_pairs, (firsts, seconds))
    shared = np.array([_shared_part(_read_moves(*a), _read_moves(*b)) for a, b in quads])

    def reaches(quantile: Floats) -> tuple[Floats, Floats]:
        (below, above), (other_below, other_above) = reach_first(quantile), reach_other(quantile)
        return _combine(below, other_above, shared), _combine(above, other_below, shared)

    freedom = _joint_freedom([*first_rates, *other_rates])
    return _invert(first - other, reaches, freedom, ["difference of differences (MOVER)"] * len(quads))


_OVER = {False: "", True: " over sessions"}
_FARTHEST, _HALVINGS = 40.0, 36  # limits of the search for the t at which one end of the interval is 0
_HALVINGS_AT_ONCE, _FEW = 6, 32
_SHARED_FROM = 0.3  # with 50 groups, a smaller correlation of two rates may be chance
_SHARED_DOUBT = 10.0  # weight, in degrees of freedom, of the prior assumption that two rates are uncorrelated


def _read_pairs(pairs: Sequence[EstimatePair]) -> tuple[Floats, _Reaches, list[_Rates]]:
    """Return the differences, a function that gives both half-widths of the intervals at a quantile, and both
    rates.
    """
    rates = [
        _Rates(
            *(
                np.array(column)
                for column in zip(
                    *((estimate.rate, estimate.effective_n, estimate.freedom) for estimate in side),
                    strict=True,
                )
            )
        )
        for side in zip(*pairs, strict=True)
    ]
    shared = np.array([_shared_part(*((moves.moves, moves.own_freedom) for moves in pair)) for pair in pairs])
    (p1, n1, _), (p2, n2, _) = rates

    def reaches(quantile: Floats) -> tuple[Floats, Floats]:
        (low1, high1), (low2, high2) = wilson_bounds(p1, n1, quantile), wilson_bounds(p2, n2, quantile)
        return _combine(p1 - low1, high2 - p2, shared), _combine(high1 - p1, p2 - low2, shared)

    return p1 - p2, reaches, rates


def _invert(
    estimate: Floats, reaches: _Reaches, freedom: Floats, methods: Sequence[str], level: float = LEVEL
) -> list[Difference]:
    """Return the differences with their p-values.

    A p-value is 1 minus the highest confidence at which the interval excludes 0.
    """
    below, above = reaches(t_quantiles(freedom, level))
    # For a few differences, one step with many parts takes hardly longer than a halving.
    halvings = _HALVINGS_AT_ONCE if len(estimate) <= _FEW else 1
    parts = np.arange(1, 2**halvings)[:, None]
    least, width = np.zeros(len(estimate)), _FARTHEST
    for _ in range(_HALVINGS // halvings):
        width /= 2**halvings
        towards = np.where(estimate > 0, *reaches(least + parts * width))
        least = least + width * (towards < np.abs(estimate)).sum(0)
    p = np.where(estimate == 0, 1.0, two_sided_p(least, freedom))
    percent = f"{100 * level:.3g} %"
    return [
        Difference(
            float(each),
            float(each - lower),
            float(each + upper),
            float(chance),
            f"{method}, {percent}",
        )
        for each, lower, upper, chance, method in zip(estimate, below, above, p, methods, strict=True)
    ]


def _joint_freedom(several: Sequence[_Rates]) -> Floats:
    """Return Satterthwaite's degrees of freedom of each difference."""
    total, squares = np.zeros(1), np.zeros(1)
    for rate, n, freedom in several:
        centre = (rate * n + 2) / (n + 4)
        variance = centre * (1 - centre) / n
        total, squares = total + variance, squares + variance * variance / freedom
    return np.asarray(total**2 / (squares + 1e-300))


def _read_moves(estimate: Estimate, against: Estimate) -> _Moves:
    """Return by how much a difference falls when each group is left out, and the degrees of freedom of these
    values.
    """
    has_moves = estimate.moves is not None and against.moves is not None
    moves = estimate.moves - against.moves if has_moves else None  # type: ignore[operator]
    return moves, min(estimate.own_freedom, against.own_freedom)


def _shared_part(first: _Moves, other: _Moves) -> float:
    """Return the correlation of two rates from common sessions.

    Return 0 if the correlation may be chance or is negative. A correlation from few sessions with a hit is
    shrunk towards 0.
    """
    (moves, freedom), (others, other_freedom) = first, other
    if moves is None or others is None:
        return 0.0
    size = sqrt(float(moves @ moves) * float(others @ others))
    correlation = float(moves @ others) / size if size else 0.0
    behind = min(freedom, other_freedom)
    return min(0.95, correlation) * behind / (behind + _SHARED_DOUBT) if correlation > _SHARED_FROM else 0.0


def _combine(first: Floats, other: Floats, correlation: Floats) -> Floats:
    return np.asarray(
        np.sqrt(np.maximum(0.0, first * first + other * other - 2 * correlation * first * other))
    )


def find_small_p(candidates: RateArrays, against: RateArrays, at_most: float = _WORTH_A_SEARCH) -> Floats:
    """Return the p-values that `compare_estimates` would give for `candidates` minus `against`.

    A p-value above `at_most` is returned as 1, which saves the search for the exact value.
    """
    change = candidates.rate - against.rate
    small = np.nonzero(have_small_p(candidates, against, at_most))[0]
    p = np.ones(len(change))
    if len(small):
        shared = _share_moves(candidates, against)
        first, second = (_Rates(each.rate, each.effective_n, each.freedom) for each in (candidates, against))
        freedom = np.minimum(_joint_freedom([first, second]), _MOST_FREEDOM)
        lower, other = (_Rates(*(column[small] for column in rates)) for rates in (first, second))
        least, most = np.zeros(len(small)), np.full(len(small), _FARTHEST)
        for _ in range(_HALVINGS):
            middle = (least + most) / 2
            reach = np.where(change[small] > 0, *_reach_rates(lower, other, shared[small], middle))
            leaves_out = reach < np.abs(change[small])
            least, most = np.where(leaves_out, middle, least), np.where(leaves_out, most, middle)
        p[small] = two_sided_p(least, freedom[small])
    return p


def have_small_p(candidates: RateArrays, against: RateArrays, at_most: float) -> _Flags:
    """Return for each difference whether its p-value is at most `at_most`. No exact p-value is searched."""
    change = candidates.rate - against.rate
    first, second = (_Rates(each.rate, each.effective_n, each.freedom) for each in (candidates, against))
    freedom = np.minimum(_joint_freedom([first, second]), _MOST_FREEDOM)
    quantile = np.asarray(stdtrit_of(1 - at_most / 2)(freedom))
    below, above = _reach_rates(first, second, _share_moves(candidates, against), quantile)
    return np.asarray(np.where(change > 0, below, above) < np.abs(change))


def _share_moves(first: RateArrays, other: RateArrays) -> Floats:
    size = np.sqrt((first.moves**2).sum(-1) * (other.moves**2).sum(-1))
    alike = np.where(size > 0, (first.moves * other.moves).sum(-1) / np.where(size > 0, size, 1.0), 0.0)
    behind = np.minimum(first.own_freedom, other.own_freedom)
    part = np.minimum(0.95, alike) * behind / (behind + _SHARED_DOUBT)
    return np.asarray(np.where(alike > _SHARED_FROM, part, 0.0))


def _reach_rates(first: _Rates, other: _Rates, shared: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return the half-widths of each difference's interval, below and above the difference, at a quantile."""
    (low1, high1), (low2, high2) = (
        wilson_bounds(rates.rate, rates.effective_n, quantile) for rates in (first, other)
    )
    return (
        _combine(first.rate - low1, high2 - other.rate, shared),
        _combine(high1 - first.rate, other.rate - low2, shared),
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
