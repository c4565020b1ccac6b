"""Reads and executes the SQL scripts in this module's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ingest.store.segments import Connection

Values = Sequence[Any] | Mapping[str, Any] | None
"""The parameters of a statement."""

_FOLDER = Path(__file__).parent
_parsed: dict[str, list[Any]] = {}


@cache
def read_script(name: str) -> str:
    """Return the content of an SQL script: one statement, or several statements without parameters."""
    return (_FOLDER / name).read_text("utf-8")


def run_script(con: Connection, name: str, values: Values = None) -> Connection:
    """Execute an SQL script. A script with `values` (parameters) must have exactly one statement."""
    return run_often(con, read_script(name), values)


def run_often(con: Connection, sql: str, values: Values = None) -> Connection:
    """Execute SQL that this process will execute again. Return the connection with the last result.

    The SQL is parsed only once, because parsing takes a tenth of the time of a small load.
    """
    statements = _parsed.get(sql)
    if statements is None:
        statements = _parsed[sql] = con.extract_statements(sql)
    *others, last = statements
    for statement in others:
        con.execute(statement)
    return con.execute(last, values)
