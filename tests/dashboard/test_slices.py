"""Measured slices: ranked with their doubt, held against one, and put into a sentence."""

from __future__ import annotations

import pytest

from callgauge.dashboard.measures.rates import RATES
from callgauge.dashboard.measures.slices import Slice, compare_with_reference, merge_slices, rank_slices
from callgauge.dashboard.measures.verdicts import describe_verdict, format_points, shorten_verdict
from callgauge.stats import Share


def of(
    name: str, k: int, n: int, total: int | None = None, rate: str = "parse_error", sessions: int = 0
) -> Slice:
    sessions = sessions or n
    each = n / sessions if sessions else 0
    share = Share(k, n, sessions, float(k), k * each, n * each)
    return Slice(RATES[rate], name, "all", share, n if total is None else total)


def test_the_best_comes_first_and_the_hardly_measured_last() -> None:
    slices = [of("b", 5, 100), of("hardly", 0, 10, total=100), of("a", 1, 100), of("unseen", 0, 0, total=9)]
    assert [one.name for one in rank_slices(slices)] == ["a", "b", "hardly", "unseen"]
    turns = [of("low", 5, 100, rate="derived_ok"), of("high", 90, 100, rate="derived_ok")]
    assert [one.name for one in rank_slices(turns)] == ["high", "low"]


def test_slices_add_up() -> None:
    whole = merge_slices([of("a", 1, 10, total=12), of("b", 2, 20)])
    assert whole is not None
    assert (whole.share.k, whole.share.n, whole.total, whole.share.sessions) == (3, 30, 32, 30)
    assert merge_slices([]) is None


def test_a_difference_among_many_is_decisive_only_if_it_survives_holm() -> None:
    reference = of("reference", 100, 1000)
    alone = compare_with_reference([of("a", 75, 1000), reference], reference)
    assert alone[0].difference is not None
    assert alone[0].difference.is_decisive
    assert alone[0].is_decisive == (alone[0].p is not None and alone[0].p < 0.05)
    assert alone[1].difference is None
    many = compare_with_reference(
        [of("a", 75, 1000), *(of(f"b{i}", 100, 1000) for i in range(20)), reference], reference
    )
    assert not many[0].is_decisive


def test_the_sentence_says_which_is_better_by_how_much_and_from_how_many_sessions() -> None:
    sentence = describe_verdict(of("B", 21, 1000, sessions=200), of("A", 80, 1000, sessions=212))
    assert sentence.startswith("B is better (parse errors): 2.10% vs 8.00%, difference −5.90 points (−")
    assert "412 sessions" in sentence
    assert describe_verdict(
        of("A", 800, 1000, rate="derived_ok"), of("B", 600, 1000, rate="derived_ok")
    ).startswith("A is better (turns derived ok): 80.0% vs 60.0%, difference +20.0 points")


def test_the_sentence_says_what_it_would_take_to_be_sure() -> None:
    sentence = describe_verdict(of("B", 5, 100), of("A", 6, 100))
    assert sentence.startswith("Not decisive: 5.00% vs 6.00%, difference −1.00 points")
    assert "more sessions of each would show a 1-point difference." in sentence
    assert (
        describe_verdict(of("B", 0, 0), of("A", 1, 2))
        == "Nothing to compare: of B no call could be measured."
    )


@pytest.mark.parametrize(("share", "text"), [(-0.0131, "−1.31"), (0.2, "+20.0"), (0.0, "0")])
def test_points_have_a_sign(share: float, text: str) -> None:
    assert format_points(share) == text


def test_of_two_calls_there_is_a_difference_but_no_verdict() -> None:
    held, judged = compare_with_reference([of("two", 1, 2), of("many", 30, 100)], of("reference", 1, 1000))
    assert held.difference is not None
    assert held.difference.is_decisive
    assert (held.p, held.is_decisive) == (None, False)
    assert shorten_verdict(held, of("reference", 1, 1000)).text == "Not judged"
    assert judged.is_decisive


@pytest.mark.parametrize(
    ("one", "other", "text", "sub"),
    [
        (of("a", 1, 1000), of("b", 100, 1000), "Better", "p < 0.001, Holm"),
        (of("a", 100, 1000), of("b", 1, 1000), "Worse", "p < 0.001, Holm"),
        (
            of("a", 900, 1000, rate="derived_ok"),
            of("b", 100, 1000, rate="derived_ok"),
            "Better",
            "p < 0.001, Holm",
        ),
        (of("a", 1, 1000, rate="refused"), of("b", 100, 1000, rate="refused"), "Less", "p < 0.001, Holm"),
        (of("a", 10, 100), of("b", 10, 100), "Not decisive", "more sessions each"),
        (of("a", 10, 100_000), of("b", 10, 100_000), "Alike", "no difference of a point or more"),
        (of("a", 0, 0), of("b", 10, 100), "Not measured", ""),
    ],
)
def test_a_verdict_in_a_word(one: Slice, other: Slice, text: str, sub: str) -> None:
    found = shorten_verdict(compare_with_reference([one], other)[0], other)
    assert found.text == text
    assert sub in found.sub
