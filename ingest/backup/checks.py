"""Checks of a store: its tables open, their counts agree, and nothing on the disk was damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.migrations import SCHEMA_VERSION, read_schema_version
from ingest.store.reader import open_generation
from ingest.store.segments import name_table
from ingest.store.verification import compare_all_counts

_TABLES = "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"


def count_rows(generation: Path) -> Mapping[str, int]:
    """Return the number of rows of each table of a generation.

    Raises StoreError when the file cannot be opened, and StoreVersionError.
    """
    with open_generation(generation) as con:
        read_schema_version(con, generation)
        tables = [name for (name,) in con.execute(_TABLES).fetchall()]
        counted = " UNION ALL ".join(
            f"SELECT '{name}', count(*) FROM {name_table(name)}"  # noqa: S608 - our own names
            for name in tables
        )
        return dict(con.execute(counted).fetchall())


def read_everything(generation: Path) -> Mapping[str, int]:
    """Read every value of a generation, compare its sums with its facts, and return the rows of each table.

    DuckDB keeps a checksum of each block, so a value that the disk changed is found. Raises StoreError.
    """
    with open_generation(generation) as con:
        version = read_schema_version(con, generation)
        rows = {}
        for (name,) in con.execute(_TABLES).fetchall():
            query = f"SELECT count(*), bit_xor(hash(t)) FROM {name_table(name)} t"  # noqa: S608 - our own names
            found = con.execute(query).fetchall()
            rows[name] = int(found[0][0])
        listed = compare_all_counts(con) if version == SCHEMA_VERSION else None
    if listed:
        raise StoreError(f"the tables of {generation} do not add up ({listed}); restore a backup")
    return rows
