"""Tests the estimate of how many more sessions are needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from callgauge.stats import Share, sessions_needed
from callgauge.stats.differences import compare_estimates
from tests.analysis.session_shares import draw_share, fill_sessions, of_sessions, place_sessions


def arm(k: int, n: int, sessions: int, seed: int = 0) -> Share:
    return of_sessions(fill_sessions(k, n, sessions), place_sessions(sessions, seed))


@pytest.mark.parametrize("difference", [0.005, 0.02, 0.05])
@pytest.mark.parametrize("comparisons", [1, 20])
def test_of_independent_calls_it_is_the_textbook_number(difference: float, comparisons: int) -> None:
    """The expected number is from Fleiss, Levin & Paik (2003), 4.2, uncorrected. The power is 80 %, and the
    two-sided level is 5 %.
    """
    shares = Share(100, 1_000, 1_000), Share(100, 1_000, 1_000)
    low, high = 0.1 - difference / 2, 0.1 + difference / 2
    z = norm.isf(0.025 / comparisons) + norm.isf(0.2)
    of_all = z**2 * (low * (1 - low) + high * (1 - high)) / difference**2
    sessions = sessions_needed(*shares, difference, comparisons)
    assert sessions == pytest.approx(max(0.0, of_all - 1_000), abs=1.5)


@pytest.mark.parametrize(("k", "rates"), [(0, (0.0, 0.02)), (100, (0.98, 1.0)), (1, (0.0, 0.02))])
def test_beside_0_and_1_the_rates_are_still_as_far_apart_as_asked(k: int, rates: tuple[float, float]) -> None:
    z = norm.isf(0.025) + norm.isf(0.2)
    of_all = z**2 * sum(rate * (1 - rate) for rate in rates) / 0.02**2
    sessions = sessions_needed(Share(k, 100, 100), Share(k, 100, 100), 0.02)
    assert sessions == pytest.approx(of_all - 100, abs=1.5)


def test_sessions_of_ten_calls_need_a_tenth_where_calls_are_independent() -> None:
    of_one_call = sessions_needed(Share(100, 1_000, 1_000), Share(100, 1_000, 1_000), 0.02)
    ten = sessions_needed(Share(100, 1_000, 100), Share(100, 1_000, 100), 0.02)
    assert of_one_call is not None
    assert ten == pytest.approx(of_one_call / 10, abs=1.5)


def test_where_all_calls_of_a_session_go_alike_ten_are_worth_one() -> None:
    many, few = arm(300, 3_000, 300), arm(30, 300, 300)
    worth = many.design_effect / few.design_effect
    assert worth == pytest.approx(10, rel=0.3)
    first, other = sessions_needed(many, many, 0.02), sessions_needed(few, few, 0.02)
    assert first is not None
    assert other is not None
    assert (first + 300) / (other + 300) == pytest.approx(worth / 10, rel=0.01)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_as_many_sessions_as_it_asks_for_show_the_difference(alike: float) -> None:
    random = np.random.default_rng(13)

    def drawn(sessions: int, rate: float) -> Share:
        return draw_share(random, sessions, 10, rate, alike)

    numbers = [sessions_needed(drawn(400, 0.10), drawn(400, 0.10), 0.02) for _ in range(60)]
    more = round(np.mean([number for number in numbers if number is not None]))
    assert more > 0
    arms = [(drawn(400 + more, 0.08), drawn(400 + more, 0.10)) for _ in range(300)]
    differences = compare_estimates([(a.estimate, b.estimate) for a, b in arms if a.estimate and b.estimate])
    assert 0.74 <= np.mean([difference.is_decisive for difference in differences]) <= 0.87
    assert sessions_needed(drawn(400 + 2 * more, 0.10), drawn(400 + 2 * more, 0.10), 0.02) == 0


def test_a_smaller_difference_takes_more_and_a_larger_one_less() -> None:
    first, other = arm(40, 800, 120, 1), arm(60, 800, 90, 2)
    numbers = [sessions_needed(first, other, size) for size in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)]
    sizes = [each for each in numbers if each is not None]
    assert len(sizes) == len(numbers)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] > sizes[-1] == 0


def test_more_comparisons_take_more_sessions() -> None:
    first, other = arm(40, 800, 120, 1), arm(60, 800, 90, 2)
    numbers = [sessions_needed(first, other, 0.02, comparisons) or 0 for comparisons in (1, 2, 10, 100)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0


def test_which_arm_is_which_and_the_sign_of_the_difference_do_not_matter() -> None:
    first, other = arm(40, 800, 120, 1), arm(60, 800, 90, 2)
    numbers = {
        sessions_needed(*arms, difference)
        for arms in ((first, other), (other, first))
        for difference in (0.02, -0.02)
    }
    assert len(numbers) == 1
    assert numbers != {0}


def test_present_sessions_may_be_enough() -> None:
    assert sessions_needed(Share(500, 10_000, 10_000), Share(600, 10_000, 10_000), 0.02) == 0


def test_without_sessions_or_a_difference_nothing_is_asked_for() -> None:
    assert sessions_needed(Share(1, 10), Share(1, 10), 0.01) is None
    assert sessions_needed(arm(10, 100, 20), Share(0, 0, 0), 0.01) is None
    assert sessions_needed(arm(10, 100, 20), arm(10, 100, 20, 1), 0.0) is None


def test_a_difference_that_ten_million_sessions_would_not_show_is_never_shown() -> None:
    assert sessions_needed(arm(300, 1_000, 500), arm(300, 1_000, 500, 1), 1e-6) is None
