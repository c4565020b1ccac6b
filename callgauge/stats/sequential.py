"""Group-sequential tests: look at results while they come in, and stop early, at a stated error rate.

The boundaries are those of Lan & DeMets (1983) with spending of O'Brien & Fleming's type, found by the
recursion of Armitage, McPherson & Rowe (1969). Information is the amount of data of a statistic, in any unit
proportional to it: here the number of tasks. Statistics are standard normal deviates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, pi, sqrt

import numpy as np

from callgauge.stats.intervals import Floats
from callgauge.stats.special_functions import ndtr, ndtri

FARTHEST = 8.0
"""The largest boundary: beyond it nothing is left to spend that a computer tells from 0."""
_POWER = 0.8
_STEPS = 60  # halvings of a search; they give 15 digits
_FEWEST_NODES = 48  # points of the quadrature over a region in which a trial continues
_NODES_EACH = 6.0  # and this many points per standard deviation that a look adds
_MOST_NODES = 1_200


@dataclass(frozen=True, slots=True)
class AdjustedEstimate:
    """A median-unbiased estimate with its interval after looks at the data, in units of the drift."""

    estimate: float
    low: float
    high: float


def spend_alpha(share: float, alpha: float) -> float:
    """Return how much of a two-sided `alpha` is spent at this share of the information.

    O'Brien & Fleming's type (Lan & DeMets 1983), half of it on each side: 4 (1 - Φ(z / √share)), where z is
    the upper quantile of alpha / 4.
    """
    if share <= 0:
        return 0.0
    return alpha if share >= 1 else 4 * float(ndtr(ndtri(alpha / 4) / sqrt(share)))


def find_boundaries(
    information: Sequence[float], planned: float, alpha: float, *, is_last: bool = False
) -> tuple[float, ...]:
    """Return for each look the z at which a two-sided test of level `alpha` decides.

    `information`: that of each look so far, rising; `planned`: that of the end. The spending follows the
    information actually reached. With `is_last` the last look spends all that is left.
    """
    return _find_boundaries(tuple(information), planned, alpha, is_last)


@lru_cache(maxsize=1024)
def _find_boundaries(
    information: tuple[float, ...], planned: float, alpha: float, is_last: bool
) -> tuple[float, ...]:
    spent = [spend_alpha(each / planned, alpha) for each in information]
    if is_last:
        spent[-1] = alpha
    walk, boundaries = _Walk(drift=0.0), []
    for reached, before, after in zip(information, [0.0, *spent], spent, strict=False):
        crosses = walk.go_to(reached)
        chance = max(0.0, after - before) / 2
        boundaries.append(
            _halve(lambda z, goal=chance, chance_at=crosses: goal - chance_at(z), 0.0, FARTHEST)  # type: ignore[misc]
        )
        walk.stop_at(boundaries[-1])
    return tuple(boundaries)


def chance_above(
    z: float, information: Sequence[float], boundaries: Sequence[float], drift: float = 0.0
) -> float:
    """Return the chance of a result as high as `z` at the last look, in the stage-wise order.

    Higher is an earlier crossing of the upper boundary, or a higher z at the same look; lower is an earlier
    crossing of the lower one (Fairbanks & Madsen 1982; Tsiatis, Rosner & Mehta 1984). `boundaries` are those
    of the looks before the last. `drift`: the mean of z is drift · √information.
    """
    if z < 0:
        return 1.0 - chance_above(-z, information, boundaries, -drift)
    walk, above = _Walk(drift), 0.0
    for reached, boundary in zip(information, boundaries, strict=False):
        above += walk.go_to(reached)(boundary)
        walk.stop_at(boundary)
    return min(1.0, above + walk.go_to(information[-1])(z))


def adjust_estimate(
    z: float, information: Sequence[float], boundaries: Sequence[float], alpha: float
) -> AdjustedEstimate:
    """Return the median-unbiased drift and its (1 - alpha) interval, from the stage-wise order.

    Arguments are those of `chance_above`. Multiply by √information times the standard error of the last look
    to have it in the unit of the estimate.
    """
    at = sqrt(information[-1])

    def find(chance: float) -> float:
        low, high = ((z + side * (FARTHEST + abs(z))) / at for side in (-1, 1))
        return _halve(
            lambda drift: chance_above(z, information, boundaries, drift) - chance, low, high, steps=32
        )

    return AdjustedEstimate(find(0.5), find(alpha / 2), find(1 - alpha / 2))


def stagewise_p(z: float, information: Sequence[float], boundaries: Sequence[float]) -> float:
    """Return the two-sided p-value of no drift in the stage-wise order; arguments as in `chance_above`."""
    return min(1.0, 2 * chance_above(abs(z), information, boundaries))


def chance_at_end(z: float, share: float, mean: float, low: float, high: float) -> float:
    """Return the chance that z lies within `low` to `high` at the end, given `z` at this share of it.

    `mean`: that of z at the end, if what is still to come follows it. With the boundary as `low` this is the
    conditional power (Lan, Simon & Halperin 1982).
    """
    centre, spread = z * sqrt(share) + mean * (1 - share), sqrt(1 - share)
    if spread == 0:
        return float(low <= z <= high)
    return float(max(0.0, ndtr((high - centre) / spread) - ndtr((low - centre) / spread)))


def anytime_reach(number: int, tuned_to: float, alpha: float) -> float:
    """Return the half-width, in standard errors, of an interval that is valid at all times.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), equation 9,
    after `number` observations. It is narrowest near `tuned_to` observations (their appendix B.2).
    """
    scale = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / tuned_to * number
    return sqrt(2 * (scale + 1) / scale * log(sqrt(scale + 1) / alpha))


def observations_needed(error: float, number: int, distance: float, z: float) -> int | None:
    """Return the total number of observations that show, with 80 % power, that a mean is off by `distance`.

    `error`: the standard error with `number` observations; `z`: the quantile of the test. None without a
    distance.
    """
    if distance <= 0:
        return None
    return ceil(number * ((z + float(ndtri(_POWER))) * error / distance) ** 2)


def normal_quantile(chance: float) -> float:
    """Return the z that a standard normal deviate exceeds with this chance."""
    return -float(ndtri(chance))


class _Walk:
    """The density of the score, z · √information, from look to look, of a trial that has not stopped."""

    def __init__(self, drift: float) -> None:
        self.drift = drift
        self.at = 0.0
        self.scores: Floats = np.zeros(1)
        self.chances: Floats = np.ones(1)
        self.step = 0.0

    def go_to(self, information: float) -> Callable[[float], float]:
        """Collect information; return the function that gives the chance to be above a z now."""
        self.step, self.at = information - self.at, information
        means, spread = self.scores + self.drift * self.step, sqrt(self.step)

        def above(z: float) -> float:
            return float(self.chances @ ndtr((means - z * sqrt(information)) / spread))

        return above

    def stop_at(self, boundary: float) -> None:
        """Remove the density beyond ±boundary."""
        reach, spread = boundary * sqrt(self.at), sqrt(self.step)
        number = int(min(_MOST_NODES, max(_FEWEST_NODES, ceil(_NODES_EACH * 2 * reach / spread))))
        nodes, weights = _legendre(number)
        scores = reach * nodes
        off = (scores[:, None] - self.scores - self.drift * self.step) / spread
        density = np.exp(-off * off / 2) @ self.chances / (spread * sqrt(2 * pi))
        self.scores, self.chances = scores, reach * weights * density


@lru_cache(maxsize=64)
def _legendre(number: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(number)
    return nodes, weights


def _halve(rising: Callable[[float], float], low: float, high: float, steps: int = _STEPS) -> float:
    """Return where a rising function passes 0, between `low` and `high`."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
