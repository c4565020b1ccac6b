"""Removes unused rows, and rewrites the tables without deleted data.

DuckDB leaves deleted rows in the free blocks of its file, where anyone who has the file could read them.
"""

from __future__ import annotations

from pathlib import Path

from ingest.store.generation_file import GenerationBuilder
from ingest.store.generations import StoreFolder
from ingest.store.scripts import read_script


def drop_unused(building: GenerationBuilder) -> None:
    """Remove prompts, prompt texts and tool definitions that no stored fact refers to."""
    with building.open_transaction("unused") as con:
        con.execute(read_script("unused.sql"))


def rewrite_building(folder: StoreFolder) -> None:
    """Copy every row into a new building file, which replaces the old one. Raises StoreError."""
    old = folder.building_path.with_name(f"{folder.building_path.name}.old")
    folder.building_path.rename(old)
    building = GenerationBuilder(folder.building_path, folder.on_write)
    try:
        _copy_tables(building, old)
        building.finish()
    except BaseException:
        building.abandon()
        raise
    old.unlink()


def _copy_tables(building: GenerationBuilder, old: Path) -> None:
    quoted = str(old).replace("'", "''")
    with building.open_transaction("anew") as con:
        con.execute(f"ATTACH '{quoted}' AS old (READ_ONLY)")
        tables = con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'old'").fetchall()
        con.execute("DELETE FROM store_info")
        for (table,) in tables:
            con.execute(f"INSERT INTO {table} BY NAME FROM old.{table}")
