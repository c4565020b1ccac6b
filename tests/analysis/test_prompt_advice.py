"""Tests the advice on a prompt change, and the cost of the change."""

from __future__ import annotations

from dataclasses import replace

from callgauge.analysis.measures.breakdown import Breakdown
from callgauge.analysis.measures.comparisons import SMALLEST, SliceComparison, Standing, compare_pairs
from callgauge.analysis.verdicts.headlines import ArmNames, suggest_decision, write_advice, write_headline
from tests.analysis.session_shares import of_slice
from tests.analysis.test_breakdown import ONE_WORSE, broken_down

NAMES = ArmNames("@5", "@4")
SPLIT = {"model": {"marble": (120, 1000, 40, 1000), "slate": (10, 500, 110, 500), "onyx": (20, 300, 18, 300)}}
BETTER = {"model": {"marble": (120, 1000, 40, 1000), "slate": (60, 500, 20, 500)}}
WORSE = {"model": {"marble": (40, 1000, 120, 1000), "slate": (20, 500, 60, 500)}}


def advice(breakdown: Breakdown) -> str:
    return write_advice(breakdown, NAMES, lambda _, value: value, SMALLEST)


def suggestion(breakdown: Breakdown) -> str:
    return suggest_decision(breakdown, NAMES, SMALLEST)


def by_completed(hits: int, against: int) -> list[SliceComparison]:
    """Return the comparison of two variants by turn success, with 500 turns each."""
    both = [of_slice(name, k, 500, rate="turn_success") for name, k in (("of", hits), ("against", against))]
    return compare_pairs([(both[0], both[1])])


def test_where_the_change_helps_one_model_and_harms_another_the_advice_is_for_each() -> None:
    breakdown = replace(broken_down(SPLIT), weekly={"marble": 700.0, "slate": 300.0, "onyx": 100.0})
    split = breakdown.find_split()
    assert split is not None
    assert [[each.name for each in side] for side in (split.better, split.worse)] == [["marble"], ["slate"]]
    assert advice(breakdown) == (
        "take @5 for marble (parse errors 4.0% with @5, 12.0% with @4); "
        "keep @4 for slate (parse errors 2.0% with @4, 22.0% with @5). "
        "With the traffic of the last 7 days that saves about 56 failed calls a week "
        "against @4 for all models; @5 for all models costs about 3."
    )


def test_without_recent_traffic_the_advice_gives_no_effect() -> None:
    assert advice(broken_down(SPLIT)).endswith(
        "keep @4 for slate (parse errors 2.0% with @4, 22.0% with @5)."
    )


def test_a_good_rate_gains_successes() -> None:
    by = {"model": {"marble": (500, 1000, 700, 1000), "slate": (400, 500, 250, 500)}}
    breakdown = replace(broken_down(by, "recorded_ok"), weekly={"marble": 100.0, "slate": 100.0})
    assert "saves" not in advice(breakdown)
    assert "that gains about 20 successful turns a week against @4 for all models" in advice(breakdown)


def test_a_split_verdict_pre_fills_no_decision() -> None:
    assert suggestion(broken_down(SPLIT)) == ""
    breakdown = broken_down(ONE_WORSE)
    assert breakdown.whole.standing() is Standing.UNDECIDED
    assert suggestion(breakdown) == ""


def test_one_verdict_for_all_pre_fills_the_decision() -> None:
    assert suggestion(broken_down(BETTER)) == "Take @5"
    assert suggestion(broken_down(WORSE)) == "Keep @4"


def test_the_price_of_the_better_version_is_named_and_pre_fills_no_decision() -> None:
    breakdown = replace(broken_down(BETTER), prices=by_completed(275, 400))
    but = "But @5 is worse by turn success: 55.0% against 80.0%."
    assert advice(breakdown) == f"take @5. It is better: 4.0% against 12.0%. {but}"
    assert write_headline(breakdown, NAMES, lambda _, value: value, SMALLEST).endswith(but)
    assert suggestion(breakdown) == ""
    assert "But" not in advice(replace(breakdown, prices=by_completed(400, 275)))


def test_the_version_that_is_worse_is_named_where_it_is_better_by_another_rate() -> None:
    breakdown = replace(broken_down(WORSE), prices=by_completed(400, 275))
    assert advice(breakdown).endswith(" But @5 is better by turn success: 80.0% against 55.0%.")
    assert suggestion(breakdown) == ""


def test_the_price_of_a_split_change_is_that_where_it_helps() -> None:
    breakdown = replace(broken_down(SPLIT), prices=by_completed(275, 400))
    assert advice(breakdown).endswith(" But @5 is worse by turn success there: 55.0% against 80.0%.")


def test_a_pair_that_differs_alone_is_never_called_without_clear_difference() -> None:
    several = [(of_slice("b", 70, 1000), of_slice("a", 100, 1000))]
    several += [(of_slice(f"b{n}", 100, 1000), of_slice(f"a{n}", 100, 1000)) for n in range(20)]
    comparison = compare_pairs(several, family="pairs of versions")[0]
    assert comparison.standing() is Standing.UNDECIDED
    words = write_headline(Breakdown(comparison, {}), NAMES, lambda _, value: value, SMALLEST)
    assert words == (
        "@5 is better as a pair, not after correction for 21 pairs of versions: "
        "parse errors 7.0% against 10.0%."
    )
