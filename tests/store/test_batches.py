"""Tests how `row_batches` turns rows into columns. An unsuitable value is left out and reported."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from ingest.sessions.row_batches import RowBatch, TableRows, to_arrow

SCHEMA = pa.schema(
    [
        ("file_id", pa.int32()),
        ("line", pa.int64()),
        ("byte_offset", pa.int64()),
        ("text", pa.string()),
        ("number", pa.int64()),
        ("ratio", pa.float64()),
        ("ts", pa.timestamp("us")),
        ("day", pa.date32()),
        ("flag", pa.bool_()),
    ]
)
PLACE = {"file_id": 7, "line": 3, "byte_offset": 40}


def stored(value: Any, column: str) -> tuple[Any, list[dict[str, Any]]]:
    table, unfit = to_arrow("turns", [PLACE | {column: value}], SCHEMA)
    return table.column(column).to_pylist()[0], unfit


def test_what_a_row_lacks_is_null() -> None:
    table, unfit = to_arrow("turns", [{"text": "a"}, {"number": 1}], SCHEMA)
    assert table.column("text").to_pylist() == ["a", None]
    assert table.column("number").to_pylist() == [None, 1]
    assert unfit == []


def test_a_column_of_one_text_or_of_nothing_throughout_is_stored_as_any_other() -> None:
    rows: list[dict[str, Any]] = [PLACE | {"text": "a", "flag": True}, PLACE | {"text": "a", "flag": 1}]
    table, unfit = to_arrow("turns", rows, SCHEMA)
    assert table.column("text").to_pylist() == ["a", "a"]
    assert table.column("number").to_pylist() == [None, None]
    # 1 is not stored as a boolean, although 1 equals True in Python
    assert table.column("flag").to_pylist() == [True, None]
    assert [reject["code"] for reject in unfit] == ["wrong_type"]


def test_times_are_stored_in_utc() -> None:
    noon = datetime(2026, 11, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert stored(noon, "ts") == (datetime.fromisoformat("2026-11-01 10:00"), [])
    assert stored(datetime(2026, 11, 1, tzinfo=UTC), "ts")[0] == datetime.fromisoformat("2026-11-01")
    assert stored(date(2026, 11, 1), "day")[0] == date(2026, 11, 1)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("number", 10**30),
        ("number", 2**63),
        ("number", "12"),
        ("number", 10**5000),
        ("text", 12),
        ("text", {"a": 1}),
        ("ts", "yesterday"),
        ("flag", "true"),
        ("ratio", "fast"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_value_that_does_not_fit_becomes_unknown_and_a_reject(column: str, value: Any) -> None:
    stored_value, unfit = stored(value, column)
    assert stored_value is None
    assert [(row["file_id"], row["line"], row["byte_offset"], row["code"]) for row in unfit] == [
        (7, 3, 40, "wrong_type")
    ]
    assert unfit[0]["reason"].startswith(f"turns.{column} cannot store ")
    assert len(unfit[0]["reason"]) < 200


def test_only_the_value_that_does_not_fit_is_lost() -> None:
    rows = [PLACE | {"number": value, "text": "kept"} for value in (1, 2**70, 3)]
    table, unfit = to_arrow("turns", rows, SCHEMA)
    assert table.column("number").to_pylist() == [1, None, 3]
    assert table.column("text").to_pylist() == ["kept"] * 3
    assert len(unfit) == 1


def test_a_lone_surrogate_is_stored_as_its_escape() -> None:
    assert stored("a\ud800b", "text") == ("a\\ud800b", [])


def test_not_a_number_is_unknown() -> None:
    assert stored(float("nan"), "ratio") == (None, [])


def test_a_failed_files_rows_are_taken_back_and_no_others() -> None:
    batch = RowBatch()
    batch.add("turns", TableRows.from_dicts([{"file_id": 1}]))
    batch.begin_file()
    batch.add("turns", TableRows.from_dicts([{"file_id": 2}, {"file_id": 2}]))
    batch.add("rejects", TableRows.from_dicts([{"file_id": 2}]))
    assert batch.count == 4
    batch.take_back_file()
    assert batch.count == 1
    waiting = batch.drain()
    assert [(table, columns.count, columns.read_row(0)) for table, columns in waiting.items()] == [
        ("turns", 1, {"file_id": 1})
    ]
    assert (batch.count, batch.drain()) == (0, {})


def test_rows_with_any_names_keep_their_values() -> None:
    batch = RowBatch()
    batch.add("turns", TableRows.from_dicts([{"a": 1, "b": 2}, {"b": 4, "a": 3}]))
    batch.add("turns", TableRows.from_dicts([{"a": 5, "c": 6}, {}]))
    batch.add("turns", TableRows(("c", "a"), [(7, 8)]))
    columns = batch.drain()["turns"]
    assert [columns.read_row(number) for number in range(columns.count)] == [
        {"a": 1, "b": 2, "c": None},
        {"a": 3, "b": 4, "c": None},
        {"a": 5, "b": None, "c": 6},
        {"a": None, "b": None, "c": None},
        {"a": 8, "b": None, "c": 7},
    ]


def test_after_a_batch_is_written_only_the_rows_since_then_are_taken_back() -> None:
    batch = RowBatch()
    batch.begin_file()
    batch.add("turns", TableRows.from_dicts([{"file_id": 1}]))
    batch.drain()
    batch.add("turns", TableRows.from_dicts([{"file_id": 1}]))
    batch.take_back_file()
    assert batch.drain() == {}
