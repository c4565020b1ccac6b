"""Finds the published store file of a store folder, and opens it read-only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import duckdb

from callgauge.analysis.metrics import answer_metric, first_line
from callgauge.analysis.metrics.masked_store import connect_without_texts
from ingest.errors import StoreError
from ingest.store import generations
from ingest.store.migrations import SCHEMA_VERSION
from ingest.store.segments import connect_read_only, is_of_object_store
from ingest.store.shared.outage import read_outage

Connection = duckdb.DuckDBPyConnection

_LOCKED_DOWN = """
    SET threads = 2;
    SET memory_limit = '1GB';
    SET GLOBAL TimeZone = 'UTC';
    SET enable_external_access = false;
    SET lock_configuration = true;
"""


_OPENING = Lock()
# This dict holds the inode and the modification time of each file that this process has opened.
_files: dict[Path, tuple[int, int]] = {}


class UnshownStoreError(Exception):
    """Raised when the store cannot be shown.

    `message` is the problem. `remedy` says what to do. `command` is the shell command of the remedy, or None.
    """

    def __init__(self, message: str, remedy: str, command: str | None = None) -> None:
        super().__init__(f"{message} {remedy} {command or ''}".rstrip())
        self.message = message
        self.remedy = remedy
        self.command = command


class NothingLoadedError(UnshownStoreError):
    """Raised when no store folder is configured, or when nothing has been loaded into the folder yet."""


def published_generation(folder: str | None) -> Path:
    """Return the published store file, whose name is in the folder's `CURRENT`. Raises UnshownStoreError."""
    if not folder:
        raise NothingLoadedError("No store is named.", *_load_into("DIR"))
    try:
        path = generations.published_generation(Path(folder))
    except StoreError as unreadable:
        raise UnshownStoreError(f"{unreadable}.", *_load_into(folder)) from None
    if path is None:
        raise NothingLoadedError("Nothing has been loaded yet.", *_load_into(folder))
    return path


def find_outage(folder: str | None) -> datetime | None:
    """Return the time (UTC) since which a shared store has not answered.

    Return None if the store answers.
    """
    outage = read_outage(Path(folder)) if folder else None
    return outage.since if outage else None


def open_generation(path: Path, *, texts: bool) -> Connection:
    """Return a read-only connection to a published store file. Each query needs a separate cursor.

    If `texts` is False, log content is hidden. Raises UnshownStoreError when the file cannot be opened or has
    another schema version.
    """
    try:
        with _OPENING:
            connection = connect_read_only(path, {}) if texts else connect_without_texts(path, {})
            # If this process has already opened the file, the connection shares the settings of the open
            # database.
            if connection.execute("SELECT current_setting('lock_configuration')").fetchone() != (True,):
                connection.execute(_LOCKED_DOWN)
                _files[path] = _identify(path)
        is_replaced = _files.setdefault(path, _identify(path)) != _identify(path)
    except (duckdb.Error, OSError, StoreError) as refused:
        if isinstance(refused, duckdb.Error) and is_of_object_store(refused):
            raise UnshownStoreError(
                "Older calls are in an object store that cannot be reached now.",
                "Reload the page in a moment.",
            ) from refused
        raise UnshownStoreError(f"{path} cannot be opened: {first_line(refused)}.", *_rebuild(path)) from None
    if is_replaced:
        connection.close()
        raise UnshownStoreError(
            f"{path} was replaced, and this server still has the earlier one open.",
            "Open a page of the dashboard, which closes it, or start the server again.",
        )
    try:
        version = connection.execute("SELECT max(schema_version) FROM store_info").fetchone()
    except duckdb.Error:
        version = None
    if version is None or version[0] != SCHEMA_VERSION:
        connection.close()
        raise UnshownStoreError(
            f"{path} was written by another version of Callgauge.", *_describe_outdated(path, version)
        )
    return connection


def _identify(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_ino, state.st_mtime_ns


def _describe_outdated(path: Path, version: tuple[int | None] | None) -> tuple[str, str]:
    if version is None or version[0] is None or version[0] > SCHEMA_VERSION:
        return _rebuild(path)
    return "Bring it up to date:", f"callgauge reparse --store {path.parent}"


def _load_into(folder: str) -> tuple[str, str]:
    return "Load logs into it:", f"callgauge ingest PATH --store {folder}"


def _rebuild(path: Path) -> tuple[str, str]:
    return (
        f"Move the folder {path.parent} away and load again:",
        f"callgauge ingest PATH --store {path.parent}",
    )


if TYPE_CHECKING:
    import pandas as pd


class StoreReader:
    """Answers metrics from the published store file `path`, and caches each answer."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.path = path
        self.connection = connection
        self._answers: dict[tuple[str, tuple[tuple[str, Any], ...]], pd.DataFrame] = {}

    def ask(self, metric: str, **parameters: Any) -> pd.DataFrame:
        """Return the rows of a metric. Lists must be passed as tuples. Raises MetricError."""
        set_parameters = tuple(
            sorted((name, value) for name, value in parameters.items() if value is not None)
        )
        if (metric, set_parameters) not in self._answers:
            listed = {
                name: list(value) if isinstance(value, tuple) else value for name, value in set_parameters
            }
            self._answers[metric, set_parameters] = answer_metric(self.connection, metric, listed)
        return self._answers[metric, set_parameters]


@contextmanager
def read_store(folder: Path, *, texts: bool) -> Iterator[StoreReader]:
    """Open the published store file of a folder, and close the file afterwards.

    Raises UnshownStoreError. If `texts` is False, log content is hidden.
    """
    path = published_generation(str(folder))
    connection = open_generation(path, texts=texts)
    try:
        yield StoreReader(connection, path)
    finally:
        connection.close()
