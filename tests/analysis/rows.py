"""Inserts rows into a DuckDB file that has the tables of ingest/store/schema.sql."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import orjson

_STORED_AS = {"arguments": "own_arguments"}
SCHEMA = Path(__file__).parents[2] / "ingest" / "store" / "schema.sql"


def empty_tables(database: str = ":memory:") -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(database)
    connection.execute(SCHEMA.read_text(encoding="utf-8"))
    return connection


def insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]], **fixed: Any
) -> None:
    """Insert `rows` into a database table. Missing columns become NULL. The values in `fixed` are added to
    each row.
    """
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    columns = {name: kind for name, kind, *_ in described if name not in _STORED_AS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.ndjson"
        named = (
            {_STORED_AS.get(name, name): value for name, value in {**fixed, **row}.items()} for row in rows
        )
        path.write_bytes(b"\n".join(map(orjson.dumps, named)))
        read = f"read_json($path, format='newline_delimited', columns={columns})"
        connection.execute(f"INSERT INTO {table} BY NAME FROM {read}", {"path": str(path)})
