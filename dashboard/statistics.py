"""Counts in, intervals out: a thin layer over scipy that decides nothing but which method is used."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import binomtest

ENOUGH = 30  # below this many observations a rate is shown pale: its interval spans most of the scale


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a share, both ends within 0 to 1."""

    low: float
    high: float


def wilson(k: int, n: int) -> Interval | None:
    """The 95 % Wilson score interval of `k` out of `n` (Wilson 1927); None when nothing was observed.

    It treats calls as independent. Raises ValueError unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no share")
    if n == 0:
        return None
    bounds = binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))
