"""Checks of a store: its tables open, their counts agree, and nothing on the disk was damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.migrations import SCHEMA_VERSION, read_schema_version
from ingest.store.reader import open_generation
from ingest.store.scripts import read_script
from ingest.store.segments import name_stored_facts

_TABLES = "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"


def count_rows(generation: Path) -> Mapping[str, int]:
    """Return the number of rows of each table of a generation.

    Raises StoreError when the file cannot be opened, and StoreVersionError.
    """
    with open_generation(generation) as con:
        read_schema_version(con, generation)
        tables = [name for (name,) in con.execute(_TABLES).fetchall()]
        counted = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in tables)  # noqa: S608
        return dict(con.execute(counted).fetchall())


def read_everything(generation: Path) -> Mapping[str, int]:
    """Read every value of a generation, compare its sums with its facts, and return the rows of each table.

    DuckDB keeps a checksum of each block, so a value that the disk changed is found. Raises StoreError.
    """
    with open_generation(generation) as con:
        version = read_schema_version(con, generation)
        rows = {}
        for (name,) in con.execute(_TABLES).fetchall():
            found = con.execute(f"SELECT count(*), bit_xor(hash(t)) FROM {name} t").fetchall()  # noqa: S608
            rows[name] = int(found[0][0])
        name_stored_facts(con)
        wrong = con.execute(read_script("verify.sql")).fetchall() if version == SCHEMA_VERSION else []
    if wrong:
        listed = "; ".join(
            f"{what}: {expected} expected, {found} found" for what, expected, found in wrong[:5]
        )
        raise StoreError(f"the tables of {generation} do not add up ({listed}); restore a backup")
    return rows
