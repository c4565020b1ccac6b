"""Widens the interval of the difference of two rates by the variation between days.

Sessions of the same day have common causes of failure, such as an overloaded host. The jackknife over
sessions does not measure this variation. The functions here estimate it and add it to the variances of both
rates (the ratio estimator with days as clusters; Cochran 1977, chapter 6). Days that both rates have in
common are paired, so an effect of a day on both rates cancels. Neighbouring days may be correlated, which
makes the mean of many days less certain. docs/statistics.md has the simulated error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from callgauge.stats.intervals import Floats
from callgauge.stats.rates import Estimate, Share
from callgauge.stats.session_groups import DayCounts, Integers

LEAST_DAYS = 5
"""If two rates have different days, at least one rate needs this many days for a verdict."""
_ALIKE = 0.6  # assumed correlation of neighbouring days; intervals are right for true correlations up to 0.5
_LEAST_FREEDOM = 4.0  # the smallest degrees of freedom of a difference with few days
_TINY = 1e-12


def inflate_mean(days: Floats) -> Floats:
    """Return the variance of the mean of `days` correlated days, divided by the variance for independent
    days.

    The days are an AR(1) series of equal sizes with the correlation 0.6. The ratio is 1 for one day, 2.96 for
    seven days and 3.73 for 28 days.
    """
    many = np.maximum(1.0, days)
    return np.asarray(
        (1 + _ALIKE) / (1 - _ALIKE) - 2 * _ALIKE * (1 - _ALIKE**many) / (many * (1 - _ALIKE) ** 2)
    )


class DayExcess(msgspec.Struct, frozen=True):
    """How much the variation between days adds to the variance of a difference of two rates.

    `of` and `against` belong to the two rates. Each is the added variance divided by the variance between
    sessions. `whole` is the same ratio for the difference. `freedom` holds the degrees of freedom of the
    added variance. `has_too_few` is True when the added variance is unknown, because the two rates have
    different days and each has fewer than LEAST_DAYS days.
    """

    of: float
    against: float
    whole: float
    freedom: float
    has_too_few: bool = False


NO_EXCESS = DayExcess(0.0, 0.0, 0.0, 1.0)


def measure_excesses(pairs: Sequence[tuple[Share, Share]]) -> list[DayExcess]:
    """Return for each pair of rates the variance that days add to the difference.

    A pair gets `NO_EXCESS` if a rate has no counts by day or no observation.
    """
    excesses = [NO_EXCESS] * len(pairs)
    places: dict[int, int] = {}
    shares: list[Share] = []
    for pair in pairs:
        for share in pair:
            if share.by_day is not None and share.n and id(share) not in places:
                places[id(share)] = len(shares)
                shares.append(share)
    chosen = [place for place, pair in enumerate(pairs) if all(id(share) in places for share in pair)]
    if not chosen:
        return excesses
    days = _Days.read(shares)
    sides = np.array([[places[id(share)] for share in pairs[place]] for place in chosen])
    for place, excess in zip(chosen, days.compare(sides[:, 0], sides[:, 1]), strict=True):
        excesses[place] = excess
    return excesses


class _Days(msgspec.Struct, frozen=True):
    """Rates by day, as arrays with one row per rate.

    `residuals` says how far each day moves the rate. `n` is the number of observations on each day. Both
    arrays have the shape (rates, days). For each rate, `observed` is the number of observations, `many` is
    the number of days, and `weights` is the sum of the squared shares of the days.
    """

    residuals: Floats
    n: Floats
    rate: Floats
    effective_n: Floats
    observed: Floats
    many: Floats
    weights: Floats

    @classmethod
    def read(cls, shares: Sequence[Share]) -> _Days:
        counts = [share.by_day or DayCounts.make_empty() for share in shares]
        calendar = np.unique(np.concatenate([each.days for each in counts]))
        k, n = np.zeros((2, len(shares), len(calendar)))
        for row, each in enumerate(counts):
            columns = np.searchsorted(calendar, each.days)
            k[row, columns], n[row, columns] = each.k, each.n
        total = np.maximum(n.sum(1), _TINY)
        many = (n > 0).sum(1).astype(float)
        rate = k.sum(1) / total
        # The residuals of m days around their own mean have m - 1 degrees of freedom.
        free = np.sqrt(np.where(many > 1, many / np.maximum(many - 1, 1), 0.0))
        return cls(
            (k - rate[:, None] * n) / total[:, None] * free[:, None],
            n,
            rate,
            np.array([share.effective_n for share in shares]),
            total,
            many,
            (n * n).sum(1) / total**2,
        )

    def compare(self, first: Integers, against: Integers) -> list[DayExcess]:
        """Return the excess variance of each pair. `first` and `against` hold the row numbers of each pair's
        rates.
        """
        used = (self.n > 0).astype(float)
        products, common = self.residuals @ self.residuals.T, used @ used.T
        squares = np.diag(products)
        variance = self.rate * (1 - self.rate) / self.effective_n
        sampling = variance[first] + variance[against]
        shared = common[first, against]
        union = self.many[first] + self.many[against] - shared
        # If the two rates have days in common, the daily differences of the two rates give the variance.
        paired = np.maximum(0.0, squares[first] + squares[against] - 2 * products[first, against] - sampling)
        paired *= inflate_mean(union)
        # If the two rates have no day in common, the variance of a day is estimated from both rates together.
        free = np.maximum(0.0, self.many - 1)
        beyond = free * (squares - variance) / np.maximum(self.weights, _TINY)
        both = free[first] + free[against]
        one_day = np.maximum(0.0, beyond[first] + beyond[against]) / np.maximum(both, 1.0)
        added = inflate_mean(self.many) * self.weights
        pooled = (self.rate * self.observed)[first] + (self.rate * self.observed)[against]
        pooled /= self.observed[first] + self.observed[against]
        unit = np.maximum(pooled * (1 - pooled), _TINY)
        by_sessions = unit * (1 / self.effective_n[first] + 1 / self.effective_n[against])
        is_paired = shared > 0
        whole = np.where(is_paired, paired, one_day * (added[first] + added[against])) / by_sessions
        of_side, against_side = (
            np.where(is_paired, whole, one_day * added[side] * self.effective_n[side] / unit)
            for side in (first, against)
        )
        freedom = np.where(is_paired, union - 1, both)
        is_dated = (self.many[first] > 0) | (self.many[against] > 0)
        apart = is_dated & self._run_apart(first, against) & self._run_apart(against, first)
        rows = zip(of_side, against_side, whole, freedom, apart, strict=True)
        return [
            DayExcess(float(a), float(b), float(c), max(1.0, float(f)), bool(few)) for a, b, c, f, few in rows
        ]

    def _run_apart(self, side: Integers, other: Integers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return whether a rate has few days, and hardly any of these days is a day of the other rate."""
        met = np.einsum("pd,pd->p", self.n[side], (self.n[other] > 0).astype(float))
        return np.asarray((self.many[side] < LEAST_DAYS) & (met < self.observed[side] / 2))


