"""Differences of two rates with interval and p-value, and the number of sessions needed to show one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from callgauge.stats.intervals import LEVEL, Floats, t_quantiles, two_sided_p, wilson_bounds
from callgauge.stats.rates import Estimate, Share

_AT_ONCE = 1_000_000  # numbers drawn into memory together


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two shares, `of` minus `against`, with its 95 % interval: -0.013 is 1.3 points less.

    `p` is the two-sided p-value; `method` is the name of the statistical method, for people.
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
        """Return True when the whole interval is smaller than `size`, on either side of 0."""
        return -size < self.low and self.high < size


def compare_rates(of: Share, against: Share) -> Difference | None:
    """Return the difference of two rates, `of` minus `against`; None when either has no observations."""
    one, other = of.estimate, against.estimate
    return None if one is None or other is None else compare_estimates([(one, other)])[0]


def compare_estimates(pairs: Sequence[tuple[Estimate, Estimate]]) -> list[Difference]:
    """Return the difference of each pair of rates, the first minus the second, in the same order.

    The interval is Newcombe's hybrid score interval (Newcombe 1998, method 10), which combines the Wilson
    intervals of the two rates (MOVER; Zou & Donner 2008), with one quantile of Student's t for both, whose
    degrees of freedom are Satterthwaite's (1946). Where many sessions are behind both rates, what these have
    in common is subtracted. The p-value is 1 minus the highest confidence at which the interval leaves out 0,
    so that both always agree.
    """
    if not pairs:
        return []
    (p1, n1, f1), (p2, n2, f2) = (
        (
            np.array(column)
            for column in zip(*((one.rate, one.effective_n, one.freedom) for one in several), strict=True)
        )
        for several in zip(*pairs, strict=True)
    )
    shared = np.array([_shared_part(*pair) for pair in pairs])
    freedom = _joint_freedom(p1, n1, f1, p2, n2, f2)
    estimate = p1 - p2

    def reaches(quantile: Floats) -> tuple[Floats, Floats]:
        """Return how far the interval reaches below and above the estimate."""
        (low1, high1), (low2, high2) = wilson_bounds(p1, n1, quantile), wilson_bounds(p2, n2, quantile)
        return _combine(p1 - low1, high2 - p2, shared), _combine(high1 - p1, p2 - low2, shared)

    below, above = reaches(t_quantiles(freedom))
    least, most = np.zeros(len(pairs)), np.full(len(pairs), _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        towards = np.where(estimate > 0, *reaches(middle))
        leaves_out = towards < np.abs(estimate)
        least, most = np.where(leaves_out, middle, least), np.where(leaves_out, most, middle)
    p = np.where(estimate == 0, 1.0, two_sided_p(least, freedom))
    clustered = [one.moves is not None or other.moves is not None for one, other in pairs]
    return [
        Difference(
            float(each),
            float(each - lower),
            float(each + upper),
            float(chance),
            f"Newcombe{_OVER[over]}, 95 %",
        )
        for each, lower, upper, chance, over in zip(estimate, below, above, p, clustered, strict=True)
    ]


_OVER = {False: "", True: " over sessions"}
_FARTHEST, _HALVINGS = 40.0, 36  # of the search for the t statistic at which an interval ends at 0
_SHARED_FROM = 0.3  # a correlation of two rates below this is within what chance makes of 50 groups
_SHARED_DOUBT = 10.0  # degrees of freedom with which "no correlation" counts beside that of the groups


def _joint_freedom(p1: Floats, n1: Floats, f1: Floats, p2: Floats, n2: Floats, f2: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom; the variance is that of Agresti & Coull (1998), never 0."""
    variances = []
    for p, n in ((p1, n1), (p2, n2)):
        centre = (p * n + 2) / (n + 4)
        variances.append(centre * (1 - centre) / n)
    one, other = variances
    return np.asarray((one + other) ** 2 / (one * one / f1 + other * other / f2 + 1e-300))


def _shared_part(one: Estimate, other: Estimate) -> float:
    """Return the correlation of two rates that the same sessions make; 0 where it may be chance.

    It is drawn towards 0 the more, the fewer sessions with a hit it rests on. A negative one is not
    subtracted: what two rates share makes them move together.
    """
    if one.moves is None or other.moves is None:
        return 0.0
    size = sqrt(float(one.moves @ one.moves) * float(other.moves @ other.moves))
    found = float(one.moves @ other.moves) / size if size else 0.0
    freedom = min(one.own_freedom, other.own_freedom)
    return min(0.95, found) * freedom / (freedom + _SHARED_DOUBT) if found > _SHARED_FROM else 0.0


def _combine(one: Floats, other: Floats, correlation: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(0.0, one * one + other * other - 2 * correlation * one * other)))


def bootstrap_interval(
    of: Sequence[tuple[int, int]],
    against: Sequence[tuple[int, int]],
    weights: tuple[Sequence[int], Sequence[int]] | None = None,
    *,
    draws: int = 2000,
    seed: int = 1,
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval (low, high) of the difference of two rates, as a check.

    The percentile interval over resampled sessions, each given as (k, n). `weights`: for both arms, how many
    sessions have each (k, n), so that millions of sessions need little memory. None when an arm has no
    session. The same seed gives the same interval.
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

    if not of or not against:
        return None
    first, second = weights or (None, None)
    low, high = np.quantile(rates(of, first) - rates(against, second), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return float(low), float(high)
