"""Two slices and what tells them apart; what became worse; the words for traits."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import pytest

from callgauge.dashboard import comparison
from callgauge.dashboard.call_traits import class_words
from callgauge.dashboard.comparison import Arm
from callgauge.dashboard.measures.rates import RATES
from callgauge.dashboard.measures.slices import Slice
from callgauge.dashboard.measures.strata import find_makeup_shifts, pair_slices, pair_strata, sum_by_name
from callgauge.dashboard.pages.overview.alerts import choose_windows, find_alerts, list_candidates
from callgauge.stats import Share
from tests.dashboard.store_fixture import HOSTILE

DAY = date(2026, 11, 20)


def of(name: str, k: int, n: int, *, also: str = "all", rate: str = "parse_error", total: int = 0) -> Slice:
    return Slice(RATES[rate], name, also, Share(k, n), total or n)


# --- the arms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [["a"], ["a,b", "c%2C", "100%"], [HOSTILE, "x"], ["é|;&=+ "]])
def test_values_come_back_from_the_url_as_they_went_in(values: list[str]) -> None:
    assert comparison.split_values(comparison.join_values(values)) == values


def test_days_in_the_url_are_cut_to_those_of_the_store() -> None:
    first, last = DAY - timedelta(9), DAY
    assert comparison.read_days("2026-11-15", first, last) == (date(2026, 11, 15), date(2026, 11, 15))
    assert comparison.read_days("2026-11-30_2020-01-01", first, last) == (first, last)
    assert comparison.join_days((DAY, DAY)) == "2026-11-20"
    for nonsense in ("yesterday", "2020-01-01", "2026-11-12_2026-11-13_2026-11-14", ""):
        with pytest.raises(ValueError):  # noqa: PT011 - which words it has is the date parser's choice
            comparison.read_days(nonsense, first, last)


def test_a_choice_of_a_slice_takes_the_place_of_the_one_for_both() -> None:
    arm = Arm("A", {"model": ("a",)}, (DAY, DAY), {"models": ("b",), "tools": ("edit",), "from_day": None})
    assert arm.parameters() == {"models": ("a",), "tools": ("edit",), "from_day": DAY, "to_day": DAY}
    assert arm.add_prefix()["a_models"] == ("a",)
    assert arm.split_by_call() == ["tool"]


def test_slices_are_called_by_what_tells_them_apart() -> None:
    labels = {"model": {"m1": "falcon"}, "prompt": {"p": "support@3"}}
    one = Arm("A", {"model": ("m1",), "prompt": ("p",)})
    assert comparison.name_arms(one, Arm("B", {"model": ("m2", "m3"), "prompt": ("p",)}), labels) == (
        "falcon",
        "m2 and 1 more",
    )
    assert comparison.name_arms(one, one, labels) == ("A, everything", "B, everything")
    days = Arm("B", {"model": ("m1",), "prompt": ("p",)}, (DAY, DAY))
    assert comparison.name_arms(one, days, labels) == ("everything", "2026-11-20")


def test_slices_overlap_unless_something_keeps_them_apart() -> None:
    a = Arm("A", {"model": ("a",)})
    assert comparison.do_overlap(a, Arm("B"))
    assert comparison.do_overlap(a, Arm("B", {"tool": ("x",)}))
    assert not comparison.do_overlap(a, Arm("B", {"model": ("b",)}))
    week = (DAY - timedelta(6), DAY)
    assert not comparison.do_overlap(
        Arm("A", days=week), Arm("B", days=(DAY - timedelta(13), DAY - timedelta(7)))
    )
    assert comparison.do_overlap(Arm("A", days=week), Arm("B", days=(DAY, DAY)))


# --- their parts ---------------------------------------------------------------------------------------


def test_pairs_are_corrected_together_and_keep_what_only_one_has() -> None:
    found = pair_slices([of("edit", 10, 100), of("only_a", 1, 5)], [of("edit", 40, 100), of("only_b", 1, 9)])
    assert [pair.name for pair in found] == ["edit", "only_b", "only_a"]
    assert found[0].held is not None
    assert found[0].held.is_decisive
    assert found[0].held.difference is not None
    assert found[0].held.difference.estimate == pytest.approx(0.3)
    assert found[1].held is None
    assert found[1].a is None


def test_strata_are_those_of_either_and_sums_are_over_the_second_dimension() -> None:
    a = [of("edit", 1, 10, also="tool_use"), of("edit", 2, 5, also="json_fallback")]
    b = [of("edit", 3, 10, also="tool_use")]
    assert [(b.n, a.n) for b, a in pair_strata(a, b)] == [(10, 10), (0, 5)]
    assert [(one.name, one.share.k, one.share.n) for one in sum_by_name(a)] == [("edit", 3, 15)]


def test_what_differs_most_comes_first_and_what_is_alike_or_unknown_is_left_out() -> None:
    def rows(*several: tuple[str, str, int, int]) -> pd.DataFrame:
        return pd.DataFrame(several, columns=["dimension", "value", "calls", "total"])

    a = rows(("tool", "edit", 5, 10), ("tool", "read", 5, 10), ("source", "x", 10, 10), ("depth", "1", 3, 3))
    b = rows(("tool", "read", 20, 20), ("source", "x", 20, 20), ("model", "m", 20, 20))
    found = find_makeup_shifts(a, b)
    assert [(one.dimension, one.value, one.change) for one in found] == [
        ("tool", "edit", -0.5),
        ("tool", "read", 0.5),
    ]
    assert find_makeup_shifts(a, b, ["tool"]) == []
    assert find_makeup_shifts(rows(), rows()) == []


# --- alerts --------------------------------------------------------------------------------------------


def test_the_newest_day_is_held_against_the_weeks_before_when_it_has_enough_calls() -> None:
    days = {DAY - timedelta(n): 150 for n in range(60)}
    found = choose_windows(days)
    assert found is not None
    assert found.now == (DAY, DAY)
    assert found.before == (DAY - timedelta(28), DAY - timedelta(1))


def test_a_quiet_newest_day_is_taken_with_its_week_and_the_past_ends_with_the_store() -> None:
    found = choose_windows({DAY: 3, DAY - timedelta(2): 400, DAY - timedelta(9): 1})
    assert found is not None
    assert found.now == (DAY - timedelta(6), DAY)
    assert found.before == (DAY - timedelta(9), DAY - timedelta(7))
    assert choose_windows({DAY: 3}) is None
    assert choose_windows({}) is None


def test_the_worst_comes_first_and_better_ones_come_last() -> None:
    before = [of("a", 10, 1000), of("b", 10, 1000), of("c", 100, 1000), of("same", 10, 1000)]
    now = [of("a", 30, 200), of("b", 80, 200), of("c", 1, 200), of("same", 2, 200)]
    found = find_alerts(list_candidates("model", now, before))
    assert [(one.now.name, one.is_worse) for one in found] == [("b", True), ("a", True), ("c", False)]
    turns = find_alerts(
        list_candidates("model", [of("t", 10, 100, rate="derived_ok")], [of("t", 90, 100, rate="derived_ok")])
    )
    assert [one.is_worse for one in turns] == [True]


def test_what_was_hardly_seen_or_is_neither_good_nor_bad_is_no_candidate() -> None:
    assert list_candidates("model", [of("a", 5, 10)], [of("a", 5, 1000)]) == []
    assert list_candidates("model", [of("a", 50, 100, total=1000)], [of("a", 5, 1000)]) == []
    assert (
        list_candidates("model", [of("a", 50, 100, rate="refused")], [of("a", 5, 1000, rate="refused")]) == []
    )
    assert list_candidates("model", [of("new", 50, 100)], []) == []
    assert find_alerts([]) == []


def test_among_many_that_did_not_change_alerts_are_rare() -> None:
    import numpy as np

    random, false = np.random.default_rng(23), 0
    for _ in range(60):
        now = [of(f"m{n}", int(random.binomial(200, 0.05)), 200) for n in range(40)]
        before = [of(f"m{n}", int(random.binomial(2000, 0.05)), 2000) for n in range(40)]
        false += bool(find_alerts(list_candidates("model", now, before)))
    assert false / 60 <= 0.12


# --- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trait", "number", "words"),
    [
        ("length", 4, "under 32 bytes"),
        ("length", 6, "64 to 127 bytes"),
        ("length", 16, "64 kB or more"),
        ("depth", 1, "1 level"),
        ("depth", 6, "6 levels or more"),
        ("turn", 4, "4th or 5th"),
        ("offered", 0, "none or one"),
        ("non_ascii", 9, "9"),
        ("unheard_of", 2, "2"),
    ],
)
def test_a_class_of_a_trait_is_told_in_words(trait: str, number: int, words: str) -> None:
    assert class_words(trait, number) == words
