"""Compares intervals and differences with published values and with statsmodels. Simulates how often
intervals contain the true value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from callgauge.stats import (
    GROUPS,
    Difference,
    Share,
    benjamini_hochberg,
    bootstrap_interval,
    compare_rates,
    holm,
)
from callgauge.stats.differences import compare_estimates
from tests.analysis.session_shares import (
    count_by_group,
    draw_sessions,
    draw_share,
    of_sessions,
    place_sessions,
)

LEAST_COVERED = 0.935
MOST_FALSE = 0.06


# --- one rate ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:857, table I, method 3 (Wilson, uncorrected).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_the_published_one(k: int, n: int, low: float, high: float) -> None:
    bounds = Share(k, n).interval
    assert bounds is not None
    assert bounds.low == pytest.approx(low, abs=5e-5)
    assert bounds.high == pytest.approx(high, abs=5e-5)


def test_of_independent_calls_the_interval_is_that_of_statsmodels() -> None:
    random = np.random.default_rng(17)
    counts = [(0, 1), (1, 1), (0, 5_000), (5_000, 5_000)]
    counts += [(int(random.integers(0, n + 1)), int(n)) for n in random.integers(1, 3_000, 200)]
    for k, n in counts:
        share = Share(k, n)
        assert share.interval is not None
        reference = proportion_confint(k, n, method="wilson")
        assert (share.interval.low, share.interval.high) == pytest.approx(reference, abs=1e-12), (k, n)
        assert share.method_name == "Wilson, 95 %"


def test_nothing_observed_has_no_interval() -> None:
    assert Share(0, 0).interval is None
    assert Share(0, 0, 0, np.zeros((2, GROUPS))).interval is None


@pytest.mark.parametrize(("k", "n"), [(2, 1), (-1, 3), (1, 0)])
def test_more_hits_than_tries_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        Share(k, n)


def test_the_design_effect_is_that_of_the_jackknife_which_leaves_out_each_group_in_turn() -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        sessions = int(random.integers(3, 200))
        share = draw_share(random, sessions, 8, 0.3, 0.2)
        assert share.by_group is not None
        assert share.spread is not None
        k, n = share.by_group
        without = np.array(
            [(k.sum() - k[group]) / (n.sum() - n[group]) for group in range(GROUPS) if n[group]]
        )
        variance = (len(without) - 1) / len(without) * ((without - k.sum() / n.sum()) ** 2).sum()
        rate = share.k / share.n
        assert share.spread.effect == pytest.approx(variance / (rate * (1 - rate) / share.n))
        assert share.spread.groups == len(without)


def test_calls_that_all_share_their_sessions_fate_count_as_sessions() -> None:
    """Each session is its own group. The jackknife leaves out one group at a time, so the variance is 10
    times 40 / 39.
    """
    sessions = [(10, 10)] * 20 + [(0, 10)] * 20
    apart = of_sessions(sessions, range(40))
    assert apart.spread is not None
    assert apart.spread.effect == pytest.approx(10 * 40 / 39)
    placed = [of_sessions(sessions, place_sessions(40, seed)) for seed in range(200)]
    assert np.median([share.design_effect for share in placed]) == pytest.approx(10, rel=0.05)
    assert np.median([share.effective_n for share in placed]) == pytest.approx(40, rel=0.05)


def test_however_few_sessions_have_a_hit_the_interval_has_a_utmost_width() -> None:
    """Each session has one call, so calls are independent, even if the hits are in few groups by chance."""
    sessions = [(1, 1)] * 2 + [(0, 1)] * 98
    widths = []
    for seed in range(200):
        bounds = of_sessions(sessions, place_sessions(100, seed)).interval
        assert bounds is not None
        widths.append(bounds.high - bounds.low)
    plain = Share(2, 100).interval
    assert plain is not None
    # the expected interval has a design effect of 2
    low, high = proportion_confint(0.02 * 50, 50, method="wilson")
    assert np.median(widths) <= 1.3 * (high - low)
    assert np.quantile(widths, 0.02) >= 0.9 * (plain.high - plain.low)


def test_sessions_of_one_call_are_worth_about_their_number_of_calls() -> None:
    """Sessions are put into groups at random. The design effect is 1 on average, and rarely far from 1."""
    sessions = [(1, 1)] * 60 + [(0, 1)] * 240
    effects = [of_sessions(sessions, place_sessions(300, seed)).design_effect for seed in range(300)]
    assert np.mean(effects) == pytest.approx(1, abs=0.05)
    assert np.quantile(effects, 0.99) < 1.8


def test_a_rate_of_nothing_in_few_sessions_is_not_certain() -> None:
    many, few = of_sessions([(0, 1)] * 1000), of_sessions([(0, 100)] * 10, range(10))
    assert many.interval is not None
    assert few.interval is not None
    assert few.interval.high > 0.2 > 0.005 > many.interval.high
    assert few.interval.low == many.interval.low == 0


def test_of_one_session_each_rate_counts_as_one_observation() -> None:
    for k, n in ((1, 44), (2, 2), (1, 2), (0, 300)):
        bounds = of_sessions([(k, n)]).interval
        assert bounds is not None
        reference = proportion_confint(k / n, 1, method="wilson")
        assert (bounds.low, bounds.high) == pytest.approx(reference, abs=1e-12)


def test_a_spread_seen_in_few_sessions_with_a_hit_counts_with_few_degrees_of_freedom() -> None:
    """All five sessions have the same number of hits. This gives 4/5 of five degrees of freedom (Korn &
    Graubard 1998).
    """
    sessions = [(3, 10)] * 5 + [(0, 10)] * 5
    share = of_sessions(sessions, range(10))
    assert share.interval is not None
    chance = 2 * norm.sf(t.ppf(0.975, 4))  # statsmodels expects the level of a normal distribution
    number = share.effective_n
    reference = proportion_confint(0.15 * number, number, alpha=chance, method="wilson")
    assert (share.interval.low, share.interval.high) == pytest.approx(reference, abs=1e-9)
    assert number == pytest.approx(0.15 * 0.85 / (9 / 10 * 10 * (1.5 / 90) ** 2), rel=1e-6)


@pytest.mark.parametrize(("sessions", "is_enough"), [(9, False), (10, True), (30, True)])
def test_thirty_observations_are_enough_in_ten_sessions(sessions: int, is_enough: bool) -> None:
    assert of_sessions([(1, 10)] * sessions, range(sessions)).has_enough == is_enough
    assert not of_sessions([(0, 1)] * 29, range(29)).has_enough
    assert Share(1, 30).has_enough
    # The number of sessions is unknown here. Ten groups contain at least ten sessions, so ten groups are
    # enough.
    for groups, is_enough_of_them in ((9, False), (10, True)):
        by_group = count_by_group([(1, 10)] * groups, range(groups))
        assert Share.from_groups(*by_group).has_enough == is_enough_of_them
    assert not Share(1, 29).has_enough


def test_sessions_that_are_counted_on_several_days_are_still_few() -> None:
    """Five sessions last twelve days. Added over the days, they count as 60 sessions, but there are only five
    groups.
    """
    day = count_by_group([(1, 5)] * 5, range(5))
    assert not Share(5 * 12, 25 * 12, 60, 12 * day).has_enough


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(("sessions", "calls"), [(40, 12), (200, 5), (400, 30), (100, 1)])
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.3])
def test_the_interval_covers_the_rate_as_often_as_it_says(
    sessions: int, calls: int, rate: float, alike: float
) -> None:
    random = np.random.default_rng(7)
    intervals = [draw_share(random, sessions, calls, rate, alike).interval for _ in range(400)]
    covered = [interval is not None and interval.low <= rate <= interval.high for interval in intervals]
    assert np.mean(covered) >= LEAST_COVERED


def test_counting_calls_as_independent_would_not() -> None:
    random = np.random.default_rng(7)
    shares = [draw_share(random, 100, 20, 0.1, 0.3) for _ in range(300)]
    naive = [Share(share.k, share.n).interval for share in shares]
    assert (
        np.mean([interval is not None and interval.low <= 0.1 <= interval.high for interval in naive]) < 0.75
    )


# --- sums of rates -------------------------------------------------------------------------------------


def test_a_session_that_is_in_two_parts_of_a_sum_is_kept_together() -> None:
    """Each session calls two tools, and fails with both or with neither. The sum of the two rates must have
    the interval of the whole.
    """
    random = np.random.default_rng(2)
    sessions, groups = 60, place_sessions(60)
    fails = random.random(sessions) < 0.3
    search = [(4 * bool(fail), 4) for fail in fails]
    edit = [(6 * bool(fail), 6) for fail in fails]
    whole = of_sessions([(10 * bool(fail), 10) for fail in fails], groups)
    total = of_sessions(search, groups) + of_sessions(edit, groups)
    assert (total.k, total.n) == (whole.k, whole.n)
    assert total.interval == whole.interval
    apart = of_sessions(search, groups) + of_sessions(edit, place_sessions(sessions, seed=1))
    assert apart.interval is not None
    assert whole.interval is not None
    assert apart.interval.high - apart.interval.low < 0.85 * (whole.interval.high - whole.interval.low)


def test_shares_add_up_by_group() -> None:
    first, other = of_sessions([(1, 2), (0, 3)], [0, 7]), of_sessions([(2, 2), (1, 5)], [7, 49])
    total = first + other
    assert total == Share(4, 12, 4)
    assert total.by_group is not None
    assert {group: total.by_group[:, group].tolist() for group in (0, 7, 49)} == {
        0: [1, 2],
        7: [2, 5],
        49: [1, 5],
    }
    assert total.by_group.sum(axis=1).tolist() == [4, 12]
    assert (first + Share(1, 1)).sessions is None
    assert Share(1, 2, 1) + Share(1, 3, 2) == Share(2, 5, 3)


def test_a_share_is_made_from_its_groups() -> None:
    k, n = count_by_group([(1, 2), (3, 9)], [3, 4])
    share = Share.from_groups(k, n, 2)
    assert share == Share(4, 11, 2)
    assert share.interval == of_sessions([(1, 2), (3, 9)], [3, 4]).interval


# --- two rates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "against", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:873, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0000),
    ],
)
def test_the_difference_is_the_published_one(
    counts: tuple[int, int], against: tuple[int, int], low: float, high: float
) -> None:
    difference = compare_rates(Share(*counts), Share(*against))
    assert difference is not None
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=5e-5)
    assert difference.method == "Newcombe, 95 %"


def test_of_independent_calls_the_difference_is_that_of_statsmodels() -> None:
    random = np.random.default_rng(18)
    for _ in range(200):
        (k1, n1), (k2, n2) = ((int(random.integers(0, n + 1)), int(n)) for n in random.integers(1, 900, 2))
        difference = compare_rates(Share(k1, n1), Share(k2, n2))
        assert difference is not None
        reference = confint_proportions_2indep(k1, n1, k2, n2, method="newcomb")
        assert difference.estimate == pytest.approx(k1 / n1 - k2 / n2)
        assert (difference.low, difference.high) == pytest.approx(reference, abs=1e-12), (k1, n1, k2, n2)


@pytest.mark.parametrize(
    ("counts", "against"),
    [((56, 70), (48, 80)), ((5, 56), (0, 29)), ((30, 400), (28, 390)), ((6, 7), (2, 7))],
)
def test_at_a_confidence_of_1_minus_p_the_interval_ends_at_0(
    counts: tuple[int, int], against: tuple[int, int]
) -> None:
    difference = compare_rates(Share(*counts), Share(*against))
    assert difference is not None
    low, high = confint_proportions_2indep(*counts, *against, method="newcomb", alpha=difference.p)
    assert (low if difference.estimate > 0 else high) == pytest.approx(0, abs=1e-6)
    wider = confint_proportions_2indep(*counts, *against, method="newcomb", alpha=0.99 * difference.p)
    narrower = confint_proportions_2indep(*counts, *against, method="newcomb", alpha=1.01 * difference.p)
    assert wider[0] < 0 < wider[1]
    assert narrower[0] > 0 or narrower[1] < 0


def compare_all(pairs: Iterable[tuple[Share, Share]]) -> list[Difference]:
    return compare_estimates(
        [(share.estimate, other.estimate) for share, other in pairs if share.estimate and other.estimate]
    )


def draw_independent(random: np.random.Generator) -> Share:
    n = int(random.integers(1, 400))
    return Share(int(random.binomial(n, random.uniform(0, 0.6))), n)


def draw_grouped(random: np.random.Generator) -> Share:
    sessions, calls = int(random.integers(1, 120)), int(random.integers(1, 20))
    return draw_share(random, sessions, calls, random.uniform(0.01, 0.6), random.uniform(0, 0.5))


@pytest.mark.parametrize("draw", [draw_independent, draw_grouped])
def test_p_is_below_5_percent_exactly_where_the_interval_leaves_out_0(
    draw: Callable[[np.random.Generator], Share],
) -> None:
    random = np.random.default_rng(19)
    differences = compare_all((draw(random), draw(random)) for _ in range(2_000))
    for difference in differences:
        assert (difference.p < 0.05) == difference.is_decisive, difference
        assert difference.low <= difference.estimate <= difference.high
        assert 0 <= difference.p <= 1
    assert 400 < sum(difference.is_decisive for difference in differences) < 1_600, "both answers occur"


def test_the_other_way_round_the_difference_is_the_same_with_the_other_sign() -> None:
    random = np.random.default_rng(20)
    for _ in range(100):
        first, other = draw_grouped(random), draw_grouped(random)
        difference, turned = compare_rates(first, other), compare_rates(other, first)
        assert difference is not None
        assert turned is not None
        assert (turned.estimate, turned.low, turned.high) == pytest.approx(
            (-difference.estimate, -difference.high, -difference.low), abs=1e-12
        )
        assert turned.p == pytest.approx(difference.p, abs=1e-12)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("alike", [0.0, 0.2])
def test_false_alarms_stay_at_the_stated_rate(alike: float) -> None:
    random = np.random.default_rng(11)

    def arm() -> Share:
        return draw_share(random, 120, 8, 0.08, alike)

    differences = compare_all((arm(), arm()) for _ in range(2_000))
    assert np.mean([difference.is_decisive for difference in differences]) <= MOST_FALSE
    assert np.mean([difference.p < 0.05 for difference in differences]) <= MOST_FALSE


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("sessions", "other"), [(40, 40), (30, 300), (300, 300)])
@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_the_interval_covers_the_difference_as_often_as_it_says(
    sessions: int, other: int, alike: float
) -> None:
    random = np.random.default_rng(12)
    differences = compare_all(
        (draw_share(random, sessions, 8, 0.15, alike), draw_share(random, other, 8, 0.1, alike))
        for _ in range(2_000)
    )
    covered = [difference.low <= 0.05 <= difference.high for difference in differences]
    assert np.mean(covered) >= LEAST_COVERED


def test_what_two_rates_of_the_same_sessions_have_in_common_is_subtracted() -> None:
    """The same sessions call two tools. A session that fails with one tool also fails with the other tool."""
    random = np.random.default_rng(6)
    own = random.beta(0.4, 1.6, 400)
    sessions, against = (
        [(int(random.binomial(10, min(1.0, rate * harder))), 10) for rate in own] for harder in (1.0, 1.25)
    )
    groups = place_sessions(400)
    together = compare_rates(of_sessions(sessions, groups), of_sessions(against, groups))
    apart = compare_rates(of_sessions(sessions, groups), of_sessions(against, place_sessions(400, seed=1)))
    assert together is not None
    assert apart is not None
    assert together.estimate == apart.estimate
    assert together.high - together.low < 0.7 * (apart.high - apart.low)


def test_drawing_whole_sessions_anew_agrees_with_the_interval() -> None:
    random = np.random.default_rng(3)
    sessions, against = draw_sessions(random, 300, 10, 0.2, 0.2), draw_sessions(random, 300, 10, 0.1, 0.2)
    difference = compare_rates(
        of_sessions(sessions, place_sessions(300, seed=1)), of_sessions(against, place_sessions(300, seed=2))
    )
    assert difference is not None
    assert difference.method == "Newcombe over sessions, 95 %"
    assert bootstrap_interval(sessions, against) == pytest.approx((difference.low, difference.high), abs=0.01)


def test_sessions_that_are_alike_may_be_told_once_with_their_number() -> None:
    each = [(0, 4)] * 300 + [(1, 4)] * 50 + [(3, 9)] * 20
    listed = bootstrap_interval(each, [(0, 4)] * 200 + [(2, 5)] * 100)
    told_once = bootstrap_interval(
        [(0, 4), (1, 4), (3, 9)], [(0, 4), (2, 5)], ([300, 50, 20], [200, 100]), draws=4000
    )
    assert told_once == pytest.approx(listed, abs=0.01)
    assert bootstrap_interval([], each) is None
    assert bootstrap_interval([(1, 2)], [(1, 2)], ([10**6], [10**6])) == (0.0, 0.0)


def test_nothing_observed_has_no_difference() -> None:
    assert compare_rates(Share(1, 2), Share(0, 0)) is None
    assert compare_rates(Share(0, 0), Share(1, 2)) is None


# --- many of them --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("p", [[], [0.04], [0.01, 0.04, 0.03, 0.005], [0.5, 0.5, 0.001, 1.0, 0.02]])
def test_corrections_are_those_of_statsmodels(p: list[float]) -> None:
    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert ours(p) == pytest.approx(list(multipletests(p, method=method)[1]) if p else [], abs=1e-12)


def adjust_by_closed_test(p: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return adjusted p-values by the definition of a closed test (Marcus, Peritz & Gabriel 1976).

    Each set of hypotheses is tested by weighted Bonferroni. A hypothesis is rejected if the tests of all sets
    that contain it reject.
    """
    everyone = range(len(p))
    sets = [each for size in range(1, len(p) + 1) for each in combinations(everyone, size)]
    of_set = {
        each: min(
            1.0, *(p[member] * sum(weights[other] for other in each) / weights[member] for member in each)
        )
        for each in sets
    }
    return [max(of_set[each] for each in sets if member in each) for member in everyone]


