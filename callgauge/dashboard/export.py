"""Writes rows as a file to download: CSV or Parquet."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from callgauge.dashboard.wording import in_sheet


def to_csv(rows: pd.DataFrame) -> bytes:
    """Return the rows as UTF-8 CSV with a header; text that would be a spreadsheet formula is escaped."""
    escaped = rows.copy()
    for place, dtype in enumerate(rows.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            # As objects: pandas would make 44.0 of a 44 in a column with a gap.
            values = [_escape_formula(value) for value in rows.iloc[:, place]]
            escaped.isetitem(place, pd.array(values, dtype=object))
    return escaped.rename(columns=in_sheet).to_csv(index=False).encode()


def to_parquet(rows: pd.DataFrame) -> bytes:
    """Return the rows as Parquet with typed columns; a column whose values fit no one type becomes text."""
    columns = {str(name): _build_column(rows[name].tolist()) for name in rows.columns}
    try:
        return _write_parquet(columns)
    except pa.ArrowException:  # nothing can be written of an object without fields, say
        return _write_parquet(
            {
                name: _text_column(rows[name].tolist()) if pa.types.is_nested(column.type) else column
                for name, column in columns.items()
            }
        )


def _write_parquet(columns: dict[str, pa.Array]) -> bytes:
    taken = BytesIO()
    pq.write_table(pa.table(columns), taken, compression="zstd")
    return taken.getvalue()


def _build_column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return _text_column(values)


def _text_column(values: list[Any]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values])


def _escape_formula(value: Any) -> Any:
    return in_sheet(value) if isinstance(value, str) else value
