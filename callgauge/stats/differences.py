"""The difference of two rates with its interval and p-value, and what it would take to be sure."""

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
    """A difference of shares, `of` minus `against`: -0.013 is 1.3 points less. `p` is two-sided.

    `method` names what was done, for people.
    """

    estimate: float
    low: float
    high: float
    p: float
    method: str

    @property
    def is_decisive(self) -> bool:
        """True when the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def compare_rates(of: Share, against: Share) -> Difference | None:
    """The difference of two rates from different sessions; None when either was not observed.

    Newcombe's hybrid score interval (Newcombe 1998, method 10): the two Wilson intervals squared and added,
    which holds for any two sound intervals (MOVER; Zou & Donner 2008), so the intervals over sessions take
    the clusters along.
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
    """The pooled score test over the effective numbers."""
    n1, n2 = of.effective_n, against.effective_n
    p1, p2 = of.rate or 0.0, against.rate or 0.0
    pooled = (p1 * n1 + p2 * n2) / (n1 + n2)
    error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return 1.0 if error == 0 else 2 * float(ndtr(-abs(p1 - p2) / error))


def compare_paired(differences: Sequence[float], weights: Sequence[int] | None = None) -> Difference | None:
    """The mean of the differences task by task, both arms having seen each task; None below two tasks.

    A t interval over the tasks, which are the independent units however often each was tried (Miller 2024,
    section 4). For one trial each it tests what McNemar's test does. `weights`: how many tasks have each.
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
    """How much a share changed when the very same calls were judged anew; None without two sessions.

    Per session: hits `before` and `after`, of `n` calls. Each call is its own pair, and the sessions are the
    independent units: the variance of the ratio of the sums, linearised (Cochran 1977, 6.13), and a
    t interval. With one call a session it is `paired`.
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
    """The mean, its standard error and the number of tasks; None below two. `weights`: tasks a value."""
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
    """A check on `difference`: the 95 % percentile interval of whole sessions, each (k, n), drawn anew.

    `weights`: how many sessions have each (k, n), of both arms, so that millions of sessions stay small.
    None where an arm has no session. The same seed gives the same interval.
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
    """How many sessions more, in each arm, would show a difference of `points` (a share) with 80 % power.

    From the usual two-sample formula (Fleiss, Levin & Paik 2003, 4.14, without continuity), times the design
    effect, at as many calls a session as there are now. None when an arm has no session.
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
