"""Group-sequential tests: interim analyses of incoming results, which allow an early stop.

The boundaries come from Lan & DeMets (1983), with alpha spending of O'Brien & Fleming's type. They are
computed by the recursion of Armitage, McPherson & Rowe (1969). Information is the amount of data behind a
statistic, here the number of tasks. Statistics are standard normal deviates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil, log, pi, sqrt

import msgspec
import numpy as np

from callgauge.stats.intervals import Floats
from callgauge.stats.special_functions import ndtr, ndtri

FARTHEST = 8.0
"""The largest boundary. Beyond it the tail probability is practically 0."""
_POWER = 0.8
_STEPS = 60  # number of halvings in a search, which give 15 digits
_FEWEST_NODES = 48  # minimum number of quadrature points over the region in which a trial continues
_NODES_EACH = 6.0  # quadrature points per standard deviation that an interim analysis adds
_MOST_NODES = 1_200


class AdjustedEstimate(msgspec.Struct, frozen=True):
    """A median-unbiased estimate with its interval after interim analyses, in units of the drift."""

    estimate: float
    low: float
    high: float


def spend_alpha(share: float, alpha: float) -> float:
    """Return how much of a two-sided `alpha` is spent at a share of the information.

    The formula is O'Brien & Fleming's type (Lan & DeMets 1983), half of alpha on each side: 4 (1 - Φ(z /
    √share)), where z is the upper quantile of alpha / 4.
    """
    if share <= 0:
        return 0.0
    return alpha if share >= 1 else 4 * float(ndtr(ndtri(alpha / 4) / sqrt(share)))


def find_boundaries(
    information: Sequence[float], planned: float, alpha: float, *, is_last: bool = False
) -> tuple[float, ...]:
    """Return for each interim analysis the z at which a two-sided test of level `alpha` rejects.

    `information` is the rising information at each analysis so far. `planned` is the information at the end.
    The alpha that is spent depends on the information actually reached. With `is_last`, the last analysis
    spends all the remaining alpha.
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
    """Return the chance of a result as high as `z` at the last interim analysis, in the stage-wise order.

    In this order, a result that crosses the upper boundary earlier is higher, and a result that crosses the
    lower boundary earlier is lower. At the same analysis, a higher z is higher (Fairbanks & Madsen 1982;
    Tsiatis, Rosner & Mehta 1984). `boundaries` holds the boundaries of the earlier analyses. The mean of z is
    drift · √information.
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

    `chance_above` explains the arguments. To convert the drift to the estimate's unit, multiply it by
    √information and by the standard error of the last interim analysis.
    """
    at = sqrt(information[-1])

    def find(chance: float) -> float:
        low, high = ((z + side * (FARTHEST + abs(z))) / at for side in (-1, 1))
        return _halve(
            lambda drift: chance_above(z, information, boundaries, drift) - chance, low, high, steps=32
        )

    return AdjustedEstimate(find(0.5), find(alpha / 2), find(1 - alpha / 2))


def stagewise_p(z: float, information: Sequence[float], boundaries: Sequence[float]) -> float:
    """Return the two-sided p-value of the hypothesis that the drift is 0, in the stage-wise order.

    `chance_above` explains the arguments.
    """
    return min(1.0, 2 * chance_above(abs(z), information, boundaries))


def chance_at_end(z: float, share: float, mean: float, low: float, high: float) -> float:
    """Return the chance that the final z is within `low` to `high`, given `z` at a share of the information.

    `mean` is the expected final z. If `low` is the boundary, the result is the conditional power (Lan, Simon
    & Halperin 1982).
    """
    centre, spread = z * sqrt(share) + mean * (1 - share), sqrt(1 - share)
    if spread == 0:
        return float(low <= z <= high)
    return float(max(0.0, ndtr((high - centre) / spread) - ndtr((low - centre) / spread)))


def anytime_reach(number: int, tuned_to: float, alpha: float) -> float:
    """Return the half-width, in standard errors, of an interval that is valid at all times.

    The interval is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas
    (2024), equation 9, after `number` observations. The interval is narrowest near `tuned_to` observations
    (appendix B.2 of that article).
    """
    scale = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / tuned_to * number
    return sqrt(2 * (scale + 1) / scale * log(sqrt(scale + 1) / alpha))


def observations_needed(error: float, number: int, distance: float, z: float) -> int | None:
    """Return the total number of observations that show a difference of `distance` with 80 % power.

    `error` is the standard error with `number` observations. `z` is the quantile of the test. Return None if
    `distance` is 0.
    """
    if distance <= 0:
        return None
    return ceil(number * ((z + float(ndtri(_POWER))) * error / distance) ** 2)


def normal_quantile(chance: float) -> float:
    """Return the z that a standard normal deviate exceeds with this chance."""
    return -float(ndtri(chance))


class _Walk:
    """The density of z · √information after each interim analysis, if the trial run continues."""

    def __init__(self, drift: float) -> None:
        self.drift = drift
        self.at = 0.0
        self.scores: Floats = np.zeros(1)
        self.chances: Floats = np.ones(1)
        self.step = 0.0

    def go_to(self, information: float) -> Callable[[float], float]:
        """Add information. Return a function that gives the present chance that z is above a value."""
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
    """Return the zero of a rising function between `low` and `high`."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
