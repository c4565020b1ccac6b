"""The effective number of tasks or calls of a mean over few units.

The variance of a mean over tasks, or over calls in sessions, is estimated from the units themselves. From
few of them the estimate is uncertain, and often much too small. The functions here weigh it against what is
known without it: the least and the most that the number can be.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np


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
