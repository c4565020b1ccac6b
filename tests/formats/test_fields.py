"""Tests that fields of records are read as the requested type."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ingest.decoding.fields import json_type, read_time


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", "null"),
        ("true", "boolean"),
        ("0", "number"),
        ("1.5", "number"),
        ("NaN", "number"),
        ('""', "string"),
        ("[]", "array"),
        ("{}", "object"),
    ],
)
def test_a_value_is_named_as_json_names_it(text: str, kind: str) -> None:
    assert json_type(json.loads(text)) == kind


@pytest.mark.parametrize(
    "text", ["2026-11-09T08:15:00Z", "2026-11-09T09:15:00+01:00", "2026-11-09T08:15:00", "20261109T081500Z"]
)
def test_a_time_in_iso_8601_is_read_as_utc(text: str) -> None:
    assert read_time(text) == datetime(2026, 11, 9, 8, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-02-30T08:15:00Z", "0001-01-01T00:00:00+23:00", "", 1, None]
)
def test_anything_else_is_no_time(value: object) -> None:
    assert read_time(value) is None
