"""Tests the sentences about a ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from msgspec import structs

from callgauge.analysis.measures.alerts import Alert
from callgauge.analysis.measures.comparisons import RankedTable, rank_table
from callgauge.analysis.measures.costs import Cost, MeanCost
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.rankings import RankingContext, write_ranking
from callgauge.stats import GROUPS, DayCounts, Share, ratio_interval
from tests.analysis.session_shares import of_slice
from tests.analysis.test_comparisons import KIDNEY_STONES, arms_of
from tests.analysis.test_verdicts import OTHER_WORK


def write(table: RankedTable, noun: str = "model", context: RankingContext | None = None) -> str:
    names = {row.slice.name: row.slice.name.upper() for row in table.rows}
    return write_ranking(table, names, noun, context)


def rank(several: Sequence[Slice]) -> RankedTable:
    return rank_table(several, several[0])


def by_rate(rate: str, hits: Mapping[str, int]) -> RankedTable:
    return rank([of_slice(name, k, 1000, rate=rate) for name, k in hits.items()])


# --- who is the best --------------------------------------------------------------------------------------


def test_the_best_is_named_with_both_rates_and_by_how_much_it_leads_the_closest() -> None:
    several = [of_slice("a", 200, 1000), of_slice("b", 10, 1000), of_slice("c", 210, 1000)]
    assert write(rank(several)) == (
        "B is the best by parse errors: 1.0% against 20.0% of A, the closest (by 16.7 to 21.4 points)."
    )
    assert write(rank(several[:2])).startswith(
        "B is the best by parse errors: 1.0% against 20.0% of A, the other model (by "
    )


def test_where_a_high_rate_is_good_the_highest_is_the_best() -> None:
    table = by_rate("derived_ok", {"a": 800, "b": 500})
    assert write(table).startswith(f"A is the best by {table.rate.phrase}: 80.0% against 50.0% of B")


def test_where_the_mix_decides_the_sentence_has_the_rates_of_the_table_and_the_adjusted_rates() -> None:
    strata, wholes = arms_of(KIDNEY_STONES, times=10)
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    pair = table.find_pair("A", "B")
    assert pair is not None
    assert pair.is_mixed
    sentence = write(table)
    assert re.fullmatch(
        r"A is the best by parse errors: 22\.0% against 17\.4% of B, the other model; but mix-adjusted, "
        r"16\.6% against 22\.0% \(by \S+ to \S+ points\)\.",
        sentence,
    )


def test_of_two_or_three_that_may_be_the_best_each_is_named() -> None:
    several = [of_slice("a", 200, 1000), of_slice("b", 10, 1000), of_slice("c", 12, 1000)]
    assert write(rank(several)) == "The best by parse errors is B or C; A is worse than B."
    several += [of_slice("d", 14, 1000), of_slice("e", 300, 900)]
    assert write(rank(several)) == (
        "The best by parse errors is one of B, C and D; each of the 2 others is worse than one of them."
    )


def test_of_many_that_may_be_the_best_three_are_named_and_all_are_counted() -> None:
    tied = [of_slice(f"m{n:02d}", 20 + n % 3, 1000) for n in range(40)]
    worse = [of_slice(f"z{n:02d}", 500 + n, 1000) for n in range(20)]
    sentence = write(rank([*tied, *worse]))
    assert sentence == (
        "The best by parse errors is one of 40 models, among them M00, M03 and M06; "
        "each of the 20 others is worse than one of them."
    )


def test_where_any_may_be_the_best_there_is_no_clear_leader() -> None:
    several = [of_slice(name, 10 + place, 100) for place, name in enumerate("abc")]
    assert write(rank(several)) == (
        "No clear leader yet by parse errors: any of these 3 models may be the best. "
        "A difference below about 22 points may not show yet."
    )


def test_a_pair_within_the_group_that_differs_alone_is_named() -> None:
    """Compare shows a clear difference for this pair of slices, so the sentence must name the pair."""
    several = [of_slice("a", 30, 400), of_slice("b", 50, 400), of_slice("c", 40, 60), of_slice("d", 31, 400)]
    table = rank(several)
    assert {slice_.name for slice_ in table.best} == {"a", "b", "d"}
    assert write(table).endswith("Compared as a pair, D is better than B.")


def test_no_slice_is_in_the_best_and_called_worse() -> None:
    random = np.random.default_rng(71)
    for _ in range(40):
        several = [
            of_slice(f"m{n}", int(random.integers(0, 200)), 1000) for n in range(int(random.integers(2, 9)))
        ]
        table = rank(several)
        assert not {slice_.name for slice_ in table.best} & {worse for _, worse in table.wins}


def test_of_three_that_beat_each_other_in_a_ring_no_best_one_is_named() -> None:
    strata, wholes = arms_of(
        {
            "A": {("x",): (5, 500), ("z",): (100, 500)},
            "B": {("y",): (5, 500), ("x",): (100, 500)},
            "C": {("z",): (5, 500), ("y",): (100, 500)},
        }
    )
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert write(table) == "No best model by parse errors: each of these 3 is worse than another."


def test_of_slices_that_were_never_compared_it_is_said_that_they_do_different_work() -> None:
    strata, wholes = arms_of(
        {
            "A": {("x",): (20, 1_000)},
            "B": {("x",): (200, 1_000)},
            "C": {("y",): (600, 1_000)},
            "D": {("y",): (900, 1_000)},
        }
    )
    assert write(rank_table(list(wholes.values()), wholes["A"], strata)) == (
        "The best by parse errors is A or C; each of the 2 others is worse than one of them. "
        "Not all of them were compared, since some do different work."
    )


def test_a_little_work_that_only_one_does_makes_no_difference_of_all() -> None:
    """15 % of A's calls use a tool that B never uses, and 60 % of these calls fail. All other calls have
    equal rates.
    """
    strata, wholes = arms_of(
        {"A": {("x",): (85, 1_700), ("y",): (180, 300)}, "B": {("x",): (85, 1_700), ("z",): (15, 300)}}
    )
    table = rank_table(list(wholes.values()), wholes["B"], strata)
    (row,) = (row for row in table.rows if row.slice.name == "A")
    assert row.is_at_same_mix
    assert row.plain is not None
    assert row.plain.is_decisive
    assert not table.wins


# --- at what price ----------------------------------------------------------------------------------------

LEADER = by_rate("parse_error", {"a": 10, "b": 100, "c": 300})


def test_a_leader_that_is_proven_worse_by_another_rate_is_named_with_that_but() -> None:
    success = by_rate("recorded_ok", {"a": 500, "b": 800, "c": 900})
    title = success.rate.phrase
    assert write(LEADER, context=RankingContext([success])).endswith(
        f". But A has the lowest {title}: 50.0% against 80.0–90.0% of the others."
    )
    retries = by_rate("retried", {"a": 300, "b": 100, "c": 600})
    assert write(LEADER, context=RankingContext([retries])).endswith(
        f". But A is worse by {retries.rate.phrase}: 30.0% against 10.0% of B."
    )


def test_a_leader_that_may_be_the_best_by_the_other_rate_too_has_no_but() -> None:
    success = by_rate("recorded_ok", {"a": 800, "b": 805, "c": 500})
    assert "But" not in write(LEADER, context=RankingContext([success]))


def test_where_there_is_no_leader_there_is_no_but() -> None:
    table = rank([of_slice(name, 10 + place, 100) for place, name in enumerate("abc")])
    success = by_rate("recorded_ok", {"a": 500, "b": 800, "c": 900})
    assert "But" not in write(table, context=RankingContext([success]))


def test_a_leader_that_costs_more_per_successful_turn_says_so() -> None:
    costs = {name: priced(name, amount) for name, amount in (("a", 0.02), ("b", 0.01), ("c", 0.03))}
    assert write(LEADER, context=RankingContext(costs=costs)).endswith(
        ". Only B costs less per successful turn than A: $0.010 against $0.020."
    )
    dear = costs | {"a": priced("a", 0.04)}
    assert write(LEADER, context=RankingContext(costs=dear)).endswith(
        ". But A costs more per successful turn: $0.040 against $0.010 of B, the cheapest."
    )
    cheap = costs | {"a": priced("a", 0.005)}
    assert "costs" not in write(LEADER, context=RankingContext(costs=cheap))


def test_a_leader_with_an_open_alert_of_this_rate_says_so() -> None:
    """The rate over four weeks hides that the rate rose in the last week."""
    day, night = date(2026, 11, 19), date(2026, 11, 27)
    alert = Alert(
        key="k", values={"model": "a", "provider": "west-2"}, rate=LEADER.rate, found=night, since=day,
        back=None, over=None, rose=True, now=Share(97, 665), interval=None, before=Share(54, 2322),
        difference=None, q=0.001, days=(day, night), baseline=(date(2026, 10, 22), date(2026, 11, 18)),
    )  # fmt: skip
    context = RankingContext(by="model", alerts=[alert, replace(alert, values={"model": "b"})], night=night)
    assert write(LEADER, context=context).endswith(
        " Open alert: parse errors of A on host west-2 rose from 2.3 to 15% on 19 Nov."
    )


def priced(name: str, amount: float) -> Cost:
    turns = np.full(GROUPS, 20.0)
    amounts = turns * amount * np.linspace(0.9, 1.1, GROUPS)
    mean = MeanCost(amount, 1000, ratio_interval(amounts, turns), (amounts, turns))
    return Cost(name, "USD", 1000, 1000, 1000, 1000, 1000 * amount, mean, mean, 1000, 1000, 0, 0, None)


# --- what is missing --------------------------------------------------------------------------------------


def test_logs_without_times_are_ranked_with_the_caveat() -> None:
    def undated(name: str, k: int) -> Slice:
        slice_ = of_slice(name, k, 1000)
        return replace(slice_, share=structs.replace(slice_.share, by_day=DayCounts.make_empty()))

    sentence = write(rank([undated("a", 10), undated("b", 90)]))
    assert sentence.startswith("A is the best by parse errors: 1.0% against 9.0% of B")
    assert sentence.endswith("The logs have no times, so a difference between days cannot be ruled out.")
    assert "no times" not in write(rank([undated("a", 50), undated("b", 50)])), "nothing is claimed"


def test_too_few_sessions_are_not_ranked() -> None:
    several = [of_slice("a", 10, 100), of_slice("b", 1, 20), of_slice("c", 0, 300, sessions=5)]
    sentence = "Not enough data to rank: 1 of 3 models has 30 observations and 10 sessions."
    assert write(rank(several)) == sentence


def test_few_large_sessions_are_not_ranked_and_the_sentence_says_why() -> None:
    why = "one session has 62% of its calls"
    giant = replace(of_slice("giant", 0, 1000), concentration=why)
    table = rank([giant, of_slice("a", 10, 1000), of_slice("b", 300, 1000)])
    assert "giant" not in table.ranks
    assert write(table, context=RankingContext(concentrated={"giant": why})).endswith(
        f"GIANT is not ranked: {why}."
    )


def test_a_model_with_enough_data_in_one_large_session_counts_as_one_with_enough_data() -> None:
    why = "one session has 28% of its calls"
    several = [replace(of_slice("a", 0, 90), concentration=why), of_slice("b", 0, 20), of_slice("c", 0, 5)]
    assert write(rank(several), context=RankingContext(concentrated={"a": why})) == (
        "Not enough data to rank: 1 of 3 models has 30 observations and 10 sessions. A is not ranked: one "
        "session has 28% of its calls."
    )


def test_one_model_beside_what_the_logs_do_not_name_is_not_called_different_work() -> None:
    several = [of_slice("a", 10, 500), of_slice("unknown", 100, 500)]
    assert write(rank(several)) == "Nothing to rank: only one model was observed (500 calls)."
    assert write(rank(several[1:])) == "Nothing to rank: no named model was observed."
    several += [of_slice("few", 0, 493, sessions=2)]
    sentence = "Not enough data to rank: 1 of 2 models has 30 observations and 10 sessions."
    assert write(rank(several)) == sentence


@pytest.mark.parametrize(("noun", "several"), [("model", "models"), ("strategy", "strategies")])
def test_of_different_work_no_best_one_is_named(noun: str, several: str) -> None:
    strata, wholes = arms_of(OTHER_WORK)
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert (
        write(table, noun)
        == f"Too different work to rank: no two {several} have 50 % of their calls in common."
    )


def test_work_that_only_a_small_arm_does_is_not_hidden_by_a_large_one() -> None:
    """80 % of B's calls use a tool that A never uses. The sentence says so even if A has far more calls."""
    strata, wholes = arms_of({"A": {("x",): (500, 10_000)}, "B": {("x",): (10, 200), ("y",): (240, 800)}})
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert not table.wins
    assert write(table).startswith("Too different work to rank")


def test_where_neither_end_is_better_there_is_no_best_one() -> None:
    table = by_rate("refused", {"a": 1, "b": 100})
    assert write(table) == f"{table.rate.title}: neither more nor less is better, so there is no best model."
