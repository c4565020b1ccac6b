"""Tests the breakdown of a difference by strata, and the sentences that name these strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from callgauge.analysis.measures.breakdown import Breakdown, break_down
from callgauge.analysis.measures.comparisons import SMALLEST, Standing, compare_pairs
from callgauge.analysis.measures.same_mix import ArmStrata, Stratum
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.analysis.verdicts.headlines import (
    ArmNames,
    describe_dimension,
    describe_evenness,
    write_advice,
    write_headline,
)
from callgauge.stats import Share
from tests.analysis.session_shares import of_slice

NAMES = ArmNames("fixer@13", "fixer@12")
Counts = tuple[int, int, int, int]
"""k and n of the baseline, then k and n of the compared slice. Each call has its own session."""


def broken_down(
    by: Mapping[str, Mapping[str, Counts]], rate: str = "parse_error", sessions: int | None = None
) -> Breakdown:
    slices: dict[str, tuple[Sequence[Slice], Sequence[Slice]]] = {}
    for dimension, counts in by.items():
        slices[dimension] = (
            [
                of_slice(name, a, n, rate=rate, also="A", sessions=sessions)
                for name, (a, n, *_) in counts.items()
            ],
            [
                of_slice(name, b, n, rate=rate, also="B", sessions=sessions)
                for name, (*_, b, n) in counts.items()
            ],
        )
    first, second = (merge_slices(pair) for pair in next(iter(slices.values())))
    assert first is not None
    assert second is not None
    return break_down(compare_pairs([(second, first)])[0], slices)


ONE_WORSE = {
    "model": {"heron": (2, 100, 50, 100), "owl": (60, 200, 40, 200), "wren": (60, 200, 40, 200)},
    "tool": {"edit": (61, 250, 65, 250), "read": (61, 250, 65, 250)},
}
ALL_ALIKE = {"model": {"heron": (20, 200, 22, 200), "owl": (20, 200, 18, 200)}}


def headline(breakdown: Breakdown) -> str:
    return write_headline(breakdown, NAMES, lambda _, value: value, SMALLEST)


def advice(breakdown: Breakdown) -> str:
    return write_advice(breakdown, ArmNames("@13", "@12"), lambda _, value: value, SMALLEST)


def test_a_model_that_got_worse_is_named_where_the_whole_is_not_decided() -> None:
    breakdown = broken_down(ONE_WORSE)
    assert breakdown.whole.standing() is Standing.UNDECIDED
    assert [(stratum.dimension, stratum.name) for stratum in breakdown.find_named()] == [("model", "heron")]
    assert breakdown.list_differing() == ["model"]
    assert describe_evenness(breakdown) == ""
    assert headline(breakdown) == (
        "No clear difference between fixer@13 and fixer@12 overall: parse errors 26.0% against 24.4%. "
        "Worse for heron: 50.0% against 2.0% (+48.0 points, 200 sessions)."
    )
    assert advice(breakdown) == (
        "keep @12 for heron (parse errors 2.0% with @12, 50.0% with @13). Overall: no clear difference."
    )
    label = "The difference depends on the model: heron differs from the others (p < 0.001, corrected)."
    assert describe_dimension(breakdown, "model", lambda _, value: value) == label
    no_sign = "No sign that the difference depends on the tool."
    assert describe_dimension(breakdown, "tool", lambda _, value: value) == no_sign


def test_where_all_are_alike_nobody_is_named() -> None:
    breakdown = broken_down(ALL_ALIKE)
    assert breakdown.find_named() == []
    assert breakdown.list_differing() == []
    words = "parse errors 10.0% against 10.0%; a difference below about 7 points would not show yet."
    assert headline(breakdown) == f"No clear difference between fixer@13 and fixer@12: {words}"
    assert advice(breakdown) == f"No clear difference between @13 and @12: {words}"


def test_the_other_values_that_differ_are_counted_without_a_place_on_a_page() -> None:
    """The gate, the API and Markdown have no table below the sentence."""
    values = {f"m{n}": (200, 400, 20, 400) if n % 2 else (20, 400, 200, 400) for n in range(6)}
    assert headline(broken_down({"model": values})).endswith(" more differ, too.")


def test_the_headline_can_leave_out_which_difference_is_visible() -> None:
    words = write_headline(
        broken_down(ALL_ALIKE), NAMES, lambda _, value: value, SMALLEST, with_visible=False
    )
    assert words.endswith("parse errors 10.0% against 10.0%.")


def test_what_is_worse_for_everybody_names_nobody() -> None:
    breakdown = broken_down({"model": {"heron": (20, 400, 80, 400), "owl": (20, 400, 80, 400)}})
    assert all(stratum.standing() is Standing.WORSE for stratum in breakdown.strata["model"])
    assert breakdown.find_named() == []
    assert headline(breakdown) == "fixer@13 is worse than fixer@12: parse errors 20.0% against 5.0%."
    assert advice(breakdown) == "keep @12. @13 is worse: 20.0% against 5.0%."
    assert describe_evenness(breakdown) == "No sign that the difference depends on the model."


@pytest.mark.parametrize(
    ("rate", "order"),
    [
        ("parse_error", "+35.0 points for west-2 and +0.50 points for east-1"),
        ("recorded_ok", "+0.50 points for east-1 and +35.0 points for west-2"),
    ],
)
def test_of_two_values_the_worse_value_comes_first(rate: str, order: str) -> None:
    breakdown = broken_down({"provider": {"east-1": (20, 400, 22, 400), "west-2": (20, 400, 160, 400)}}, rate)
    words = describe_dimension(breakdown, "provider", lambda _, value: value)
    assert words == f"The difference depends on the host: {order} (p < 0.001, corrected)."


def test_a_model_for_which_it_is_the_other_way_round_is_named() -> None:
    breakdown = broken_down({"model": {"heron": (200, 400, 20, 400), "owl": (20, 200, 80, 200)}})
    assert headline(breakdown) == (
        "fixer@13 is better than fixer@12: parse errors 16.7% against 36.7%. "
        "Most of all for heron: 5.0% against 50.0% (−45.0 points, 800 sessions). "
        "But worse for owl: 40.0% against 10.0% (+30.0 points, 400 sessions)."
    )
    assert advice(breakdown) == (
        "take @13 for heron (parse errors 5.0% with @13, 50.0% with @12); "
        "keep @12 for owl (parse errors 10.0% with @12, 40.0% with @13). "
        "Overall @13 is better: 16.7% against 36.7%."
    )


def test_the_one_that_makes_the_difference_is_named() -> None:
    breakdown = broken_down({"model": {"heron": (20, 400, 240, 400), "owl": (20, 400, 22, 400)}})
    assert headline(breakdown).endswith(
        "Most of all for heron: 60.0% against 5.0% (+55.0 points, 800 sessions)."
    )


def test_an_interaction_is_reported_without_naming_a_value_that_has_no_clear_difference() -> None:
    breakdown = broken_down({"model": {"heron": (20, 100, 32, 100), "owl": (32, 100, 20, 100)}})
    assert [stratum.standing() for stratum in breakdown.strata["model"]] == [Standing.UNDECIDED] * 2
    assert breakdown.list_differing() == ["model"]
    assert breakdown.find_named() == []
    assert headline(breakdown).endswith(
        "The difference depends on the model, but no model alone shows a clear difference."
    )


def test_strata_are_corrected_for_all_dimensions_together() -> None:
    alone = broken_down({"model": {"heron": (10, 100, 24, 100), "owl": (20, 200, 20, 200)}})
    among = broken_down(
        {
            "model": {"heron": (10, 100, 24, 100), "owl": (20, 200, 20, 200)},
            "tool": {f"tool {number}": (5, 100, 5, 100) for number in range(12)},
        }
    )
    (first, *_), (other, *_) = (
        [each for each in breakdown.strata["model"] if each.name == "heron"] for breakdown in (alone, among)
    )
    assert first.comparison is not None
    assert other.comparison is not None
    assert first.comparison.p is not None
    assert other.comparison.p == pytest.approx(2 * first.comparison.p)
    assert (first.comparison.compared, other.comparison.compared) == (2, 14)


def test_what_the_logs_do_not_name_gets_no_verdict() -> None:
    breakdown = broken_down({"model": {"unknown": (2, 100, 50, 100), "owl": (60, 200, 60, 200)}})
    assert {stratum.name: stratum.standing() for stratum in breakdown.strata["model"]} == {
        "owl": Standing.UNDECIDED,
        "unknown": Standing.UNNAMED,
    }
    assert breakdown.find_named() == []


def test_a_stratum_needs_observations_and_sessions_on_each_side() -> None:
    by = {"model": {"heron": (1, 60, 45, 60), "owl": (5, 60, 6, 60), "wren": (0, 29, 20, 29)}}
    enough, few = broken_down(by, sessions=5), broken_down(by, sessions=4)
    assert {stratum.name: stratum.is_judged for stratum in enough.strata["model"]} == {
        "heron": True,
        "owl": True,
        "wren": False,
    }
    assert not any(stratum.is_judged for stratum in few.strata["model"])
    assert few.find_named() == []


def test_one_value_is_no_breakdown_and_what_one_arm_lacks_is_kept() -> None:
    breakdown = broken_down(
        {"model": {"heron": (2, 100, 50, 100)}, "tool": {"edit": (1, 5, 0, 0), "read": (0, 0, 9, 90)}}
    )
    assert list(breakdown.strata) == ["tool"]
    assert [(stratum.name, stratum.is_judged) for stratum in breakdown.strata["tool"]] == [
        ("read", False),
        ("edit", False),
    ]


def test_where_the_whole_has_too_little_no_part_of_it_is_named() -> None:
    breakdown = broken_down({"model": {"heron": (0, 10, 10, 10), "owl": (0, 5, 5, 5)}})
    assert breakdown.find_named() == []
    assert headline(breakdown) == (
        "fixer@13 against fixer@12: not enough data (parse errors 100% against 0%)."
    )


@pytest.mark.parametrize(("rate", "words"), [("refused", "has more than"), ("recorded_ok", "is better than")])
def test_each_kind_of_rate_has_its_words(rate: str, words: str) -> None:
    breakdown = broken_down({"model": {"heron": (20, 400, 80, 400), "owl": (20, 400, 80, 400)}}, rate)
    assert f"fixer@13 {words} fixer@12" in headline(breakdown)
    assert advice(breakdown)


def test_a_stratum_is_told_at_the_same_mix_where_it_did_other_work() -> None:
    """With the new version, heron got the harder tool more often. For each tool, both versions have the same
    rate.
    """
    counts: dict[tuple[str, str], Counts] = {
        ("heron", "easy"): (10, 900, 1, 100),
        ("heron", "hard"): (50, 100, 450, 900),
        ("owl", "easy"): (10, 500, 10, 500),
        ("owl", "hard"): (250, 500, 250, 500),
    }
    work: dict[str, dict[Stratum, Share]] = {"A": {}, "B": {}}
    parts: dict[str, list[list[Slice]]] = {}
    for (model, tool), (k, n, other_k, other_n) in counts.items():
        a, b = (
            of_slice(f"{model}{tool}", k, n, also="A"),
            of_slice(f"{model}{tool}", other_k, other_n, also="B"),
        )
        work["A"][model, tool], work["B"][model, tool] = a.share, b.share
        parts.setdefault(model, [[], []])
        parts[model][0].append(a)
        parts[model][1].append(b)
    slices = tuple([merge_slices(pair[side], model) for model, pair in parts.items()] for side in (0, 1))
    wholes = [merge_slices(slice_ for slice_ in side if slice_) for side in slices]
    assert wholes[0] is not None
    assert wholes[1] is not None
    strata = ArmStrata(("model", "tool"), work)
    (whole,) = compare_pairs([(wholes[1], wholes[0])], strata.compare([(("B", wholes[1]), ("A", wholes[0]))]))
    breakdown = break_down(whole, {"model": slices}, strata)  # type: ignore[dict-item]
    heron = next(stratum for stratum in breakdown.strata["model"] if stratum.name == "heron")
    assert heron.comparison is not None
    assert heron.comparison.is_at_same_mix
    assert heron.standing() in (Standing.ALIKE, Standing.UNDECIDED)
    assert not heron.is_unlike_others
    assert "heron" not in headline(breakdown)
