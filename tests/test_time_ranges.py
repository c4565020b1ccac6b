"""Tests ranges of days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from ingest.time_ranges import PRESETS, TimeRange, read_day, read_expiry, read_range

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
        ("2026-11-09..2026-11-15", "2026-11-09 to 2026-11-15", "2026-11-09", "2026-11-15"),
        ("2026-11-09 .. yesterday", "2026-11-09 to 2026-11-23", "2026-11-09", "2026-11-23"),
        ("2026-11-09_2026-11-15", "2026-11-09 to 2026-11-15", "2026-11-09", "2026-11-15"),
        ("yesterday", "yesterday", "2026-11-23", "2026-11-23"),
        ("Last week", "last week", "2026-11-17", "2026-11-23"),
        ("today", "1 day to today", "2026-11-24", "2026-11-24"),
        ("monday", "2026-11-23", "2026-11-23", "2026-11-23"),
        ("2026-02", "2026-02-01 to 2026-02-28", "2026-02-01", "2026-02-28"),
        ("2026-12", "2026-12-01 to 2026-12-31", "2026-12-01", "2026-12-31"),
    ],
)
def test_a_range_is_read_as_people_write_it(written: str, text: str, first: str, last: str) -> None:
    read = read_range(written, TODAY)
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
        "soon",
        "2026-11-09..soon",
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


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("yesterday", date(2026, 11, 23)),
        ("last week", date(2026, 11, 17)),
        ("3d", date(2026, 11, 21)),
        ("2 weeks", date(2026, 11, 10)),
        ("last friday", date(2026, 11, 20)),
        ("Tuesday", TODAY),
        ("2026-11-01", date(2026, 11, 1)),
    ],
)
def test_a_day_is_a_date_a_name_or_how_long_ago(written: str, day: date) -> None:
    assert read_day(written, TODAY) == day


@pytest.mark.parametrize("text", ["", "tomorrow-ish", "7 days to today", "2026-11", "99999d", "2026-02-30"])
def test_what_is_no_day_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match="is not a day; use today, yesterday, monday, 7d"):
        read_day(text, TODAY)


def test_something_ends_after_a_span_with_a_day_or_never() -> None:
    now = datetime(2026, 11, 27, 3, tzinfo=UTC)
    assert read_expiry("90d", now) == now + timedelta(90)
    assert read_expiry("12h", now) == now + timedelta(hours=12)
    assert read_expiry("2 weeks", now) == now + timedelta(14)
    assert read_expiry("2027-01-31", now) == datetime(2027, 2, 1, tzinfo=UTC)
    assert read_expiry("never", now) is None
    for wrong in ("", "90", "d", "-1d", "2027-02-30", "tomorrow", "9999-12-31"):
        with pytest.raises(ValueError, match="is not an expiry; use 90d"):
            read_expiry(wrong, now)
