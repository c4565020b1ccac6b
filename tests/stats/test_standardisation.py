"""Tests rates of two variants at the same mix of work."""

from __future__ import annotations

import numpy as np
import pytest

from bench.statistics.draws import Sessions
from callgauge.stats import GROUPS, Share, compare_rates, standardise
from callgauge.stats.rates import measure_spreads
from tests.analysis.session_shares import draw_share, of_sessions, place_sessions

KIDNEY_STONES = [(Share(81, 87), Share(234, 270)), (Share(192, 263), Share(55, 80))]
"""The data of Charig et al. (1986). A is better for small and for large stones, but worse in total."""


def plain_sum(strata: list[tuple[Share, Share]]) -> tuple[Share, Share]:
    share, against = strata[0]
    for more in strata[1:]:
        share, against = share + more[0], against + more[1]
    return share, against


def test_of_the_kidney_stones_the_better_treatment_is_better() -> None:
    standardised, plain = standardise(KIDNEY_STONES), compare_rates(*plain_sum(KIDNEY_STONES))
    assert standardised is not None
    assert plain is not None
    assert plain.estimate == pytest.approx(273 / 350 - 289 / 350)
    # Mantel & Haenszel (1959): the sum of (a·n0 − b·n1) / N, divided by the sum of n1·n0 / N.
    weights = 87 * 270 / 357 + 263 * 80 / 343
    expected = (81 * 270 - 234 * 87) / 357 + (192 * 80 - 55 * 263) / 343
    assert standardised.difference.estimate == pytest.approx(expected / weights)
    assert standardised.of == pytest.approx(0.8341, abs=5e-5)
    assert standardised.against == pytest.approx(0.7802, abs=5e-5)
    assert plain.estimate < 0 < standardised.difference.estimate
    assert (standardised.strata, standardised.covered) == (2, 1.0)
    assert standardised.is_representative
    assert standardised.outweighs(plain)


def test_with_ten_times_as_many_stones_the_better_treatment_is_decisive() -> None:
    strata = [(Share(10 * a.k, 10 * a.n), Share(10 * b.k, 10 * b.n)) for a, b in KIDNEY_STONES]
    standardised, plain = standardise(strata), compare_rates(*plain_sum(strata))
    assert standardised is not None
    assert plain is not None
    assert standardised.difference.low > 0 > plain.high


def test_the_plain_difference_is_what_the_mix_makes_and_what_the_rates_make() -> None:
    """The formula is from Kitagawa (1955): the difference of mixes at the mean rates, plus the difference of
    rates at the mean mix.
    """
    random = np.random.default_rng(41)
    for _ in range(100):
        n = random.integers(1, 300, (2, 4))
        k = random.binomial(n, random.uniform(0.1, 0.9, (2, 4)))
        shares, against = (
            [Share(int(hits), int(calls)) for hits, calls in zip(*arm, strict=True)]
            for arm in zip(k, n, strict=True)
        )
        pairs = list(zip(shares, against, strict=True))
        standardised = standardise(pairs)
        assert standardised is not None
        rates, mixes = k / n, n / n.sum(axis=1, keepdims=True)
        by_rates = ((rates[0] - rates[1]) * mixes.mean(axis=0)).sum()
        assert standardised.by_mix + by_rates == pytest.approx(
            k[0].sum() / n[0].sum() - k[1].sum() / n[1].sum()
        )


def test_of_one_stratum_it_is_the_plain_difference() -> None:
    random = np.random.default_rng(42)
    for _ in range(50):
        share, against = draw_share(random, 60, 8, 0.2, 0.2), draw_share(random, 90, 8, 0.1, 0.2)
        standardised, plain = standardise([(share, against)]), compare_rates(share, against)
        assert standardised is not None
        assert plain is not None
        assert (
            standardised.difference.estimate,
            standardised.difference.low,
            standardised.difference.high,
        ) == pytest.approx((plain.estimate, plain.low, plain.high), abs=1e-12)
        assert standardised.by_mix == pytest.approx(0, abs=1e-12)
        assert not standardised.outweighs(plain)


def test_of_independent_calls_at_equal_mixes_it_is_about_the_plain_difference() -> None:
    strata = [(Share(10, 100), Share(20, 100)), (Share(40, 100), Share(50, 100))]
    standardised, plain = standardise(strata), compare_rates(*plain_sum(strata))
    assert standardised is not None
    assert plain is not None
    assert standardised.difference.estimate == pytest.approx(plain.estimate)
    assert (standardised.difference.low, standardised.difference.high) == pytest.approx(
        (plain.low, plain.high), abs=0.001
    )
    assert standardised.by_mix == pytest.approx(0)


def test_a_stratum_weighs_as_much_as_both_arms_have_of_it_together() -> None:
    """One variant has almost no data in the second stratum. So this stratum has little weight."""
    standardised = standardise([(Share(100, 1000), Share(100, 1000)), (Share(2, 2), Share(0, 1000))])
    assert standardised is not None
    assert standardised.difference.estimate == pytest.approx(1.996 / (500 + 1.996), rel=1e-3)


def test_strata_that_only_one_has_are_left_out_and_told() -> None:
    standardised = standardise(
        [(Share(1, 10), Share(2, 10)), (Share(5, 20), Share(0, 0)), (Share(0, 0), Share(1, 3))]
    )
    assert standardised is not None
    # the smaller of the two variants' shares in common strata
    assert standardised.covered == pytest.approx(10 / 30)
    assert standardised.strata == 1
    assert standardised.difference.estimate == pytest.approx(-0.1)
    assert standardise([(Share(1, 10), Share(0, 0)), (Share(0, 0), Share(3, 10))]) is None
    assert standardise([]) is None


