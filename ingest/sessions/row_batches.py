"""Collects the rows of many files and turns the rows into Arrow tables. Discards the rows of a file that
failed.

A value that does not fit its column becomes NULL and is reported in `rejects`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from ingest.sessions.stored_text import NAME_KEPT, shorten_name

Row = dict[str, Any]

NAMES = frozenset(
    {
        "session_id", "parent_session_id", "harness", "harness_version", "user_name", "task",
        "provider", "model", "model_name", "run", "trial_run", "arm", "repeat_no", "prompt_id", "name",
        "tool", "tool_sent", "tool_call_id", "retry_of",
    }
)  # fmt: skip
"""Columns whose values pages use for groups and links. They are stored as
`ingest.sessions.stored_text.shorten_name` returns them.
"""

# A shorter name fits in any case: the escape of a lone surrogate has six characters.
_LONG_NAME = NAME_KEPT // 6


class TableRows(msgspec.Struct, frozen=True):
    """Rows of one table. The column names are stored once. Each row is a tuple of values."""

    names: tuple[str, ...]
    values: list[tuple[Any, ...]]

    @classmethod
    def from_dicts(cls, rows: Sequence[Row]) -> TableRows:
        """Make rows from dictionaries of column names and values. A missing column becomes None."""
        names = tuple(rows[0]) if rows else ()
        if all(tuple(row) == names for row in rows):  # all rows usually have the same columns
            return cls(names, [tuple(row.values()) for row in rows])
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        return cls(names, [tuple(map(row.get, names)) for row in rows])

    def __len__(self) -> int:
        return len(self.values)

    def to_dicts(self) -> list[Row]:
        return [dict(zip(self.names, values, strict=True)) for values in self.values]


class TableColumns:
    """Rows of one table, stored by column.

    Columns take a tenth of the memory that rows take. Missing values are None.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}
        self.count = 0

    def extend(self, rows: TableRows) -> None:
        for name in rows.names:
            if name not in self._values:
                self._values[name] = [None] * self.count
        for name, values in zip(rows.names, zip(*rows.values, strict=True), strict=True):
            self._values[name].extend(values)
        self.count += len(rows)
        if len(self._values) > len(rows.names):
            for column in self._values.values():
                column.extend([None] * (self.count - len(column)))

    def keep_first(self, count: int) -> None:
        """Drop all rows after the first `count`."""
        for column in self._values.values():
            del column[count:]
        self.count = min(count, self.count)

    def read_row(self, number: int) -> Row:
        return {name: column[number] for name, column in self._values.items()}

    def to_arrow(self, table: str, schema: pa.Schema) -> tuple[pa.Table, list[Row]]:
        """Return the rows as an Arrow table with the columns of `schema`. Also return the rejects.

        A value that does not fit its column becomes NULL and a row of `rejects`.
        """
        unfit: list[Row] = []
        columns = [self._build_column(table, field, unfit) for field in schema]
        for place, field in enumerate(schema):
            if field.name in NAMES and self._has_long_name(field.name):
                columns[place] = self._fit_names(table, field, columns[place], unfit)
        return pa.Table.from_arrays(columns, schema=schema), unfit

    def _has_long_name(self, column: str) -> bool:
        names = filter(None, self._values.get(column, ()))
        try:
            return max(map(len, names), default=0) > _LONG_NAME
        except TypeError:  # a number in place of a name
            return True

    def _build_column(self, table: str, field: pa.Field, unfit: list[Row]) -> pa.Array:
        values = self._values.get(field.name)
        if values is None:
            return pa.nulls(self.count, field.type)
        not_a_number_is_null = pa.types.is_floating(field.type)
        try:
            if _is_constant(values):
                return pa.repeat(pa.scalar(values[0], field.type), self.count)
            return pa.array(values, field.type, from_pandas=not_a_number_is_null)
        except (TypeError, ValueError, OverflowError):
            fitting = [self._fit_value(table, number, field, unfit) for number in range(self.count)]
            return pa.array(fitting, field.type, from_pandas=not_a_number_is_null)

    def _fit_names(self, table: str, field: pa.Field, names: pa.Array, unfit: list[Row]) -> pa.Array:
        reported: set[tuple[Any, str]] = set()
        shown: list[str | None] = []
        for number, name in enumerate(names.to_pylist()):
            shown.append(shorten_name(name))
            row = {} if shown[-1] == name else self.read_row(number)
            if row and (row.get("file_id"), name) not in reported:
                reported.add((row.get("file_id"), name))
                reason = (
                    f"{table}.{field.name} has {len(name):,} characters; its beginning and a hash are kept"
                )
                unfit.append(_reject_row(row, "name_too_long", reason))
        return pa.array(shown, field.type)

    def _fit_value(self, table: str, number: int, field: pa.Field, unfit: list[Row]) -> Any:
        value = self._values[field.name][number]
        try:
            pa.scalar(value, field.type)
        except UnicodeEncodeError:
            # A lone surrogate has no UTF-8 form, so write its escape instead.
            return str(value).encode("utf-8", "backslashreplace").decode()
        except (TypeError, ValueError, OverflowError):
            reason = f"{table}.{field.name} cannot store {shorten(value)}; it is stored as unknown"
            unfit.append(_reject_row(self.read_row(number), "wrong_type", reason))
            return None
        return value


class RowBatch:
    """Rows that wait until they are written, grouped by table. `count` is the number of rows."""

    def __init__(self) -> None:
        self._tables: dict[str, TableColumns] = {}
        self._marks: dict[str, int] = {}
        self.count = 0

    def add(self, table: str, rows: TableRows) -> None:
        self._tables.setdefault(table, TableColumns()).extend(rows)
        self.count += len(rows)

    def begin_file(self) -> None:
        """Remember where the rows of the next file begin, for `take_back_file`."""
        self._marks = {table: columns.count for table, columns in self._tables.items()}

    def take_back_file(self) -> None:
        """Discard the rows that were added since `begin_file`.

        The caller removes rows that were already written to the store.
        """
        for table, columns in self._tables.items():
            columns.keep_first(self._marks.get(table, 0))
        self.count = sum(columns.count for columns in self._tables.values())

    def drain(self) -> dict[str, TableColumns]:
        """Return the waiting rows by table. Empty the batch."""
        tables, self._tables, self._marks, self.count = self._tables, {}, {}, 0
        return {table: columns for table, columns in tables.items() if columns.count}


def to_arrow(table: str, rows: Sequence[Row], schema: pa.Schema) -> tuple[pa.Table, list[Row]]:
    """Return rows as an Arrow table with the columns of `schema`. Also return the rejects.

    Missing values are NULL. A value that does not fit becomes NULL and a row of `rejects`.
    """
    columns = TableColumns()
    columns.extend(TableRows.from_dicts(rows))
    return columns.to_arrow(table, schema)


def _is_constant(values: list[Any]) -> bool:
    """Return True when all values are None, or all are the same string."""
    if not values or not (values[0] is None or isinstance(values[0], str)):
        return False
    # The first and the last value of most columns differ, so the others need not be compared.
    return bool(values[-1] == values[0]) and values.count(values[0]) == len(values)


def _reject_row(row: Mapping[str, Any], code: str, reason: str) -> Row:
    place = {name: row.get(name) for name in ("file_id", "line", "byte_offset")}
    return {**place, "code": code, "reason": reason, "snippet": ""}


def shorten(value: Any) -> str:
    try:
        return repr(value)[:100].encode("utf-8", "backslashreplace").decode()
    except ValueError:  # Python does not convert integers of more than 4,300 digits to text
        return f"a {type(value).__name__}"
