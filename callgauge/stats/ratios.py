"""The interval of a ratio of two sums over sessions, such as money per completed turn."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from callgauge.stats.intervals import Floats, Interval, t_quantile

_FEWEST = 8  # groups of sessions: of fewer the variance is not known


def ratio_interval(tops: Floats, bottoms: Floats) -> Interval | None:
    """Return the 95 % interval of sum(tops) / sum(bottoms), both by group of sessions, in their unit.

    Delete-a-group jackknife of the ratio's logarithm (Wolter 2007, chapter 4), with Student's t. None for
    fewer than eight groups, and where the ratio without one of them is not known.
    """
    used = (tops > 0) | (bottoms > 0)
    groups = int(used.sum())
    rest_top, rest_bottom = tops.sum() - tops[used], bottoms.sum() - bottoms[used]
    if groups < _FEWEST or (rest_top <= 0).any() or (rest_bottom <= 0).any():
        return None
    moves = np.log(rest_top / rest_bottom) - log(tops.sum() / bottoms.sum())
    reach = t_quantile(groups - 1) * sqrt((groups - 1) / groups * float(moves @ moves))
    ratio = float(tops.sum() / bottoms.sum())
    return Interval(ratio * exp(-reach), ratio * exp(reach))
