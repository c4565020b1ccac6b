"""Writes a metric as self-contained SQL, with a literal for each parameter.

The values come from logs. Invisible characters such as line breaks and direction marks are written with
chr(), so that they can be seen in the SQL.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from itertools import groupby
from typing import Any

from callgauge.analysis.metrics import PARAMETER, Metric
from callgauge.analysis.metrics.session_filters import SESSION_FILTERS


def fill_parameters(metric: Metric, parameters: Mapping[str, Any]) -> str:
    """Return the SQL of `metric` with the values of `parameters`, and NULL for missing parameters."""
    named = sorted(name for name in metric.parameters if parameters.get(name) is not None)
    head, code = _split_header(metric.sql)
    if metric.parameters:
        note = f"with {', '.join(named)} as asked there" if named else "without a filter"
        head += f"-- {note}; NULL means all\n"
    for name, column in SESSION_FILTERS.items():
        if values := parameters.get(name):
            head += (
                f"-- asked there of sessions with {column} in {write_literal(values)}; this SQL counts all\n"
            )
    return head + PARAMETER.sub(lambda match: write_literal(parameters.get(match[1])), code)


def _split_header(sql: str) -> tuple[str, str]:
    lines = sql.splitlines(keepends=True)
    head = [line for line in lines if line.startswith(("-- title:", "-- question:"))]
    return "".join(head), "".join(line for line in lines if not line.startswith("--"))


def write_literal(value: Any) -> str:
    """Return a value as a DuckDB literal. Raises TypeError for a type that no filter uses."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return _text_literal(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(write_literal(item) for item in value)}]"
    raise TypeError(f"no literal for a {type(value).__name__}")


def _text_literal(value: str) -> str:
    parts: list[str] = []
    for hidden, run in groupby(value, lambda char: unicodedata.category(char)[0] in "CZ" and char != " "):
        if hidden:
            parts += [f"chr({ord(char)})" for char in run]
        else:
            parts.append("'" + "".join(run).replace("'", "''") + "'")
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})" if parts else "''"
