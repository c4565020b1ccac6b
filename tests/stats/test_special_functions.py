"""Compares our special functions with scipy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
from scipy.stats import binom

from callgauge.stats import special_functions as ours

INF, NAN = np.inf, np.nan
FREEDOM = np.concatenate([[1, 2, 5, 6, 7, 160, 161], np.geomspace(0.1, 1e12, 160)])[:, None]
Numbers = Any  # an array, or a value that numpy converts to an array


def worst_error(values: Numbers, expected: Numbers) -> float:
    """Return the largest relative error. Equal infinities count as equal, and so do two `nan`."""
    values, expected = np.broadcast_arrays(np.asarray(values, dtype=float), np.asarray(expected, dtype=float))
    same = (values == expected) | (np.isnan(values) & np.isnan(expected))
    return float(np.max(np.abs(values[~same] / expected[~same] - 1), initial=0.0))


def test_the_normal_distribution() -> None:
    x = np.linspace(-37, 9, 4001)
    chances = np.concatenate([np.geomspace(1e-307, 0.499, 2000), 1 - np.geomspace(1e-15, 0.499, 500)])
    assert worst_error(ours.ndtr(x), scipy.special.ndtr(x)) < 1e-12
    assert worst_error(ours.ndtri(chances), scipy.special.ndtri(chances)) < 1e-14


def test_the_distribution_of_students_t() -> None:
    t = np.concatenate([[0.0], np.geomspace(1e-3, 1e140, 400)])
    expected = scipy.special.stdtr(FREEDOM, -t)
    is_normal = expected > 1e-300  # smaller doubles have fewer digits
    assert worst_error(ours.stdtr(FREEDOM, -t)[is_normal], expected[is_normal]) < 1e-12
    assert worst_error(ours.stdtr(FREEDOM, t), scipy.special.stdtr(FREEDOM, t)) < 1e-13


@pytest.mark.parametrize("chance", [0.5001, 0.6, 0.8, 0.95, 0.975, 0.999, 1 - 1e-6, 1 - 1e-12])
def test_the_quantiles_of_students_t(chance: float) -> None:
    expected = scipy.special.stdtrit(FREEDOM, chance)
    allowed = 1e-10 if chance < 0.6 else 1e-12  # near the median, a relative error of 1e-12 is not reached
    assert worst_error(ours.stdtrit(FREEDOM, chance), expected) < allowed
    assert worst_error(ours.stdtrit_of(chance)(FREEDOM), expected) < allowed


def test_far_quantiles_of_students_t_lead_back_to_their_chance() -> None:
    """The expected values do not come from scipy.special.stdtrit, which is wrong there by a factor of 2 or
    more.
    """
    chances = np.geomspace(1e-290, 1e-3, 100)
    freedom = np.geomspace(4, 1e9, 60)[:, None]
    back = scipy.special.stdtr(freedom, ours.stdtrit(freedom, chances))
    assert worst_error(back, np.broadcast_to(chances, back.shape)) < 1e-12


def test_digamma_and_trigamma() -> None:
    x = np.geomspace(1e-8, 1e12, 4000)
    # Near the zero of digamma, the relative error grows. These points are left out.
    far = np.abs(x - 1.4616321449683623) > 0.01
    assert worst_error(ours.digamma(x[far]), scipy.special.digamma(x[far])) < 1e-12
    assert np.abs(ours.digamma(x[~far]) - scipy.special.digamma(x[~far])).max() < 1e-14
    assert worst_error(ours.trigamma(x), scipy.special.polygamma(1, x)) < 1e-14


@pytest.mark.parametrize("chance", [1e-6, 0.025, 0.3, 0.8, 0.975])
def test_the_quantiles_of_beta_distributions(chance: float) -> None:
    sizes = np.geomspace(0.15, 1e4, 12)
    for a in sizes:
        quantiles = [ours.betaincinv(a, b, chance) for b in sizes]
        assert worst_error(quantiles, scipy.special.betaincinv(a, sizes, chance)) < 1e-12


def test_binomial_chances_and_poisson_means() -> None:
    for number in (0, 1, 7, 200, 3000):
        for chance in (0.0, 1e-6, 0.3, 0.9, 1.0):
            expected = binom.pmf(np.arange(number + 1), number, chance)
            chances = ours.binomial_chances(number, chance)
            assert chances.shape == expected.shape
            assert np.abs(chances - expected).max() < 1e-12
    for count in (1, 2, 10, 100):
        for chance in (0.01, 0.5, 0.8, 0.999):
            assert (
                worst_error(ours.poisson_mean(count, chance), scipy.special.gammaincinv(count, chance))
                < 1e-12
            )


def test_the_ends_of_each_domain() -> None:
    assert worst_error(ours.ndtr([-INF, INF, NAN, 0]), [0, 1, NAN, 0.5]) == 0
    assert worst_error(ours.ndtri([0, 1, 0.5, -0.1, 1.1, NAN]), [-INF, INF, 0, NAN, NAN, NAN]) == 0
    assert worst_error(ours.stdtr(4, [-INF, INF, NAN, 0]), [0, 1, NAN, 0.5]) == 0
    freedom = [INF, 0, -1, NAN]
    assert worst_error(ours.stdtr(freedom, -2.0), scipy.special.stdtr(freedom, -2.0)) < 1e-12
    assert worst_error(ours.stdtrit(freedom, 0.975), [scipy.special.ndtri(0.975), NAN, NAN, NAN]) < 1e-12
    assert worst_error(ours.stdtrit(4, [0, 1, 0.5, -1, 2, NAN]), [-INF, INF, 0, NAN, NAN, NAN]) == 0
    assert worst_error(ours.digamma([0, -1, INF, NAN]), [-INF, NAN, INF, NAN]) == 0
    assert worst_error(ours.trigamma([0, -1, INF, NAN]), [INF, NAN, 0, NAN]) == 0
    ends = [ours.betaincinv(2, 3, chance) for chance in (0, 1, -1, NAN)]
    assert worst_error([*ends, ours.betaincinv(0, 3, 0.5)], [0, 1, NAN, NAN, NAN]) == 0


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (ours.ndtr, (0.3,)),
        (ours.ndtri, (0.3,)),
        (ours.stdtr, (5, 1.5)),
        (ours.stdtrit, (5, 0.3)),
        (ours.digamma, (2,)),
        (ours.trigamma, (2,)),
        (ours.stdtrit_of(0.975), (5,)),
    ],
)
def test_numbers_give_a_number_and_arrays_keep_their_shape(function: Any, values: tuple[float, ...]) -> None:
    assert isinstance(function(*values), float)
    for shape in ((0,), (1,), (2, 3)):
        array = function(np.full(shape, values[0]), *values[1:])
        assert (array.shape, array.dtype) == (shape, np.float64)
        assert worst_error(array, function(*values)) < 1e-14


def test_a_value_does_not_depend_on_the_other_elements_of_its_array() -> None:
    """Otherwise, a page and a table could show different last digits for the same comparison."""
    freedom = np.linspace(2.5, 80, 300)
    t = np.linspace(-4, 4, 300)
    assert (ours.stdtr(freedom, t) == [ours.stdtr(*pair) for pair in zip(freedom, t, strict=True)]).all()
    quantiles = [ours.stdtrit(one, 0.975) for one in freedom]
    assert (ours.stdtrit(freedom, 0.975) == quantiles).all()
