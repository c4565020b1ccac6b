"""Tests the cells of a forest plot."""

from __future__ import annotations

import pytest

from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs, rank_table
from callgauge.analysis.verdicts.sentences import describe_mix, describe_verdict
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    place_cell,
    tagged_difference_cell,
    track_reach,
    verdict_cell,
)
from callgauge.stats import Difference
from tests.analysis.session_shares import of_slice
from tests.analysis.test_comparisons import KIDNEY_STONES, arms_of, hold

ONE = of_slice("a", 10, 1000)


def of_interval(low: float, high: float, p: float | None = 0.01) -> SliceComparison:
    difference = Difference((low + high) / 2, low, high, 0.01, "made")
    return SliceComparison(ONE, difference, p, is_thin=p is None)


def test_a_tie_shares_a_place_and_says_which_ranks_it_may_have() -> None:
    several = [of_slice("a", 10, 1000), of_slice("b", 12, 1000), of_slice("c", 300, 1000)]
    table = rank_table([*several, of_slice("unknown", 1, 500)], several[0])
    cells = {row.slice.name: place_cell(row.slice, table) for row in table.rows}
    tied = "tied"
    assert {name: (cell.text, cell.sub) for name, cell in cells.items()} == {
        "a": ("1", tied), "b": ("1", tied), "c": ("3", None), "unknown": ("–", None),
    }  # fmt: skip
    assert [cells[name].values for name in "ac"] == [{"": 1, "tied": True}, {"": 3, "tied": False}]
    assert cells["a"].title == "Its rank is any from 1 to 2, all ranks together with 95% confidence."
    assert cells["unknown"].title == "No rank: it may be several things."


@pytest.mark.parametrize(
    ("several", "reach"),
    [
        ([(-0.031, 0.02)], 0.04),
        ([(-0.03, 0.02)], 0.03),
        ([(0.01, 0.02), (-0.09, -0.01)], 0.09),
        ([(0.01, 0.121)], 0.15),
        ([(-0.99, 0.2)], 1.0),
        ([], 0.05),
    ],
)
def test_the_track_ends_on_a_round_number_beyond_every_interval(
    several: list[tuple[float, float]], reach: float
) -> None:
    assert track_reach([of_interval(*each) for each in several]) == pytest.approx(reach)


def test_the_track_is_as_wide_as_what_may_be_judged() -> None:
    judged, wild = of_interval(-0.01, 0.02), of_interval(-0.7, 0.9, None)
    assert track_reach([judged, wild]) == pytest.approx(0.02)
    assert track_reach([wild]) == pytest.approx(0.9)


def test_a_difference_lies_on_the_track_with_both_ends_of_its_interval() -> None:
    cell = difference_cell(of_interval(-0.03, 0.05), 0.1)
    assert (cell.text, cell.sub) == ("+1.0", "−3.0 to +5.0")
    assert (cell.low, cell.at, cell.high) == pytest.approx((0.35, 0.55, 0.75))
    assert cell.order == pytest.approx(0.01)
    assert (cell.pale, cell.title) == (False, "made")
    assert difference_cell(of_interval(-0.03, 0.05, None), 0.1).pale
    assert difference_cell(SliceComparison(ONE, None, None), 0.1, none="first").text == "first"
    assert difference_column("B − A", 0.1).scale == ("−10", "+10 points")


def test_the_difference_that_decides_is_tagged_and_tells_of_the_other_one() -> None:
    strata, wholes = arms_of(KIDNEY_STONES, times=10)
    a, b = wholes["A"], wholes["B"]
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    cell = tagged_difference_cell(comparison, 0.1)
    assert (cell.text, str(cell.sub).splitlines()[-1], cell.pale) == ("−5.4", "mix-adjusted", False)
    assert "Unadjusted: 22.0% vs 17.4%, difference +4.6 points" in str(cell.title)
    alone = tagged_difference_cell(hold(a, b), 0.1)
    assert (alone.text, str(alone.sub).splitlines()[-1], alone.pale) == ("+4.6", "plain", False)
    assert str(alone.title).startswith("Plain: the two rates as they are.")
    assert (cell.values or {})["kind"] == "mix-adjusted"


def test_the_sentences_of_a_verdict_show_on_hover() -> None:
    strata, wholes = arms_of(KIDNEY_STONES, times=10)
    a, b = wholes["A"], wholes["B"]
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    cell = verdict_cell(comparison, 0.02)
    assert (cell.text, cell.tone, cell.order) == ("Better", "good", comparison.p)
    assert cell.title == f"{describe_verdict(comparison, 0.02)} {describe_mix(comparison)}"
    few = verdict_cell(hold(of_slice("a", 1, 5), of_slice("b", 9, 90)), 0.02)
    assert (few.text, few.order) == ("Not enough data", None)
    assert str(few.title).startswith("Not enough data")
