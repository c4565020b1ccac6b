"""Tests the list of diagnostics."""

from __future__ import annotations

import pytest

from callgauge.dashboard.components.finding_list import name_numbers


@pytest.mark.parametrize(
    ("numbers", "named"),
    [
        ([], []),
        ([4], ["4"]),
        ([1, 2, 3, 5], ["1–3", "5"]),
        ([1, 3, 5, 7, 9, 11], ["1", "3", "5", "7", "…"]),
    ],
)
def test_neighbours_are_named_as_one(numbers: list[int], named: list[str]) -> None:
    assert name_numbers(numbers) == named
