"""Reads the rows of an SQLite database, which arrive as records (`ingest.sources.databases`).

The first record lists the tables. Each further record is one row; its field `record` names the kind of row.
The line number of a record is the row's number in reading order; its offset is the offset of the row's text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_epoch_ms, read_number, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.log_format import Record

# Larger times are milliseconds; as seconds they would be after the year 5138.
_MILLISECONDS = 1e11


def is_database(head: Sequence[dict[str, Any]], producer: str) -> bool:
    """Return True when the file is a database with the tables that `producer` has."""
    named = head[0].get("database") if head else None
    return isinstance(named, list) and producer in named and isinstance(head[0].get("tables"), dict)


def row_kind(record: Record) -> str | None:
    """Return the kind of database row that a record contains.

    Return None for the list of tables and for records of other logs.
    """
    return read_text(record.value.get("record"))


def find_unread(record: Record) -> Rejected | None:
    """Return a `Rejected` for a row that was too large to read. Return None for any other row."""
    reason = read_text(record.value.get("unread"))
    return None if reason is None else Rejected(record.where, "line_too_long", reason)


def read_json_column(record: Record, column: str) -> Any:
    """Return the decoded JSON in a column of a row.

    Return None when the column is empty. Return a `Rejected` when its value is not valid JSON.
    """
    text = record.value.get(column)
    if text is None or text == "":
        return None
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"the column {column} is not JSON: {str(error)[:200]}"
        return Rejected(record.where, "not_json", reason, make_snippet(record.data))


def read_unix_time(value: Any) -> datetime | None:
    """Return seconds or milliseconds since 1970 as an aware UTC time. Return None for any other value."""
    number = read_number(value)
    if number is None:
        return None
    return read_epoch_ms(number if number >= _MILLISECONDS else number * 1000)
