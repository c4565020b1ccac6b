"""Tests verdicts, as a sentence and as a single word."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from callgauge.analysis.measures.comparisons import (
    SliceComparison,
    Standing,
    compare_pairs,
    rank_table,
)
from callgauge.analysis.measures.same_mix import Stratum
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import (
    describe_mix,
    describe_needed,
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


def say(slice_: Slice, other: Slice, smallest: float = SMALLEST) -> str:
    return describe_verdict(hold(slice_, other), smallest)


def hold_at_mix(several: Mapping[str, Mapping[Stratum, tuple[int, int]]], times: int = 1) -> SliceComparison:
    """Return the comparison of the first variant with the second, with the strata of both."""
    strata, wholes = arms_of(several, times=times)
    first, other = wholes.items()
    (comparison,) = compare_pairs([(first[1], other[1])], strata.compare([(first, other)]))
    return comparison


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
    ).startswith("A is better (derived turn success): 80.0% vs 60.0%, difference +20.0 points (+")
    assert say(of_slice("B", 80, 1000), of_slice("A", 21, 1000)).startswith("B is worse (parse errors): 8.0%")


def test_where_neither_is_better_the_sentence_says_which_has_more() -> None:
    few, many = of_slice("few", 1, 1000, rate="refused"), of_slice("many", 100, 1000, rate="refused")
    assert say(few, many).startswith("few has fewer denied calls: 0.10% vs 10.0%, difference −9.9 points")
    assert say(many, few).startswith("many has more denied calls: 10.0% vs 0.10%, difference +9.9 points")


def test_an_undecided_sentence_says_how_many_more_sessions_each_size_of_difference_takes() -> None:
    first, other = of_slice("B", 5, 100), of_slice("A", 10, 120)
    needed, least = (sessions_needed(first.share, other.share, size) for size in (5 / 100 - 10 / 120, 0.02))
    assert needed is not None
    assert least is not None
    assert 0 < needed < least
    sentence = say(first, other)
    assert sentence.startswith("No clear difference: 5.0% vs 8.3%, difference −3.3 points (−")
    assert sentence.endswith(
        f"220 sessions. About {round_up(needed)} more sessions on each side would decide a difference as "
        f"large as this one; about {round_up(least)} would decide a difference of 2 points."
    )
    half = sessions_needed(first.share, other.share, 0.005)
    assert half is not None
    assert half > 10_000, "nobody collects so many, so that the number says nothing"
    assert say(first, other, 0.005).endswith("would decide a difference as large as this one.")


def test_among_many_comparisons_it_takes_more_sessions() -> None:
    first, other = of_slice("B", 5, 100), of_slice("A", 10, 120)
    many = compare_pairs([(first, other), *((of_slice(f"c{n}", 10, 100), other) for n in range(19))])
    needed = sessions_needed(first.share, other.share, 5 / 100 - 10 / 120, 20)
    alone = sessions_needed(first.share, other.share, 5 / 100 - 10 / 120)
    assert needed is not None
    assert alone is not None
    assert needed > 1.5 * alone
    assert f"About {round_up(needed)} more sessions on each side would decide a" in describe_verdict(
        many[0], SMALLEST
    )


def test_of_no_difference_at_all_the_sentence_says_what_the_smallest_one_takes() -> None:
    first, other = of_slice("B", 10, 100), of_slice("A", 10, 100)
    least = sessions_needed(first.share, other.share, 0.02)
    assert least is not None
    sentence = say(first, other)
    assert sentence.startswith("No clear difference: 10.0% vs 10.0%, difference 0 points (−")
    assert "A difference below about 13 points would not show yet; " in sentence
    assert f"bout {round_up(least)} more sessions on each side would decide" in sentence
    assert "2 points" in sentence.split("sessions. ")[1]
    assert "as large as this one" not in sentence


def test_of_two_equal_ones_it_says_which_difference_would_show_not_a_number_nobody_collects() -> None:
    first, other = of_slice("B", 1000, 10_000, sessions=400), of_slice("A", 1003, 10_000, sessions=400)
    sentence = describe_needed(hold(first, other), SMALLEST)
    assert re.fullmatch(
        r"A difference below about \d points? would not show yet; "
        r"about [\d,]+ more sessions on each side would decide a difference of 2 points\.",
        sentence,
    )
    assert "as large as this one" not in sentence


def test_a_difference_within_the_smallest_one_that_matters_is_alike() -> None:
    sentence = say(of_slice("B", 100, 10_000), of_slice("A", 110, 10_000))
    assert sentence.startswith(
        "Equivalent (less than 2 points apart): 1.0% vs 1.1%, difference −0.10 points (−"
    )
    assert sentence.endswith("95%, 20,000 sessions.")
    assert say(of_slice("B", 100, 10_000), of_slice("A", 110, 10_000), 0.001).startswith(
        "No clear difference"
    )


def test_too_few_are_not_judged_and_the_sentence_says_what_it_takes() -> None:
    sentence = say(of_slice("B", 25, 29), of_slice("A", 1, 1000))
    assert sentence.startswith("Not enough data: 86% vs 0.10%, difference +86.1 points")
    assert sentence.endswith("It takes 30 observations and 5 sessions on each side.")
    assert "5 sessions on each side" in say(of_slice("B", 270, 300, sessions=4), of_slice("A", 1, 1000))
    hidden = of_slice("B", 0, 100, total=1000)
    assert say(hidden, of_slice("A", 500, 1000)).endswith(
        "Less than 20% of the calls of B could be measured."
    )
    assert say(of_slice("A", 500, 1000), hidden).endswith(
        "Less than 20% of the calls of B could be measured."
    )


def test_nothing_measured_says_of_whom() -> None:
    nothing = "Nothing to compare: no call of B could be measured."
    assert say(of_slice("B", 0, 0), of_slice("A", 1, 2)) == nothing
    assert say(of_slice("A", 1, 2), of_slice("B", 0, 0)) == nothing
    assert say(of_slice("A", 0, 0), of_slice("B", 0, 0)) == (
        "Nothing to compare: no call of A and B could be measured."
    )


def test_what_the_logs_do_not_name_gets_no_verdict() -> None:
    unknown, named = of_slice("unknown", 10, 500), of_slice("named", 100, 900)
    (row,) = (row for row in rank_table([unknown, named], named).rows if row.slice is unknown)
    assert describe_verdict(row, SMALLEST).startswith("No verdict on what the logs do not name: 2.0% vs")


# --- at the same mix --------------------------------------------------------------------------------------


def test_a_mix_that_turns_the_order_round_names_the_better_one_and_says_so() -> None:
    comparison = hold_at_mix(KIDNEY_STONES, times=10)
    sentence = describe_verdict(comparison, SMALLEST)
    assert sentence.startswith("A is better (parse errors): 16.6% vs 22.0% mix-adjusted by tools, ")
    assert "difference −5.4 points (−" in sentence
    mix = describe_mix(comparison)
    assert mix is not None
    assert mix.startswith("Mix-adjusted by tools. Unadjusted: 22.0% vs 17.4%, difference +4.6 points (+")
    assert mix.endswith(" Mix-adjusted, the order reverses.")


def test_a_mix_that_only_moves_the_difference_turns_nothing_round() -> None:
    comparison = hold_at_mix(
        {"A": {("x",): (10, 400), ("y",): (30, 100)}, "B": {("x",): (20, 100), ("y",): (200, 400)}}
    )
    mix = describe_mix(comparison)
    assert mix is not None
    assert "the order reverses" not in mix


def test_a_mix_that_holds_only_part_of_the_work_says_how_much() -> None:
    comparison = hold_at_mix(
        {
            "A": {("x",): (10, 200), ("y",): (30, 100)},
            "B": {("x",): (40, 200), ("z",): (0, 100)},
        }
    )
    assert comparison.standing() is Standing.BETTER
    mix = describe_mix(comparison)
    assert mix is not None
    assert mix.startswith("Mix-adjusted by tools. 66.7% of the work is in both. Unadjusted: 13.3% vs ")


def test_where_the_mix_does_not_matter_nothing_is_said_of_it() -> None:
    equal: Mapping[str, Mapping[Stratum, tuple[int, int]]] = {
        name: {("x",): (k, 200), ("y",): (3 * k, 200)} for name, k in (("A", 10), ("B", 30))
    }
    assert describe_mix(hold_at_mix(equal)) is None
    assert "mix-adjusted" not in describe_verdict(hold_at_mix(equal), SMALLEST)
    assert describe_mix(hold(of_slice("a", 1, 100), of_slice("b", 1, 100))) is None


def test_of_different_work_the_sentence_says_how_little_is_in_common() -> None:
    comparison = hold_at_mix(OTHER_WORK)
    sentence = describe_verdict(comparison, SMALLEST)
    assert sentence.startswith(
        "Different work, so no verdict. Only 33.3% of their calls have tools in common. Unadjusted: 28.0% vs "
    )
    assert describe_mix(comparison) is None
    apart = hold_at_mix({"A": {("edit",): (80, 200)}, "B": {("search",): (0, 200)}})
    assert describe_verdict(apart, SMALLEST).startswith("Different work, so no verdict. ")
    assert "Unadjusted: 40.0% vs 0%" in describe_verdict(apart, SMALLEST)
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
        (
            of_slice("a", 10, 100),
            of_slice("b", 15, 100),
            "No clear difference",
            "calm",
            " more sessions each",
        ),
        (
            of_slice("a", 10, 100),
            of_slice("b", 10, 100),
            "No clear difference",
            "calm",
            " points would not show",
        ),
        (of_slice("a", 10, 100_000), of_slice("b", 10, 100_000), "Equivalent", "calm", "within 2 points"),
        (of_slice("a", 0, 0), of_slice("b", 10, 100), "Not measured", "calm", ""),
        (of_slice("a", 1, 2), of_slice("b", 1, 1000), "Not enough data", "calm", ""),
    ],
)
def test_a_verdict_in_a_word(one: Slice, other: Slice, text: str, tone: str, sub: str) -> None:
    verdict = shorten_verdict(hold(one, other), SMALLEST)
    assert (verdict.text, verdict.tone) == (text, tone)
    assert verdict.sub.endswith(sub)
    assert bool(verdict.sub) == bool(sub)


def test_the_word_for_an_undecided_one_says_how_many_more_sessions_it_takes() -> None:
    first, other = of_slice("a", 10, 100), of_slice("b", 15, 100)
    needed = sessions_needed(first.share, other.share, 0.05)
    assert needed is not None
    assert shorten_verdict(hold(first, other), SMALLEST).sub == f"~{round_up(needed)} more sessions each"


def test_one_that_only_the_correction_leaves_undecided_is_told_as_such() -> None:
    reference = of_slice("reference", 100, 1000)
    comparison, *_ = compare_pairs(
        [
            (of_slice("a", 70, 1000), reference),
            *((of_slice(f"b{n}", 100, 1000), reference) for n in range(20)),
        ]
    )
    verdict = shorten_verdict(comparison, SMALLEST)
    assert comparison.p is not None
    assert verdict.text == "Better as a pair"
    assert verdict.sub == "not after correction for 21 comparisons"


def test_a_verdict_at_the_same_mix_says_so_in_a_word() -> None:
    verdict = shorten_verdict(hold_at_mix(KIDNEY_STONES, times=10), SMALLEST)
    assert (verdict.text, verdict.sub) == ("Better", "p < 0.001, mix-adjusted")
    alike = shorten_verdict(hold_at_mix(KIDNEY_STONES, times=10), 0.2)
    assert (alike.text, alike.sub) == ("Equivalent", "within 20 points, mix-adjusted")
    other = shorten_verdict(hold_at_mix(OTHER_WORK), SMALLEST)
    assert (other.text, other.tone, other.sub) == ("Different work", "calm", "33.3% in common")
