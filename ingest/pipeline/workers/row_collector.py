"""Collects the rows of files that a worker reads, and sends the rows as Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pyarrow as pa
from msgspec.structs import replace

from ingest.pipeline.reading.file_reader import ReadSettings, read_file
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.pipeline.workers.messages import ReadTask, RowsPart, TaskEnded
from ingest.sessions.row_batches import Row, RowBatch, TableRows

SHIPPED_ROWS = 10_000
SHIPPED_BYTES = 8 * 1024 * 1024  # bytes of log between two shipments

Ship = Callable[[list[RowsPart | TaskEnded], dict[str, pa.Table], list[Row]], None]
"""Function that sends parts and ends of files, their rows by table, and rejects for values that did not fit.
"""


class RowCollector:
    """Collects the rows of one file after another. Calls `ship` when there are enough rows."""

    def __init__(self, schemas: Mapping[str, pa.Schema], ship: Ship) -> None:
        self._schemas = schemas
        self._ship = ship
        self._batch = RowBatch()
        self._bytes = 0
        self._parts: list[RowsPart | TaskEnded] = []
        self._part = RowsPart(0, Counter())
        self._ticket = 0
        # whether the present file has an id, and whether a part of it was shipped
        self._counted = self._part_shipped = False

    def read_task(self, task: ReadTask, settings: ReadSettings) -> None:
        """Read a file. Collect the rows and the result. Raises IngestError."""
        self.begin_task(task.ticket)
        ended = _read_task(task, settings, self)
        ended.counted = self._counted
        self._parts.append(ended)
        if self._part_shipped:
            self.ship()  # if this worker dies at the next file, the rows of this file must already be sent

    def begin_task(self, ticket: int) -> None:
        """Begin a file. Until the next file begins, all rows and parts belong to this file."""
        self._ticket = ticket
        self._counted = self._part_shipped = False
        self._begin_part()

    def ship(self) -> None:
        """Send the collected rows, if there are any."""
        if not self._parts:
            return
        tables, unfit = {}, list[Row]()
        for name, columns in self._batch.drain().items():
            tables[name], rejects = columns.to_arrow(name, self._schemas[name])
            if name != "rejects":
                unfit += [row for row in rejects if row["file_id"] is not None]
        parts, self._parts, self._bytes = self._parts, [], 0
        self._ship(parts, tables, unfit)

    # --- the rows of a file, as `ingest.pipeline.reading.file_reader.RowSink` has them -----------

    def begin_file(self) -> int:
        self._counted = True
        return self._ticket

    def add(self, table: str, rows: TableRows) -> None:
        self._batch.add(table, rows)
        self._part.rows[table] += len(rows)

    def flush_when_due(self, bytes_read: int) -> None:
        self._part.bytes = bytes_read

    def take_back_file(self) -> None:
        """Discard the file's rows since its last finished part. The load removes earlier rows of the file."""
        self._batch.take_back_file()

    def end_part(self, read: int, rejects: int) -> None:
        """End the part. Ship the parts when enough rows are collected."""
        self._part.read, self._part.rejects = read, rejects
        self._parts.append(self._part)
        self._bytes += self._part.bytes
        self._begin_part()
        if self._batch.count >= SHIPPED_ROWS or self._bytes >= SHIPPED_BYTES:
            self._part_shipped = True
            self.ship()

    def _begin_part(self) -> None:
        self._part = RowsPart(self._ticket, Counter())
        self._batch.begin_file()


def _read_task(task: ReadTask, settings: ReadSettings, collector: RowCollector) -> TaskEnded:
    try:
        intake = read_file(task.job, settings, collector, collector.end_part)
    except UnusableFileError as unusable:
        return TaskEnded(
            task.ticket,
            refused=str(unusable),
            may_pass=unusable.may_pass,
            is_companion=unusable.is_companion,
            foreign=unusable.foreign,
            is_noted=unusable.is_noted,
        )
    # The state at which the reading resumed is left out: it can be large, and the load already has it.
    return TaskEnded(task.ticket, replace(intake, begun=None), went_on=intake.begun is not None)
