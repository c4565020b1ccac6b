"""Shows an SQLite database as JSON Lines: a line with its tables, then one line for each row.

The first line is `{"database": [<producer>, …], "tables": {<table>: [<column>, …]}}`. Each other line is a
row without its NULLs: `{"record": <word>, <column>: <value>, …}`. Blobs are read as text. Text that is not
UTF-8 stays invalid, so its line is rejected. A row with a value that is too large becomes `{"record": <word>,
"unread": <reason>}`. A database with tables of several producers yields no rows.

A layout is a file `<producer>.sql` or `<producer>.<part>.sql`. Its comments define the records, one per line:
`-- <record>: <table>(<column>, <column>?, …)`. A database has the layout when it has all these tables and
columns. Columns with a `?` are optional. The table `*` means any table with these columns; `{table}` is the
name of this table in the query. The query selects the `<record>` and the rowid of each row, in order.
"""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.sources.databases.snapshot import LARGEST_VALUE, refuse_database

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
)

_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
_RECORD = re.compile(r"^-- (\w+): (\*|\w+)\(([^)]*)\)$", re.MULTILINE)
_COLUMN = re.compile(r"(\w+)(\??)")
_ANY = "*"

Tables = Mapping[str, Sequence[str]]
"""The columns of each table of a database."""


class DatabaseLines(io.RawIOBase):
    """The lines of a database as a stream.

    `connection` is open on a copy of the database. Closing the stream closes the connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lines = self._make_lines()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go back to the first line. Other positions are not supported."""
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
            reason = f"row {rowid:,} of the table {kind.table} has a value over {LARGEST_VALUE:,} bytes"
            return {"record": kind.record, "unread": reason}
        values = dict(zip(kind.columns, row, strict=True))
        return {"record": kind.record} | {name: value for name, value in values.items() if value is not None}


def _encode_line(value: dict[str, Any]) -> bytes:
    shown = {
        key: cell.decode("utf-8", "surrogateescape") if isinstance(cell, bytes) else cell
        for key, cell in value.items()
    }
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


class RowKind(msgspec.Struct, frozen=True):
    """The rows of one table that become records: the record's name, the table, and the columns to read."""

    record: str
    table: str
    columns: tuple[str, ...]
    optional: frozenset[str]

    @property
    def query(self) -> str:
        """The query that selects one row by rowid."""
        columns = ", ".join(map(quote_name, self.columns))
        return f"SELECT {columns} FROM {quote_name(self.table)} WHERE rowid = ?"  # noqa: S608 - quoted names

    def in_table(self, table: str, columns: Sequence[str]) -> RowKind | None:
        """Return this row kind with another table in place of its own. Return None when that table lacks a
        column of the row kind.
        """
        present = tuple(column for column in self.columns if column in columns)
        lacking = set(self.columns) - set(present)
        return replace(self, table=table, columns=present) if lacking <= self.optional else None


class Layout(msgspec.Struct, frozen=True):
    """How to read a database: the producer's name, the rows to read, and the query for their order."""

    producer: str
    kinds: tuple[RowKind, ...]
    order: str

    def fit(self, tables: Tables) -> list[Layout]:
        """Return the layouts for the existing tables.

        If this layout has the table `*`, each matching table gives one layout.
        """
        if any(kind.table == _ANY for kind in self.kinds):
            return [fitted for table in tables if (fitted := self._fit_tables(tables, table)) is not None]
        fitted = self._fit_tables(tables)
        return [] if fitted is None else [fitted]

    def _fit_tables(self, tables: Tables, free: str = "") -> Layout | None:
        kinds = []
        for kind in self.kinds:
            table = free if kind.table == _ANY else kind.table
            fitted = kind.in_table(table, tables[table]) if table in tables else None
            if fitted is None:
                return None
            kinds.append(fitted)
        return replace(self, kinds=tuple(kinds), order=self.order.replace("{table}", quote_name(free)))


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def find_layouts(tables: Tables) -> list[Layout]:
    """Return the layouts that a database with these tables has, in the order in which they are read."""
    return [fitted for layout in _all_layouts() for fitted in layout.fit(tables)]


@cache
def _all_layouts() -> tuple[Layout, ...]:
    files = sorted(resources.files(__package__).iterdir(), key=lambda file: file.name)
    return tuple(
        _read_layout(file.name, file.read_text(encoding="utf-8"))
        for file in files
        if file.name.endswith(".sql")
    )


def _read_layout(name: str, text: str) -> Layout:
    kinds = []
    for record, table, listed in _RECORD.findall(text):
        columns = _COLUMN.findall(listed)
        optional = frozenset(column for column, mark in columns if mark)
        kinds.append(RowKind(record, table, tuple(column for column, _ in columns), optional))
    return Layout(name.split(".", maxsplit=1)[0], tuple(kinds), text)
