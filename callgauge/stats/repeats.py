"""pass^k: the chance that k tries of a task all pass, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from callgauge.stats.differences import mean_over_tasks
from callgauge.stats.intervals import Interval, t_quantile


@dataclass(frozen=True, slots=True)
class PassK:
    """pass^k over the tasks with at least k trials: `rate` is the mean, `tasks` the number of such tasks.

    `interval` is None with fewer than two tasks, or when all tasks went alike.
    """

    k: int
    rate: float
    tasks: int
    interval: Interval | None


def pass_k(outcomes: Sequence[tuple[int, int, int]], k: int) -> PassK | None:
    """Return pass^k: the mean over tasks of C(c, k) / C(n, k); None when no task has k trials.

    The definition is that of tau-bench (Yao et al. 2024, arXiv 2406.12045). `outcomes`: (n trials, c of them
    passed, number of tasks with this n and c). The interval is a t interval over the tasks, within 0 to 1;
    tasks that all went alike show no spread, so the interval is then None.
    """
    known = [(comb(c, k) / comb(n, k), tasks) for n, c, tasks in outcomes if n >= k]
    tasks = sum(number for _, number in known)
    if not tasks:
        return None
    rate = sum(value * number for value, number in known) / tasks
    found = mean_over_tasks([value for value, _ in known], [number for _, number in known])
    if found is None or found[1] == 0:
        return PassK(k, rate, tasks, None)
    reach = t_quantile(tasks - 1) * found[1]
    return PassK(k, rate, tasks, Interval(max(0.0, rate - reach), min(1.0, rate + reach)))