@pytest.mark.parametrize(
    ("common", "representative", "comparable"),
    [(100, True, True), (80, True, True), (79, False, True), (50, False, True), (49, False, False)],
)
def test_how_much_of_the_work_is_common_decides_what_may_be_said(
    common: int, representative: bool, comparable: bool
) -> None:
    rest = 100 - common
    strata = [
        (Share(common // 10, common), Share(common // 5, common)),
        (Share(0, rest), Share(0, 0)),
        (Share(0, 0), Share(0, rest)),
    ]
    standardised, plain = standardise(strata), compare_rates(*plain_sum(strata))
    assert standardised is not None
    assert plain is not None
    assert standardised.covered == pytest.approx(common / 100)
    assert (standardised.is_representative, standardised.is_comparable) == (representative, comparable)
    assert standardised.outweighs(plain) == (not representative)


def test_a_mix_outweighs_where_it_moves_the_difference_by_a_quarter_of_its_doubt() -> None:
    """The failure rate in the second stratum is 40 points higher than in the first. The variants differ more
    and more in how many calls are in the second stratum.
    """
    outweighs = []
    for shift in range(0, 200, 20):
        strata = [
            (Share((500 + shift) // 10, 500 + shift), Share((500 - shift) // 10, 500 - shift)),
            (Share((500 - shift) // 2, 500 - shift), Share((500 + shift) // 2, 500 + shift)),
        ]
        standardised, plain = standardise(strata), compare_rates(*plain_sum(strata))
        assert standardised is not None
        assert plain is not None
        assert standardised.by_mix == pytest.approx(-0.4 * 2 * shift / 1000, abs=0.002)
        assert standardised.outweighs(plain) == (
            abs(standardised.by_mix) > 0.25 * (plain.high - plain.low) / 2
        )
        outweighs.append(standardised.outweighs(plain))
    assert outweighs[0] is False
    assert outweighs[-1] is True
    assert outweighs == sorted(outweighs)


def test_a_stratum_that_one_group_of_sessions_saw_is_left_out() -> None:
    """If a stratum has only one group of sessions, its variance is unknown, even with many calls."""
    share, against = of_sessions([(1, 10)] * 30), of_sessions([(2, 10)] * 30, place_sessions(30, seed=1))
    single = of_sessions([(0, 50), (50, 50)], [7, 7])
    standardised = standardise([(share, against), (single, against)])
    assert standardised is not None
    assert standardised.strata == 1
    assert standardised.covered == pytest.approx(300 / 600)
    assert standardised.of == pytest.approx(0.1)
    several = standardise([(share, against), (of_sessions([(0, 50), (50, 50)], [7, 8]), against)])
    assert several is not None
    assert several.strata == 2


def test_the_spread_of_a_standardised_rate_is_that_of_its_jackknife() -> None:
    """The jackknife leaves a group out of all strata together, so that a session with two tools is left out
    completely.
    """
    random = np.random.default_rng(43)
    own = random.beta(1, 4, 80)
    shares = [
        of_sessions([(int(random.binomial(n, rate)), n) for rate in own], place_sessions(80)) for n in (6, 3)
    ]
    weights = np.array([0.3, 0.7])
    counts = np.array([share.by_group for share in shares]).transpose(1, 0, 2)
    k, n = counts
    (spread,) = measure_spreads(counts[None], weights[None])
    rate = float(weights @ (k.sum(1) / n.sum(1)))
    used = [group for group in range(GROUPS) if n[:, group].any()]
    without = np.array([weights @ ((k.sum(1) - k[:, group]) / (n.sum(1) - n[:, group])) for group in used])
    variance = (len(used) - 1) / len(used) * ((without - rate) ** 2).sum()
    assert spread.base == pytest.approx((weights**2 / n.sum(1)).sum())
    assert spread.effect * rate * (1 - rate) * spread.base == pytest.approx(variance)
    assert np.sort(spread.moves[used]) == pytest.approx(np.sort(rate - without))
    assert not spread.moves[[group for group in range(GROUPS) if group not in used]].any()


@pytest.mark.thorough
@pytest.mark.parametrize("strata", [2, 5, 10])
def test_the_interval_covers_the_difference_where_sessions_have_a_part_in_every_stratum(strata: int) -> None:
    """Each session calls all tools. If the variances of the strata were added, 95 % intervals would cover
    only 60-91 %.
    """
    random = np.random.default_rng(44)
    draws, sessions = 400, Sessions(random, 400)
    arms = []
    for rate in (0.2, 0.25):
        own = sessions.draw_rates(150, rate, 0.2)[:, :, None]
        n = random.poisson(2, (draws, 150, strata)).astype(np.float64)
        k = random.binomial(n.astype(int), np.broadcast_to(own, n.shape)).astype(float)
        arms.append(sessions.put_into_groups(k, n))
    covered = 0
    for draw in range(draws):
        pairs = [tuple(Share.from_groups(*arm[draw, :, part]) for arm in arms) for part in range(strata)]
        standardised = standardise([(share, against) for share, against in pairs])
        assert standardised is not None
        covered += standardised.difference.low <= -0.05 <= standardised.difference.high
    assert covered / draws >= 0.925
