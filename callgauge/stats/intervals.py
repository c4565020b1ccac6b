"""The Wilson score interval of one rate, and the quantiles and limits that all statistics share."""

from __future__ import annotations

from dataclasses import dataclass
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
    known = np.isfinite(freedom)
    return np.where(known, stdtrit_of(0.5 + LEVEL / 2)(np.where(known, freedom, 1.0)), Z)


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
    # The ends of a rate of 0 or 1 are exact; arithmetic leaves them a hair beside it.
    low = np.where(rate == 0, 0.0, np.maximum(0.0, centre - half))
    high = np.where(rate == 1, 1.0, np.minimum(1.0, centre + half))
    return low, high
