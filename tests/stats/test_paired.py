"""Tests paired differences between two rates of the same tasks or the same calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.contingency_tables import mcnemar

from bench.statistics.task_cells import cover_paired, cover_same_calls
from callgauge.stats import Difference, compare_paired, compare_same_calls
from callgauge.stats.intervals import blend_numbers, kish_number


def of_tasks(differences: Sequence[float], weights: Sequence[int] | None = None) -> Difference:
    difference = compare_paired(differences, weights)
    assert difference is not None
    return difference


def of_calls(before: Sequence[int], after: Sequence[int], n: Sequence[int]) -> Difference:
    difference = compare_same_calls(before, after, n)
    assert difference is not None
    return difference


# --- tasks -----------------------------------------------------------------------------------------------


def test_with_one_trial_a_task_the_interval_is_that_of_tango() -> None:
    """The data are from Fagerland, Lydersen & Laake (2014): airway hyper-responsiveness of 21 children."""
    difference = of_tasks([1.0, -1.0, 0.0], [1, 7, 13])
    assert (difference.low, difference.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize(("up", "down", "same"), [(1, 7, 13), (12, 2, 36), (0, 4, 0), (9, 9, 100)])
def test_with_one_trial_a_task_the_p_value_is_that_of_mcnemar(up: int, down: int, same: int) -> None:
    reference = mcnemar([[0, up], [down, same]], exact=False, correction=False)
    assert of_tasks([1.0, -1.0, 0.0], [up, down, same]).p == pytest.approx(reference.pvalue)


def test_tasks_that_are_alike_may_be_told_once_with_their_number() -> None:
    once = of_tasks([0.5, 0.0, -0.2], [3, 40, 2])
    each = of_tasks([0.5] * 3 + [0.0] * 40 + [-0.2] * 2)
    assert (once.low, once.high, once.p) == pytest.approx((each.low, each.high, each.p))
    assert once.method == each.method
    assert compare_paired([0.1], [1]) is None
    assert compare_paired([0.1, 0.9], [1, 0]) is None
    alike, seven = of_tasks([0.1], [7]), of_tasks([0.1] * 7)
    assert (alike.low, alike.high, alike.p) == pytest.approx((seven.low, seven.high, seven.p))


@pytest.mark.parametrize("value", [1.0, -1.0, 0.1, 0.0])
def test_tasks_that_all_went_alike_are_not_certain(value: float) -> None:
    few, many = of_tasks([value] * 3), of_tasks([value] * 100)
    assert few.p > 0.05
    assert not few.is_decisive
    assert few.high - few.low > 1
    assert 0 < many.high - many.low < 0.2
    assert many.is_decisive == (value != 0)


def test_nothing_that_changed_bounds_the_change_by_the_number_of_tasks() -> None:
    """If there are no discordant pairs, the upper end of Tango's interval is z² / (n + z²)."""
    assert of_tasks([0.0] * 54).high == pytest.approx(3.8415 / (54 + 3.8415), abs=1e-4)


def test_many_tasks_of_many_trials_give_the_t_interval() -> None:
    random = np.random.default_rng(2)
    chances = random.beta(2, 2, 300)
    values = random.binomial(20, chances) / 20 - random.binomial(20, chances) / 20
    difference, reference = of_tasks(values.tolist()), ttest_1samp(values, 0.0)
    low, high = reference.confidence_interval(0.95)
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=0.05 * float(high - low))
    assert difference.p == pytest.approx(reference.pvalue, abs=0.02)


def test_few_tasks_are_wider_than_the_t_interval() -> None:
    values = [0.2, -0.1, 0.0, 0.4, 0.25, -0.3, 0.5]
    low, high = ttest_1samp(values, 0.0).confidence_interval(0.95)
    difference = of_tasks(values)
    assert difference.low < low < high < difference.high


def test_pairing_sees_what_the_tasks_hide() -> None:
    random = np.random.default_rng(5)
    hard = random.random(60)
    better = [(random.random(5) < h * 0.8).mean() - (random.random(5) < h).mean() for h in hard]
    assert of_tasks(better).is_decisive


def test_the_other_way_round_is_the_mirror_image() -> None:
    values = [0.5, 0.25, 0.25, 0.0, -0.125, 1.0]
    difference, mirrored = of_tasks(values), of_tasks([-value for value in values])
    assert (mirrored.low, mirrored.high, mirrored.p) == pytest.approx(
        (-difference.high, -difference.low, difference.p)
    )


