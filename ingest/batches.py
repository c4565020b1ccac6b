"""Rows of many files in, Arrow tables out; takes back the rows of a file that failed.

A value that its column cannot hold costs that value and is reported as a reject: log text is hostile, and one
number with fifty digits must not stop a night.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

Row = dict[str, Any]


class Batch:
    """Rows waiting to be written, by table. `count` = how many."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._marks: dict[str, int] = {}
        self.count = 0

    def add(self, table: str, rows: Sequence[Row]) -> None:
        self._rows.setdefault(table, []).extend(rows)
        self.count += len(rows)

    def begin_file(self) -> None:
        """Remember where the rows of the next file begin."""
        self._marks = {table: len(rows) for table, rows in self._rows.items()}

    def take_back_file(self) -> None:
        """Drop what was added since `begin_file`; rows written meanwhile are the store's to forget."""
        for table, rows in self._rows.items():
            del rows[self._marks.get(table, 0) :]
        self.count = sum(map(len, self._rows.values()))

    def empty(self) -> dict[str, list[Row]]:
        """The rows that wait, and an empty batch."""
        rows, self._rows, self._marks, self.count = self._rows, {}, {}, 0
        return {table: waiting for table, waiting in rows.items() if waiting}


def to_arrow(table: str, rows: Sequence[Row], schema: pa.Schema) -> tuple[pa.Table, list[Row]]:
    """The rows as columns of `schema`; what a row lacks is NULL.

    A value that does not fit becomes NULL and a row of `rejects`, returned beside the table.
    """
    unfit: list[Row] = []
    columns = [_column(table, rows, field, unfit) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema), unfit


def _column(table: str, rows: Sequence[Row], field: pa.Field, unfit: list[Row]) -> pa.Array:
    values = _values(rows, field.name)
    not_a_number_is_null = pa.types.is_floating(field.type)
    try:
        return pa.array(values, field.type, from_pandas=not_a_number_is_null)
    except (TypeError, ValueError, OverflowError):
        fitting = [_fitted(table, row, field, unfit) for row in rows]
        return pa.array(fitting, field.type, from_pandas=not_a_number_is_null)


def _values(rows: Sequence[Row], name: str) -> list[Any]:
    try:
        # Twice as fast as `row.get`; most columns are in every row, and a row has some forty.
        return list(map(itemgetter(name), rows))
    except KeyError:
        return [row.get(name) for row in rows]


def _fitted(table: str, row: Row, field: pa.Field, unfit: list[Row]) -> Any:
    value = row.get(field.name)
    try:
        pa.scalar(value, field.type)
    except UnicodeEncodeError:
        # Lone surrogates have no UTF-8; their escapes do.
        return str(value).encode("utf-8", "backslashreplace").decode()
    except (TypeError, ValueError, OverflowError):
        unfit.append(_reject(table, row, field, value))
        return None
    return value


def _reject(table: str, row: Mapping[str, Any], field: pa.Field, value: Any) -> Row:
    found = _short(value)
    return {
        "file_id": row.get("file_id"),
        "line": row.get("line"),
        "byte_offset": row.get("byte_offset"),
        "code": "wrong_type",
        "reason": f"{table}.{field.name} cannot hold {found}; it is stored as unknown",
        "snippet": "",
    }


def _short(value: Any) -> str:
    try:
        return repr(value)[:100].encode("utf-8", "backslashreplace").decode()
    except ValueError:  # integers of more than 4,300 digits have no text
        return f"a {type(value).__name__}"
