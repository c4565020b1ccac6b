"""The Wilson score interval of one rate; quantiles, limits and effective numbers of all statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

import numpy as np

from callgauge.stats.special_functions import ndtri, stdtr, stdtrit_of

LEVEL = 0.95
Z = float(ndtri(0.5 + LEVEL / 2))
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval; of a share both ends lie within 0 to 1."""

    low: float
    high: float


def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t for `freedom` degrees of freedom; `inf` is the normal's."""
    return Z if freedom == np.inf else float(stdtrit_of(0.5 + LEVEL / 2)(freedom))


def t_quantiles(freedom: Floats) -> Floats:
    """Return `t_quantile` of each element."""
    is_finite = np.isfinite(freedom)
    return np.where(is_finite, stdtrit_of(0.5 + LEVEL / 2)(np.where(is_finite, freedom, 1.0)), Z)


def two_sided_p(t: Floats, freedom: Floats) -> Floats:
    """Return the two-sided p-value of each t statistic, given its degrees of freedom (may be `inf`)."""
    # Beyond a million degrees of freedom Student's t and the normal distribution agree to six digits.
    return np.asarray(2 * stdtr(np.minimum(freedom, 1e6), -np.abs(t)))


def wilson_bounds(rate: Floats, n: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return both ends of the Wilson score interval (Wilson 1927) for each rate.

    `n`: the (effective) numbers of observations, which need not be whole. `quantile`: the quantile of the
    normal distribution or of Student's t: with the latter and an effective n this is the modified Wilson
    interval of Dean & Pagano (2015).
    """
    squared = quantile * quantile
    shrunk = 1 / (1 + squared / n)
    centre = shrunk * (rate + squared / (2 * n))
    half = shrunk * quantile * np.sqrt(rate * (1 - rate) / n + squared / (4 * n * n))
    # The ends of a rate of 0 or 1 are exact; arithmetic has rounding errors.
    low = np.where(rate == 0, 0.0, np.maximum(0.0, centre - half))
    high = np.where(rate == 1, 1.0, np.minimum(1.0, centre + half))
    return low, high


# The variance of a mean over tasks, or over calls in sessions, is estimated from the units themselves. From
# few of them the estimate is uncertain, and often much too small. These two functions combine it with the
# smallest and the largest possible effective number.
def kish_number(sizes: np.ndarray, many: np.ndarray) -> float:
    """Return Kish's effective number of units, (Σ size)² / Σ size² (Kish 1965); 0 when all sizes are 0.

    `many`: how many units have each size.
    """
    total = float(np.abs(sizes) @ many)
    return total**2 / float(sizes**2 @ many) if total else 0.0


def blend_numbers(own: float | None, least: float, most: float, freedom: float) -> tuple[float, float]:
    """Return an effective number between `least` and `most`, and its degrees of freedom; inf: it is known.

    `own` is the number that the data show, worth `freedom` degrees of freedom. It is averaged with the
    middle of the range, both as logarithms and weighed by their degrees of freedom (the idea of Smyth
    2004). The log of a variance with f degrees has the variance 2 / f, and within the range it can have
    (log range)² / 4 at most (Popoviciu 1935): so the middle is worth 8 / (log range)² degrees. A range of
    one point is known. `own` is None where the data show no spread; the result is then the least number.
    """
    if own is None:
        return least, inf
    span = log(most / least) if most > least else 0.0
    if span < 1e-6:
        return least, inf
    prior = 8 / span**2
    own = min(max(own, least), most)
    blended = (freedom * log(own) + prior * (log(least) + span / 2)) / (freedom + prior)
    return exp(blended), max(1.0, freedom + prior)
