"""Writes the rows of the files of a load, one file after another, into the store file being built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from ingest.sessions.row_batches import Row, RowBatch, TableRows, to_arrow
from ingest.store.connection import Connection
from ingest.store.generation_file import GenerationBuilder
from ingest.store.generations import StoreFolder

BATCH_ROWS = 10_000  # about 17 MB of calls, and twice that during conversion; larger batches load no faster
# bytes of log between two batches; this limit is needed because a row can be as long as its line
BATCH_BYTES = 32 * 1024 * 1024


class FactWriter:
    """Writes all rows of a load, in batches.

    `unfit` has, by file id, the number of values that do not fit their column. `database` is used for the
    store file (`ingest.store.connection.start_database`).
    """

    def __init__(self, folder: StoreFolder, first_file_id: int, database: Connection | None = None) -> None:
        self._folder = folder
        self._database = database
        self._building: GenerationBuilder | None = None
        self._tables = PendingTables()  # Arrow tables of rows that were converted already
        self._batch = RowBatch()
        self._bytes = 0
        self._file_id = first_file_id - 1
        self._written = False
        self.unfit: Counter[int] = Counter()

    @property
    def builder(self) -> GenerationBuilder:
        """The store file being built. The first access copies the published store file."""
        if self._building is None:
            path = self._folder.start_from_published()
            self._building = GenerationBuilder(path, self._folder.on_write, self._database)
        return self._building

    @property
    def last_id(self) -> int:
        """The id of the file that was begun last."""
        return self._file_id

    def begin_file(self, *, others: bool = False) -> int:
        """Begin the next file and return its id.

        With `others`, the rows come from another process as Arrow tables (`add_tables`).
        """
        if others:
            self._convert_batch()
        self._file_id += 1
        self._written = False
        self._batch.begin_file()
        self._tables.begin_file()
        return self._file_id

    def add(self, table: str, rows: TableRows) -> None:
        self._batch.add(table, rows)

    def add_tables(self, tables: Mapping[str, pa.Table], unfit: Sequence[Row]) -> None:
        """Add rows as Arrow tables, and a reject for each value that does not fit its column."""
        self._tables.add(tables, unfit)

    def flush_when_due(self, bytes_read: int) -> None:
        """Write the waiting rows when there are enough rows.

        `bytes_read` is the number of bytes of log read since the last call.
        """
        self._bytes += bytes_read
        if self._tables.count + self._batch.count >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self._written = True
            self.flush()

    def take_back_file(self) -> None:
        """Remove all rows of the current file, including those already written."""
        self._batch.take_back_file()
        self._tables.take_back_file()
        self.unfit.pop(self._file_id, None)
        if self._written:
            self.builder.forget(self._file_id)

    def flush(self) -> None:
        """Write all waiting rows."""
        self._convert_batch()
        self._bytes = 0
        if not self._tables.count:
            return
        tables, unfit = self._tables.drain()
        self.unfit.update(row["file_id"] for row in unfit)
        if unfit:
            tables.setdefault("rejects", []).append(
                to_arrow("rejects", unfit, self._all_schemas["rejects"])[0]
            )
        whole = {name: pa.concat_tables(some).combine_chunks() for name, some in tables.items()}
        self.builder.add(whole)

    def _convert_batch(self) -> None:
        for name, columns in self._batch.drain().items():
            table, unfit = columns.to_arrow(name, self._all_schemas[name])
            reported = [row for row in unfit if row["file_id"] is not None and name != "rejects"]
            self._tables.add({name: table}, reported)

    @property
    def _all_schemas(self) -> Mapping[str, pa.Schema]:
        return self.builder.schemas

    def abandon(self) -> None:
        """Close and remove the store file being built."""
        if self._building is not None:
            self._building.abandon()
        self._folder.discard()


class PendingTables:
    """Arrow tables that wait to be written, by table name, and rejects for values that do not fit their
    column.
    """

    def __init__(self) -> None:
        self._tables: dict[str, list[pa.Table]] = {}
        self._unfit: list[Row] = []
        self._marks: dict[str, int] = {}
        self._unfit_mark = 0
        self.count = 0

    def add(self, tables: Mapping[str, pa.Table], unfit: Sequence[Row]) -> None:
        for name, table in tables.items():
            self._tables.setdefault(name, []).append(table)
            self.count += table.num_rows
        self._unfit += unfit

    def begin_file(self) -> None:
        """Remember where the rows of the next file begin, for `take_back_file`."""
        self._marks = {name: len(some) for name, some in self._tables.items()}
        self._unfit_mark = len(self._unfit)

    def take_back_file(self) -> None:
        """Discard all tables and rejects that were added since `begin_file`."""
        for name, some in self._tables.items():
            del some[self._marks.get(name, 0) :]
        del self._unfit[self._unfit_mark :]
        self.count = sum(table.num_rows for some in self._tables.values() for table in some)

    def drain(self) -> tuple[dict[str, list[pa.Table]], list[Row]]:
        """Return the waiting tables by name, and the rejects. Empty the collection."""
        tables, unfit = self._tables, self._unfit
        self._tables, self._unfit, self._marks, self._unfit_mark, self.count = {}, [], {}, 0, 0
        return {name: some for name, some in tables.items() if some}, unfit
