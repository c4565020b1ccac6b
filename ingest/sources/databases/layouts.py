"""The tables of databases that hold logs, and the order in which their rows are read.

A layout is a file `<producer>.sql` or `<producer>.<part>.sql`. Its comments name what it reads, one record
a line: `-- <record>: <table>(<column>, <column>?, …)`. The database has the layout when it has all these
tables with all these columns but those with a `?`. The table `*` stands for any table with the columns,
then `{table}` is its name in the query. The query gives, for each record in order, the word for it and the
rowid of its row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

_RECORD = re.compile(r"^-- (\w+): (\*|\w+)\(([^)]*)\)$", re.MULTILINE)
_COLUMN = re.compile(r"(\w+)(\??)")
_ANY = "*"

Tables = Mapping[str, Sequence[str]]
"""The columns of each table of a database."""


@dataclass(frozen=True, slots=True)
class RowKind:
    """The rows of one table that are records: the record's word, the table, and the columns that are read."""

    record: str
    table: str
    columns: tuple[str, ...]
    optional: frozenset[str]

    @property
    def query(self) -> str:
        """The query for one row, by its rowid."""
        columns = ", ".join(map(quote_name, self.columns))
        return f"SELECT {columns} FROM {quote_name(self.table)} WHERE rowid = ?"  # noqa: S608 - quoted names

    def in_table(self, table: str, columns: Sequence[str]) -> RowKind | None:
        """Return this kind of row as a table has it; None when it lacks a column."""
        there = tuple(column for column in self.columns if column in columns)
        lacking = set(self.columns) - set(there)
        return replace(self, table=table, columns=there) if lacking <= self.optional else None


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to read a database: the producer's name, the rows it reads, and the query for their order."""

    producer: str
    kinds: tuple[RowKind, ...]
    order: str

    def fit(self, tables: Tables) -> list[Layout]:
        """Return the layouts of the tables there: none, or one for each table that `*` stands for."""
        if any(kind.table == _ANY for kind in self.kinds):
            return [fitted for table in tables if (fitted := self._fit_tables(tables, table)) is not None]
        fitted = self._fit_tables(tables)
        return [] if fitted is None else [fitted]

    def _fit_tables(self, tables: Tables, free: str = "") -> Layout | None:
        kinds = []
        for kind in self.kinds:
            table = free if kind.table == _ANY else kind.table
            found = kind.in_table(table, tables[table]) if table in tables else None
            if found is None:
                return None
            kinds.append(found)
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
        columns = _COLUMN.findall(listed)  # they may go on in a further line of comment
        optional = frozenset(column for column, mark in columns if mark)
        kinds.append(RowKind(record, table, tuple(column for column, _ in columns), optional))
    return Layout(name.split(".", maxsplit=1)[0], tuple(kinds), text)
