"""An SQLite database as a stream of JSON Lines: first its tables, then one line a row, in a layout's order.

The first line is `{"database": [<producer>, …], "tables": {<table>: [<column>, …]}}`. Each further line is
a row: `{"record": <word>, <column>: <value>, …}`, without its NULLs. Blobs are taken as text. A text that
is not UTF-8 stays so: the line is refused like that of any other log. A row with a value that is too large
becomes `{"record": <word>, "unread": <reason>}`. A database with several producers' tables has no rows
here.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Generator, Iterator
from typing import Any

from ingest.sources.databases.layouts import Layout, RowKind, Tables, find_layouts
from ingest.sources.databases.snapshot import LARGEST_VALUE, refuse_database

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
)

_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"


class DatabaseLines(io.RawIOBase):
    """The lines of a database. `connection` is to a copy; closing the stream closes it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lines = self._make_lines()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go back to the first line; no other place can be sought."""
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("only the start of a database can be sought")
        self._lines.close()
        self._lines, self._rest = self._make_lines(), memoryview(b"")
        return 0

    def close(self) -> None:
        if not self.closed:
            self._lines.close()
            self._connection.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        try:
            while not self._rest:
                line = next(self._lines, None)
                if line is None:
                    return 0
                self._rest = memoryview(line)
        except sqlite3.Error as error:
            refuse_database(error)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def _make_lines(self) -> Generator[bytes]:
        tables = self._read_tables()
        layouts = find_layouts(tables)
        producers = sorted({layout.producer for layout in layouts})
        yield _encode_line({"database": producers, "tables": tables})
        if len(producers) == 1:
            for layout in layouts:
                yield from self._read_rows(layout)

    def _read_tables(self) -> Tables:
        return {name: self._read_names(_COLUMNS, name) for name in self._read_names(_TABLES)}

    def _read_names(self, query: str, *parameters: str) -> list[str]:
        return [name.decode("utf-8", "replace") for (name,) in self._connection.execute(query, parameters)]

    def _read_rows(self, layout: Layout) -> Iterator[bytes]:
        kinds = {kind.record.encode(): kind for kind in layout.kinds}
        for record, rowid in self._connection.execute(layout.order):
            yield _encode_line(self._read_row(kinds[record], rowid))

    def _read_row(self, kind: RowKind, rowid: int) -> dict[str, Any]:
        try:
            row = self._connection.execute(kind.query, (rowid,)).fetchone()
        except sqlite3.DataError:
            reason = f"row {rowid:,} of the table {kind.table} holds a value over {LARGEST_VALUE:,} bytes"
            return {"record": kind.record, "unread": reason}
        values = dict(zip(kind.columns, row, strict=True))
        return {"record": kind.record} | {name: value for name, value in values.items() if value is not None}


def _encode_line(value: dict[str, Any]) -> bytes:
    shown = {
        key: one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one
        for key, one in value.items()
    }
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
