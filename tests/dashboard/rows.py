"""Rows as Python mappings in, a DuckDB file with the tables of ingest/store/schema.sql out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import orjson

SCHEMA = Path(__file__).parents[2] / "ingest" / "store" / "schema.sql"


def empty_tables(database: str = ":memory:") -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(database)
    connection.execute(SCHEMA.read_text(encoding="utf-8"))
    return connection


def insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]], **fixed: Any
) -> None:
    """Insert `rows`; a column that a row leaves out is NULL. `fixed` are values that all rows share."""
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    columns = {name: kind for name, kind, *_ in described}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.ndjson"
        path.write_bytes(b"\n".join(orjson.dumps({**fixed, **row}) for row in rows))
        read = f"read_json($path, format='newline_delimited', columns={columns})"
        connection.execute(f"INSERT INTO {table} BY NAME FROM {read}", {"path": str(path)})
