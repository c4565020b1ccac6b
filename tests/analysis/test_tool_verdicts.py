"""Tests which tool the page Tools names as the tool that fails most."""

from __future__ import annotations

import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.tools import estimate_failures, judge_tools, sort_by_failures, write_tools
from callgauge.stats import Share
from tests.analysis.session_shares import of_slice


def a_slice(name: str, k: int, n: int, total: int, rate: str = "parse_error") -> Slice:
    return Slice(RATES[rate], name, "all", Share(k, n), total)


@pytest.mark.parametrize(
    ("slice_", "failures"),
    [
        (a_slice("a", 5, 50, 200), 20.0),
        (a_slice("a", 40, 50, 100, "recovered"), 20.0),
        (a_slice("a", 0, 0, 100), 0.0),
        (None, 0.0),
    ],
)
def test_failures_are_the_bad_share_of_all(slice_: Slice | None, failures: float) -> None:
    assert estimate_failures(slice_) == pytest.approx(failures)


def test_many_calls_at_a_small_rate_lose_more_than_one_call_that_failed() -> None:
    several = {slice_.name: slice_ for slice_ in (a_slice("once", 1, 1, 1), a_slice("busy", 50, 5000, 5000))}
    assert sort_by_failures(several, ["once", "busy"]) == ["busy", "once"]


def test_what_is_hardly_measured_or_not_at_all_stands_last() -> None:
    several = {
        slice_.name: slice_ for slice_ in (a_slice("unseen", 10, 10, 1000), a_slice("fine", 0, 30, 30))
    }
    assert sort_by_failures(several, ["absent", "unseen", "fine"]) == ["fine", "unseen", "absent"]


def answer(*several: Slice) -> str:
    return write_tools(judge_tools(several))


def test_the_tool_that_fails_most_often_is_named_and_where_most_failures_are() -> None:
    often, busy, fine = of_slice("Grep", 200, 1000), of_slice("Read", 500, 10_000), of_slice("Bash", 1, 1000)
    assert answer(fine, busy, often) == (
        "Grep has the highest share of parse errors: 200 of 1,000 calls (20.0%). "
        "Read has the most failures in total: 500 of 10,000 calls (5.0%)."
    )


def test_of_tools_of_which_any_may_be_the_worst_the_sentence_says_what_could_be_seen() -> None:
    several = [of_slice(name, k, 100) for name, k in (("a", 10), ("b", 12), ("c", 9))]
    assert answer(*several) == (
        "No tool is clearly the worst yet by parse errors: any of these 3 may be it "
        "(31 of 300 calls; a difference below about 19 points would not show yet)."
    )
    assert judge_tools(several).named is None


def test_the_sentence_says_which_tools_are_clearly_better_and_which_are_not() -> None:
    bad = [of_slice(f"bad{number}", 200 + number, 1000) for number in range(5)]
    assert answer(*bad, *(of_slice(f"good{number}", 5, 1000) for number in range(2))) == (
        "bad4 has the highest share of parse errors (20.4%). good0 and good1 are clearly better; "
        "for bad3 (20.3%), bad2 (20.2%), bad1 (20.1%) and 1 more, the difference is not clear."
    )


def test_a_tool_that_is_worse_by_chance_is_not_said_to_be_the_worst() -> None:
    assert answer(of_slice("rare", 8, 34), of_slice("bad", 200, 1000), of_slice("good", 150, 1000)) == (
        "bad is clearly worse by parse errors (20.0%) than good; rare (24%) may be worse still."
    )


def test_the_sentence_says_whose_fault_the_failed_calls_are() -> None:
    verdict = judge_tools([of_slice("Grep", 200, 1000), of_slice("Read", 10, 1000)])
    faults = {
        name: of_slice("Grep", k, 1000, rate=name)
        for name, k in (("parse_error", 200), ("tool_rejected", 12), ("execution", 0), ("mended", 90))
    }
    assert write_tools(verdict, faults).endswith(
        " Of its calls, 200 had invalid arguments and 12 were rejected by the tool."
    )


def test_tools_without_enough_data_are_not_judged() -> None:
    assert answer(of_slice("rare", 9, 10)).startswith("Not enough data to say which tool fails most often: ")
    assert answer(of_slice("rare", 9, 10), of_slice("Grep", 40, 112)) == (
        "Only Grep has enough data (parse errors: 40 of 112 calls (35.7%))."
    )


def test_a_good_rate_has_its_words() -> None:
    sentence = answer(
        of_slice("a", 500, 1000, rate="turn_success"), of_slice("b", 900, 1000, rate="turn_success")
    )
    assert sentence == "a has the lowest turn success: 500 of 1,000 turns (50.0%)."
