"""A process that reads logs for a load: files to read in, their rows out, over the pipe it was started with.

It ends when the load does, however that ends. Knows no store.
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

from ingest.batches import Batch, Row, Rows
from ingest.errors import IngestError, explaining
from ingest.formats import formats
from ingest.intake import take_in
from ingest.reading import Unusable
from ingest.wire import Begun, Ended, Failed, Part, Shipment, Start, Taken, Task, ToWorker, write_tables
from ingest.without_pandas import leave_pandas_out

SHIPPED_ROWS = 10_000
SHIPPED_BYTES = 8 * 1024 * 1024  # of log read since the last shipment
AHEAD = 128 * 1024 * 1024  # bytes of rows on disk that the load has not taken in yet; then we wait for it


def main(descriptor: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the load's to answer
    leave_pandas_out()
    with Connection(descriptor) as connection:
        try:
            start: Start = connection.recv()
        except (EOFError, OSError):
            return
        try:
            work(connection, start)
        except (EOFError, OSError):  # the load is gone; what nobody will take in must not stay
            shutil.rmtree(Path(start.rows).parent, ignore_errors=True)


def work(connection: Connection, start: Start) -> None:
    """Read what is asked for until the load is gone. Raises EOFError, OSError then."""
    outbox = Outbox(connection, start)
    formats()  # imports them
    gc.freeze()  # what is imported by now stays; looking through it again and again is of no use
    connection.send(Begun())
    while True:
        task = outbox.next_task()
        connection.send(Begun(task.ticket))
        outbox.begin_task(task.ticket)
        try:
            outbox.end_task(_read(task, start, outbox))
        except IngestError as error:
            connection.send(Failed(error))
            return


def _read(task: Task, start: Start, outbox: Outbox) -> Ended:
    try:
        intake = take_in(task.job, start.settings, outbox, outbox.came)
    except Unusable as unusable:
        return Ended(task.ticket, refused=str(unusable), may_pass=unusable.may_pass)
    # The state that it went on from can be large, and the load has it.
    return Ended(task.ticket, replace(intake, begun=None), went_on=intake.begun is not None)


class Outbox:
    """The rows of one file after another in, shipments to the load out."""

    def __init__(self, connection: Connection, start: Start) -> None:
        self._connection = connection
        self._schemas = start.schemas
        self._rows = start.rows
        self._tasks: deque[Task] = deque()
        self._batch = Batch()
        self._bytes = 0
        self._parts: list[Part | Ended] = []
        self._part = Part(0, Counter())
        self._ticket = 0
        self._counted = self._part_shipped = False  # of the present file
        self._shipments = 0
        self._ahead = 0

    # --- what is to be read ------------------------------------------------------------------

    def next_task(self) -> Task:
        """Raises EOFError when there is none any more, OSError."""
        while not self._tasks:
            if not self._connection.poll():
                self._ship()  # nothing is asked for at the moment: we may be waited for
            self._hear()
        return self._tasks.popleft()

    def _hear(self) -> None:
        message: ToWorker = self._connection.recv()
        if isinstance(message, Taken):
            self._ahead -= message.size
        else:
            self._tasks.append(message)

    # --- the rows of a file, as `ingest.intake.Sink` has them ------------------------------------

    def begin_task(self, ticket: int) -> None:
        self._ticket = ticket
        self._counted = self._part_shipped = False
        self._begin_part()

    def _begin_part(self) -> None:
        self._part = Part(self._ticket, Counter())
        self._batch.begin_file()

    def begin_file(self) -> int:
        self._counted = True
        return self._ticket

    def add(self, table: str, rows: Rows) -> None:
        self._batch.add(table, rows)
        self._part.rows[table] += len(rows)

    def after(self, bytes_read: int) -> None:
        self._part.bytes = bytes_read

    def came(self, read: int, rejects: int) -> None:
        """Told after `after`: the part is whole, and may go."""
        self._part.read, self._part.rejects = read, rejects
        self._parts.append(self._part)
        self._bytes += self._part.bytes
        self._begin_part()
        if self._batch.count >= SHIPPED_ROWS or self._bytes >= SHIPPED_BYTES:
            self._part_shipped = True
            self._ship()

    def take_back_file(self) -> None:
        """Drop what belongs to no part yet; the load takes back the rest."""
        self._batch.take_back_file()

    def end_task(self, ended: Ended) -> None:
        ended.counted = self._counted
        self._parts.append(ended)
        if self._part_shipped:
            self._ship()  # if we die at the next file, this one must not be lost by halves

    def _ship(self) -> None:
        if not self._parts:
            return
        tables, unfit = {}, list[Row]()
        for name, columns in self._batch.empty().items():
            tables[name], rejects = columns.to_arrow(name, self._schemas[name])
            if name != "rejects":
                unfit += [row for row in rejects if row["file_id"] is not None]
        path, size = None, 0
        if tables:
            self._shipments += 1
            path = Path(f"{self._rows}{self._shipments}")
            with explaining(path.parents[1]):
                size = write_tables(path, tables)
        parts, self._parts, self._bytes = self._parts, [], 0
        self._connection.send(Shipment(parts, path, size, list(tables), unfit))
        self._ahead += size
        while self._ahead > AHEAD:
            self._hear()


if __name__ == "__main__":
    main(int(sys.argv[1]))
