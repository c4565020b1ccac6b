"""The segment files of a store file, and views that combine their tables.

A store file has all tables. Rows of earlier loads may be in segment files: DuckDB files with only fact
tables, listed in the table `segments`. Daily sums of an old month, with the month's totals, may also be in a
segment file. Readers attach all files to one database in memory, in which each table is a view over the
files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

import duckdb
import msgspec

from ingest.store.shared.pointer import SEGMENT
from ingest.store.shared.segment_places import SegmentPlaces, find_segment_places

Connection = duckdb.DuckDBPyConnection
Config = Mapping[str, str | bool | int | float | list[str]]
Columns = Sequence[tuple[str, str]]
"""The columns of a table: names and types."""
SelectList = Callable[[str, Columns], str]
"""Returns the SQL between SELECT and FROM for a table, from its name and columns."""

FACT_TABLES = ("sessions", "turns", "tool_calls", "diagnostics", "step_texts")
"""The fact tables, whose rows may be in segment files."""
TRIALS = "task_trials"
"""A table with one row for each session. Like the tables `daily_…`, it may be in segment files of months, but
it has no monthly totals.
"""
IDS = "ids"
"""The table of id hashes in a segment file of fact rows, see `BuildingSegments.narrow_search`."""
SEARCHED_SUMS = ("daily_calls", "daily_turns", "daily_rates", "daily_errors", TRIALS)
"""The tables of sums in which a load and the checks read all days."""
# number of segments that are attached together; their first and last blocks take half of the cache
_AT_ONCE = 32
_PARTS = "parts"

_NAMED = "SELECT number, name, month FROM {catalog}.segments ORDER BY number"
# Selects the segments that may have rows of some days. If a segment has no first day, its rows have no day.
_OVERLAPPING = """
    SELECT number FROM segments
    WHERE month IS NULL AND (first_day IS NULL OR (first_day <= ? AND last_day >= ?)) ORDER BY number"""
_MONTHS = """
    SELECT
        number,
        coalesce(month >= $first, true) AND coalesce(last_day <= $last, true)
            AND len([day FOR day IN $apart::DATE[] IF day > month AND day <= last_day]) = 0 AS is_whole,
        coalesce(last_day >= $first, true) AND coalesce(first_day <= $last, true) AS is_overlapping
    FROM segments WHERE month IS NOT NULL ORDER BY number"""
_SUMS_NAMED = re.compile(rf"\b(?:daily_\w+|{TRIALS})\b")
_COLUMNS = """
    SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = ? ORDER BY table_name, column_index"""


class Segment(msgspec.Struct, frozen=True):
    """A segment file that a store file names. `number` counts from 1 and never changes.

    `month` is the first day of the month whose daily sums the file contains. It is None if the file contains
    fact rows.
    """

    number: int
    name: str
    month: date | None = None

    @property
    def alias(self) -> str:
        """The database name under which the segment file is attached."""
        return f"segment_{self.number}"


def read_segments(con: Connection, catalog: str) -> Sequence[Segment]:
    """Return the segments that an attached store file names."""
    try:
        rows = con.execute(_NAMED.format(catalog=catalog)).fetchall()
    except duckdb.CatalogException:
        return ()
    return [Segment(number, name, month) for number, name, month in rows if SEGMENT.fullmatch(name)]


def is_sum(table: str) -> bool:
    """Return True for a table whose rows may be in month segments."""
    return table.startswith("daily_") or table == TRIALS


def monthly_table(table: str) -> str:
    """Return the name of the table with monthly totals for a table of daily sums."""
    return table.replace("daily_", "monthly_", 1)


def attach_file(con: Connection, place: str, alias: str, mode: str = "READ_ONLY") -> None:
    quoted = place.replace("'", "''")
    con.execute(f"ATTACH '{quoted}' AS {alias} ({mode})")


def attach_segments(con: Connection, segments: Sequence[Segment], places: SegmentPlaces) -> None:
    """Attach the segment files of `places` under their aliases. Raises duckdb.Error, StoreError."""
    for first in range(0, len(segments), _AT_ONCE):
        several = segments[first : first + _AT_ONCE]
        places.fetch_ends([segment.name for segment in several])
        for segment in several:
            attach_file(con, places.locate(segment.name, con), segment.alias)


def union_rows(table: str, catalogs: Iterable[str]) -> str:
    """Return the query for the rows of a table in several attached files."""
    return " UNION ALL BY NAME ".join(f'FROM {catalog}."{table}"' for catalog in catalogs)


def view_rows(con: Connection, prefix: str, tables: Iterable[str], catalogs: Sequence[str]) -> None:
    """Make the temporary views that show the rows of the tables in several attached files."""
    views = (
        f"CREATE OR REPLACE TEMP VIEW {prefix}_{table} AS {union_rows(table, catalogs)}" for table in tables
    )
    con.execute(";".join(views))


def _select_all(_table: str, _columns: Columns) -> str:
    return "*"


def connect_views(path: Path, config: Config, alias: str, *, select: SelectList = _select_all) -> Connection:
    """Return a database in memory with a view of each table over all files of a store.

    `alias` is the name under which the store file is attached. `select` returns the select list for a table's
    view. Raises duckdb.Error. Raises StoreError when the shared store does not answer.
    """
    # Data that does not fit into memory goes next to the store file, because it contains texts of the store.
    # A server's working folder may be readable by others.
    con = duckdb.connect(":memory:", config={"temp_directory": f"{path}.tmp", **config})
    try:
        _view_generation(con, path, alias, select)
    except BaseException:
        con.close()
        raise
    return con


def _view_generation(con: Connection, path: Path, alias: str, select: SelectList) -> None:
    attach_file(con, str(path), alias)
    tables = _list_columns(con, alias)
    facts, sums = {0: alias}, {0: alias}
    segments = read_segments(con, alias)
    attach_segments(con, segments, find_segment_places(path.parent))
    for segment in segments:
        (sums if segment.month else facts)[segment.number] = segment.alias
    is_split = len(facts) + len(sums) > 2
    if is_split:
        con.execute(f"CREATE SCHEMA {_PARTS}")
    if len(facts) > 1:
        con.execute(f"CREATE VIEW {_PARTS}.{IDS} AS {union_rows(IDS, list(facts.values())[1:])}")
    for table, columns in tables.items():
        shown = f"SELECT {select(table, columns)} FROM"
        catalogs = facts if table in FACT_TABLES else sums if is_sum(table) else None
        if not is_split or catalogs is None:
            con.execute(f'CREATE VIEW "{table}" AS {shown} {alias}."{table}"')
            continue
        for number, catalog in catalogs.items():
            con.execute(f"CREATE VIEW {_part(table, number)} AS {shown} {catalog}.{table}")
        con.execute(f"CREATE VIEW {table} AS {_union_parts(table, catalogs)}")
        if len(sums) > 1 and table.startswith("daily_"):
            _view_months(con, table, shown, {number: sums[number] for number in list(sums)[1:]})


def _view_months(con: Connection, table: str, shown: str, months: Mapping[int, str]) -> None:
    monthly = monthly_table(table)
    for number, catalog in months.items():
        con.execute(f"CREATE VIEW {_part(monthly, number)} AS {shown} {catalog}.{monthly}")
    con.execute(f"CREATE VIEW {_PARTS}.{monthly} AS {_union_parts(monthly, months)}")


def name_table(table: str) -> str:
    """Return the full name of a table for readers. The name is the same for every file with the table."""
    return f"{_PARTS}.{table}" if table == IDS or table.startswith("monthly_") else table


def narrow_facts(cursor: Connection, sql: str, first_day: date, last_day: date) -> None:
    """Restrict a cursor to segments that may have rows of these days, in the tables that `sql` names.

    Planning a query takes 0.8 ms for each segment and each mention of a fact table. Rows in the main file are
    always included.
    """
    numbers = [number for (number,) in cursor.execute(_OVERLAPPING, [last_day, first_day]).fetchall()]
    for table in FACT_TABLES:
        if re.search(rf"\b{table}\b", sql):
            cursor.execute(f"CREATE TEMP VIEW {table} AS {_union_parts(table, [0, *numbers])}")


def narrow_sums(
    cursor: Connection,
    sql: str,
    first_day: date | None,
    last_day: date | None,
    *,
    added_up: bool,
    apart: Sequence[date] = (),
) -> None:
    """Restrict a cursor to months that may have sums of these days, in the tables that `sql` names.

    With `added_up`, the cursor sees only the totals of a month that is completely within the range. The
    totals have the first day of the month. A month with a day in `apart` is not added up. A bound of None is
    no bound. Sums in the main file are always included.
    """
    bounds = {"first": first_day, "last": last_day, "apart": list(apart)}
    months = cursor.execute(_MONTHS, bounds).fetchall()
    for table in sorted(set(_SUMS_NAMED.findall(sql))) if months else ():
        parts = [_part(table, 0)]
        for number, is_whole, is_overlapping in months:
            if is_overlapping:
                parts.append(_part(monthly_table(table) if added_up and is_whole else table, number))
        cursor.execute(f"CREATE TEMP VIEW {table} AS {_union_views(parts)}")


def has_segments(con: Connection) -> bool:
    """Return True when an open store file has segment files."""
    return con.execute("SELECT EXISTS (FROM segments)").fetchone() == (True,)


def _list_columns(con: Connection, catalog: str) -> Mapping[str, Columns]:
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in con.execute(_COLUMNS, [catalog]).fetchall():
        tables.setdefault(table, []).append((column, kind))
    return tables


def _part(table: str, number: int) -> str:
    return f"{_PARTS}.{table}_{number}"


def _union_parts(table: str, numbers: Iterable[int]) -> str:
    return _union_views(_part(table, number) for number in numbers)


def _union_views(names: Iterable[str]) -> str:
    return " UNION ALL BY NAME ".join(f"FROM {name}" for name in names)


def view_stored_facts(con: Connection) -> None:
    """Make the missing views `stored_…` of fact tables and of sums tables."""
    for table in (*FACT_TABLES, *SEARCHED_SUMS):
        con.execute(f"CREATE TEMP VIEW IF NOT EXISTS stored_{table} AS FROM {table}")


def connect_read_only(path: Path, config: Config) -> Connection:
    """Open a store file and its segment files read-only. Raises duckdb.Error, StoreError."""
    con = duckdb.connect(str(path), read_only=True, config=dict(config))
    if not read_segments(con, "main"):
        return con
    con.close()
    return connect_views(path, config, "generation")


def describe_failure(error: duckdb.Error) -> str:
    """Return DuckDB's error message in one line.

    If the object store caused the error, return the object store's message.
    """
    lines = str(error).strip().splitlines()
    return lines[-1].partition(": ")[2] if is_of_object_store(error) else lines[0]


def is_of_object_store(error: duckdb.Error) -> bool:
    """Return True when DuckDB failed because it could not read a segment in an object store."""
    # errors of the fsspec file system contain a Python traceback
    return str(error).startswith("Traceback")


def named_segments(generations: Iterable[Path]) -> set[str] | None:
    """Return the names of these store files' segment files, or None if a store file is unreadable."""
    names: set[str] = set()
    for path in generations:
        try:
            with duckdb.connect(str(path), read_only=True) as con:
                names.update(segment.name for segment in read_segments(con, "main"))
        except duckdb.Error:
            return None
    return names
