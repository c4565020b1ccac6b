"""A range of days is read as people write it, and means the same in a link that is opened a week later."""

from __future__ import annotations

from datetime import date

import pytest

from callgauge.analysis.time_ranges import PRESETS, TimeRange, read_range

NEWEST, TODAY = date(2026, 11, 15), date(2026, 11, 24)


@pytest.mark.parametrize(
    ("written", "text", "first", "last"),
    [
        ("7d", "7 days", "2026-11-09", "2026-11-15"),
        ("7d-now", "7 days to today", "2026-11-18", "2026-11-24"),
        ("24h", "1 day", "2026-11-15", "2026-11-15"),
        (" last 2 weeks ", "14 days", "2026-11-02", "2026-11-15"),
        ("2026-11-09", "2026-11-09", "2026-11-09", "2026-11-09"),
        ("2026-11-9 – 2026-11-15", "2026-11-09 to 2026-11-15", "2026-11-09", "2026-11-15"),
        ("2026-11-15,2026-11-09", "2026-11-09 to 2026-11-15", "2026-11-09", "2026-11-15"),
        ("2026-02", "2026-02-01 to 2026-02-28", "2026-02-01", "2026-02-28"),
        ("2026-12", "2026-12-01 to 2026-12-31", "2026-12-01", "2026-12-31"),
    ],
)
def test_a_range_is_read_as_people_write_it(written: str, text: str, first: str, last: str) -> None:
    read = read_range(written)
    assert read.text == text
    assert read.resolve(NEWEST, TODAY) == (date.fromisoformat(first), date.fromisoformat(last))
    assert read_range(read.text) == read


def test_all_days_have_no_ends_so_that_unknown_days_count_too() -> None:
    assert read_range("all") == read_range("All days") == TimeRange()
    assert read_range("all").resolve(NEWEST, TODAY) is None


def test_a_clock_that_runs_ahead_does_not_move_the_newest_days() -> None:
    assert read_range("7d").resolve(date(2038, 1, 1), TODAY) == (date(2026, 11, 18), TODAY)


@pytest.mark.parametrize("text", PRESETS)
def test_the_presets_are_read(text: str) -> None:
    assert read_range(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "0d",
        "99999d",
        "2026-13-45",
        "2026-02-30",
        "2026-13",
        "<b>",
        "2026-01-01 2026-01-02 2026-01-03",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"range|month|day"):
        read_range(text)
