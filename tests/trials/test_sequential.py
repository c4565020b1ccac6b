"""Tests group-sequential boundaries and estimates. Published tables and independent integrals give the
expected values.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, t

from callgauge.stats.paired import measure_paired_amounts, measure_paired_shares
from callgauge.stats.sequential import (
    adjust_estimate,
    anytime_reach,
    chance_above,
    chance_at_end,
    find_boundaries,
    observations_needed,
    spend_alpha,
    stagewise_p,
)


@pytest.mark.parametrize(
    ("shares", "alpha", "published", "digits"),
    [
        # Lan-DeMets spending of O'Brien-Fleming type, two-sided 5 % (Reboussin et al. 2000; gsDesign).
        ((0.2, 0.4, 0.6, 0.8, 1), 0.05, (4.877, 3.357, 2.680, 2.290, 2.031), 3),
        ((0.25, 0.5, 0.75, 1), 0.05, (4.333, 2.963, 2.359, 2.014), 3),
        ((1 / 3, 2 / 3, 1), 0.05, (3.710, 2.511, 1.993), 3),
        ((0.5, 1), 0.05, (2.963, 1.969), 3),
        # Analyses with unequal distances: gsDesign sfLDOF, one-sided 2.5 %.
        ((0.6, 0.8, 1), 0.05, (2.669, 2.289, 2.031), 3),
        # SeqBounds.jl, one-sided 5 %. It ignores stops at the other boundary, so only 2 digits are equal.
        ((0.25, 0.5, 0.75, 1), 0.10, (3.7496, 2.5399, 2.0160, 1.7201), 2),
    ],
)
def test_boundaries_are_the_published_ones(
    shares: tuple[float, ...], alpha: float, published: tuple[float, ...], digits: int
) -> None:
    assert find_boundaries(shares, 1, alpha) == pytest.approx(published, abs=0.6 * 10.0**-digits)
    # The unit in which information is measured has no effect.
    assert find_boundaries([200 * each for each in shares], 200, alpha) == pytest.approx(
        find_boundaries(shares, 1, alpha)
    )


# Jennison & Turnbull (2000), tables 2.1 and 2.3: the constants of the tests by Pocock and by O'Brien &
# Fleming.
@pytest.mark.parametrize(
    ("looks", "alpha", "pocock", "obrien_fleming"),
    [
        (2, 0.05, 2.178, 1.977),
        (3, 0.05, 2.289, 2.004),
        (4, 0.05, 2.361, 2.024),
        (5, 0.05, 2.413, 2.040),
        (10, 0.05, 2.555, 2.087),
        (2, 0.01, 2.772, 2.580),
        (5, 0.01, 2.986, 2.621),
        (2, 0.10, 1.875, 1.678),
        (5, 0.10, 2.122, 1.751),
    ],
)
def test_the_recursion_gives_published_tests_their_level(
    looks: int, alpha: float, pocock: float, obrien_fleming: float
) -> None:
    information = list(range(1, looks + 1))
    for boundaries in (
        [pocock] * looks,
        [obrien_fleming * sqrt(looks / each) for each in information],
    ):
        level = 2 * chance_above(boundaries[-1], information, boundaries[:-1])
        assert level == pytest.approx(alpha, abs=3e-4)


@pytest.mark.parametrize(
    ("information", "drift"), [((12, 90, 97, 200), 0.0), ((30, 31, 120), 0.15), ((5, 40, 160), -0.1)]
)
def test_the_chance_of_a_result_is_that_of_the_multivariate_normal(
    information: tuple[int, ...], drift: float
) -> None:
    """The expected value comes from the joint distribution of all interim analyses, without recursion."""
    boundaries = find_boundaries(information, information[-1], 0.05)
    size = np.array(information, dtype=float)
    joint = np.sqrt(np.minimum.outer(size, size) / np.maximum.outer(size, size))
    mean = drift * np.sqrt(size)
    above = 0.0
    for last in range(len(size)):
        least = [*(-each for each in boundaries[:last]), boundaries[last]]
        most = [*boundaries[:last], inf]
        part = slice(0, last + 1)
        above += multivariate_normal(mean[part], joint[part, part]).cdf(
            np.array(most), lower_limit=np.array(least), rng=1
        )
    assert chance_above(boundaries[-1], information, boundaries[:-1], drift) == pytest.approx(above, abs=2e-4)


def test_all_of_alpha_is_spent_at_the_end_however_uneven_the_looks_were() -> None:
    for information, planned in (((12, 90, 97, 188), 200), ((1, 2, 3, 4), 4), ((199, 200), 200)):
        boundaries = find_boundaries(information, planned, 0.05, is_last=True)
        level = 2 * chance_above(boundaries[-1], information, boundaries[:-1])
        assert level == pytest.approx(0.05, abs=1e-6)


def test_nothing_is_spent_before_anything_is_known_and_never_more_than_alpha() -> None:
    assert spend_alpha(0, 0.05) == 0
    assert spend_alpha(1.2, 0.05) == 0.05
    spent = [spend_alpha(share / 20, 0.05) for share in range(21)]
    assert spent == sorted(spent)


def test_at_a_first_look_the_adjusted_estimate_is_the_plain_one() -> None:
    adjusted = adjust_estimate(2.5, [16.0], [], 0.05)
    ends = [(2.5 + side) / 4 for side in (0.0, -norm.ppf(0.975), norm.ppf(0.975))]
    assert (adjusted.estimate, adjusted.low, adjusted.high) == pytest.approx(ends, abs=1e-6)
    assert stagewise_p(2.5, [16.0], []) == pytest.approx(2 * norm.sf(2.5), abs=1e-12)


def test_an_early_stop_is_taken_back_and_the_interval_agrees_with_the_p_value() -> None:
    information = [0.2, 0.4, 0.6]
    boundaries = find_boundaries(information, 1, 0.05)
    for z in (boundaries[-1], -boundaries[-1], 3.2, 1.0):
        adjusted = adjust_estimate(z, information, boundaries[:-1], 0.05)
        p = stagewise_p(z, information, boundaries[:-1])
        assert (adjusted.low > 0 or adjusted.high < 0) == (p < 0.05)
        assert abs(adjusted.estimate) <= abs(z) / sqrt(0.6) + 1e-6
        mirrored = adjust_estimate(-z, information, boundaries[:-1], 0.05)
        assert mirrored.estimate == pytest.approx(-adjusted.estimate, abs=1e-6)
        assert (mirrored.low, mirrored.high) == pytest.approx((-adjusted.high, -adjusted.low), abs=1e-6)


def test_a_boundary_hit_at_the_last_look_has_just_the_level_as_its_p_value() -> None:
    information = [0.2, 0.4, 0.6, 0.8, 1.0]
    boundaries = find_boundaries(information, 1, 0.05)
    assert stagewise_p(boundaries[-1], information, boundaries[:-1]) == pytest.approx(0.05, abs=1e-9)


def test_conditional_power_is_that_of_the_rest_of_the_path() -> None:
    random = np.random.default_rng(3)
    z, share, mean = 1.2, 0.4, 2.8
    ends = z * sqrt(share) + random.normal(mean * (1 - share), sqrt(1 - share), 200_000)
    assert chance_at_end(z, share, mean, 2.0, inf) == pytest.approx((ends >= 2.0).mean(), abs=0.005)
    assert chance_at_end(z, share, 0.0, -0.5, -1.5) == 0
    assert (chance_at_end(2.1, 1.0, 0, 2.0, inf), chance_at_end(1.9, 1.0, 0, 2.0, inf)) == (1, 0)


def test_an_interval_for_all_times_is_wider_than_one_for_one_look_and_narrowest_near_its_tuning() -> None:
    assert all(anytime_reach(number, 60, 0.05) > 2.5 for number in (5, 20, 60, 200, 5_000))
    others = (20, 180, 600)
    assert all(anytime_reach(60, 60, 0.05) < anytime_reach(60, other, 0.05) for other in others)
    # The equation is the authors' equation for the two-sided sequence, multiplied by √n.
    n, alpha, tuned = 37, 0.1, 80
    rho = sqrt((-2 * np.log(alpha) + np.log(-2 * np.log(alpha)) + 1) / tuned)
    width = sqrt(2 * (n * rho**2 + 1) / (n**2 * rho**2) * np.log(sqrt(n * rho**2 + 1) / alpha))
    assert anytime_reach(n, tuned, alpha) == pytest.approx(width * sqrt(n))


def test_a_wanted_power_takes_the_number_of_the_textbook_formula() -> None:
    sd, distance = 0.4, 0.05
    needed = ((norm.ppf(0.975) + norm.ppf(0.8)) * sd / distance) ** 2
    assert observations_needed(sd / sqrt(80), 80, distance, norm.ppf(0.975)) == np.ceil(needed)
    assert observations_needed(0.1, 10, 0.0, 1.96) is None


def test_amounts_of_single_tasks_have_the_paired_t_interval() -> None:
    values = np.random.default_rng(5).normal(3, 10, 25)
    measured = measure_paired_amounts(values.tolist(), [1] * 25)
    assert measured is not None
    error = values.std(ddof=1) / 5
    assert (measured.estimate, measured.error, measured.freedom) == pytest.approx((values.mean(), error, 24))
    low, high = measured.interval(norm.ppf(0.95))

    reach = t.ppf(0.95, 24) * error
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach))
    assert measured.p == pytest.approx(2 * t.sf(abs(values.mean()) / error, 24))
    assert measured.z == pytest.approx(np.sign(values.mean()) * norm.isf(measured.p / 2))


def test_shares_of_single_tasks_have_the_test_of_mcnemar() -> None:
    measured = measure_paired_shares([1.0] * 14 + [-1.0] * 4 + [0.0] * 82, [1] * 100)
    assert measured is not None
    assert measured.z == pytest.approx(10 / sqrt(18))
    low, high = measured.interval(10 / sqrt(18))
    assert low == pytest.approx(0, abs=1e-9)
    assert high > 0.1


def test_one_differing_unit_is_the_least_that_may_happen() -> None:
    nothing = measure_paired_shares([0.0] * 50, [1] * 50)
    assert nothing is not None
    assert (nothing.z, nothing.estimate) == (0, 0)
    assert nothing.error == pytest.approx(1 / 50)
    low, high = nothing.interval(1.96)
    assert low == pytest.approx(-high)
    assert high > 0.03
    assert measure_paired_shares([1.0], [1]) is None


def test_amounts_that_never_differ_are_no_difference_and_a_constant_one_is_certain() -> None:
    same, more = (measure_paired_amounts([value] * 12, [1] * 12) for value in (0.0, 2.0))
    assert same is not None
    assert more is not None
    assert (same.z, same.p) == (0, 1)
    assert (more.z, more.interval(3)) == (38, (2, 2))
