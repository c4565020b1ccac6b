"""Differences when both variants tried the same tasks, or when the same calls were parsed twice."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf, sqrt
from typing import NamedTuple

import msgspec
import numpy as np

from callgauge.stats.differences import Difference
from callgauge.stats.intervals import Z, blend_numbers, kish_number
from callgauge.stats.special_functions import ndtr, ndtri, stdtr, stdtrit

FEWEST_UNLIKE = 10
"""For a verdict, variants must differ in this many tasks. For amounts, this many tasks are enough."""
_ALPHA = 0.05
_STEPS = 50  # number of halvings, which give an end of an interval to 15 digits
_FARTHEST = 38.0  # in standard errors; beyond this the normal distribution is 0 in double precision


class _Moves(NamedTuple):
    """The shares of pairs that moved up and down, and the effective number of independent pairs."""

    up: float
    down: float
    pairs: float


class PairedMean(msgspec.Struct, frozen=True):
    """A mean difference of pairs, with a test against 0 and an interval at any confidence.

    `error` is the standard error, in the unit of the difference. `freedom` holds the degrees of freedom of
    Student's t. `moves` is set for differences of shares: their test and interval are the methods of Tango
    (1998). Other differences use Student's t.
    """

    estimate: float
    error: float
    freedom: float
    moves: _Moves | None = None

    @property
    def score(self) -> float:
        """The test statistic of no difference, for Student's t with `freedom`."""
        if not self.estimate:
            return 0.0
        if self.moves is not None:
            up, down, pairs = self.moves
            return self.estimate * sqrt(pairs / (up + down))
        return self.estimate / self.error if self.error else copysign(inf, self.estimate)

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        return 2 * float(stdtr(self.freedom, -abs(self.score)))

    @property
    def z(self) -> float:
        """The standard normal deviate with the same p-value as the statistic, limited to ±38."""
        score = self.score
        size = abs(score) if self.freedom == inf else -float(ndtri(self.p / 2))
        return copysign(min(size, _FARTHEST), score)

    def reach(self, z: float) -> float:
        """Return the quantile of Student's t with the same probability as `z` of the normal distribution."""
        return z if self.freedom == inf else -float(stdtrit(self.freedom, float(ndtr(-z))))

    def interval(self, z: float) -> tuple[float, float]:
        """Return both ends of the interval with the confidence of ±z of the normal distribution."""
        reach = self.reach(z)
        if self.moves is None:
            return self.estimate - reach * self.error, self.estimate + reach * self.error
        up, down, pairs = self.moves
        return -_score_end(down, up, pairs, reach), _score_end(up, down, pairs, reach)


def measure_paired_shares(
    moved: Sequence[float],
    sizes: Sequence[int],
    gaps: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
) -> PairedMean | None:
    """Return Σ moved / Σ sizes for clusters of tasks. Return None with fewer than two clusters.

    `moved` holds for each cluster the sum of the differences of two shares over the tasks of the cluster.
    Tasks of one cluster may be correlated. With one task in each cluster, the result equals the result of
    `compare_paired`.

    For shares of calls, a task may have any number of calls. Then `moved` sums linearised differences (see
    `task_pairs.TaskPair`), `gaps` sums the differences of hits, and `weights` sums the calls. `gaps` and
    `weights` are divided by the mean number of calls. `gaps` shows how often a task moved. The variance is
    the variance of a difference of two ratio estimates (Cochran 1977, section 6.3).
    """
    if len(sizes) < 2:
        return None
    size, total = np.asarray(sizes, dtype=float), float(sum(sizes))
    most = None if len(sizes) == total else total
    return _measure(
        np.asarray(moved, dtype=float),
        size,
        np.ones(len(size)),
        most,
        None if gaps is None else np.asarray(gaps, dtype=float),
        None if weights is None else np.asarray(weights, dtype=float),
    )


def measure_paired_amounts(moved: Sequence[float], sizes: Sequence[int]) -> PairedMean | None:
    """Return the mean difference of amounts, such as tokens, over clusters of tasks, with Student's t.

    The standard error comes from the delete-one jackknife over clusters (Wolter 2007, chapter 4).
    """
    if len(sizes) < 2:
        return None
    total, size = np.asarray(moved, dtype=float), np.asarray(sizes, dtype=float)
    many = np.ones(len(size))
    variance = _jackknife_variance(total, size, many)
    return PairedMean(float(total.sum() / size.sum()), sqrt(variance), kish_number(size, many) - 1)


def compare_paired(differences: Sequence[float], weights: Sequence[int] | None = None) -> Difference | None:
    """Return the mean difference over tasks that both variants tried.

    Return None with fewer than two tasks. `differences` holds one value from -1 to 1 for each task. With
    `weights`, each value stands for that many tasks. The tasks are the independent units, however often each
    task was tried (Miller 2024, section 4). With one trial of each task, the interval is Tango's score
    interval of paired proportions (Tango 1998), and the p-value comes from McNemar's test without correction.
    `_compare` describes tasks with several trials.

    Limit: the interval is too narrow if one variant has one trial per task, the other has four or more, and
    the pass rate is below 10 % or above 90 %. With 1 against 8 trials, the 95 % interval covers the true
    difference in 80 % of cases at worst.
    """
    values = np.asarray(differences, dtype=float)
    many = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    values, many = values[many > 0], many[many > 0]
    tasks = int(many.sum())
    if tasks < 2:
        return None
    return _compare(values, np.ones(len(values)), many, None, f"paired over {tasks:,} tasks, 95 %")


