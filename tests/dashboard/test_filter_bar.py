"""Tests that the filter panel sends the label that the user clicked, even if a load changed the list of
labels before the click.
"""

from __future__ import annotations

from typing import Any

import pytest

from callgauge.dashboard import filters
from callgauge.dashboard.components.shell import filter_bar
from callgauge.dashboard.filters import NOTHING, read_compared_with

LONG = "m" * 200
LABELS = {"v1": "falcon", "v2": "heron", "v3": f"{LONG}1", "v4": f"{LONG}2"}


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ({"place": 1, "text": "heron"}, "v2"),
        ({"place": 0, "text": "heron"}, "v2"),  # the order changed before the click
        ({"place": 7, "text": "heron"}, "v2"),
        ({"place": 0, "text": "gone"}, None),
        ({"place": None, "text": None}, None),
    ],
)
def test_a_clicked_value_is_found_by_its_text(shown: dict[str, Any], value: str | None) -> None:
    assert filter_bar._find_value(LABELS, shown) == value


def test_labels_that_are_cut_alike_are_told_apart_by_their_place() -> None:
    text = filter_bar._shorten(LABELS["v3"])
    assert text == filter_bar._shorten(LABELS["v4"])
    assert filter_bar._find_value(LABELS, {"place": 3, "text": text}) == "v4"
    assert filter_bar._find_value(LABELS, {"place": 0, "text": text}) == "v3"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (None, "days before"),
        ("Baseline: days before", "days before"),
        ("No baseline", NOTHING),
        ("7d", "7 days"),
        ("2026-11-01 to 2026-11-03", "2026-11-01 to 2026-11-03"),
    ],
)
def test_old_links_say_what_the_days_are_compared_with(text: str | None, meaning: str) -> None:
    assert read_compared_with(text) == meaning


def test_a_text_that_is_no_range_is_refused() -> None:
    with pytest.raises(ValueError, match="soon"):
        filters.read_compared_with("soon")