def widen_estimates(estimate: Estimate, against: Estimate, excess: DayExcess) -> tuple[Estimate, Estimate]:
    """Return both rates with the uncertainty from days added.

    The added variance reduces the effective number of observations of each rate. The degrees of freedom come
    from the sum of both variances (Satterthwaite 1946), but are at least four.
    """
    if not excess.whole:
        return estimate, against
    variances = [_variance(each) for each in (estimate, against)]
    total = sum(variances)
    squares = sum(v * v / each.freedom for v, each in zip(variances, (estimate, against), strict=True))
    by_sessions = squares / total**2  # 1 / the degrees of freedom that sessions alone give the difference
    ratio = excess.whole
    freedom = max(_LEAST_FREEDOM, (1 + ratio) ** 2 / (by_sessions + ratio**2 / excess.freedom))
    widened = [
        replace(each, effective_n=each.effective_n / (1 + part))
        for each, part in ((estimate, excess.of), (against, excess.against))
    ]
    # With these degrees of freedom of both rates, Satterthwaite's formula gives `freedom`.
    variances = [_variance(each) for each in widened]
    freedom *= sum(v * v for v in variances) / sum(variances) ** 2
    first, second = (replace(each, freedom=freedom) for each in widened)
    return first, second


def _variance(estimate: Estimate) -> float:
    centre = (estimate.rate * estimate.effective_n + 2) / (estimate.effective_n + 4)
    return centre * (1 - centre) / estimate.effective_n
