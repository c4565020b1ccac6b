"""Differences of two rates with interval and p-value, and the number of sessions needed to show one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from callgauge.stats.intervals import LEVEL, Share, Z, t_quantile

_AT_ONCE = 1_000_000  # numbers drawn into memory together
POWER = 0.8  # the chance with which a real difference should show, where more sessions are asked for


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two shares, `of` minus `against`, with its 95 % interval: -0.013 is 1.3 points less.

    `p` is the two-sided p-value; `method` is the name of the statistical method, for people.
    """

    estimate: float
    low: float
    high: float
    p: float
    method: str

    @property
    def is_decisive(self) -> bool:
        """True when the interval does not contain 0."""
        return self.low > 0 or self.high < 0


def compare_rates(of: Share, against: Share) -> Difference | None:
    """Return the difference of two rates from different sessions; None when either has no observations.

    The interval is Newcombe's hybrid score interval (Newcombe 1998, method 10), which combines the two Wilson
    intervals. The combination holds for any two sound intervals (MOVER; Zou & Donner 2008), so intervals that
    allow for clustering in sessions can be combined as well.
    """
    one, other = of.interval, against.interval
    if one is None or other is None or of.rate is None or against.rate is None:
        return None
    estimate = of.rate - against.rate
    low = estimate - sqrt((of.rate - one.low) ** 2 + (other.high - against.rate) ** 2)
    high = estimate + sqrt((one.high - of.rate) ** 2 + (against.rate - other.low) ** 2)
    over = " over sessions" if of.is_clustered or against.is_clustered else ""
    return Difference(estimate, low, high, _p_value(of, against), f"Newcombe{over}, 95 %")


def _p_value(of: Share, against: Share) -> float:
    """Return the two-sided p-value of the pooled score test over the effective numbers of observations."""
    n1, n2 = of.effective_n, against.effective_n
    p1, p2 = of.rate or 0.0, against.rate or 0.0
    pooled = (p1 * n1 + p2 * n2) / (n1 + n2)
    error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return 1.0 if error == 0 else 2 * float(ndtr(-abs(p1 - p2) / error))


def compare_paired(differences: Sequence[float], weights: Sequence[int] | None = None) -> Difference | None:
    """Return the mean difference over tasks that both arms tried; None with fewer than two tasks.

    `differences`: one for each task; with `weights`, one for each value, and how many tasks have that value.
    The interval is a t interval over the tasks, which are the independent units however often each was tried
    (Miller 2024, section 4). With one trial of each task, the hypothesis is that of McNemar's test.
    """
    found = mean_over_tasks(differences, weights)
    if found is None:
        return None
    mean, error, tasks = found
    method = f"paired over {tasks:,} tasks, 95 %"
    if error == 0:
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, method)
    reach = t_quantile(tasks - 1) * error
    p = 2 * float(stdtr(tasks - 1, -abs(mean) / error))
    return Difference(mean, max(-1.0, mean - reach), min(1.0, mean + reach), p, method)


def compare_same_calls(before: Sequence[int], after: Sequence[int], n: Sequence[int]) -> Difference | None:
    """Return how much a share changed when the same calls were judged again; None below two sessions.

    `before`, `after` and `n` have one number for each session: the hits before and after, and the calls. Each
    call is paired with itself, and the sessions are the independent units. The interval is a t interval with
    the linearised variance of a ratio of sums (Cochran 1977, 6.13). With one call in each session the result
    is that of `compare_paired`.
    """
    many = np.asarray(n, dtype=float)
    moved = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    calls, sessions = float(many.sum()), len(many)
    if sessions < 2 or not calls:
        return None
    estimate = float(moved.sum()) / calls
    method = f"paired over the same calls, {sessions:,} sessions, 95 %"
    rest = moved - estimate * many
    error = sqrt(sessions / (sessions - 1) * float(rest @ rest)) / calls
    if not moved.any() or error == 0:
        return Difference(estimate, estimate, estimate, 1.0 if estimate == 0 else 0.0, method)
    reach = t_quantile(sessions - 1) * error
    p = 2 * float(stdtr(sessions - 1, -abs(estimate) / error))
    return Difference(estimate, max(-1.0, estimate - reach), min(1.0, estimate + reach), p, method)


def mean_over_tasks(
    values: Sequence[float], weights: Sequence[int] | None = None
) -> tuple[float, float, int] | None:
    """Return the mean, its standard error and the number of tasks; None with fewer than two tasks.

    `weights`: how many tasks have each value; without weights each value is that of one task.
    """
    several = np.asarray(values, dtype=float)
    many = np.ones(len(several)) if weights is None else np.asarray(weights, dtype=float)
    tasks = int(many.sum())
    if tasks < 2:
        return None
    mean = float(several @ many) / tasks
    # Around the mean: differences that are all alike have no spread, not one of rounding.
    spread = float((several - mean) ** 2 @ many) if np.ptp(several[many > 0]) else 0.0
    return mean, sqrt(spread / (tasks - 1) / tasks), tasks


def bootstrap_interval(
    of: Sequence[tuple[int, int]],
    against: Sequence[tuple[int, int]],
    weights: tuple[Sequence[int], Sequence[int]] | None = None,
    *,
    draws: int = 2000,
    seed: int = 1,
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval (low, high) of the difference of two rates, as a check.

    The percentile interval over resampled sessions, each given as (k, n). `weights`: for both arms, how many
    sessions have each (k, n), so that millions of sessions need little memory. None when an arm has no
    session. The same seed gives the same interval.
    """
    random = np.random.default_rng(seed)

    def rates(sessions: Sequence[tuple[int, int]], weights: Sequence[int] | None) -> np.ndarray:
        counts = np.asarray(sessions, dtype=float)
        many = np.ones(len(counts), dtype=np.int64) if weights is None else np.asarray(weights)
        chances, batch = many / many.sum(), max(1, _AT_ONCE // len(counts))
        sums = np.concatenate(
            [
                random.multinomial(many.sum(), chances, size=min(batch, draws - done)) @ counts
                for done in range(0, draws, batch)
            ]
        )
        return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1))

    if not of or not against:
        return None
    first, second = weights or (None, None)
    low, high = np.quantile(rates(of, first) - rates(against, second), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return float(low), float(high)


def sessions_needed(of: Share, against: Share, points: float) -> int | None:
    """Return how many more sessions each arm needs to show a difference of `points` with 80 % power.

    `points` is a share: 0.01 is one point. The number is that of the usual two-sample formula (Fleiss, Levin
    & Paik 2003, 4.14, without continuity correction), times the design effect, at the present number of calls
    in a session. None when an arm has no session.
    """
    if of.rate is None or against.rate is None or not of.sessions or not against.sessions:
        return None
    p1 = of.rate
    p2 = p1 - points if p1 >= points else p1 + points
    z = Z + float(ndtri(POWER))
    calls = z * z * (p1 * (1 - p1) + p2 * (1 - p2)) / points**2
    needed = max(
        ceil(calls * arm.design_effect / (arm.n / arm.sessions)) - arm.sessions
        for arm in (of, against)
        if arm.sessions
    )
    return max(0, needed)
