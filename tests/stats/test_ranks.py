"""Tests ranks of variants, and the uncertainty of the ranks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from callgauge.stats import Difference, Ranking, holm, rank_arms


def differ(estimate: float, p: float) -> Difference:
    reach = abs(estimate) * (0.5 if p < 0.05 else 2) or 0.1
    return Difference(estimate, estimate - reach, estimate + reach, p, "made")


WORKED = {(1, 0): differ(0.10, 0.001), (2, 0): differ(0.12, 0.0001), (2, 1): differ(0.02, 0.6)}
"""The first variant has the lowest rate. Between the other two there is no clear difference."""


def test_an_arm_that_is_better_than_two_is_the_best_and_these_share_the_ranks_below() -> None:
    ranking = rank_arms(3, WORKED, high_is_good=False)
    assert ranking.ranks == [(1, 1), (2, 3), (2, 3)]
    assert ranking.best == [0]
    assert sorted(ranking.wins) == [(0, 1), (0, 2)]
    assert ranking.p == pytest.approx({(1, 0): 0.001, (2, 0): 0.0001, (2, 1): 0.6})


def test_where_a_high_rate_is_good_the_order_is_the_other_way_round() -> None:
    ranking = rank_arms(3, WORKED, high_is_good=True)
    assert ranking.ranks == [(3, 3), (1, 2), (1, 2)]
    assert ranking.best == [1, 2]
    assert sorted(ranking.wins) == [(1, 0), (2, 0)]


def test_without_a_decided_pair_everyone_may_have_every_rank() -> None:
    ranking = rank_arms(3, {pair: differ(0.1, 0.06) for pair in WORKED}, high_is_good=False)
    assert ranking.ranks == [(1, 3)] * 3
    assert ranking.best == [0, 1, 2]
    assert ranking.wins == []
    assert min(ranking.p.values()) >= 0.12
    alone = rank_arms(1, {}, high_is_good=False)
    assert (alone.ranks, alone.best, alone.wins) == ([(1, 1)], [0], [])


def test_a_pair_without_a_difference_is_never_decided() -> None:
    ranking = rank_arms(3, {(1, 0): differ(0.2, 1e-9)}, high_is_good=False)
    assert ranking.ranks == [(1, 2), (2, 3), (1, 3)]
    assert ranking.best == [0, 2]


def test_an_arm_that_is_better_than_each_other_one_needs_no_correction() -> None:
    close = {(1, 0): differ(0.1, 0.04), (2, 0): differ(0.1, 0.03), (2, 1): differ(0.1, 0.5)}
    ranking = rank_arms(3, close, high_is_good=False)
    assert sorted(ranking.wins) == [(0, 1), (0, 2)]
    assert ranking.best == [0]
    assert ranking.p == pytest.approx({(1, 0): 0.04, (2, 0): 0.03, (2, 1): 0.5})
    one_open = close | {(2, 0): differ(0.1, 0.06)}
    assert rank_arms(3, one_open, high_is_good=False).wins == []


def test_an_arm_is_ruled_out_as_the_best_at_the_level_shared_by_its_rivals() -> None:
    """Holm's method alone would require a smallest p-value of at most 0.05 / 6."""
    pairs = {pair: differ(0.1, 0.9) for pair in combinations(range(4), 2)}
    ranking = rank_arms(4, pairs | {(0, 1): differ(-0.1, 0.016)}, high_is_good=False)
    assert ranking.best == [0, 2, 3]
    assert ranking.ranks[1] == (2, 4)
    assert ranking.wins == [], "that arm 1 is worse than arm 0 takes more"
    assert ranking.p[0, 1] == pytest.approx(6 * 0.016)


def test_of_two_arms_the_one_difference_needs_no_correction() -> None:
    ranking = rank_arms(2, {(1, 0): differ(0.1, 0.049)}, high_is_good=False)
    assert ranking.p[1, 0] == pytest.approx(0.049)
    assert ranking.ranks == [(1, 1), (2, 2)]


