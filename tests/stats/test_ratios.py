"""Tests the interval of the cost per successful turn, and of the ratio of two such costs."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import GROUPS, Interval, compare_ratios, ratio_interval

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
