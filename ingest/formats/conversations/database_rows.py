"""Reads the rows of an SQLite database, which come as records (`ingest.sources.databases`).

The first record lists the tables; each further one is a row, `record` says of which kind. The line of a
record is the row's place in the order in which the database is read, the offset that of its text in this
reading.
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

_MILLISECONDS = 1e11  # a larger time is not in seconds: that would be the year 5138


def is_database(head: Sequence[dict[str, Any]], producer: str) -> bool:
    """Return True when the file is a database with the tables of this producer."""
    named = head[0].get("database") if head else None
    return isinstance(named, list) and producer in named and isinstance(head[0].get("tables"), dict)


def row_kind(record: Record) -> str | None:
    """Return the kind of row that the record is; None for the list of tables, and for other logs."""
    return read_text(record.value.get("record"))


def find_unread(record: Record) -> Rejected | None:
    """Return the reject of a row that was too large to be read; None for all others."""
    reason = read_text(record.value.get("unread"))
    return None if reason is None else Rejected(record.where, "line_too_long", reason)


def read_json_column(record: Record, column: str) -> Any:
    """Return the decoded JSON in a column, None when it is empty; a `Rejected` when it is not JSON."""
    text = record.value.get(column)
    if text is None or text == "":
        return None
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"the column {column} is not JSON: {str(error)[:200]}"
        return Rejected(record.where, "not_json", reason, make_snippet(record.data))


def read_unix_time(value: Any) -> datetime | None:
    """Return seconds or milliseconds since 1970 as an aware UTC time; None for another value."""
    number = read_number(value)
    if number is None:
        return None
    return read_epoch_ms(number if number >= _MILLISECONDS else number * 1000)