def check(ranking: Ranking, arms: int) -> None:
    """Assert that the ranks, the best variants and the pairwise wins of a ranking agree."""
    assert len(ranking.ranks) == arms
    for better, worse in ranking.wins:
        assert ranking.ranks[better][1] < arms, "there is one behind it"
        assert ranking.ranks[worse][0] > 1, "there is one before it"
        assert worse not in ranking.best
        assert (worse, better) not in ranking.wins
    for arm, (first, last) in enumerate(ranking.ranks):
        assert 1 <= first <= last <= arms
        assert (first == 1) == (arm in ranking.best)
        losses = sum(worse == arm for _, worse in ranking.wins)
        assert first - 1 == max(losses, arm not in ranking.best)
        assert arms - last == sum(better == arm for better, _ in ranking.wins)


def test_for_any_differences_ranks_and_wins_and_the_best_agree() -> None:
    random = np.random.default_rng(31)
    decided = undecided = 0
    for _ in range(400):
        arms = int(random.integers(1, 9))
        pairs = [pair for pair in combinations(range(arms), 2) if random.random() < 0.9]
        rates = random.uniform(0, 1, arms)
        differences = {
            (arm, other): differ(float(rates[arm] - rates[other]), float(random.random() ** 6))
            for arm, other in pairs
        }
        ranking = rank_arms(arms, differences, high_is_good=bool(random.random() < 0.5))
        check(ranking, arms)
        assert set(ranking.p) == set(pairs)
        for pair, p in ranking.p.items():
            assert p >= differences[pair].p - 1e-12
            assert (pair in ranking.wins or pair[::-1] in ranking.wins) == (p < 0.05)
        decided += len(ranking.wins)
        undecided += len(pairs) - len(ranking.wins)
    assert min(decided, undecided) > 500


def test_no_p_value_is_larger_than_holms() -> None:
    random = np.random.default_rng(32)
    for _ in range(50):
        p = (random.random(6) ** 3).tolist()
        pairs = list(combinations(range(4), 2))
        differences = {pair: differ(0.1, each) for pair, each in zip(pairs, p, strict=True)}
        ranking = rank_arms(4, differences, high_is_good=False)
        for pair, own, most in zip(pairs, p, holm(p), strict=True):
            assert own - 1e-12 <= ranking.p[pair] <= most + 1e-12


def test_of_equal_arms_none_is_named_and_each_is_left_out_as_often_as_any_other() -> None:
    """The estimates of the five variants are normal. The ten differences between variants depend on each
    other, as on a page.
    """
    random = np.random.default_rng(33)
    pairs = list(combinations(range(5), 2))
    named, left_out = 0, np.zeros(5)
    for _ in range(1_500):
        means = random.normal(0, 1, 5)
        chances = {(a, b): two_sided(means[a] - means[b]) for a, b in pairs}
        differences = {(a, b): differ(float(means[a] - means[b]), chances[a, b]) for a, b in pairs}
        ranking = rank_arms(5, differences, high_is_good=False)
        named += len(ranking.best) == 1
        left_out += [arm not in ranking.best for arm in range(5)]
    assert named / 1_500 <= 0.01
    assert left_out.max() / 1_500 <= 0.05
    assert left_out.max() < 2 * left_out.min()


def two_sided(difference: float) -> float:
    """Return the p-value for the difference of two normal means. Both have variance 1."""
    return float(2 * ndtr(-abs(difference) / np.sqrt(2)))


def test_a_decided_difference_smaller_than_what_matters_ranks_nothing_apart() -> None:
    small = {(1, 0): Difference(0.005, 0.001, 0.009, 1e-6, "made")}
    assert rank_arms(2, small, high_is_good=False).ranks == [(1, 1), (2, 2)]
    ranking = rank_arms(2, small, high_is_good=False, smallest=0.01)
    assert ranking.ranks == [(1, 2), (1, 2)]
    assert (ranking.best, ranking.wins) == ([0, 1], [])
    assert ranking.p[1, 0] == pytest.approx(1e-6)
    assert rank_arms(2, small, high_is_good=False, smallest=0.009).wins == [(0, 1)]
