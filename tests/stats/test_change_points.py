"""Tests changes in daily series."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bench.statistics.cells import Cell
from bench.statistics.change_cells import LEAST_COVERED, Series, draw_counts
from callgauge.stats.over_time.change_points import MOST_FALSE, find_changes


def days_at(random: np.random.Generator, rate: float, days: int, n: int = 400) -> list[tuple[int, int]]:
    return [(int(random.binomial(n, rate)), n) for _ in range(days)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "series",
    [Series(30, 200, 0.3, 0.2), Series(30, 2_000, 0.1, 0.4, autocorrelation=0.6), Series(60, 20, 0.0, 0.0)],
    ids=lambda series: series.setting,
)
def test_a_series_without_a_change_shows_one_as_seldom_as_stated(series: Series) -> None:
    random = np.random.default_rng(1)
    alarms = [bool(find_changes(draw_counts(series, series.days, random))) for _ in range(250)]
    cell = Cell("false alarms", series.setting, sum(alarms), len(alarms), most=MOST_FALSE)
    assert not cell.leaves_band, cell


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("series", "least_found"),
    [
        (Series(30, 2_000, 0.2, 0.4, 0.15), 0.5),
        (Series(60, 200, 0.5, 0.2, 0.2), 0.5),
        (Series(30, 20, 0.0, 0.0, 0.3, longest=1), 0.8),
    ],
    ids=lambda value: value.setting if isinstance(value, Series) else "",
)
def test_the_range_of_days_holds_the_true_day(series: Series, least_found: float) -> None:
    random, covered, draws = np.random.default_rng(2), [], 120
    for _ in range(draws):
        true = int(random.integers(series.days // 6, series.days - series.days // 6 + 1))
        changes = find_changes(draw_counts(series, true, random))
        if changes:
            nearest = min(changes, key=lambda change: abs(change.at - true))
            covered.append(nearest.first <= true <= nearest.last)
    cell = Cell("ranges of days", series.setting, sum(covered), len(covered), least=LEAST_COVERED)
    assert not cell.leaves_band, cell
    assert len(covered) / draws >= least_found


def test_a_huge_change_has_one_day() -> None:
    random = np.random.default_rng(3)
    (change,) = find_changes([*days_at(random, 0.02, 20), *days_at(random, 0.5, 20)])
    assert (change.at, change.first, change.last) == (20, 20, 20)


def test_two_changes_keep_their_own_days_and_rates() -> None:
    random = np.random.default_rng(4)
    days = [*days_at(random, 0.02, 30), *days_at(random, 0.1, 30), *days_at(random, 0.3, 30)]
    first, other = find_changes(days)
    assert first.first <= 30 <= first.last < other.first <= 60 <= other.last
    assert (first.before, first.after, other.after) == pytest.approx((0.02, 0.1, 0.3), abs=0.01)
    assert first.after == other.before


def test_days_without_calls_are_neither_good_nor_bad() -> None:
    random = np.random.default_rng(5)
    first, second = days_at(random, 0.02, 20), days_at(random, 0.3, 20)
    (change,) = find_changes([*first, *[(0, 0)] * 5, *second])
    assert change.first <= 25
    assert change.last >= 20
    assert (change.before, change.after) == pytest.approx((0.02, 0.3), abs=0.02)


def test_few_hits_a_day_are_enough_where_the_days_are_many() -> None:
    random = np.random.default_rng(6)
    (change,) = find_changes([*days_at(random, 0.01, 60, 20), *days_at(random, 0.1, 60, 20)])
    assert change.first <= 60 <= change.last


def test_the_same_series_has_the_same_changes_and_is_examined_quickly() -> None:
    random = np.random.default_rng(7)
    days = [*days_at(random, 0.05, 60), *days_at(random, 0.06, 60)]
    start = time.process_time()
    assert find_changes(days) == find_changes(days)
    assert time.process_time() - start < 1  # takes 0.06 s on an idle machine


def test_a_change_is_found_on_its_day() -> None:
    random = np.random.default_rng(3)
    (change,) = find_changes([*days_at(random, 0.02, 30), *days_at(random, 0.06, 20)])
    assert change.first <= 30 <= change.last
    assert change.before == pytest.approx(0.02, abs=0.006)
    assert change.after == pytest.approx(0.06, abs=0.01)


def test_days_that_differ_by_themselves_seldom_show_a_change() -> None:
    random = np.random.default_rng(4)
    series = [[(int(random.binomial(200, p)), 200) for p in random.beta(3, 97, 30)] for _ in range(150)]
    assert sum(bool(find_changes(days)) for days in series) / len(series) <= 0.04


@pytest.mark.parametrize("days", [[], [(1, 2)], [(0, 0)] * 10, [(0, 5)] * 10])
def test_too_little_to_tell_has_no_change(days: list[tuple[int, int]]) -> None:
    assert find_changes(days) == []
