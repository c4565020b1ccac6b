"""pass^k: the chance that k trials of a task all pass, with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

import msgspec
import numpy as np

from callgauge.stats.intervals import LEVEL, Interval, Z, blend_numbers, kish_number, t_quantile
from callgauge.stats.special_functions import betaincinv

# 0 would give the exact interval (too wide), and 0.5 would give Jeffreys' interval (too narrow near 0 and 1).
_ENDS = 0.15


class PassK(msgspec.Struct, frozen=True):
    """pass^k over the tasks with at least k trials.

    `rate` is the mean of pass^k over these tasks, and `tasks` is their number. `interval` is None with fewer
    than two tasks.
    """

    k: int
    rate: float
    tasks: int
    interval: Interval | None


def pass_k(outcomes: Sequence[tuple[int, int, int]], k: int) -> PassK | None:
    """Return pass^k: the mean over tasks of C(c, k) / C(n, k). Return None when no task has k trials.

    The definition comes from tau-bench (Yao et al. 2024, arXiv 2406.12045). `outcomes` holds tuples: n
    trials, c passed trials, and the number of tasks with this n and c. The interval is a beta interval
    (Clopper & Pearson 1934) over an effective number of tasks, with a t quantile (Korn & Graubard 1998). The
    effective number lies between the number of tasks and the effective number if all tasks were equally hard
    (`_alike_variance`). If all tasks have the same result, each task counts as one observation.
    """
    usable = [(comb(c, k) / comb(n, k), n, tasks) for n, c, tasks in outcomes if n >= k and tasks]
    if not usable:
        return None
    values = np.array([value for value, _, _ in usable])
    many = np.array([number for _, _, number in usable], dtype=float)
    tasks = int(many.sum())
    rate = float(values @ many) / tasks
    if tasks < 2:
        return PassK(k, rate, tasks, None)
    trials: Counter[int] = Counter()
    for _, n, number in usable:
        trials[int(n)] += int(number)
    return PassK(k, rate, tasks, _interval(values, many, trials, k))


def _interval(values: np.ndarray, many: np.ndarray, trials: Counter[int], k: int) -> Interval:
    tasks = float(many.sum())
    rate = float(values @ many) / tasks
    binary = rate * (1 - rate)
    spread = float((values - rate) ** 2 @ many) / tasks if np.ptp(values) else 0.0
    # If almost all tasks have the value 0, or almost all have the value 1, only the few other tasks cause the
    # spread. So the spread then has few degrees of freedom.
    freedom = min(kish_number(values, many), kish_number(1 - values, many), tasks - 1)
    middle = (rate * tasks + 0.5) / (tasks + 1)
    alike = sum(_alike_variance(middle, n, k) * number for n, number in trials.items()) / tasks
    most = tasks * max(1.0, middle * (1 - middle) / alike)
    own = tasks * binary / spread if spread else None
    number, freedom = blend_numbers(own, tasks, most, freedom)
    return _beta_interval(rate, number * (Z / t_quantile(freedom)) ** 2)


def _alike_variance(rate: float, n: int, k: int) -> float:
    """Return the variance of C(c, k) / C(n, k) if every task has the same pass^k, `rate`.

    The formula is the variance of a U-statistic of n trials (Hoeffding 1948, 5.13), where two choices of k
    trials have j trials in common.
    """
    p = float(rate ** (1 / k))
    chances = (comb(k, j) * comb(n - k, k - j) / comb(n, k) for j in range(k + 1))
    return sum(chance * (p ** (2 * k - j) - p ** (2 * k)) for j, chance in enumerate(chances))


def _beta_interval(rate: float, number: float) -> Interval:
    """Return the beta interval of a rate of `number` observations, which need not be whole.

    `_ENDS` = 0 would give the interval of Clopper & Pearson, and 0.5 would give the interval of Jeffreys'
    prior (Brown, Cai & DasGupta 2001, 4.1). For 2 to 1,000 binary tasks, the 95 % interval contains the true
    rate in at least 93.7 % of samples.
    """
    hits, misses, tail = rate * number, (1 - rate) * number, 0.5 - LEVEL / 2
    low = betaincinv(hits + _ENDS, misses + 1 - _ENDS, tail) if rate > 0 else 0.0
    high = 1 - betaincinv(misses + _ENDS, hits + 1 - _ENDS, tail) if rate < 1 else 1.0
    return Interval(low, high)
