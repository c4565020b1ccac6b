"""Main program of a worker process: reads the files that the load sends, until the load ends.

The worker also ends when the load crashes or is killed.
"""

from __future__ import annotations

import gc
import shutil
import signal
import sys
from collections import Counter, deque
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from ingest.errors import IngestError, explain_os_errors
from ingest.formats import formats
from ingest.import_guard import leave_pandas_out
from ingest.pipeline.reading.file_reader import read_file
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.pipeline.workers.messages import (
    ReadTask,
    RowsPart,
    RowsTaken,
    Shipment,
    StartMessage,
    TaskBegun,
    TaskEnded,
    ToWorker,
    WorkerFailed,
    write_tables,
)
from ingest.sessions.row_batches import Row, RowBatch, TableRows

SHIPPED_ROWS = 10_000
SHIPPED_BYTES = 8 * 1024 * 1024  # of log read since the last shipment
AHEAD = 128 * 1024 * 1024  # bytes of rows on disk that the load has not taken in yet; then we wait for it


def main(descriptor: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the load's to answer
    leave_pandas_out()
    with Connection(descriptor) as connection:
        try:
            start: StartMessage = connection.recv()
        except (EOFError, OSError):
            return
        try:
            serve_load(connection, start)
        except (EOFError, OSError):  # the load is gone; what nobody will take in must not stay
            shutil.rmtree(Path(start.rows).parent, ignore_errors=True)


def serve_load(connection: Connection, start: StartMessage) -> None:
    """Read the files that the load asks for. Returns after an error that ends the load.

    Raises EOFError or OSError when the load has ended.
    """
    outbox = Outbox(connection, start)
    formats()  # imports them
    gc.freeze()  # what is imported by now stays; looking through it again and again is of no use
    connection.send(TaskBegun())
    while True:
        task = outbox.next_task()
        connection.send(TaskBegun(task.ticket))
        outbox.begin_task(task.ticket)
        try:
            outbox.end_task(_read_task(task, start, outbox))
        except IngestError as error:
            connection.send(WorkerFailed(error))
            return


def _read_task(task: ReadTask, start: StartMessage, outbox: Outbox) -> TaskEnded:
    try:
        intake = read_file(task.job, start.settings, outbox, outbox.end_part)
    except UnusableFileError as unusable:
        return TaskEnded(
            task.ticket,
            refused=str(unusable),
            may_pass=unusable.may_pass,
            is_companion=unusable.is_companion,
            foreign=unusable.foreign,
            is_noted=unusable.is_noted,
        )
    # The state that it went on from can be large, and the load has it.
    return TaskEnded(task.ticket, replace(intake, begun=None), went_on=intake.begun is not None)


class Outbox:
    """Collects the rows of one file after another and sends them to the load in shipments.

    Implements `RowSink` for the reading of a file, and receives the load's tasks.
    """

    def __init__(self, connection: Connection, start: StartMessage) -> None:
        self._connection = connection
        self._schemas = start.schemas
        self._rows = start.rows
        self._tasks: deque[ReadTask] = deque()
        self._batch = RowBatch()
        self._bytes = 0
        self._parts: list[RowsPart | TaskEnded] = []
        self._part = RowsPart(0, Counter())
        self._ticket = 0
        self._counted = self._part_shipped = False  # of the present file
        self._shipments = 0
        self._ahead = 0

    # --- what is to be read ------------------------------------------------------------------

    def next_task(self) -> ReadTask:
        """Wait for the next task and return it. Raises EOFError or OSError when the load has ended."""
        while not self._tasks:
            if not self._connection.poll():
                self._send_shipment()  # nothing is asked for at the moment: we may be waited for
            self._receive_messages()
        return self._tasks.popleft()

    def _receive_messages(self) -> None:
        message: ToWorker = self._connection.recv()
        if isinstance(message, RowsTaken):
            self._ahead -= message.size
        else:
            self._tasks.append(message)

    # --- the rows of a file, as `ingest.pipeline.reading.file_reader.Sink` has them
    # ------------------------------------

    def begin_task(self, ticket: int) -> None:
        self._ticket = ticket
        self._counted = self._part_shipped = False
        self._begin_part()

    def _begin_part(self) -> None:
        self._part = RowsPart(self._ticket, Counter())
        self._batch.begin_file()

    def begin_file(self) -> int:
        self._counted = True
        return self._ticket

    def add(self, table: str, rows: TableRows) -> None:
        self._batch.add(table, rows)
        self._part.rows[table] += len(rows)

    def flush_when_due(self, bytes_read: int) -> None:
        self._part.bytes = bytes_read

    def end_part(self, read: int, rejects: int) -> None:
        """End the part, and send a shipment when enough rows have been collected.

        Called by the reader after `flush_when_due`, with the stored bytes read and the rejects so far.
        """
        self._part.read, self._part.rejects = read, rejects
        self._parts.append(self._part)
        self._bytes += self._part.bytes
        self._begin_part()
        if self._batch.count >= SHIPPED_ROWS or self._bytes >= SHIPPED_BYTES:
            self._part_shipped = True
            self._send_shipment()

    def take_back_file(self) -> None:
        """Drop the file's rows that belong to no finished part; the load takes back the others."""
        self._batch.take_back_file()

    def end_task(self, ended: TaskEnded) -> None:
        ended.counted = self._counted
        self._parts.append(ended)
        if self._part_shipped:
            self._send_shipment()  # if we die at the next file, this one must not be lost by halves

    def _send_shipment(self) -> None:
        if not self._parts:
            return
        tables, unfit = {}, list[Row]()
        for name, columns in self._batch.drain().items():
            tables[name], rejects = columns.to_arrow(name, self._schemas[name])
            if name != "rejects":
                unfit += [row for row in rejects if row["file_id"] is not None]
        path, size = None, 0
        if tables:
            self._shipments += 1
            path = Path(f"{self._rows}{self._shipments}")
            with explain_os_errors(path.parents[1]):
                size = write_tables(path, tables)
        parts, self._parts, self._bytes = self._parts, [], 0
        self._connection.send(Shipment(parts, path, size, list(tables), unfit))
        self._ahead += size
        while self._ahead > AHEAD:
            self._receive_messages()


if __name__ == "__main__":
    main(int(sys.argv[1]))
