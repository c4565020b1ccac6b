"""The parts of files that a worker has read, with their rows. The load takes the parts one after another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NoReturn

import msgspec
import pyarrow as pa

from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.pipeline.workers.messages import RowsPart, Shipment, TaskEnded, read_tables
from ingest.sessions.row_batches import Row
from ingest.store.writer import FactWriter

OpenRows = Callable[[str], pa.NativeFile]
"""Function that opens the file of rows that a shipment names."""


class ReceivedPart(msgspec.Struct):
    """A part of a file, with rows as Arrow tables.

    `unfit` are rejects for values that do not fit their column. All rows have a ticket in place of a file id.
    """

    part: RowsPart
    tables: dict[str, pa.Table]
    unfit: list[Row]

    @property
    def bytes(self) -> int:
        return self.part.bytes

    @property
    def read_and_rejected(self) -> tuple[int, int]:
        return self.part.read, self.part.rejects

    def for_file(self, file_id: int) -> tuple[dict[str, pa.Table], list[Row]]:
        """Return the tables and the unfit values after setting their file id to `file_id`."""
        tables = {name: _set_file_id(table, file_id) for name, table in self.tables.items()}
        return tables, [row | {"file_id": file_id} for row in self.unfit]


class FileIntake:
    """Passes the parts of one file to the writer when the load has reached this file."""

    def __init__(self, job: ReadJob, writer: FactWriter, on_bytes: OnBytes) -> None:
        self._job = job
        self._writer = writer
        self._on_bytes = on_bytes
        self._file_id: int | None = None
        self._came = (0, 0)

    def take(self, part: ReceivedPart | TaskEnded | None) -> FileResult | None:
        """Write `part`, or nothing if `part` is None. Return the result when `part` is the end of the file.

        If the file is unusable, its rows are removed and UnusableFileError is raised.
        """
        if self._file_id is None and (isinstance(part, ReceivedPart) or (part and part.counted)):
            self._file_id = self._writer.begin_file(others=True)
        if isinstance(part, TaskEnded):
            if part.intake is None:
                self._take_back()
            return part.file_result(self._job, self._file_id or 0)
        if part is not None and self._file_id is not None:
            self._writer.add_tables(*part.for_file(self._file_id))
            self._writer.flush_when_due(part.bytes)
            self._came = part.read_and_rejected
        self._on_bytes(*self._came)
        return None

    def give_up(self, why: str) -> NoReturn:
        """Remove the rows of the file that were already written, and raise UnusableFileError."""
        self._take_back()
        unusable = UnusableFileError(f"cannot be read: {why}")
        unusable.may_pass = True
        raise unusable

    def _take_back(self) -> None:
        if self._file_id is not None:
            self._writer.take_back_file()


class ReceivedShipment:
    """A shipment of a worker, whose parts are taken or skipped in order.

    The file of rows is opened with the first part that is taken. After the last part, `taken_in` is called
    with the shipment. Then the file of rows may be deleted.
    """

    def __init__(
        self, shipment: Shipment, open_rows: OpenRows, taken_in: Callable[[Shipment], None] | None = None
    ) -> None:
        self._shipment = shipment
        self._open_rows = open_rows
        self._taken_in = taken_in
        self._parts = deque(shipment.parts)
        self._tables: dict[str, pa.Table] | None = None
        self._at: Counter[str] = Counter()

    @property
    def ticket(self) -> int | None:
        """Ticket of the file to which the next part belongs. None when no part is left."""
        return self._parts[0].ticket if self._parts else None

    def skip_part(self) -> None:
        """Skip the next part without writing it."""
        part = self._parts.popleft()
        if isinstance(part, RowsPart):
            self._at.update(part.rows)
        self._close()

    def take_part(self) -> ReceivedPart | TaskEnded:
        """Return the next part. Return a `TaskEnded` at the end of a file."""
        part = self._parts[0]
        if isinstance(part, TaskEnded):
            self.skip_part()
            return part
        if self._tables is None:
            self._tables = self._open_tables()
        tables = {
            name: self._tables[name].slice(self._at[name], count)
            for name, count in part.rows.items()
            if count
        }
        unfit = [row for row in self._shipment.unfit if row["file_id"] == part.ticket]
        self._shipment.unfit = [row for row in self._shipment.unfit if row["file_id"] != part.ticket]
        self.skip_part()
        return ReceivedPart(part, tables, unfit)

    def _open_tables(self) -> dict[str, pa.Table]:
        file = self._shipment.file
        return read_tables(self._open_rows(file), self._shipment.tables) if file else {}

    def _close(self) -> None:
        if self._parts:
            return
        self._tables = None
        if self._taken_in is not None:
            self._taken_in(self._shipment)


def _set_file_id(table: pa.Table, file_id: int) -> pa.Table:
    column = table.schema.get_field_index("file_id")
    if column < 0:
        return table
    field = table.schema.field(column)
    return table.set_column(column, field, pa.repeat(pa.scalar(file_id, field.type), table.num_rows))
