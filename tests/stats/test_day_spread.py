"""Tests the variance that differences between days add to a difference of rates."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import DayCounts, Share, compare_estimates, compare_rates
from callgauge.stats.day_spread import NO_EXCESS, inflate_mean, measure_excesses
from callgauge.stats.rates import Estimate

FIRST = 20_001
Counts = list[tuple[int, int]]


def of_days(counts: Counts, first: int = 0) -> Share:
    """Return a rate of independent observations, from a pair (hits, observations) for each day."""
    k, n = (np.array(column, dtype=float) for column in zip(*counts, strict=True))
    days = FIRST + first + np.arange(len(counts))
    return Share(int(k.sum()), int(n.sum()), by_day=DayCounts(days, k, n))


@pytest.mark.parametrize(("days", "inflation"), [(1, 1.0), (3, 2.04), (7, 2.96), (14, 3.46), (28, 3.73)])
def test_the_mean_of_days_alike_is_less_sure_than_that_of_independent_days(
    days: int, inflation: float
) -> None:
    assert inflate_mean(np.array([days]))[0] == pytest.approx(inflation, abs=0.005)


def test_the_inflation_is_that_of_an_autoregressive_series() -> None:
    """The expected value is m times the variance of the mean of m values with the correlation 0.6 ** lag."""
    for many in (2, 5, 12):
        lags = np.abs(np.subtract.outer(np.arange(many), np.arange(many)))
        assert inflate_mean(np.array([many]))[0] == pytest.approx((0.6**lags).sum() / many)


def test_days_that_do_not_differ_leave_the_difference_as_its_sessions_make_it() -> None:
    first, other = of_days([(50, 1000)] * 14), of_days([(80, 1000)] * 14)
    assert measure_excesses([(first, other)])[0].whole == 0
    difference = compare_rates(first, other)
    estimates = (Estimate(0.05, 14_000, np.inf, np.inf), Estimate(0.08, 14_000, np.inf, np.inf))
    assert difference == compare_estimates([estimates])[0]


def test_what_hits_both_sides_on_a_day_cancels_and_what_hits_one_does_not() -> None:
    bad_days = [(20, 1000), (80, 1000)] * 7
    both = measure_excesses([(of_days(bad_days), of_days(bad_days))])[0]
    assert both.whole == 0
    alone = measure_excesses([(of_days(bad_days), of_days([(50, 1000)] * 14))])[0]
    # Calculated by hand: the residuals are ±30/14,000 and are scaled by m / (m - 1). Two sampling variances
    # are 0.05 × 0.95 / n.
    sampling = 2 * 0.05 * 0.95 / 14_000
    variance = 14 * (30 / 14_000) ** 2 * 14 / 13
    inflation = float(inflate_mean(np.array([14]))[0])
    assert alone.whole == pytest.approx(inflation * (variance - sampling) / sampling)
    assert (alone.of, alone.against, alone.freedom) == (alone.whole, alone.whole, 13)


def test_of_different_days_each_side_is_as_unsure_as_its_own_days_make_it() -> None:
    bad_days = [(20, 1000), (80, 1000)]
    before, now = of_days(bad_days * 14), of_days(bad_days * 3, first=28)
    excess = measure_excesses([(now, before)])[0]
    variance = 0.05 * 0.95
    beyond = sum(
        (days - 1) * (days * (30 / (1000 * days)) ** 2 * days / (days - 1) - variance / (1000 * days)) * days
        for days in (28, 6)
    )
    one_day = beyond / 32
    parts = [
        one_day * float(inflate_mean(np.array([days]))[0]) / days / (variance / (1000 * days))
        for days in (6, 28)
    ]
    assert (excess.of, excess.against) == pytest.approx(tuple(parts))
    assert excess.freedom == 32
    assert not excess.has_too_few


@pytest.mark.parametrize(("days", "first", "few"), [(4, 4, True), (5, 4, False), (2, 0, False)])
def test_days_of_their_own_take_five_on_one_side(days: int, first: int, few: bool) -> None:
    """If both rates have data on the same days, these days are paired. Then even few days are enough."""
    share, other = of_days([(50, 1000)] * days, first), of_days([(50, 1000)] * 4)
    assert measure_excesses([(share, other)])[0].has_too_few == few
    assert measure_excesses([(other, share)])[0].has_too_few == few


def test_without_counts_by_day_nothing_is_added() -> None:
    assert measure_excesses([(Share(5, 100), of_days([(5, 100)] * 9))]) == [NO_EXCESS]
    assert measure_excesses([(Share(0, 0), Share(1, 2))]) == [NO_EXCESS]


def test_observations_without_any_day_are_compared_by_their_sessions() -> None:
    """The logs have no timestamps, so the variation between days is unknown."""
    share, other = (Share(k, 1000, by_day=DayCounts.make_empty()) for k in (10, 90))
    excess = measure_excesses([(share, other)])[0]
    assert (excess.has_too_few, excess.whole) == (False, 0.0)
    assert measure_excesses([(share, of_days([(50, 1000)] * 4))])[0].has_too_few


def test_days_never_make_a_difference_surer_and_p_agrees_with_the_interval() -> None:
    random = np.random.default_rng(5)
    widened = 0
    for _ in range(200):
        sides = []
        for _ in range(2):
            days, first = int(random.integers(5, 20)), int(random.integers(0, 30))
            n = random.integers(20, 200, days)
            k = random.binomial(n, random.uniform(0.02, 0.4) * random.uniform(0.3, 1.7, days))
            sides.append(of_days(list(zip(k.tolist(), n.tolist(), strict=True)), first))
        difference = compare_rates(*sides)
        plain = compare_estimates([(sides[0].estimate, sides[1].estimate)])[0]  # type: ignore[list-item]
        assert difference is not None
        assert difference.p >= plain.p - 1e-9
        assert difference.high - difference.low >= plain.high - plain.low - 1e-9
        assert difference.is_decisive == (difference.p < 0.05)
        widened += difference.p > plain.p + 1e-6
    assert widened > 50


def test_both_orders_say_the_same() -> None:
    first, other = of_days([(20, 1000), (80, 1000)] * 7), of_days([(50, 900)] * 10, first=6)
    difference, turned = compare_rates(first, other), compare_rates(other, first)
    assert difference is not None
    assert turned is not None
    assert (difference.estimate, difference.low, difference.p) == pytest.approx(
        (-turned.estimate, -turned.high, turned.p)
    )
