"""Rows in, the bytes of a file to take away out."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dashboard.wording import in_sheet


def csv(rows: pd.DataFrame) -> bytes:
    """UTF-8 CSV with a header, in which no cell is a spreadsheet formula."""
    return rows.map(_safe).rename(columns=in_sheet).to_csv(index=False).encode()


def _safe(value: Any) -> Any:
    return in_sheet(value) if isinstance(value, str) else value
