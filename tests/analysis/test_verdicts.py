"""Verdicts in a sentence and in a word: which is better, by how much, and what it would take to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from callgauge.analysis.measures.comparisons import (
    RankedTable,
    SliceComparison,
    Standing,
    compare_pairs,
    rank_table,
)
from callgauge.analysis.measures.same_mix import Stratum
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import (
    describe_bottom,
    describe_mix,
    describe_top,
    describe_verdict,
    format_points,
    format_size,
    shorten_verdict,
)
from callgauge.analysis.wording import round_up
from callgauge.stats import sessions_needed
from tests.analysis.session_shares import of_slice
from tests.analysis.test_comparisons import KIDNEY_STONES, arms_of, hold

SMALLEST = 0.02


def say(one: Slice, other: Slice, smallest: float = SMALLEST) -> str:
    return describe_verdict(hold(one, other), smallest)


def hold_at_mix(several: Mapping[str, Mapping[Stratum, tuple[int, int]]], times: int = 1) -> SliceComparison:
    """Return the first of two arms held against the second, with the work of both."""
    strata, wholes = arms_of(several, times=times)
    one, other = wholes.items()
    (found,) = compare_pairs([(one[1], other[1])], strata.compare([(one, other)]))
    return found


OTHER_WORK: Mapping[str, Mapping[Stratum, tuple[int, int]]] = {
    "A": {("read",): (4, 100), ("edit",): (80, 200)},
    "B": {("read",): (5, 100), ("search",): (0, 200)},
}


# --- numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "text"), [(-0.0131, "−1.3"), (0.2, "+20.0"), (0.0, "0")])
def test_points_have_a_sign(share: float, text: str) -> None:
    assert format_points(share) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.02, "2 points"), (0.01, "1 point"), (0.005, "0.5 points"), (0.1, "10 points"), (0.075, "7.5 points")],
)
def test_a_size_has_no_sign(share: float, text: str) -> None:
    assert format_size(share) == text


# --- sentences --------------------------------------------------------------------------------------------


def test_the_sentence_says_which_is_better_by_how_much_and_from_how_many_sessions() -> None:
    sentence = say(of_slice("B", 21, 1000, sessions=200), of_slice("A", 80, 1000, sessions=212))
    assert sentence.startswith("B is better (parse errors): 2.1% vs 8.0%, difference −5.9 points (−")
    assert sentence.endswith("), 95%, 412 sessions.")
    assert say(
        of_slice("A", 800, 1000, rate="derived_ok"), of_slice("B", 600, 1000, rate="derived_ok")
    ).startswith("A is better (turn success, derived): 80.0% vs 60.0%, difference +20.0 points (+")
    assert say(of_slice("B", 80, 1000), of_slice("A", 21, 1000)).startswith("B is worse (parse errors): 8.0%")


def test_where_neither_is_better_the_sentence_says_which_has_more() -> None:
    few, many = of_slice("few", 1, 1000, rate="refused"), of_slice("many", 100, 1000, rate="refused")
    assert say(few, many).startswith("few has fewer refused: 0.10% vs 10.0%, difference −9.9 points")
    assert say(many, few).startswith("many has more refused: 10.0% vs 0.10%, difference +9.9 points")


def test_an_undecided_sentence_says_how_many_more_sessions_each_size_of_difference_takes() -> None:
    one, other = of_slice("B", 5, 100), of_slice("A", 10, 120)
    seen, least = (sessions_needed(one.share, other.share, size) for size in (5 / 100 - 10 / 120, 0.02))
    assert seen is not None
    assert least is not None
    assert 0 < seen < least
    sentence = say(one, other)
    assert sentence.startswith("Not decided: 5.0% vs 8.3%, difference −3.3 points (−")
    assert sentence.endswith(
        f"220 sessions. About {round_up(seen)} more sessions each would decide a difference as large as this "
        f"one; about {round_up(least)} one of 2 points."
    )
    half = sessions_needed(one.share, other.share, 0.005)
    assert half is not None
    assert say(one, other, 0.005).endswith(f"about {round_up(half)} one of 0.5 points.")


def test_among_many_comparisons_it_takes_more_sessions() -> None:
    one, other = of_slice("B", 5, 100), of_slice("A", 10, 120)
    many = compare_pairs([(one, other), *((of_slice(f"c{n}", 10, 100), other) for n in range(19))])
    seen = sessions_needed(one.share, other.share, 5 / 100 - 10 / 120, 20)
    alone = sessions_needed(one.share, other.share, 5 / 100 - 10 / 120)
    assert seen is not None
    assert alone is not None
    assert seen > 1.5 * alone
    assert f"About {round_up(seen)} more sessions each would decide a" in describe_verdict(many[0], SMALLEST)


def test_of_no_difference_at_all_the_sentence_says_what_the_smallest_one_takes() -> None:
    one, other = of_slice("B", 10, 100), of_slice("A", 10, 100)
    least = sessions_needed(one.share, other.share, 0.02)
    assert least is not None
    sentence = say(one, other)
    assert sentence.startswith("Not decided: 10.0% vs 10.0%, difference 0 points (−")
    assert f"bout {round_up(least)} more sessions each would decide" in sentence
    assert "2 points" in sentence.split("sessions. ")[1]
    assert "as large as this one" not in sentence


def test_a_difference_within_the_smallest_one_that_matters_is_alike() -> None:
    sentence = say(of_slice("B", 100, 10_000), of_slice("A", 110, 10_000))
    assert sentence.startswith("Alike, less than 2 points apart: 1.0% vs 1.1%, difference −0.10 points (−")
    assert sentence.endswith("95%, 20,000 sessions.")
    assert say(of_slice("B", 100, 10_000), of_slice("A", 110, 10_000), 0.001).startswith("Not decided")


def test_too_few_are_not_judged_and_the_sentence_says_what_it_takes() -> None:
    sentence = say(of_slice("B", 25, 29), of_slice("A", 1, 1000))
    assert sentence.startswith("Too few to judge: 86% vs 0.10%, difference +86.1 points")
    assert sentence.endswith("It takes 30 observed and 5 sessions on each side.")
    assert "5 sessions on each side" in say(of_slice("B", 270, 300, sessions=4), of_slice("A", 1, 1000))
    hidden = of_slice("B", 0, 100, total=1000)
    assert say(hidden, of_slice("A", 500, 1000)).endswith(
        "Less than 20% of the calls of B could be measured."
    )
    assert say(of_slice("A", 500, 1000), hidden).endswith(
        "Less than 20% of the calls of B could be measured."
    )


def test_nothing_measured_says_of_whom() -> None:
    nothing = "Nothing to compare: of B no call could be measured."
    assert say(of_slice("B", 0, 0), of_slice("A", 1, 2)) == nothing
    assert say(of_slice("A", 1, 2), of_slice("B", 0, 0)) == nothing
    assert say(of_slice("A", 0, 0), of_slice("B", 0, 0)) == (
        "Nothing to compare: of A and B no call could be measured."
    )


def test_what_the_logs_do_not_name_gets_no_verdict() -> None:
    unknown, named = of_slice("unknown", 10, 500), of_slice("named", 100, 900)
    (row,) = (row for row in rank_table([unknown, named], named).rows if row.slice is unknown)
    assert describe_verdict(row, SMALLEST).startswith("No verdict on what the logs do not name: 2.0% vs")


# --- at the same mix --------------------------------------------------------------------------------------


def test_a_mix_that_turns_the_order_round_names_the_better_one_and_says_so() -> None:
    held = hold_at_mix(KIDNEY_STONES, times=10)
    sentence = describe_verdict(held, SMALLEST)
    assert sentence.startswith("A is better (parse errors): 16.6% vs 22.0% at the same mix of tools, ")
    assert "difference −5.4 points (−" in sentence
    mix = describe_mix(held)
    assert mix is not None
    assert mix.startswith("At the same mix of tools. As they are: 22.0% vs 17.4%, difference +4.6 points (+")
    assert mix.endswith(" The mix turns the order round.")


def test_a_mix_that_only_moves_the_difference_turns_nothing_round() -> None:
    held = hold_at_mix(
        {"A": {("x",): (10, 400), ("y",): (30, 100)}, "B": {("x",): (20, 100), ("y",): (200, 400)}}
    )
    mix = describe_mix(held)
    assert mix is not None
    assert "turns the order round" not in mix


def test_a_mix_that_holds_only_part_of_the_work_says_how_much() -> None:
    held = hold_at_mix(
        {
            "A": {("x",): (10, 200), ("y",): (30, 100)},
            "B": {("x",): (40, 200), ("z",): (0, 100)},
        }
    )
    assert held.standing() is Standing.BETTER
    mix = describe_mix(held)
    assert mix is not None
    assert mix.startswith("At the same mix of tools, which 66.7% of their work is in. As they are: 13.3% vs ")


def test_where_the_mix_does_not_matter_nothing_is_said_of_it() -> None:
    equal: Mapping[str, Mapping[Stratum, tuple[int, int]]] = {
        name: {("x",): (k, 200), ("y",): (3 * k, 200)} for name, k in (("A", 10), ("B", 30))
    }
    assert describe_mix(hold_at_mix(equal)) is None
    assert "same mix" not in describe_verdict(hold_at_mix(equal), SMALLEST)
    assert describe_mix(hold(of_slice("a", 1, 100), of_slice("b", 1, 100))) is None


def test_of_different_work_the_sentence_says_how_little_is_in_common() -> None:
    held = hold_at_mix(OTHER_WORK)
    sentence = describe_verdict(held, SMALLEST)
    assert sentence.startswith(
        "Different work, so no verdict. Only 33.3% of their calls are alike in tools. As they are: 28.0% vs "
    )
    assert describe_mix(held) is None
    apart = hold_at_mix({"A": {("edit",): (80, 200)}, "B": {("search",): (0, 200)}})
    assert describe_verdict(apart, SMALLEST).startswith("Different work, so no verdict. ")
    assert "As they are: 40.0% vs 0%" in describe_verdict(apart, SMALLEST)
    assert describe_mix(apart) is None


# --- in a word --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "text", "tone", "sub"),
    [
        (of_slice("a", 1, 1000), of_slice("b", 100, 1000), "Better", "good", "p < 0.001"),
        (of_slice("a", 100, 1000), of_slice("b", 1, 1000), "Worse", "bad", "p < 0.001"),
        (
            of_slice("a", 900, 1000, rate="derived_ok"),
            of_slice("b", 100, 1000, rate="derived_ok"),
            "Better",
            "good",
            "p < 0.001",
        ),
        (
            of_slice("a", 1, 1000, rate="refused"),
            of_slice("b", 100, 1000, rate="refused"),
            "Less",
            "calm",
            "p < 0.001",
        ),
        (
            of_slice("a", 100, 1000, rate="refused"),
            of_slice("b", 1, 1000, rate="refused"),
            "More",
            "calm",
            "p < 0.001",
        ),
        (of_slice("a", 10, 100), of_slice("b", 15, 100), "Not decided", "calm", " more sessions each"),
        (of_slice("a", 10, 100), of_slice("b", 10, 100), "Not decided", "calm", "p 1.000"),
        (of_slice("a", 10, 100_000), of_slice("b", 10, 100_000), "Alike", "calm", "within 2 points"),
        (of_slice("a", 0, 0), of_slice("b", 10, 100), "Not measured", "calm", ""),
        (of_slice("a", 1, 2), of_slice("b", 1, 1000), "Too few", "calm", ""),
    ],
)
def test_a_verdict_in_a_word(one: Slice, other: Slice, text: str, tone: str, sub: str) -> None:
    found = shorten_verdict(hold(one, other), SMALLEST)
    assert (found.text, found.tone) == (text, tone)
    assert found.sub.endswith(sub)
    assert bool(found.sub) == bool(sub)


def test_the_word_for_an_undecided_one_says_how_many_more_sessions_it_takes() -> None:
    one, other = of_slice("a", 10, 100), of_slice("b", 15, 100)
    seen = sessions_needed(one.share, other.share, 0.05)
    assert seen is not None
    assert shorten_verdict(hold(one, other), SMALLEST).sub == f"~{round_up(seen)} more sessions each"


def test_one_that_only_the_correction_leaves_undecided_is_told_as_such() -> None:
    reference = of_slice("reference", 100, 1000)
    held, *_ = compare_pairs(
        [
            (of_slice("a", 70, 1000), reference),
            *((of_slice(f"b{n}", 100, 1000), reference) for n in range(20)),
        ]
    )
    found = shorten_verdict(held, SMALLEST)
    assert held.p is not None
    assert found.text == "Not decided"
    assert found.sub == "significant alone, not after correction for 21 comparisons"


def test_a_verdict_at_the_same_mix_says_so_in_a_word() -> None:
    found = shorten_verdict(hold_at_mix(KIDNEY_STONES, times=10), SMALLEST)
    assert (found.text, found.sub) == ("Better", "p < 0.001, same mix")
    alike = shorten_verdict(hold_at_mix(KIDNEY_STONES, times=10), 0.2)
    assert (alike.text, alike.sub) == ("Alike", "within 20 points, same mix")
    other = shorten_verdict(hold_at_mix(OTHER_WORK), SMALLEST)
    assert (other.text, other.tone, other.sub) == ("Different work", "calm", "33.3% in common")


# --- the best of a table ----------------------------------------------------------------------------------


def tell_top(table: RankedTable) -> str:
    return describe_top(table, {row.slice.name: row.slice.name.upper() for row in table.rows}, "model")


def top(several: Sequence[Slice]) -> str:
    return tell_top(rank_table(several, several[0]))


def test_one_that_is_better_than_all_others_is_the_best() -> None:
    many = [of_slice("a", 200, 1000), of_slice("b", 10, 1000), of_slice("c", 210, 1000)]
    assert top(many) == "B is the best by parse errors: the 2 others are worse."
    assert top(many[:2]) == "B is the best by parse errors: the other one is worse."
    ok = [of_slice("a", 800, 1000, rate="derived_ok"), of_slice("b", 500, 1000, rate="derived_ok")]
    assert top(ok) == "A is the best by turn success, derived: the other one is worse."


def bottom(several: Sequence[Slice]) -> str:
    table = rank_table(several, several[0])
    return describe_bottom(table, {row.slice.name: row.slice.name.upper() for row in table.rows})


def test_the_worst_is_named_with_whether_it_differs_from_the_next() -> None:
    several = [of_slice("a", 10, 1000), of_slice("b", 100, 1000), of_slice("c", 300, 1000)]
    assert bottom(several) == "The worst is C: worse than B, the next, by more than chance."
    tied = [of_slice("a", 10, 1000), of_slice("b", 290, 1000), of_slice("c", 300, 1000)]
    assert bottom(tied) == "The worst are C and B: they cannot be told apart."
    ok = [of_slice("a", 900, 1000, rate="derived_ok"), of_slice("b", 500, 1000, rate="derived_ok")]
    assert bottom(ok) == "The worst is B: worse than A, the next, by more than chance."


def test_where_nothing_is_decided_there_is_no_worst() -> None:
    assert bottom([of_slice("a", 290, 1000), of_slice("b", 300, 1000)]) == ""
    assert bottom([of_slice("a", 1, 10), of_slice("b", 9, 10)]) == ""
    assert bottom([of_slice("a", 10, 1000, rate="refused"), of_slice("b", 500, 1000, rate="refused")]) == ""


def test_two_that_are_tied_at_the_top_are_both_named() -> None:
    many = [
        of_slice("a", 200, 1000),
        of_slice("b", 10, 1000),
        of_slice("c", 12, 1000),
        of_slice("d", 300, 900),
    ]
    assert top(many) == (
        "B and C cannot be told apart by parse errors: the 2 others are worse than each of them."
    )


def test_one_that_is_worse_than_some_of_the_tied_is_not_called_worse_than_all() -> None:
    several = [of_slice("sure", 50, 2000), of_slice("thin", 2, 40), of_slice("bad", 200, 2000)]
    table = rank_table(several, several[0])
    assert {one.name for one in table.best} == {"sure", "thin"}
    assert table.wins == {("sure", "bad")}
    assert tell_top(table) == (
        "SURE and THIN cannot be told apart by parse errors: "
        "the other one is worse than at least one of them."
    )


def test_of_many_that_are_tied_three_are_named() -> None:
    many = [of_slice("z", 500, 1000), *(of_slice(f"m{n}", 20 + n, 1000) for n in range(5))]
    assert top(many) == (
        "M0, M1, M2 and 2 more cannot be told apart by parse errors: "
        "the other one is worse than each of them."
    )


def test_where_none_can_be_told_from_the_best_any_may_be_it() -> None:
    many = [of_slice(name, 10 + place, 100) for place, name in enumerate("abc")]
    assert top(many) == "No model can be told from the best: any of these 3 may be it (parse errors)."


def test_too_few_sessions_are_not_ranked() -> None:
    many = [of_slice("a", 10, 100), of_slice("b", 1, 20), of_slice("c", 0, 300, sessions=5)]
    assert top(many) == "Too few sessions to rank: 1 of 3 models has 30 observed and 10 sessions."


def test_one_model_beside_what_the_logs_do_not_name_is_not_called_different_work() -> None:
    many = [of_slice("a", 10, 500), of_slice("unknown", 100, 500)]
    assert top(many) == "Nothing to rank: only one model was observed."
    assert top([many[1]]) == "Nothing to rank: no named model was observed."
    many += [of_slice("few", 0, 493, sessions=2)]
    assert top(many) == "Too few sessions to rank: 1 of 2 models has 30 observed and 10 sessions."


def test_of_different_work_no_best_one_is_named() -> None:
    strata, wholes = arms_of(OTHER_WORK)
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert tell_top(table) == "Too different work to rank: no two models have 50% of their calls in common."


def test_where_neither_end_is_better_there_is_no_best_one() -> None:
    several = [of_slice("a", 1, 1000, rate="refused"), of_slice("b", 100, 1000, rate="refused")]
    assert top(several) == "Refused: neither more nor less is better, so there is no best model."


def test_of_three_that_beat_each_other_in_a_ring_no_best_one_is_named() -> None:
    strata, wholes = arms_of(
        {
            "A": {("x",): (5, 500), ("z",): (100, 500)},
            "B": {("y",): (5, 500), ("x",): (100, 500)},
            "C": {("z",): (5, 500), ("y",): (100, 500)},
        }
    )
    said = tell_top(rank_table(list(wholes.values()), wholes["A"], strata))
    assert said
    assert "is the best" not in said


def test_several_of_what_is_ranked_are_named_as_english_does() -> None:
    strata, wholes = arms_of(OTHER_WORK)
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert "to rank: no two strategies have" in describe_top(table, {}, "strategy")
    few = [of_slice("a", 1, 5), of_slice("b", 1, 5)]
    assert " 0 of 2 sources have " in describe_top(rank_table(few, few[0]), {}, "source")


def test_work_that_only_a_small_arm_does_is_not_hidden_by_a_large_one() -> None:
    """B does 80 % of its work with a tool that A has never called, however much work A has."""
    strata, wholes = arms_of({"A": {("x",): (500, 10_000)}, "B": {("x",): (10, 200), ("y",): (240, 800)}})
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert not table.wins
    assert tell_top(table).startswith("Too different work to rank")


def test_a_little_work_that_only_one_does_makes_no_difference_of_all() -> None:
    """15 % of A's calls go to a tool that fails in 60 % and that B has never called; the rest is alike."""
    strata, wholes = arms_of(
        {"A": {("x",): (85, 1_700), ("y",): (180, 300)}, "B": {("x",): (85, 1_700), ("z",): (15, 300)}}
    )
    table = rank_table(list(wholes.values()), wholes["B"], strata)
    (held,) = (row for row in table.rows if row.slice.name == "A")
    assert held.is_at_same_mix
    assert held.plain is not None
    assert held.plain.is_decisive
    assert not table.wins


def test_of_arms_that_were_never_compared_it_is_not_said_that_they_are_tied() -> None:
    strata, wholes = arms_of(
        {
            "A": {("x",): (20, 1_000)},
            "B": {("x",): (200, 1_000)},
            "C": {("y",): (600, 1_000)},
            "D": {("y",): (900, 1_000)},
        }
    )
    said = tell_top(rank_table(list(wholes.values()), wholes["A"], strata))
    assert "cannot be told apart" not in said
    assert said.startswith("Nothing is known to be better than A and C, of which some do different work: ")