def test_weighted_holm_is_the_closed_test_of_weighted_bonferroni() -> None:
    random = np.random.default_rng(21)
    for _ in range(100):
        many = int(random.integers(1, 6))
        p, weights = (random.uniform(0, 0.3, many) ** 2).tolist(), random.uniform(0.1, 3, many).tolist()
        assert holm(p, weights) == pytest.approx(adjust_by_closed_test(p, weights), abs=1e-12)


def test_weighted_holm_keeps_the_order_and_with_equal_weights_it_is_plain_holm() -> None:
    random = np.random.default_rng(22)
    for _ in range(100):
        p, weights = random.random(8).tolist(), random.uniform(0.2, 2, 8).tolist()
        assert holm(p, [0.125] * 8) == pytest.approx(holm(p), abs=1e-12)
        adjusted = holm(p, weights)
        assert all(before <= other for before, other in zip(p, adjusted, strict=True))
        order = sorted(range(8), key=lambda place: p[place] / weights[place])
        assert [adjusted[place] for place in order] == sorted(adjusted)


def test_what_weighs_more_is_decided_more_easily() -> None:
    p = [0.02, 0.02, 0.5]
    assert holm(p) == pytest.approx([0.06, 0.06, 0.5])
    assert holm(p, [0.8, 0.1, 0.1]) == pytest.approx([0.025, 0.04, 0.5])
