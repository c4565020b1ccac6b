"""Tests pass^k, and how often its interval contains the true value if there are few tasks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from bench.statistics.task_cells import cover_pass_k
from callgauge.stats import pass_k


def test_pass_k_is_that_of_tau_bench() -> None:
    """The formula is C(c, k) / C(n, k) (arXiv 2406.12045, section 3).

    If 2 of 4 trials passed, then 1 of 6 pairs of trials passed both.
    """
    tasks = [(4, 4, 1), (4, 2, 1), (4, 0, 1)]
    rates = [estimate.rate for k in (1, 2, 3, 4) if (estimate := pass_k(tasks, k))]
    assert rates == pytest.approx([1 / 2, (1 + 1 / 6) / 3, 1 / 3, 1 / 3])


def test_pass_k_is_over_the_tasks_with_enough_trials() -> None:
    estimate = pass_k([(1, 1, 50), (3, 3, 2), (2, 1, 2)], 2)
    assert estimate is not None
    assert (estimate.rate, estimate.tasks) == (0.5, 4)
    assert pass_k([(1, 1, 50)], 2) is None
    assert pass_k([], 1) is None
    assert pass_k([(2, 1, 0)], 1) is None
    single = pass_k([(4, 3, 1)], 2)
    assert single is not None
    assert (single.rate, single.interval) == (0.5, None)


@pytest.mark.parametrize("passed", [0, 4])
def test_tasks_that_all_went_alike_are_not_certain(passed: int) -> None:
    estimate, more = pass_k([(4, passed, 9)], 4), pass_k([(4, passed, 90)], 4)
    assert estimate is not None
    assert more is not None
    assert estimate.interval is not None
    assert more.interval is not None
    far, farther = (
        (estimate.interval.high, more.interval.high)
        if passed == 0
        else (
            1 - estimate.interval.low,
            1 - more.interval.low,
        )
    )
    # The end of the interval must be between the exact bound 1 - 0.025^(1/n) and the one-sided 95 % bound
    # (rule of three).
    assert 1 - 0.05 ** (1 / 9) < far < 1 - 0.025 ** (1 / 9)
    assert 1 - 0.05 ** (1 / 90) < farther < 1 - 0.025 ** (1 / 90)


def test_tasks_that_are_alike_may_be_told_once_with_their_number() -> None:
    once = pass_k([(4, 3, 6), (8, 1, 2), (4, 0, 1)], 2)
    each = pass_k([(4, 3, 1)] * 6 + [(8, 1, 1)] * 2 + [(4, 0, 1)], 2)
    assert once is not None
    assert each is not None
    assert once.interval is not None
    assert each.interval is not None
    assert (once.rate, once.interval.low, once.interval.high) == pytest.approx(
        (each.rate, each.interval.low, each.interval.high)
    )


@pytest.mark.parametrize("tasks", [2, 3, 5, 10, 20, 50, 200])
def test_tasks_of_k_trials_are_covered_at_every_rate(tasks: int) -> None:
    """A task passes or fails in all k trials. So the exact coverage is a sum of binomial probabilities."""
    estimates = [pass_k([(3, 3, hits), (3, 0, tasks - hits)], 3) for hits in range(tasks + 1)]
    bounds = [estimate.interval for estimate in estimates if estimate and estimate.interval]
    low, high = (np.array([getattr(estimate, end) for estimate in bounds]) for end in ("low", "high"))
    rates = np.linspace(0.001, 0.999, 999)[:, None]
    chances = binom.pmf(np.arange(tasks + 1), tasks, rates)
    covered = (chances * ((low <= rates) & (rates <= high))).sum(1)
    assert covered.min() >= 0.935
    many = (np.minimum(rates, 1 - rates) * tasks >= 10)[:, 0]
    assert covered[many].max(initial=0) <= 0.975


def test_many_trials_of_like_tasks_narrow_the_interval() -> None:
    """The 40 tasks of 8 trials differ only by chance, so they count nearly as 320 independent trials."""
    counts = np.rint(40 * binom.pmf(np.arange(9), 8, 0.5)).astype(int)
    like = pass_k([(8, c, int(number)) for c, number in enumerate(counts)], 1)
    unlike = pass_k([(8, 8, 20), (8, 0, 20)], 1)
    assert like is not None
    assert unlike is not None
    assert like.interval is not None
    assert unlike.interval is not None
    assert like.interval.high - like.interval.low < 0.45 * (unlike.interval.high - unlike.interval.low)


def test_the_interval_of_pass_k_covers_the_chance_that_all_of_k_pass() -> None:
    random, covered = np.random.default_rng(17), []
    for _ in range(300):
        chances = random.beta(2, 2, 80)
        estimate = pass_k([(4, int(c), 1) for c in random.binomial(4, chances)], 2)
        assert estimate is not None
        assert estimate.interval is not None
        # If p has the distribution beta(2, 2), the mean of p² is 0.3.
        covered.append(estimate.interval.low <= 0.3 <= estimate.interval.high)
    assert np.mean(covered) >= 0.92


@pytest.mark.thorough
def test_pass_k_of_few_tasks_covers_as_often_as_it_says() -> None:
    assert [cell for cell in cover_pass_k(400, whole=False, seed=20) if cell.leaves_band] == []
