"""Tests the interval of the cost per successful turn, of the ratio of two such costs, and of two rates."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from callgauge.stats import (
    GROUPS,
    Interval,
    Share,
    compare_mixed_ratios,
    compare_rates,
    compare_ratios,
    divide_rates,
    ratio_interval,
    sum_savings,
)
from tests.analysis.session_shares import draw_share

RANDOM = np.random.default_rng(7)
TURNS = RANDOM.integers(1, 9, GROUPS).astype(float)
MONEY = TURNS * RANDOM.lognormal(0, 0.3, GROUPS)
NONE = np.zeros(GROUPS)


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high / interval.low


def test_the_interval_holds_the_ratio_and_is_one_in_any_currency() -> None:
    interval, dearer = ratio_interval(MONEY, TURNS), ratio_interval(100 * MONEY, TURNS)
    assert interval is not None
    assert dearer is not None
    assert interval.low < MONEY.sum() / TURNS.sum() < interval.high
    assert [dearer.low, dearer.high] == pytest.approx([100 * interval.low, 100 * interval.high])


def test_equal_sessions_leave_no_doubt_and_fewer_leave_more() -> None:
    assert width(ratio_interval(2 * TURNS, TURNS)) == pytest.approx(1)
    few = np.arange(GROUPS) < 10
    assert width(ratio_interval(MONEY * few, TURNS * few)) > width(ratio_interval(MONEY, TURNS))


def test_it_is_not_known_from_few_groups_or_where_one_group_is_all() -> None:
    few = np.arange(GROUPS) < 7
    single = np.arange(GROUPS) == 3
    assert ratio_interval(MONEY * few, TURNS * few) is None
    assert ratio_interval(MONEY, TURNS * single) is None
    assert ratio_interval(NONE, TURNS) is None
    assert ratio_interval(NONE, NONE) is None


def test_a_ratio_compared_with_itself_is_exactly_one() -> None:
    """Both rates have the same sessions. The jackknife leaves each session out of both rates together."""
    ratio = compare_ratios((MONEY, TURNS), (3 * MONEY, TURNS))
    assert ratio is not None
    assert [ratio.low, ratio.high] == pytest.approx([3, 3])


def test_sessions_of_their_own_make_the_difference_wider_than_either() -> None:
    even = np.arange(GROUPS) % 2 == 0
    first, second = (MONEY * even, TURNS * even), (MONEY * ~even, TURNS * ~even)
    between = width(compare_ratios(first, second))
    assert between > max(width(ratio_interval(*first)), width(ratio_interval(*second)))
    assert compare_ratios(first, (NONE, NONE)) is None


@pytest.mark.parametrize(
    ("k", "n", "against"), [(62, 400, (20, 402)), (30, 100, (10, 100)), (5, 60, (9, 50))]
)
def test_the_ratio_of_two_rates_is_close_to_the_score_interval(
    k: int, n: int, against: tuple[int, int]
) -> None:
    ratio = divide_rates(Share(k, n), Share(*against))
    assert ratio is not None
    assert ratio.estimate == pytest.approx(k / n / (against[0] / against[1]))
    low, high = confint_proportions_2indep(k, n, *against, compare="ratio", method="score")
    assert (ratio.low, ratio.high) == pytest.approx((low, high), rel=0.05)


def test_the_ratio_excludes_1_exactly_when_the_difference_excludes_0() -> None:
    random, decided = np.random.default_rng(5), 0
    for _ in range(200):
        shares = [draw_share(random, 40, 6, rate, 0.1) for rate in (0.1, random.choice([0.1, 0.2, 0.3]))]
        ratio, difference = divide_rates(*shares), compare_rates(*shares)
        if ratio and difference:
            decided += difference.is_decisive
            assert (ratio.low > 1, ratio.high < 1) == (difference.low > 0, difference.high < 0)
    assert 50 < decided < 150


def test_a_ratio_of_two_rates_needs_errors_on_the_other_side() -> None:
    assert divide_rates(Share(3, 10), Share(0, 10)) is None
    assert divide_rates(Share(0, 0), Share(3, 10)) is None
    none = divide_rates(Share(0, 50), Share(3, 50))
    assert none is not None
    assert (none.estimate, none.low) == (0, 0)
    assert 0 < none.high < inf


def test_a_mixed_ratio_of_one_stratum_is_the_plain_ratio() -> None:
    first, second = np.stack([MONEY, TURNS]), np.stack([0.4 * MONEY[::-1], TURNS[::-1]])
    mixed, plain = compare_mixed_ratios({"a": first}, {"a": second}), compare_ratios((*first,), (*second,))
    assert mixed is not None
    assert plain is not None
    assert [mixed.interval.low, mixed.interval.high] == pytest.approx([plain.low, plain.high])
    assert mixed.estimate == pytest.approx(0.4)


def test_a_mixed_ratio_does_not_depend_on_the_mix_of_strata() -> None:
    """The second ratio is half the first one in each stratum, but has most turns in the expensive stratum."""
    cheap, dear = np.stack([TURNS, TURNS]), np.stack([9 * TURNS, TURNS])
    second = {"cheap": np.stack([0.5 * TURNS, TURNS]), "dear": 20 * np.stack([4.5 * TURNS, TURNS])}
    mixed = compare_mixed_ratios({"cheap": cheap, "dear": dear, "alone": 10 * cheap}, second)
    assert mixed is not None
    assert mixed.estimate == pytest.approx(0.5)
    assert mixed.covered == pytest.approx(0.5)
    assert compare_mixed_ratios({"alone": cheap}, second) is None
    few = np.arange(GROUPS) < 7
    assert compare_mixed_ratios({"cheap": cheap * few}, second) is None


def test_the_interval_of_a_sum_of_savings_contains_the_sum() -> None:
    first, second = np.stack([MONEY, TURNS]), np.stack([0.4 * MONEY[::-1], TURNS[::-1]])
    ratio = compare_mixed_ratios({"a": first}, {"a": second})
    assert ratio is not None
    saved, bounds = sum_savings([100.0, 50.0], [ratio, ratio])
    assert saved == pytest.approx(90)
    assert bounds.low < 90 < bounds.high
    assert bounds.high - bounds.low == pytest.approx(
        150 * (ratio.interval.high - ratio.interval.low), rel=0.01
    )