def test_p_and_interval_never_disagree() -> None:
    random = np.random.default_rng(3)
    decisive = 0
    for _ in range(1500):
        tasks, trials = int(random.integers(2, 30)), int(random.integers(1, 6))
        values = (random.binomial(trials, 0.6, tasks) - random.binomial(trials, 0.3, tasks)) / trials
        difference = of_tasks(values.tolist())
        assert (difference.p < 0.05) == difference.is_decisive
        assert -1 <= difference.low <= difference.estimate <= difference.high <= 1
        decisive += difference.is_decisive
    assert 300 < decisive < 1200


# --- the same calls ----------------------------------------------------------------------------------------


def test_one_call_a_session_is_the_paired_test() -> None:
    before, after = [1] * 6 + [0] * 14, [0] * 5 + [1] * 2 + [0] * 13
    alone = of_calls(before, after, [1] * 20)
    by_task = of_tasks([new - old for old, new in zip(before, after, strict=True)])
    assert (alone.estimate, alone.low, alone.high, alone.p) == (
        by_task.estimate,
        by_task.low,
        by_task.high,
        by_task.p,
    )


def test_independent_calls_count_as_calls_and_those_that_move_together_as_sessions() -> None:
    apart = of_calls([1] * 50 + [0] * 350, [0] * 350 + [1] * 50, [1] * 400)
    spread = of_calls([1] * 50 + [0] * 50, [0] * 50 + [1] * 50, [4] * 100)
    together = of_calls([4] * 12 + [0] * 88, [0] * 88 + [4] * 12, [4] * 100)
    widths = [difference.high - difference.low for difference in (apart, spread, together)]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    assert widths[2] == pytest.approx(2 * widths[0], rel=0.15)


def test_calls_that_all_stayed_are_bounded_by_their_sessions() -> None:
    difference = of_calls([3] * 50, [3] * 50, [20] * 50)
    assert (difference.estimate, difference.p) == (0.0, 1.0)
    assert difference.high == -difference.low == pytest.approx(3.8415 / (50 + 3.8415), abs=1e-4)


def test_one_huge_session_is_one_session() -> None:
    difference = of_calls([0] * 6, [0, 0, 0, 0, 0, 1500], [10, 10, 10, 10, 10, 2000])
    assert not difference.is_decisive
    assert difference.high - difference.low > 1


def test_sessions_without_calls_are_left_out() -> None:
    assert of_calls([1, 0, 2], [0, 0, 0], [5, 0, 5]) == of_calls([1, 2], [0, 0], [5, 5])
    assert compare_same_calls([1, 0], [0, 0], [5, 0]) is None
    assert compare_same_calls([], [], []) is None


def test_p_and_interval_of_the_same_calls_never_disagree() -> None:
    random = np.random.default_rng(4)
    for _ in range(1000):
        n = random.integers(1, 51, int(random.integers(2, 25)))
        moved = random.binomial(n, random.beta(0.5, 1.0, len(n)))
        rises = random.binomial(moved, 0.75)
        difference = of_calls((moved - rises).tolist(), rises.tolist(), n.tolist())
        assert (difference.p < 0.05) == difference.is_decisive
        assert -1 <= difference.low <= difference.estimate <= difference.high <= 1


# --- effective numbers -------------------------------------------------------------------------------------


def test_kish_counts_units_by_their_sizes() -> None:
    assert kish_number(np.array([2.0, 2.0]), np.array([3.0, 2.0])) == pytest.approx(5)
    assert kish_number(np.array([100.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(1.02, abs=0.01)
    assert kish_number(np.zeros(3), np.ones(3)) == 0


def test_few_degrees_of_freedom_pull_to_the_middle_of_the_range() -> None:
    number, freedom = blend_numbers(80.0, 10.0, 80.0, 0.0)
    assert number == pytest.approx(np.sqrt(10 * 80))
    assert freedom == pytest.approx(8 / np.log(8) ** 2)
    assert blend_numbers(80.0, 10.0, 80.0, 1e6)[0] == pytest.approx(80, rel=1e-3)
    assert blend_numbers(500.0, 10.0, 80.0, 1e6)[0] == pytest.approx(80, rel=1e-3)
    assert blend_numbers(None, 10.0, 80.0, 5.0) == (10.0, np.inf)
    assert blend_numbers(10.0, 10.0, 10.0, 5.0) == (10.0, np.inf)
    assert blend_numbers(1e9, 1.0, 1e9, 0.0)[1] == 1


# --- coverage ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_paired_differences_cover_as_often_as_they_say() -> None:
    assert [cell for cell in cover_paired(250, whole=False, seed=21) if cell.leaves_band] == []


@pytest.mark.thorough
def test_changes_of_the_same_calls_cover_as_often_as_they_say() -> None:
    assert [cell for cell in cover_same_calls(250, whole=False, seed=22) if cell.leaves_band] == []
