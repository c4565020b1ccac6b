"""A finished building file in, the same tables without what was deleted from them out.

DuckDB leaves deleted rows in the free blocks of its file, where whoever has the file could read them.
"""

from __future__ import annotations

from pathlib import Path

from ingest.generations import Folder
from ingest.store import Building


def drop_unused(building: Building) -> None:
    """Take out what the facts no longer refer to: prompts, their texts, definitions."""
    with building.writing("unused") as con:
        con.execute(Path(__file__).with_name("unused.sql").read_text("utf-8"))


def write_anew(folder: Folder) -> None:
    """Copy every row into a new building file, which takes the old one's place. Raises StoreError."""
    old = folder.building.with_name(f"{folder.building.name}.old")
    folder.building.rename(old)
    building = Building(folder.building, folder.on_write)
    try:
        _copy(building, old)
        building.finish()
    except BaseException:
        building.abandon()
        raise
    old.unlink()


def _copy(building: Building, old: Path) -> None:
    quoted = str(old).replace("'", "''")
    with building.writing("anew") as con:
        con.execute(f"ATTACH '{quoted}' AS old (READ_ONLY)")
        tables = con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'old'").fetchall()
        con.execute("DELETE FROM store_info")
        for (table,) in tables:
            con.execute(f"INSERT INTO {table} BY NAME FROM old.{table}")
