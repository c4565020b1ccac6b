"""Migrates the tables of an older store to the current version, with one SQL script per version.

All scripts are executed in one transaction.

A new column needs one line in `schema.sql` and one in the newest script: `ALTER TABLE … ADD COLUMN …`, with
an UPDATE if the value follows from stored data. After a release, increase `SCHEMA_VERSION` and begin a new
script `to_<version>.sql`. Daily sums are recomputed after a migration. `old_sums.sql` fills new columns and
rates of days whose rows were removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
from duckdb.func import SPECIAL

from ingest.errors import StoreVersionError
from ingest.events import ArgsSource
from ingest.sessions.stored_text import decode_json
from ingest.sessions.table_rows import MCP_TOOL, TurnPlace, call_mark, turn_mark

SCHEMA_VERSION = 11
_HERE = Path(__file__).parent


def _stored_call_mark(
    tool_call_id: str | None, tool: str | None, args_source: str | None, raw: str | None
) -> str:
    source = ArgsSource(args_source or ArgsSource.MISSING)
    sent = decode_json(raw) if source is ArgsSource.RESERIALISED and raw is not None else raw
    return call_mark(tool_call_id, tool, source, sent)


def _call_place(
    source: str, session_id: str, turn: int | None, step: int | None, ordinal: int | None
) -> str | None:
    if turn is None or step is None or ordinal is None:
        return None
    return TurnPlace(source, session_id, turn).make_call_id(step, ordinal)


def _call_place_in_turn(turn_id: str, step: int | None, ordinal: int | None) -> str | None:
    return None if step is None or ordinal is None else TurnPlace(turn_id).make_call_id(step, ordinal)


def _turn_place(source: str, session_id: str, turn: int) -> str:
    return TurnPlace(source, session_id, turn).id


# Python functions that the scripts call, with the types of their parameters.
_FUNCTIONS: Mapping[str, tuple[Callable[..., str | None], list[Any]]] = {
    "call_place": (_call_place, ["VARCHAR", "VARCHAR", "INTEGER", "INTEGER", "INTEGER"]),
    "call_place_in_turn": (_call_place_in_turn, ["VARCHAR", "INTEGER", "INTEGER"]),
    "call_mark": (_stored_call_mark, ["VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR"]),
    "turn_place": (_turn_place, ["VARCHAR", "VARCHAR", "INTEGER"]),
    "turn_mark": (turn_mark, ["VARCHAR"]),
}


# The same as `ingest.sessions.table_rows.find_mcp_server`. It exists until the connection is closed.
_FIND_MCP_SERVER = f"""
    CREATE OR REPLACE TEMP MACRO find_mcp_server(tool) AS nullif(regexp_extract(tool, '{MCP_TOOL}', 1), '')"""


def read_schema_version(con: duckdb.DuckDBPyConnection, generation: Path) -> int:
    """Return the schema version of a store file.

    Raises StoreVersionError when this version of Callgauge cannot use the tables.
    """
    try:
        ((stored_version,),) = con.execute("SELECT max(schema_version) FROM store_info").fetchall()
    except duckdb.CatalogException:
        stored_version = None
    if stored_version is None or not 1 <= stored_version <= SCHEMA_VERSION:
        version = "without a version" if stored_version is None else f"of version {stored_version}"
        raise StoreVersionError(
            f"the store {generation.parent} has tables {version}, this Callgauge writes version "
            f"{SCHEMA_VERSION}; load the logs into a new folder, or use the Callgauge version that made it"
        )
    return int(stored_version)


def migrate(con: duckdb.DuckDBPyConnection, stored_version: int) -> None:
    """Migrate tables of version `stored_version` to SCHEMA_VERSION, in the caller's transaction."""
    con.execute(_FIND_MCP_SERVER)
    for name, (function, kinds) in _FUNCTIONS.items():
        con.create_function(name, function, kinds, "VARCHAR", null_handling=SPECIAL)
    try:
        for version in range(stored_version + 1, SCHEMA_VERSION + 1):
            con.execute((_HERE / f"to_{version}.sql").read_text("utf-8"))
    finally:
        for name in _FUNCTIONS:
            con.remove_function(name)
    con.execute("UPDATE store_info SET schema_version = ?", [SCHEMA_VERSION])


def complete_old_sums(con: duckdb.DuckDBPyConnection) -> None:
    """Fill new columns in the daily sums of days whose rows were removed. These sums must be in the main
    file.
    """
    con.execute((_HERE / "old_sums.sql").read_text("utf-8"))
