"""Tests interactions: the difference in one stratum is compared with the difference in all other strata."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import Share, compare_rates, holm
from callgauge.stats.differences import compare_differences
from callgauge.stats.rates import Estimate
from callgauge.stats.standardisation import adjust_families, contrast_strata
from tests.analysis.session_shares import draw_share, of_sessions

INDEPENDENT = [(Share(30, 100), Share(10, 100)), (Share(20, 100), Share(20, 100))]


def estimate(share: Share) -> Estimate:
    assert share.estimate
    return share.estimate


def test_a_contrast_is_the_difference_of_two_differences() -> None:
    first, second = contrast_strata(INDEPENDENT, [0, 1])
    assert first is not None
    assert second is not None
    assert first.estimate == pytest.approx(0.2)
    assert second.estimate == pytest.approx(-0.2)
    assert first.p == pytest.approx(second.p)
    assert first.is_decisive == (first.p < 0.05)


def test_its_interval_combines_those_of_both_differences() -> None:
    """MOVER (Zou & Donner 2008) combines two Newcombe intervals for independent observations."""
    first, other = (compare_rates(*pair) for pair in INDEPENDENT)
    (contrast,) = compare_differences(
        [tuple((estimate(share), estimate(against)) for share, against in INDEPENDENT)]  # type: ignore[list-item]
    )
    assert first is not None
    assert other is not None
    below = np.hypot(first.estimate - first.low, other.high - other.estimate)
    above = np.hypot(first.high - first.estimate, other.estimate - other.low)
    assert contrast.low == pytest.approx(contrast.estimate - below)
    assert contrast.high == pytest.approx(contrast.estimate + above)


def test_a_stratum_is_contrasted_with_the_others_by_their_weights() -> None:
    strata = [
        (Share(45, 90), Share(1, 54)),
        (Share(10, 100), Share(10, 100)),
        (Share(60, 200), Share(40, 200)),
    ]
    contrast, *others = contrast_strata(strata, [0])
    assert contrast is not None
    # The Mantel-Haenszel weights of the other two strata are 50 and 100.
    assert contrast.estimate == pytest.approx(45 / 90 - 1 / 54 - (0 * 50 + 0.1 * 100) / 150)
    assert others == [None, None]


def test_without_another_stratum_in_both_arms_there_is_no_contrast() -> None:
    alone = [(Share(30, 100), Share(10, 100)), (Share(5, 50), Share(0, 0))]
    assert contrast_strata(alone, [0]) == [None, None]
    assert compare_differences([]) == []


def test_calls_of_a_session_make_a_contrast_less_certain() -> None:
    def whole_sessions(k: int) -> Share:
        return of_sessions([(10, 10)] * (k // 10) + [(0, 10)] * (10 - k // 10))

    in_sessions = [
        (whole_sessions(60), whole_sessions(10)),
        (whole_sessions(20), whole_sessions(20)),
    ]
    apart = [(Share(60, 100), Share(10, 100)), (Share(20, 100), Share(20, 100))]
    (clustered, _), (independent, _) = (contrast_strata(strata, [0, 1]) for strata in (in_sessions, apart))
    assert clustered is not None
    assert independent is not None
    assert clustered.estimate == pytest.approx(independent.estimate)
    assert clustered.p > 10 * independent.p


def test_what_the_same_sessions_make_of_both_differences_is_subtracted() -> None:
    random = np.random.default_rng(7)
    share, against = (draw_share(random, 200, 10, 0.3, 0.4) for _ in range(2))
    strangers = (draw_share(random, 200, 10, 0.3, 0.4), draw_share(random, 200, 10, 0.3, 0.4))
    pair = (estimate(share), estimate(against))
    same, other = compare_differences(
        [(pair, pair), (pair, (estimate(strangers[0]), estimate(strangers[1])))]
    )
    assert same.high - same.low < 0.7 * (other.high - other.low)


def test_each_family_gets_the_same_part_of_the_level() -> None:
    assert adjust_families([[0.01, 0.2]]) == [pytest.approx(holm([0.01, 0.2]))]
    few, many = adjust_families([[0.004], [0.004] * 10])
    assert few[0] == pytest.approx(0.008)
    assert many[0] == pytest.approx(0.04)
    assert adjust_families([[None, 0.03], [], [None]]) == [[None, pytest.approx(0.03)], [], [None]]
