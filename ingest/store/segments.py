"""The files of facts beside a generation: which ones it names, and one table over all of them.

A generation file has all tables. What earlier loads brought of facts may stand in segments, DuckDB files with
the fact tables alone, which the generation's table `segments` names. Readers attach them all to one database
in memory, in which each table is a view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ingest.store.shared.segment_places import find_segment_places

Connection = duckdb.DuckDBPyConnection
Config = Mapping[str, str | bool | int | float | list[str]]

FACT_TABLES = ("sessions", "turns", "tool_calls", "diagnostics", "step_texts")
"""The tables whose rows may stand in segments."""
SEGMENT = re.compile(r"seg-[0-9a-f]{12}\.duckdb")
"""The names of segment files."""
_ROW_IDS = 1 << 40  # room for the row ids of one file

_NAMED = "SELECT number, name FROM {catalog}.segments ORDER BY number"
_COLUMNS = """
    SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = ? ORDER BY table_name, column_index"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that a generation names. `number` counts from 1 and never changes."""

    number: int
    name: str

    @property
    def alias(self) -> str:
        """The name under which it is attached."""
        return f"segment_{self.number}"


def read_segments(con: Connection, catalog: str) -> Sequence[Segment]:
    """Return the segments that an attached generation names; none for a store of an older version."""
    try:
        rows = con.execute(_NAMED.format(catalog=catalog)).fetchall()
    except duckdb.CatalogException:
        return ()
    return [Segment(number, name) for number, name in rows if SEGMENT.fullmatch(name)]


def attach_file(con: Connection, place: str, alias: str, mode: str = "READ_ONLY") -> None:
    quoted = place.replace("'", "''")
    con.execute(f"ATTACH '{quoted}' AS {alias} ({mode})")


def list_columns(con: Connection, catalog: str) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the columns of each table of an attached file, as pairs of name and type."""
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in con.execute(_COLUMNS, [catalog]).fetchall():
        tables.setdefault(table, []).append((column, kind))
    return tables


def union_rows(table: str, columns: Iterable[str], catalogs: Iterable[tuple[int, str]]) -> str:
    """Return the query for the rows of a table in several attached files, with a `rowid` that no two share.

    `catalogs` are pairs of a number and the name under which a file is attached.
    """
    listed = ", ".join(f'"{name}"' for name in columns)
    return " UNION ALL ".join(
        f'SELECT {listed}, rowid + {number * _ROW_IDS} AS rowid FROM {catalog}."{table}"'  # noqa: S608 - our names
        for number, catalog in catalogs
    )


def attach_generation(con: Connection, path: Path, alias: str) -> dict[str, str]:
    """Attach a generation and its segments; return by table what FROM takes for all of its rows.

    Raises duckdb.Error, and StoreError where a shared store cannot be reached.
    """
    attach_file(con, str(path), alias)
    segments = read_segments(con, alias)
    places = find_segment_places(path.parent)
    for segment in segments:
        attach_file(con, places.locate(segment.name, con), segment.alias)
    catalogs = [(0, alias), *((segment.number, segment.alias) for segment in segments)]
    return {
        table: f"({union_rows(table, (name for name, _ in columns), catalogs)})"
        if segments and table in FACT_TABLES
        else f'{alias}."{table}"'
        for table, columns in list_columns(con, alias).items()
    }


def connect_read_only(path: Path, config: Config) -> Connection:
    """Open a generation with its segments, read-only. Raises duckdb.Error, StoreError."""
    con = duckdb.connect(str(path), read_only=True, config=dict(config))
    if not read_segments(con, "main"):
        return con
    con.close()
    con = duckdb.connect(":memory:", config=dict(config))
    try:
        for table, source in attach_generation(con, path, "generation").items():
            con.execute(f'CREATE VIEW "{table}" AS FROM {source}')
    except BaseException:
        con.close()
        raise
    return con


def describe_failure(error: duckdb.Error) -> str:
    """Return what DuckDB says went wrong, in one line; of an object store that failed, what that said."""
    lines = str(error).strip().splitlines()
    return lines[-1].partition(": ")[2] if is_of_object_store(error) else lines[0]


def is_of_object_store(error: duckdb.Error) -> bool:
    """Return True when DuckDB failed because a segment in an object store could not be read."""
    return str(error).startswith("Traceback")  # of the file system, which is Python


def name_stored_facts(con: Connection) -> None:
    """Give the facts of an opened generation the names that the scripts of a building file use."""
    for table in FACT_TABLES:
        con.execute(f"CREATE TEMP VIEW stored_{table} AS FROM {table}")


def named_segments(generations: Iterable[Path]) -> set[str] | None:
    """Return the names of the segments that these generations name; None when one cannot be read."""
    names: set[str] = set()
    for path in generations:
        try:
            with duckdb.connect(str(path), read_only=True) as con:
                names.update(segment.name for segment in read_segments(con, "main"))
        except duckdb.Error:
            return None
    return names
