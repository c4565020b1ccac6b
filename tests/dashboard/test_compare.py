"""Two slices and what tells them apart; what became worse; the words for traits."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import pytest

from callgauge.dashboard import comparison
from callgauge.dashboard.call_traits import class_words
from callgauge.dashboard.comparison import Arm
from callgauge.dashboard.measures.makeup import find_makeup_shifts
from callgauge.dashboard.measures.slices import Slice
from callgauge.dashboard.pages.overview.alerts import (
    Alert,
    AlertWindows,
    Candidate,
    choose_windows,
    find_alerts,
    list_candidates,
)
from callgauge.stats.day_effects import LEAST_DAYS
from tests.dashboard.session_shares import of_slice
from tests.dashboard.store_fixture import HOSTILE

DAY = date(2026, 11, 20)


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

WINDOWS = AlertWindows((DAY, DAY), (DAY - timedelta(28), DAY - timedelta(1)), 28)


def by_day(
    name: str, now: tuple[int, int], *before: tuple[int, int], rate: str = "parse_error", total: int = 0
) -> list[Slice]:
    """Slices by day: the newest one, and 28 days before it, on which `before` is repeated."""
    each = [now, *(before[number % len(before)] for number in range(28))]
    return [
        of_slice(name, k, n, also=str(DAY - timedelta(number)), rate=rate, total=total or n)
        for number, (k, n) in enumerate(each)
    ]


def alerts(*series: list[Slice]) -> list[Alert]:
    return find_alerts(list_candidates("model", [one for its in series for one in its], WINDOWS), WINDOWS)


def test_the_newest_day_is_held_against_the_weeks_before_when_it_has_enough_calls() -> None:
    days = {DAY - timedelta(n): 150 for n in range(60)}
    found = choose_windows(days)
    assert found is not None
    assert found.now == (DAY, DAY)
    assert found.before == (DAY - timedelta(28), DAY - timedelta(1))
    assert (found.days_before, found.is_long_enough) == (28, True)


def test_a_quiet_newest_day_is_taken_with_its_week_and_the_past_ends_with_the_store() -> None:
    found = choose_windows({DAY: 3, DAY - timedelta(2): 400, DAY - timedelta(9): 1})
    assert found is not None
    assert found.now == (DAY - timedelta(6), DAY)
    assert found.before == (DAY - timedelta(9), DAY - timedelta(7))
    assert (found.days_before, found.is_long_enough) == (1, False)
    assert choose_windows({DAY: 3}) is None
    assert choose_windows({}) is None


def test_the_worst_comes_first_and_better_ones_come_last() -> None:
    found = alerts(
        by_day("a", (30, 200), (2, 200)),
        by_day("b", (80, 200), (2, 200)),
        by_day("c", (1, 200), (20, 200)),
        by_day("same", (2, 200), (2, 200)),
    )
    assert [(one.now.name, one.is_worse) for one in found] == [("b", True), ("a", True), ("c", False)]
    assert [one.is_worse for one in alerts(by_day("t", (10, 100), (90, 100), rate="derived_ok"))] == [True]


def test_what_the_days_before_show_as_well_is_no_alert() -> None:
    assert alerts(by_day("steady", (20, 200), (8, 200)))
    assert alerts(by_day("unsteady", (20, 200), (2, 200), (14, 200))) == []


def test_a_weekend_is_held_against_weekends() -> None:
    assert DAY.weekday() == 4
    saturday = DAY + timedelta(1)
    windows = AlertWindows((saturday, saturday), (saturday - timedelta(28), DAY), 28)
    days = [saturday - timedelta(number) for number in range(29)]
    rates = [(20 if day.weekday() >= 5 else 5) + number % 3 for number, day in enumerate(days)]
    several = [of_slice("a", k, 200, also=str(day)) for day, k in zip(days, rates, strict=True)]
    assert find_alerts(list_candidates("model", several, windows), windows) == []
    as_on_weekdays = [of_slice("a", 6, 200, also=str(saturday)), *several[1:]]
    (found,) = find_alerts(list_candidates("model", as_on_weekdays, windows), windows)
    assert found.difference.estimate < -0.05


def test_what_was_hardly_seen_or_is_neither_good_nor_bad_is_no_candidate() -> None:
    def candidates(several: list[Slice]) -> list[Candidate]:
        return list_candidates("model", several, WINDOWS)

    assert len(candidates(by_day("a", (5, 100), (5, 100)))) == 1
    assert candidates(by_day("a", (5, 10), (5, 100))) == []
    assert candidates(by_day("a", (50, 100), (5, 100), total=1000)) == []
    assert candidates(by_day("a", (50, 100), (5, 100), rate="refused")) == []
    assert candidates(by_day("new", (50, 100), (0, 0))) == []
    new = by_day("new", (50, 100), (5, 100))
    assert candidates(new[:LEAST_DAYS]) == [], "the newest day, and one too few before it"
    assert len(candidates(new[: LEAST_DAYS + 1])) == 1
    for sessions, found in ((9, 0), (12, 1)):
        newest = of_slice("a", 5, 100, also=str(DAY), sessions=sessions)
        assert len(candidates([newest, *by_day("a", (5, 100), (5, 100))[1:]])) == found
    assert find_alerts([], WINDOWS) == []


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
