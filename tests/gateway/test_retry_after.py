"""Tests how the server's Retry-After header is converted to seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from callgauge.gateway.retry_after import read_retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 0.5 ", 0.5), ("-3", 0.0), ("soon", 0.0), ("", 0.0), (None, 0.0)],
)
def test_numbers_count_and_nothing_else_makes_us_wait(value: str | None, seconds: float) -> None:
    assert read_retry_after(value) == seconds


def test_it_may_be_a_date() -> None:
    now = datetime.now(UTC)
    assert 60 < read_retry_after(format_datetime(now + timedelta(seconds=90), usegmt=True)) <= 90
    assert read_retry_after(format_datetime(now - timedelta(days=1), usegmt=True)) == 0.0


@pytest.mark.parametrize("value", ["nan", "inf", "1e400"])
def test_no_number_makes_us_wait_for_ever(value: str) -> None:
    assert read_retry_after(value) == 0.0
