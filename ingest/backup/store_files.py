"""The files of a store that a backup takes: the published generation, and what people decided beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.generations import BUILDING, LOCK
from ingest.store.shared.link import LINK
from ingest.store.shared.pointer import CURRENT

RECORD = "backups.json"
_DATABASE = ".sqlite"
_KEY = ".key"
_PASSING = ("-wal", "-shm", "-journal", ".new", ".lock", ".part", ".tmp")  # ends of names
_WAITS = 10.0  # seconds for another writer of a database


def files_beside(store_dir: Path, *, with_keys: bool) -> Iterator[Path]:
    """Yield the files of a store besides its generations, and those of its folders.

    `*.key` files, with which placeholders could be tried out and sign-ins forged, are left out unless
    `with_keys`. Files of a moment (locks, files being written) are left out always.
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
    """Copy a SQLite file as it is at one moment, while others write into it. Raises StoreError."""
    mode = (
        "rw" if os.access(path, os.W_OK) else "ro"
    )  # what a killed writer left is taken back by a writer only
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
    """Raise StoreError unless SQLite finds the whole file in order; `named` is the file to speak of."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAITS)) as con:
            found = [str(row[0]) for row in con.execute("PRAGMA integrity_check(1)")]
    except sqlite3.Error as error:
        found = [str(error)]
    if found != ["ok"]:
        raise _damaged(named or path, found[0] if found else "no answer")


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(
        f"{path} is damaged ({why}); restore a backup, or move the file away to begin with an empty one"
    )
