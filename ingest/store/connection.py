"""Opens DuckDB connections for building a store file, and turns DuckDB's errors into sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest.errors import StoreError
from ingest.store.segments import attach_file, describe_failure, is_of_object_store

Connection = duckdb.DuckDBPyConnection
# DuckDB's memory in a load; more data goes to a temporary folder next to the file being built
MEMORY_LIMIT = "256MB"
# DuckDB's memory while worker processes read; the inserts of a load need no more
MEMORY_BESIDE_WORKERS = "160MB"
# limit of uncompressed rows; with DuckDB's default of 16 MB, row groups would be written several times
CHECKPOINT = "64MB"

WAITING = """
    SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"""
# bytes of rows in memory; DuckDB's own count for CHECKPOINT is too low for short rows
WAITS = 128 * 1024 * 1024

# A query of duckdb_columns() takes twice as long, because DuckDB first creates all of its built-in views.
_COLUMNS = "SELECT '{table}', name, type FROM pragma_table_info('{table}')"


WITHOUT_LOG = "RECOVERY_MODE no_wal_writes"
"""Options for attaching files being built. Nobody reads these files after a crash, so they need no
write-ahead log.
"""


def start_database(path: Path) -> Connection:
    """Return an empty database in memory with the settings for building the store file at `path`.

    DuckDB does not wait for the disk. The store file is flushed once before it is published. DuckDB starts no
    threads, because workers can be forked only from a process with one thread.
    """
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "async_threads": 0,
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": f"{path}.tmp",
        "checkpoint_threshold": CHECKPOINT,
        "fsync_mode": "NONE",
    }
    return duckdb.connect(config=settings)


def connect_for_building(path: Path, database: Connection | None = None) -> Connection:
    """Open a connection to the store file being built, without a write-ahead log.

    `database` comes from `start_database`. To start another one takes 17 ms.
    """
    con = start_database(path) if database is None else database
    attach_file(con, str(path), "building", WITHOUT_LOG)
    con.execute("USE building")
    return con


def share_memory(con: Connection, *, beside_workers: bool) -> None:
    """Set DuckDB's memory limit. With `beside_workers`, it is lower, because workers also need memory."""
    con.execute(f"SET memory_limit = '{MEMORY_BESIDE_WORKERS if beside_workers else MEMORY_LIMIT}'")


def has_rows(con: Connection, *sources: str) -> bool:
    """Return whether one of these sources has a row. A source is a table, with joins and conditions."""
    return bool(find_filled(con, sources))


def find_filled(con: Connection, sources: Sequence[str]) -> list[str]:
    """Return the sources that have a row. A source is a table, with joins and conditions."""
    query = " UNION ALL ".join(
        f"(SELECT {number} FROM {source} LIMIT 1)"  # noqa: S608 - our own names
        for number, source in enumerate(sources)
    )
    return [sources[number] for (number,) in con.execute(query).fetchall()]


def use_threads(con: Connection, *, many: bool) -> None:
    """Let DuckDB execute statements on all cores, or on one thread.

    If there are few rows, one thread takes 25 % less processor time.
    """
    con.execute("RESET threads; RESET async_threads" if many else "SET threads = 1; SET async_threads = 0")


_ARROW: Mapping[str, pa.DataType] = {
    "VARCHAR": pa.string(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(), "TIMESTAMP": pa.timestamp("us"), "DATE": pa.date32(),
    "VARCHAR[]": pa.list_(pa.string()), "BIGINT[]": pa.list_(pa.int64()), "DOUBLE[]": pa.list_(pa.float64()),
}  # fmt: skip


GENERATED = ("arguments",)
"""Columns of `tool_calls` that DuckDB computes from other columns."""


def arrow_schemas(con: Connection, tables: Iterable[str]) -> dict[str, pa.Schema]:
    """Return the Arrow schema of each table without its generated columns, by table name."""
    columns: dict[str, list[tuple[str, pa.DataType]]] = defaultdict(list)
    query = " UNION ALL ".join(_COLUMNS.format(table=table) for table in tables)
    for table, name, kind in con.execute(query).fetchall():
        if name not in GENERATED:
            columns[table].append((name, _ARROW[kind]))
    return {table: pa.schema(fields) for table, fields in columns.items()}


_ALL_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND NOT temporary"


COPY = "clean"
"""The name under which a copy is attached while it is written."""


def copy_database(con: Connection, catalog: str, path: Path) -> None:
    """Write all rows of an attached file into a new file. Deleted rows are not written.

    Raises StoreError when rows are missing in the new file.
    """
    con.execute(f"CHECKPOINT {catalog}")
    attach_file(con, str(path), COPY, WITHOUT_LOG)
    con.execute(f"COPY FROM DATABASE {catalog} TO {COPY}")
    check_copy(con, catalog, [table for (table,) in con.execute(_ALL_TABLES, [catalog]).fetchall()], path)
    con.execute(f"DETACH {COPY}")


def check_copy(con: Connection, catalog: str, tables: Iterable[str], path: Path) -> None:
    """Raise StoreError when the attached copy at `path` lacks rows of these tables."""
    for table in tables:
        query = f"SELECT (SELECT count(*) FROM {catalog}.{table}) = (SELECT count(*) FROM {COPY}.{table})"  # noqa: S608
        if con.execute(query).fetchone() != (True,):
            raise StoreError(f"{path} lacks rows of {table}; nothing was published. This is a bug: report it")


_THE_DISK = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
    duckdb.PermissionException,
)


@contextmanager
def explain_duckdb_errors(path: Path) -> Iterator[None]:
    """Convert a DuckDB error raised in the block to a `StoreError` that names the file."""
    try:
        yield
    except duckdb.Error as error:
        if is_of_object_store(error):
            raise StoreError(f"{describe_failure(error)}. The published store is unchanged.") from error
        next_step = (
            "check that the disk has space and is healthy, then run the same command again"
            if isinstance(error, _THE_DISK)
            else "this is a bug: report it with the files you loaded"
        )
        raise StoreError(
            f"the store {path.parent} failed at {path.name}: {describe_failure(error)}; "
            f"{next_step}. The published store is unchanged."
        ) from error
