"""Rows in, the bytes of a file to take away out."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dashboard.wording import in_sheet


def csv(rows: pd.DataFrame) -> bytes:
    """UTF-8 CSV with a header, in which no cell is a spreadsheet formula."""
    return rows.map(_safe).rename(columns=in_sheet).to_csv(index=False).encode()


def parquet(rows: pd.DataFrame) -> bytes:
    """Parquet with the columns' own types; what a value of an unexpected type would spoil is text."""
    columns = {str(name): _column(rows[name].tolist()) for name in rows.columns}
    try:
        return _written(columns)
    except pa.ArrowException:  # nothing can be written of an object without fields, say
        return _written(
            {
                name: _text(rows[name].tolist()) if pa.types.is_nested(column.type) else column
                for name, column in columns.items()
            }
        )


def _written(columns: dict[str, pa.Array]) -> bytes:
    taken = BytesIO()
    pq.write_table(pa.table(columns), taken, compression="zstd")
    return taken.getvalue()


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return _text(values)


def _text(values: list[Any]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values])


def _safe(value: Any) -> Any:
    return in_sheet(value) if isinstance(value, str) else value
