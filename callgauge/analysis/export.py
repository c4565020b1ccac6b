"""Writes rows as a file to download: CSV or Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from callgauge.analysis.wording import in_sheet


def to_csv(rows: pd.DataFrame) -> bytes:
    """Return the rows as UTF-8 CSV with a header.

    Strings that a spreadsheet would interpret as a formula are escaped.
    """
    escaped = rows.copy()
    for place, dtype in enumerate(rows.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            # Values stay objects, because pandas would turn 44 into 44.0 in a column with a missing value.
            values = [_escape_formula(value) for value in rows.iloc[:, place]]
            escaped.isetitem(place, pd.array(values, dtype=object))
    return escaped.rename(columns=in_sheet).to_csv(index=False).encode()


def to_parquet(rows: pd.DataFrame) -> bytes:
    """Return the rows as Parquet with typed columns. A column of mixed types becomes a string column."""
    buffer = BytesIO()
    table = make_table({str(name): rows[name].tolist() for name in rows.columns})
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def make_table(columns: Mapping[str, list[Any]]) -> pa.Table:
    """Return columns as a table that Parquet can store. A column of mixed types becomes a string column."""
    built = {name: _build_column(values) for name, values in columns.items()}
    return pa.table(
        {
            name: _text_column(columns[name]) if _has_no_fields(column.type) else column
            for name, column in built.items()
        }
    )


def _has_no_fields(kind: pa.DataType) -> bool:
    """Return True for an object type without fields, or a list of such objects. Parquet cannot store them."""
    if pa.types.is_struct(kind):
        return not kind.num_fields or any(_has_no_fields(field.type) for field in kind)
    return pa.types.is_nested(kind) and any(
        _has_no_fields(kind.field(number).type) for number in range(kind.num_fields)
    )


def _build_column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return _text_column(values)


def _text_column(values: list[Any]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values])


def _escape_formula(value: Any) -> Any:
    return in_sheet(value) if isinstance(value, str) else value
