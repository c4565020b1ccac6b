"""Copies an SQLite database that may be in use, with its write-ahead log, and opens the copy.

SQLite never opens the database itself, so the database is not locked and its files do not change. Committed
data may be partly in `-wal` (https://sqlite.org/walformat.html), or must be restored from `-journal`
(https://sqlite.org/atomiccommit.html). A copy is consistent under two conditions. The database file is the
same before and after `-wal` or `-journal` is copied. SQLite has not restarted `-wal` or `-journal` meanwhile.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from ingest.errors import DamagedFileError

DATABASE_NAMES = (".db", ".db3", ".sqlite", ".sqlite3", ".vscdb")
SIDE_FILES = ("-wal", "-journal")
ALL_SIDE_FILES = (*SIDE_FILES, "-shm")  # SQLite rebuilds `-shm` from the write-ahead log
LARGEST_VALUE = 64 * 1024 * 1024  # bytes; a row with a larger value is not read
_ATTEMPTS = 6
_PAUSE = 0.05  # seconds between two attempts, doubled each time
_PIECE = 1024 * 1024
_HEADER = 32  # bytes of a side file that change whenever SQLite restarts the file
_SPARE = 64 * 1024 * 1024  # bytes of disk space that must stay free
_NAME = "copy.db"

OpenStream = Callable[[], io.RawIOBase]
OpenSide = Callable[[str], io.RawIOBase | None]
"""Function that opens the side file with this suffix. Returns None if there is no file. Raises OSError."""


def copy_database(main: OpenStream, side: OpenSide, size: int | None) -> sqlite3.Connection:
    """Return a connection to a copy of a database that other programs may be writing.

    `size` is the size of the database in bytes, or None. Raises OSError when there is no room for the copy or
    the database changes all the time. Raises DamagedFileError when the database is damaged or encrypted.
    """
    folder = Path(tempfile.mkdtemp(prefix="callgauge-database-"))
    try:
        _check_room(folder, size)
        pause = _PAUSE
        for _ in range(_ATTEMPTS):
            if _copy_moment(folder, main, side):
                return _open_copy(folder / _NAME)
            time.sleep(pause)
            pause *= 2
        raise OSError("it is an SQLite database that changed while it was copied; load it again")
    finally:
        # the connection keeps the deleted files open, so even a killed load leaves no files
        shutil.rmtree(folder, ignore_errors=True)


def copy_stream(stream: io.RawIOBase) -> sqlite3.Connection:
    """Return a connection to a copy of a database from a stream that can be read only once.

    Raises the same errors as `copy_database`.
    """
    folder = Path(tempfile.mkdtemp(prefix="callgauge-database-"))
    try:
        _check_room(folder, None)
        _copy(stream, folder / _NAME)
        return _open_copy(folder / _NAME)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_room(folder: Path, size: int | None) -> None:
    free = shutil.disk_usage(folder).free - _SPARE
    if (size or 0) > free:
        raise OSError(
            f"it is an SQLite database of {size:,} bytes, and {folder.parent} has no room for a copy "
            f"({max(free, 0):,} bytes); set TMPDIR to a larger place"
        )


def _copy_moment(folder: Path, main: OpenStream, side: OpenSide) -> bool:
    """Copy the database and its side files. Return False when another program wrote to them meanwhile."""
    with closing(main()) as stream:
        first = _copy(stream, folder / _NAME)
    headers = {suffix: _copy_side(side, suffix, folder / (_NAME + suffix)) for suffix in SIDE_FILES}
    with closing(main()) as stream:
        second = _copy(stream, None)
    return first == second and all(_header_of(side, suffix) == was for suffix, was in headers.items())


def _copy_side(side: OpenSide, suffix: str, target: Path) -> bytes:
    target.unlink(missing_ok=True)
    stream = side(suffix)
    if stream is None:
        return b""
    with closing(stream):
        _copy(stream, target)
    with target.open("rb") as copied:
        return copied.read(_HEADER)


def _header_of(side: OpenSide, suffix: str) -> bytes:
    stream = side(suffix)
    if stream is None:
        return b""
    with closing(io.BufferedReader(stream, _HEADER)) as buffered:
        return buffered.read(_HEADER)


def _copy(stream: io.RawIOBase, target: Path | None) -> bytes:
    digest, buffer = hashlib.sha256(), memoryview(bytearray(_PIECE))
    with closing(io.BytesIO() if target is None else target.open("wb")) as out:
        while count := stream.readinto(buffer):
            digest.update(buffer[:count])
            if target is not None:
                out.write(buffer[:count])
    return digest.digest()


def _open_copy(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    try:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "locking_mode = EXCLUSIVE"):
            connection.execute(f"PRAGMA {pragma}")
        # Merges the side files into the copy, so that the copy consists of one file.
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        connection.close()
        refuse_database(error)
    return connection


def refuse_database(error: sqlite3.Error) -> NoReturn:
    """Raise DamagedFileError with SQLite's message about a database."""
    raise DamagedFileError(f"it is a damaged or encrypted SQLite database ({error})") from error
