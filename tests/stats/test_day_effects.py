"""The newest days against what the days before predict: interval, p-value, and when nothing is said."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import Difference
from callgauge.stats.over_time.day_effects import LEAST_DAYS, DayCounts, compare_with_days_before


def days(k: list[int], n: list[int], *, effect: float = 1.0, weekend: list[bool] | None = None) -> DayCounts:
    return DayCounts(
        np.array([k], dtype=float),
        np.array([n], dtype=float),
        np.array([[effect]]),
        np.array(weekend or [False] * len(k)),
    )


def compare(before: DayCounts, now: DayCounts) -> Difference:
    (found,) = compare_with_days_before(before, now)
    assert found is not None
    return found


EVEN = days([20, 21, 19, 20, 20, 18, 22] * 4, [400] * 28)
UNEVEN = days([5, 40, 10, 35, 20, 8, 22] * 4, [400] * 28)


def test_the_interval_excludes_0_exactly_where_p_is_below_5_percent() -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        rate, n = random.uniform(0.001, 0.3), int(random.integers(30, 3000))
        before = days(random.binomial(200, rate, 20).tolist(), [200] * 20, effect=random.uniform(1, 6))
        found = compare(before, days([int(random.binomial(n, random.uniform(0, 2) * rate))], [n]))
        assert (found.p < 0.05) == found.is_decisive, found
        assert found.low <= found.estimate <= found.high


def test_where_days_are_alike_and_calls_are_independent_it_is_near_the_exact_test() -> None:
    """Of 400 calls at 5 %, 33 or more have a chance of 0.4 %: two-sided 0.8 %; 29 or more: 6 %."""
    assert compare(EVEN, days([33], [400])).p == pytest.approx(0.01, abs=0.008)
    assert compare(EVEN, days([29], [400])).p > 0.05


def test_what_uneven_days_and_sessions_show_anyway_is_no_change() -> None:
    assert compare(EVEN, days([40], [400])).is_decisive
    assert not compare(UNEVEN, days([40], [400])).is_decisive
    assert not compare(EVEN, days([40], [400], effect=6)).is_decisive


def test_a_weekend_is_compared_with_weekends_where_there_are_four() -> None:
    weekend = [number % 7 >= 5 for number in range(28)]
    k = [40 if one else 20 for one in weekend]
    now = days([40], [400], weekend=[True])
    assert not compare(days(k, [400] * 28, weekend=weekend), now).is_decisive
    assert compare(days(k, [400] * 28, weekend=[False] * 28), now).estimate > 0.03


def test_the_mean_of_several_newest_days_is_surer_than_one_of_them() -> None:
    one, several = compare(UNEVEN, days([28], [400])), compare(UNEVEN, days([28] * 30, [400] * 30))
    assert several.high - several.low < one.high - one.low


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (days([1] * (LEAST_DAYS - 1), [50] * (LEAST_DAYS - 1)), days([1], [50])),
        (
            days([1] * (LEAST_DAYS - 1) + [0] * 9, [50] * (LEAST_DAYS - 1) + [0] * 9),
            days([1], [50]),
        ),
        (EVEN, days([0], [0])),
    ],
)
def test_too_few_days_or_nothing_observed_has_no_difference(before: DayCounts, now: DayCounts) -> None:
    assert compare_with_days_before(before, now) == [None]


@pytest.mark.parametrize("k", [0, 400])
def test_all_or_nothing_has_a_finite_interval(k: int) -> None:
    for before in (days([k] * 10, [400] * 10), EVEN):
        for now in (0, 1, 399, 400):
            found = compare(before, days([now], [400]))
            assert np.isfinite([found.estimate, found.low, found.high, found.p]).all()
            assert -1 <= found.low <= found.high <= 1