def compare_same_calls(before: Sequence[int], after: Sequence[int], n: Sequence[int]) -> Difference | None:
    """Return how much a share changed when the same calls were parsed again.

    Return None with fewer than two sessions.

    `before`, `after` and `n` have one number for each session: the hits before, the hits after, and the
    calls. Each call is paired with itself, and the sessions are the independent units. With one call in each
    session, the result equals the result of `compare_paired`. `_compare` describes larger sessions.
    """
    calls = np.asarray(n, dtype=float)
    moved = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    moved, calls = moved[calls > 0], calls[calls > 0]
    sessions = len(calls)
    if sessions < 2:
        return None
    method = f"paired over the same calls, {sessions:,} sessions, 95 %"
    return _compare(moved, calls, np.ones(sessions), float(calls.sum()), method)


def _compare(
    moved: np.ndarray, size: np.ndarray, many: np.ndarray, most: float | None, method: str
) -> Difference:
    """Return Σ moved / Σ size with Tango's score interval over an effective number of pairs.

    `moved` holds how far each unit moved, from -size to size, and `many` holds the number of such units. If
    each pair were independent and moved by -1, 0 or 1, the variance would be (up + down - difference²) /
    pairs. With the effective number of pairs, this variance equals the delete-one jackknife variance over the
    units (Wolter 2007, chapter 4). The lower bound of the effective number is Kish's number of units, which
    is exact if all pairs of a unit move together. The upper bound is `most`; if `most` is None, it is
    estimated from the data. `blend_numbers` weighs the data against these bounds.
    """
    moments = _measure(moved, size, many, most)
    p = moments.p
    low, high = moments.interval(Z)
    # A rounding error must not make the interval contradict the p-value.
    if p >= _ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    elif low <= 0 <= high:
        p = _ALPHA
    return Difference(moments.estimate, low, high, p, method)


def _measure(
    moved: np.ndarray,
    size: np.ndarray,
    many: np.ndarray,
    most: float | None,
    gaps: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> PairedMean:
    """Return the mean difference Σ moved / Σ size. `measure_paired_shares` explains `gaps` and `weights`."""
    gaps = moved if gaps is None else gaps
    whole = float(size @ many)
    estimate = float(moved @ many) / whole
    unlike = max(float(np.abs(gaps) @ many) / whole, abs(estimate))
    up, down = (unlike + estimate) / 2, (unlike - estimate) / 2
    least = kish_number(size, many)
    own = _own_number(moved, size, many, unlike - estimate**2)
    freedom = _degrees_of_freedom(gaps, size, many)
    if weights is not None and own is not None and own < least and np.ptp(weights / size) > 0:
        # With tasks of unequal weight, only the data show the smallest possible number of pairs.
        pairs, freedom = own, max(1.0, freedom)
    else:
        most = max(most, least) if most else max(least, own or least)
        pairs, freedom = blend_numbers(own, least, most, freedom)
    # If all pairs moved alike, one more pair may still move differently.
    error = sqrt(max(up + down - estimate**2, 1 / pairs) / pairs)
    return PairedMean(estimate, error, freedom, _Moves(up, down, pairs))


def _own_number(moved: np.ndarray, size: np.ndarray, many: np.ndarray, variance: float) -> float | None:
    """Return how many pairs, each with this `variance`, give the jackknife variance.

    Return None if no unit moved differently from another.
    """
    ratios = moved / size
    if not np.ptp(ratios) or variance <= 0:
        return None
    return variance / _jackknife_variance(moved, size, many)


def _jackknife_variance(moved: np.ndarray, size: np.ndarray, many: np.ndarray) -> float:
    whole, units = float(size @ many), float(many.sum())
    rest = moved - float(moved @ many) / whole * size
    return (units - 1) / units * float((rest / (whole - size)) ** 2 @ many)


def _degrees_of_freedom(moved: np.ndarray, size: np.ndarray, many: np.ndarray) -> float:
    """Return the degrees of freedom of the jackknife variance (after Korn & Graubard 1998).

    The result is the effective number of units that moved, minus one, limited by two bounds. The first bound
    is the effective number if all pairs of a unit moved together, so that each unit adds size² to the
    variance. The second bound is low where few units moved to one side. Its numbers come from simulation.
    Without the second bound, 7.7 % of tests are false alarms where one variant has four times the trials of
    the other.
    """
    all_moved = kish_number(moved, many)
    rarer = min(kish_number(np.maximum(way, 0), many) for way in (moved, -moved))
    return max(0.0, min(all_moved - 1, kish_number(size**2, many) - 1, 2 * (1 + rarer) + all_moved / 4))


def _score_end(up: float, down: float, pairs: float, reach: float) -> float:
    """Return the largest difference up - down that the score test of Tango (1998) does not reject.

    `up` and `down` are the shares of pairs that moved up and down. `reach` is the quantile of the test.
    """
    estimate = up - down
    low, high = estimate, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        b = -up - down + (2 - estimate) * middle
        c = -down * middle * (1 - middle)
        rarer = (sqrt(max(0.0, b * b - 8 * c)) - b) / 4
        variance = 2 * rarer + middle * (1 - middle)
        if (middle - estimate) ** 2 * pairs <= reach**2 * variance:
            low = middle
        else:
            high = middle
    return low
