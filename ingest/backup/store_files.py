"""Lists which files of a store belong in a backup, and checks files for damage."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.generations import BUILDING, LOCK
from ingest.store.migrations import SCHEMA_VERSION, read_schema_version
from ingest.store.reader import open_generation
from ingest.store.segments import name_table
from ingest.store.shared.link import LINK
from ingest.store.shared.pointer import CURRENT
from ingest.store.verification import compare_all_counts

RECORD = "backups.json"
_DATABASE = ".sqlite"
_KEY = ".key"
_PASSING = ("-wal", "-shm", "-journal", ".new", ".lock", ".part", ".tmp")
_WAITS = 10.0  # seconds to wait for another process that writes to the database
_TABLES = "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"


def files_beside(store_dir: Path, *, with_keys: bool) -> Iterator[Path]:
    """Yield the files of a store folder and its subfolders, except store files, segments, locks and
    incomplete files.

    `*.key` files are left out unless `with_keys` is set. With these keys, somebody could test guesses of
    redacted values, or forge sign-ins.
    """
    for path in sorted(store_dir.rglob("*")):
        name = path.name
        inside = path.relative_to(store_dir).parts
        if (
            not path.is_file()
            or path.is_symlink()
            or any(part.startswith((".", BUILDING)) for part in inside)
        ):
            continue
        if len(inside) == 1 and (name in (CURRENT, LOCK, LINK, RECORD) or name.startswith(("gen-", "seg-"))):
            continue
        if name.endswith(_PASSING) or (name.endswith(_KEY) and not with_keys):
            continue
        yield path


def is_database(path: Path) -> bool:
    return path.name.endswith(_DATABASE)


def copy_database(path: Path, copy: Path) -> None:
    """Copy a consistent state of a SQLite file, even while other processes write to it. Raises StoreError."""
    # SQLite needs write access to undo the unfinished changes of a killed process
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    try:
        with (
            closing(
                sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WAITS)
            ) as con,
            closing(sqlite3.connect(copy)) as into,
        ):
            con.backup(into)
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from error
    check_database(copy, named=path)


def check_database(path: Path, *, named: Path | None = None) -> None:
    """Raise StoreError unless SQLite's integrity check passes.

    `named` is the name of the file in the message.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAITS)) as con:
            problems = [str(row[0]) for row in con.execute("PRAGMA integrity_check(1)")]
    except sqlite3.Error as error:
        problems = [str(error)]
    if problems != ["ok"]:
        raise _damaged(named or path, problems[0] if problems else "no answer")


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(
        f"{path} is damaged ({why}); restore a backup, or move the file away to begin with an empty one"
    )


def count_rows(generation: Path) -> Mapping[str, int]:
    """Return the number of rows of each table of a store file.

    Raises StoreError when the file cannot be opened. Raises StoreVersionError when the tables have another
    version.
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
    """Read every value of a store file and compare the daily sums with the rows. Return row counts by table.

    DuckDB has a checksum for each block, so it finds values that changed on disk. Raises StoreError.
    """
    with open_generation(generation) as con:
        version = read_schema_version(con, generation)
        rows = {}
        for (name,) in con.execute(_TABLES).fetchall():
            query = f"SELECT count(*), bit_xor(hash(t)) FROM {name_table(name)} t"  # noqa: S608 - our own names
            counts = con.execute(query).fetchall()
            rows[name] = int(counts[0][0])
        listed = compare_all_counts(con) if version == SCHEMA_VERSION else None
    if listed:
        raise StoreError(f"the tables of {generation} do not add up ({listed}); restore a backup")
    return rows
