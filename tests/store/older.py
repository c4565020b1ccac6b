"""Changes a published store to the schema of an older Callgauge version."""

# ruff: noqa: S608 - the statements are made of our own table and column names

from __future__ import annotations

from pathlib import Path

import duckdb

from ingest.sessions.table_rows import TurnPlace
from ingest.store.generations import published_generation

_IDS = {
    "tool_calls": ("call_id", "chain_id", "turn_id"),
    "diagnostics": ("call_id",),
    "turns": ("turn_id",),
    "turn_parts": ("turn_id",),
    "step_texts": ("turn_id",),
}
_PLACES = """
    CREATE TEMP TABLE places AS
    SELECT DISTINCT call_id, call_place(source, session_id, turn, step, ordinal) AS place
    FROM tool_calls WHERE length(call_id) = 24"""
_VERSIONS = Path(__file__).parent / "versions"


def make_older(store: Path, version: int) -> None:
    """Replace the published store file by a file with the schema of `version`, and with the data that fits
    into it.
    """
    generation = published_generation(store)
    assert generation is not None
    newer = generation.with_name("newer.duckdb")
    generation.rename(newer)
    with duckdb.connect(str(generation)) as con:
        con.execute((_VERSIONS / f"{version}.sql").read_text("utf-8"))
        tables = [name for (name,) in con.execute("SHOW TABLES").fetchall()]
        con.execute(f"ATTACH '{newer}' AS newer (READ_ONLY)")
        for table in tables:
            newer_columns = con.table(f"newer.{table}").columns
            shared = [name for name in con.table(f"main.{table}").columns if name in newer_columns]
            if table == "tool_calls" and "as_sent" in shared:
                shared.remove("arguments")  # this column is computed
            columns = ", ".join(f'"{name}"' for name in shared)
            con.execute(f"INSERT INTO {table} BY NAME SELECT {columns} FROM newer.{table}")
        if version < 6:  # in these versions, the ids ended with the position in the session
            con.create_function("call_place", _place_call)
            con.execute(_PLACES)
            con.execute("UPDATE tool_calls SET chain_id = p.place FROM places p WHERE chain_id = p.call_id")
            for table in {"tool_calls", "diagnostics"} & set(tables):
                con.execute(
                    f"UPDATE {table} SET call_id = p.place FROM places p WHERE {table}.call_id = p.call_id"
                )
            con.execute("DROP TABLE places")
        for table in _IDS.keys() & set(tables) if version < 6 else ():
            for column in _IDS[table]:
                con.execute(f"UPDATE {table} SET {column} = left({column}, 16)")
        con.execute("UPDATE store_info SET schema_version = ?", [version])
    newer.unlink()


def _place_call(source: str, session_id: str, turn: int, step: int, ordinal: int) -> str:
    return TurnPlace(source, session_id, turn).make_call_id(step, ordinal)


def described(store: Path) -> set[tuple[str, str, str]]:
    """Return every database table, column and type of the published store file."""
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as con:
        query = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
        return set(con.execute(query).fetchall())
