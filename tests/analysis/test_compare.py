"""Tests comparisons of two slices."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import pytest

from callgauge.analysis import arm_filters
from callgauge.analysis.arm_filters import Arm
from callgauge.analysis.call_traits import class_words
from callgauge.analysis.measures.same_mix import find_makeup_shifts
from tests.analysis.store_fixture import HOSTILE

DAY = date(2026, 11, 20)


# --- the arms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [["a"], ["a,b", "c%2C", "100%"], [HOSTILE, "x"], ["é|;&=+ "]])
def test_values_come_back_from_the_url_as_they_went_in(values: list[str]) -> None:
    assert arm_filters.split_values(arm_filters.join_values(values)) == values


def test_days_in_the_url_are_cut_to_those_of_the_store() -> None:
    first, last = DAY - timedelta(9), DAY
    assert arm_filters.read_days("2026-11-15", first, last) == (date(2026, 11, 15), date(2026, 11, 15))
    assert arm_filters.read_days("2026-11-30_2020-01-01", first, last) == (first, last)
    assert arm_filters.join_days((DAY, DAY)) == "2026-11-20"
    for nonsense in ("soon", "2020-01-01", "2026-11-12_2026-11-13_2026-11-14", ""):
        with pytest.raises(ValueError):  # noqa: PT011 - which words it has is the date parser's choice
            arm_filters.read_days(nonsense, first, last)


def test_a_choice_of_a_slice_takes_the_place_of_the_one_for_both() -> None:
    arm = Arm("A", {"model": ("a",)}, (DAY, DAY), {"models": ("b",), "tools": ("edit",), "from_day": None})
    assert arm.parameters() == {"models": ("a",), "tools": ("edit",), "from_day": DAY, "to_day": DAY}
    assert arm.add_prefix()["a_models"] == ("a",)
    assert arm.split_by_call() == ["tool"]


def test_slices_are_called_by_what_tells_them_apart() -> None:
    labels = {"model": {"m1": "falcon"}, "prompt": {"p": "support@3"}}
    arm = Arm("A", {"model": ("m1",), "prompt": ("p",)})
    assert arm_filters.name_arms(arm, Arm("B", {"model": ("m2", "m3"), "prompt": ("p",)}), labels) == (
        "falcon",
        "m2 and 1 more",
    )
    assert arm_filters.name_arms(arm, arm, labels) == ("A, everything", "B, everything")
    days = Arm("B", {"model": ("m1",), "prompt": ("p",)}, (DAY, DAY))
    assert arm_filters.name_arms(arm, days, labels) == ("everything", "2026-11-20")


def test_slices_overlap_unless_something_keeps_them_apart() -> None:
    a = Arm("A", {"model": ("a",)})
    assert arm_filters.do_overlap(a, Arm("B"))
    assert arm_filters.do_overlap(a, Arm("B", {"tool": ("x",)}))
    assert not arm_filters.do_overlap(a, Arm("B", {"model": ("b",)}))
    week = (DAY - timedelta(6), DAY)
    assert not arm_filters.do_overlap(
        Arm("A", days=week), Arm("B", days=(DAY - timedelta(13), DAY - timedelta(7)))
    )
    assert arm_filters.do_overlap(Arm("A", days=week), Arm("B", days=(DAY, DAY)))


# --- their parts ---------------------------------------------------------------------------------------


def test_what_differs_most_comes_first_and_what_is_alike_or_unknown_is_left_out() -> None:
    def rows(*several: tuple[str, str, int, int]) -> pd.DataFrame:
        return pd.DataFrame(several, columns=["dimension", "value", "calls", "total"])

    a = rows(("tool", "edit", 5, 10), ("tool", "read", 5, 10), ("source", "x", 10, 10), ("depth", "1", 3, 3))
    b = rows(("tool", "read", 20, 20), ("source", "x", 20, 20), ("model", "m", 20, 20))
    shifts = find_makeup_shifts(a, b)
    assert [(shift.dimension, shift.value, shift.change) for shift in shifts] == [
        ("tool", "edit", -0.5),
        ("tool", "read", 0.5),
    ]
    assert find_makeup_shifts(a, b, ["tool"]) == []
    assert find_makeup_shifts(rows(), rows()) == []


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
