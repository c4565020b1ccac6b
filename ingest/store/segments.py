"""The files of facts beside a generation: which ones it names, and one table over all of them.

A generation file has all tables. What earlier loads brought of facts may stand in segments, DuckDB files with
the fact tables alone, which the generation's table `segments` names. Readers attach them all to one database
in memory, in which each table is a view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from ingest.store.shared.pointer import SEGMENT
from ingest.store.shared.segment_places import find_segment_places

Connection = duckdb.DuckDBPyConnection
Config = Mapping[str, str | bool | int | float | list[str]]
Columns = Sequence[tuple[str, str]]
"""The columns of a table: names and types."""
SelectList = Callable[[str, Columns], str]
"""Returns what stands between SELECT and FROM, for the name of a table and its columns."""

FACT_TABLES = ("sessions", "turns", "tool_calls", "diagnostics", "step_texts")
"""The tables whose rows may stand in segments."""
_PARTS = "parts"  # the schema with the views of single files

_NAMED = "SELECT number, name FROM {catalog}.segments ORDER BY number"
# Days outside of what a segment has are not in it; NULL = it has rows without a day.
_OVERLAPPING = """
    SELECT number FROM segments
    WHERE first_day IS NULL OR (first_day <= ? AND last_day >= ?) ORDER BY number"""
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


def union_rows(table: str, catalogs: Iterable[str]) -> str:
    """Return the query for the rows of a table in several attached files."""
    return " UNION ALL BY NAME ".join(f'FROM {catalog}."{table}"' for catalog in catalogs)


def _select_all(_table: str, _columns: Columns) -> str:
    return "*"


def view_generation(con: Connection, path: Path, alias: str, *, select: SelectList = _select_all) -> None:
    """Attach a generation and its segments, and make a view of each table with the rows of all files.

    `alias` is the name under which the generation is attached; `select` returns what a view shows of a table.
    Raises duckdb.Error, and StoreError where a shared store cannot be reached.
    """
    attach_file(con, str(path), alias)
    catalogs = {0: alias}
    places = find_segment_places(path.parent)
    for segment in read_segments(con, alias):
        attach_file(con, places.locate(segment.name, con), segment.alias)
        catalogs[segment.number] = segment.alias
    if len(catalogs) > 1:
        con.execute(f"CREATE SCHEMA {_PARTS}")
    for table, columns in _list_columns(con, alias).items():
        shown = f"SELECT {select(table, columns)} FROM"
        if len(catalogs) == 1 or table not in FACT_TABLES:
            con.execute(f'CREATE VIEW "{table}" AS {shown} {alias}."{table}"')
            continue
        for number, catalog in catalogs.items():
            con.execute(f"CREATE VIEW {_part(table, number)} AS {shown} {catalog}.{table}")
        con.execute(f"CREATE VIEW {table} AS {_union_parts(table, catalogs)}")


def narrow_facts(cursor: Connection, sql: str, first_day: date, last_day: date) -> None:
    """Let a cursor see only the segments that may hold facts of these days, in the tables that `sql` names.

    Planning a query takes 0.8 ms for each segment and each time that it names a fact table. Other cursors see
    all segments. The open facts are always seen.
    """
    numbers = [number for (number,) in cursor.execute(_OVERLAPPING, [last_day, first_day]).fetchall()]
    for table in FACT_TABLES:
        if re.search(rf"\b{table}\b", sql):
            cursor.execute(f"CREATE TEMP VIEW {table} AS {_union_parts(table, [0, *numbers])}")


def has_segments(con: Connection) -> bool:
    """Return True when an opened generation has segments."""
    return con.execute("SELECT EXISTS (FROM segments)").fetchone() == (True,)


def _list_columns(con: Connection, catalog: str) -> Mapping[str, Columns]:
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in con.execute(_COLUMNS, [catalog]).fetchall():
        tables.setdefault(table, []).append((column, kind))
    return tables


def _part(table: str, number: int) -> str:
    return f"{_PARTS}.{table}_{number}"


def _union_parts(table: str, numbers: Iterable[int]) -> str:
    return " UNION ALL ".join(f"FROM {_part(table, number)}" for number in numbers)


def connect_read_only(path: Path, config: Config) -> Connection:
    """Open a generation with its segments, read-only. Raises duckdb.Error, StoreError."""
    con = duckdb.connect(str(path), read_only=True, config=dict(config))
    if not read_segments(con, "main"):
        return con
    con.close()
    con = duckdb.connect(":memory:", config=dict(config))
    try:
        view_generation(con, path, "generation")
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
