"""The Wilson score interval of one rate, quantiles, p-values, and effective numbers of observations."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log
from typing import Any

import msgspec
import numpy as np

from callgauge.stats.special_functions import ndtri, stdtr, stdtrit_of

LEVEL = 0.95
Z = float(ndtri(0.5 + LEVEL / 2))
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Interval(msgspec.Struct, frozen=True):
    """A 95 % interval."""

    low: float
    high: float


@lru_cache(maxsize=10_000)  # an estimate and its interval need the same quantile
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """Return the quantile of Student's t for an interval with confidence `level`.

    For 95 %, the result is the 97.5 % quantile. If `freedom` is `inf`, it is the normal quantile.
    """
    return float(t_quantiles(np.array(freedom), level))


def t_quantiles(freedom: Floats, level: float = LEVEL) -> Floats:
    is_finite = np.isfinite(freedom)
    normal = Z if level == LEVEL else float(ndtri(0.5 + level / 2))
    return np.where(is_finite, stdtrit_of(0.5 + level / 2)(np.where(is_finite, freedom, 1.0)), normal)


def two_sided_p(t: Floats, freedom: Floats) -> Floats:
    """Return the two-sided p-value of each t statistic. The degrees of freedom may be `inf`."""
    # Beyond a million degrees of freedom, Student's t and the normal distribution agree to six digits.
    return np.asarray(2 * stdtr(np.minimum(freedom, 1e6), -np.abs(t)))


def wilson_bounds(rate: Floats, n: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return both ends of the Wilson score interval (Wilson 1927) for each rate.

    `n` holds the (effective) numbers of observations, which need not be whole. `quantile` is a quantile of
    the normal distribution or of Student's t. With Student's t and an effective n, the result is the modified
    Wilson interval of Dean & Pagano (2015).
    """
    squared = quantile * quantile
    shrunk = 1 / (1 + squared / n)
    centre = shrunk * (rate + squared / (2 * n))
    half = shrunk * quantile * np.sqrt(rate * (1 - rate) / n + squared / (4 * n * n))
    # The exact ends for the rates 0 and 1 replace results with rounding errors.
    low = np.where(rate == 0, 0.0, np.maximum(0.0, centre - half))
    high = np.where(rate == 1, 1.0, np.minimum(1.0, centre + half))
    return low, high


# The estimated variance of a mean over few tasks or sessions is uncertain, and often much too small.
# These two functions combine the effective number of units with its smallest and largest possible value.
def kish_number(sizes: np.ndarray, many: np.ndarray) -> float:
    """Return Kish's effective number of units, (Σ size)² / Σ size² (Kish 1965).

    Return 0 when all sizes are 0. `many` holds the number of units of each size.
    """
    total = float(np.abs(sizes) @ many)
    return total**2 / float(sizes**2 @ many) if total else 0.0


def blend_numbers(own: float | None, least: float, most: float, freedom: float) -> tuple[float, float]:
    """Return an effective number between `least` and `most`, and the degrees of freedom of this number (inf
    if it is exact).

    `own` is the number that the data show, with `freedom` degrees of freedom. The logarithm of `own` is
    averaged with the middle of the logarithmic range, weighted by degrees of freedom (the idea of Smyth
    2004). The middle has 8 / (log range)² degrees of freedom, from the bound of Popoviciu (1935). If `own` is
    None, the data show no spread and the result is `least`.
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
