"""Intervals and differences against published values and statsmodels, and whether they keep their word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from callgauge.stats import (
    Share,
    benjamini_hochberg,
    bootstrap_interval,
    compare_paired,
    compare_rates,
    holm,
    pass_k,
    sessions_needed,
)
from callgauge.stats.change_points import find_changes
from callgauge.stats.mixes import standardise

Sessions = Sequence[tuple[int, int]]


def of_sessions(sessions: Sessions) -> Share:
    k, n = (np.array(column, dtype=float) for column in zip(*sessions, strict=True))
    sums = {"kk": (k * k).sum(), "kn": (k * n).sum(), "nn": (n * n).sum()}
    return Share(int(k.sum()), int(n.sum()), len(sessions), **{key: float(v) for key, v in sums.items()})


def drawn(random: np.random.Generator, sessions: int, calls: int, rate: float, alike: float) -> Sessions:
    """Sessions whose own rates spread around `rate` (beta; `alike` is the correlation within a session)."""
    size = random.poisson(calls - 1, sessions) + 1
    if alike == 0:
        return [(int(random.binomial(n, rate)), int(n)) for n in size]
    weight = 1 / alike - 1
    own = random.beta(rate * weight, (1 - rate) * weight, sessions)
    return [(int(random.binomial(n, p)), int(n)) for n, p in zip(size, own, strict=True)]


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


def test_nothing_observed_has_no_interval() -> None:
    assert Share(0, 0).interval is None


@pytest.mark.parametrize(("k", "n"), [(2, 1), (-1, 3), (1, 0)])
def test_more_hits_than_tries_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        Share(k, n)


def test_sessions_of_one_call_are_independent_calls() -> None:
    share = of_sessions([(1, 1)] * 5 + [(0, 1)] * 45)
    assert share.interval == Share(5, 50).interval
    assert share.method_name == "Wilson, 95 %"


def test_calls_that_all_share_their_sessions_fate_count_as_sessions() -> None:
    share = of_sessions([(10, 10)] * 20 + [(0, 10)] * 20)
    assert share.design_effect == pytest.approx(10 * 40 / 39)


def test_a_rate_of_nothing_in_few_sessions_is_not_certain() -> None:
    many, few = of_sessions([(0, 1)] * 1000), of_sessions([(0, 100)] * 10)
    assert many.interval is not None
    assert few.interval is not None
    assert few.interval.high > 0.2 > 0.004 > many.interval.high


@pytest.mark.parametrize(("sessions", "calls"), [(40, 12), (200, 5), (400, 30)])
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.3])
def test_the_interval_covers_the_rate_as_often_as_it_says(
    sessions: int, calls: int, rate: float, alike: float
) -> None:
    random = np.random.default_rng(7)
    found = [of_sessions(drawn(random, sessions, calls, rate, alike)).interval for _ in range(400)]
    covered = np.mean([one is not None and one.low <= rate <= one.high for one in found])
    assert covered >= (0.91 if sessions * rate >= 5 else 0.86)  # see the module on few hits


def test_counting_calls_as_independent_would_not() -> None:
    random = np.random.default_rng(7)
    shares = [of_sessions(drawn(random, 100, 20, 0.1, 0.3)) for _ in range(300)]
    naive = [Share(share.k, share.n).interval for share in shares]
    assert np.mean([one is not None and one.low <= 0.1 <= one.high for one in naive]) < 0.75


# --- two rates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "against", "low", "high"),
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
    of: tuple[int, int], against: tuple[int, int], low: float, high: float
) -> None:
    found = compare_rates(Share(*of), Share(*against))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    reference = confint_proportions_2indep(*of, *against, method="newcomb")
    assert (found.low, found.high) == pytest.approx(reference)
    if 0 < of[0] + against[0] < of[1] + against[1]:
        counts, totals = zip(of, against, strict=True)
        assert found.p == pytest.approx(proportions_ztest(counts, totals)[1])


@pytest.mark.parametrize("alike", [0.0, 0.2])
def test_false_alarms_stay_at_the_stated_rate(alike: float) -> None:
    random = np.random.default_rng(11)
    pairs = [
        (of_sessions(drawn(random, 120, 8, 0.08, alike)), of_sessions(drawn(random, 120, 8, 0.08, alike)))
        for _ in range(600)
    ]
    found = [compare_rates(*pair) for pair in pairs]
    assert np.mean([one is not None and one.is_decisive for one in found]) <= 0.075
    assert np.mean([one is not None and one.p < 0.05 for one in found]) <= 0.075


def test_drawing_whole_sessions_anew_agrees_with_the_interval() -> None:
    random = np.random.default_rng(3)
    of, against = drawn(random, 300, 10, 0.2, 0.2), drawn(random, 300, 10, 0.1, 0.2)
    found = compare_rates(of_sessions(of), of_sessions(against))
    assert found is not None
    assert bootstrap_interval(of, against) == pytest.approx((found.low, found.high), abs=0.01)


def test_sessions_that_are_alike_may_be_told_once_with_their_number() -> None:
    each = [(0, 4)] * 300 + [(1, 4)] * 50 + [(3, 9)] * 20
    of = bootstrap_interval(each, [(0, 4)] * 200 + [(2, 5)] * 100)
    told_once = bootstrap_interval(
        [(0, 4), (1, 4), (3, 9)], [(0, 4), (2, 5)], ([300, 50, 20], [200, 100]), draws=4000
    )
    assert told_once == pytest.approx(of, abs=0.01)
    assert bootstrap_interval([], each) is None
    assert bootstrap_interval([(1, 2)], [(1, 2)], ([10**6], [10**6])) == (0.0, 0.0)


def test_tasks_that_are_alike_may_be_told_once_with_their_number() -> None:
    once, each = (
        compare_paired([0.5, 0.0, -0.2], [3, 40, 2]),
        compare_paired([0.5] * 3 + [0.0] * 40 + [-0.2] * 2),
    )
    assert once is not None
    assert each is not None
    assert (once.low, once.high, once.p) == pytest.approx((each.low, each.high, each.p))
    assert once.method == each.method
    assert compare_paired([0.1], [1]) is None
    alike = compare_paired([0.1], [7])
    assert alike is not None
    assert (alike.low, alike.high) == (0.1, 0.1)


def test_pairing_gives_what_scipy_gives() -> None:
    values = [0.2, -0.1, 0.0, 0.4, 0.25, -0.3, 0.5]
    found, reference = compare_paired(values), ttest_1samp(values, 0.0)
    assert found is not None
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval(0.95)))


def test_nothing_observed_has_no_difference() -> None:
    assert compare_rates(Share(1, 2), Share(0, 0)) is None
    assert compare_paired([0.1]) is None


def test_pairing_sees_what_the_tasks_hide() -> None:
    random = np.random.default_rng(5)
    hard = random.random(60)
    better = [(random.random(5) < h * 0.8).mean() - (random.random(5) < h).mean() for h in hard]
    found = compare_paired(better)
    assert found is not None
    assert found.is_decisive
    assert compare_paired([0.0] * 5) is not None


@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_as_many_sessions_as_it_asks_for_show_the_difference(alike: float) -> None:
    random = np.random.default_rng(13)

    def arm(sessions: int, rate: float) -> Share:
        return of_sessions(drawn(random, sessions, 10, rate, alike))

    more = sessions_needed(arm(400, 0.10), arm(400, 0.10), 0.02)
    assert more is not None
    found = [compare_rates(arm(400 + more, 0.08), arm(400 + more, 0.10)) for _ in range(200)]
    assert 0.68 <= np.mean([one is not None and one.is_decisive for one in found]) <= 0.92
    assert sessions_needed(arm(400 + 2 * more, 0.10), arm(400 + 2 * more, 0.10), 0.02) == 0


def test_without_sessions_nothing_is_asked_for() -> None:
    assert sessions_needed(Share(1, 10), Share(1, 10), 0.01) is None


# --- tasks tried again -----------------------------------------------------------------------------------


def test_pass_k_is_that_of_tau_bench() -> None:
    """C(c, k) / C(n, k), section 3 of arXiv 2406.12045: of 4 trials with 2 passed, 1 of 6 pairs both did."""
    tasks = [(4, 4, 1), (4, 2, 1), (4, 0, 1)]
    rates = [found.rate for k in (1, 2, 3, 4) if (found := pass_k(tasks, k))]
    assert rates == pytest.approx([1 / 2, (1 + 1 / 6) / 3, 1 / 3, 1 / 3])


def test_pass_k_is_over_the_tasks_with_enough_trials() -> None:
    found = pass_k([(1, 1, 50), (3, 3, 2), (2, 1, 2)], 2)
    assert found is not None
    assert (found.rate, found.tasks) == (0.5, 4)
    assert pass_k([(1, 1, 50)], 2) is None
    assert pass_k([], 1) is None
    alike = pass_k([(4, 4, 9)], 4)
    assert alike is not None
    assert (alike.rate, alike.interval) == (1.0, None)


def test_the_interval_of_pass_k_covers_the_chance_that_all_of_k_pass() -> None:
    random, covered = np.random.default_rng(17), []
    for _ in range(300):
        chances = random.beta(2, 2, 80)
        found = pass_k([(4, int(c), 1) for c in random.binomial(4, chances)], 2)
        assert found is not None
        assert found.interval is not None
        # The mean of p² over a beta(2, 2) is 0.3.
        covered.append(found.interval.low <= 0.3 <= found.interval.high)
    assert np.mean(covered) >= 0.92


# --- many of them --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [[], [0.04], [0.01, 0.04, 0.03, 0.005], [0.5, 0.5, 0.001, 1.0, 0.02]])
def test_corrections_are_those_of_statsmodels(p: list[float]) -> None:
    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert ours(p) == pytest.approx(list(multipletests(p, method=method)[1]) if p else [])


# --- mixes ---------------------------------------------------------------------------------------------


def test_a_mix_that_hides_the_better_one_is_said() -> None:
    """The kidney stones of Charig et al. (1986): treatment A is better on both, and worse in the sum."""
    small = (Share(81, 87), Share(234, 270))
    large = (Share(192, 263), Share(55, 80))
    found = standardise([small, large])
    assert found is not None
    assert found.of == pytest.approx(0.8325, abs=5e-4)
    assert found.against == pytest.approx(0.7789, abs=5e-4)
    assert (found.flips, found.covered) == (True, 1.0)


def test_strata_that_only_one_has_are_left_out_and_told() -> None:
    found = standardise([(Share(1, 10), Share(2, 10)), (Share(5, 20), Share(0, 0))])
    assert found is not None
    assert found.covered == 0.5
    assert standardise([(Share(1, 10), Share(0, 0))]) is None


# --- changes -------------------------------------------------------------------------------------------


def test_a_change_is_found_on_its_day() -> None:
    random = np.random.default_rng(3)
    days = [(int(random.binomial(400, 0.02)), 400) for _ in range(30)]
    days += [(int(random.binomial(400, 0.06)), 400) for _ in range(20)]
    (found,) = find_changes(days)
    assert found.first <= 30 <= found.last
    assert found.before == pytest.approx(0.02, abs=0.006)
    assert found.after == pytest.approx(0.06, abs=0.01)


def test_a_series_without_a_change_seldom_shows_one() -> None:
    random = np.random.default_rng(4)
    series = []
    for _ in range(150):
        rates = random.beta(3, 97, 30)  # days differ by themselves
        series.append([(int(random.binomial(200, p)), 200) for p in rates])
    assert sum(bool(find_changes(days)) for days in series) / len(series) <= 0.04


@pytest.mark.parametrize("days", [[], [(1, 2)], [(0, 0)] * 10, [(0, 5)] * 10])
def test_too_little_to_tell_has_no_change(days: list[tuple[int, int]]) -> None:
    assert find_changes(days) == []
