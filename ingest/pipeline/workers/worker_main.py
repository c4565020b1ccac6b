"""Main program of a worker process. It reads the files that the load sends, until the load ends.

The worker also ends when the load crashes or is killed.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import traceback
from collections import deque
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from ingest.errors import IngestError, explain_os_errors
from ingest.formats import formats
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
from ingest.pipeline.workers.row_collector import RowCollector
from ingest.processes import leave_pandas_out
from ingest.sessions.row_batches import Row
from ingest.sources.archives import tar_archive

# bytes of rows on disk that the load has not read; if there are more, the worker waits
AHEAD = 128 * 1024 * 1024


def main(descriptor: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the load handles Ctrl-C
    leave_pandas_out()
    with Connection(descriptor) as connection:
        try:
            start: StartMessage = connection.recv()
        except (EOFError, OSError):
            return
        try:
            serve_load(connection, start)
        except (EOFError, OSError):  # the load has ended; remove the rows, which nobody will read
            shutil.rmtree(Path(start.rows).parent, ignore_errors=True)


def run_forked(descriptor: int) -> NoReturn:
    """Do the work of `main` in a newly forked process, then end the process."""
    code = 1
    try:
        os.setpgid(0, 0)  # makes a new process group, because only the load handles Ctrl-C of a terminal
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _leave_open(descriptor)
        main(descriptor)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _leave_open(descriptor: int) -> None:
    """Close all inherited files except this file and the standard streams. Make standard input empty.

    Otherwise a worker would keep the lock of a killed load and keep the other workers alive.
    """
    tar_archive.close_kept_archive()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))


def serve_load(connection: Connection, start: StartMessage) -> None:
    """Read the files that the load sends. Return after an error that ends the load.

    Raises EOFError or OSError when the load has ended.
    """
    outbox = Outbox(connection, start)
    formats()
    gc.freeze()  # imported modules stay in memory, so the garbage collector need not scan them again
    connection.send(TaskBegun())
    while True:
        task = outbox.next_task()
        connection.send(TaskBegun(task.ticket))
        try:
            outbox.collector.read_task(task, start.settings)
        except IngestError as error:
            connection.send(WorkerFailed(error))
            return


class Outbox:
    """Sends the rows of `collector` to the load, and receives tasks from the load."""

    def __init__(self, connection: Connection, start: StartMessage) -> None:
        self._connection = connection
        self._rows = start.rows
        self._tasks: deque[ReadTask] = deque()
        self.collector = RowCollector(start.schemas, self._send_shipment)
        self._shipments = 0
        self._ahead = 0

    def next_task(self) -> ReadTask:
        """Wait for the next task and return the task. Raises EOFError or OSError when the load has ended."""
        while not self._tasks:
            if not self._connection.poll():
                self.collector.ship()  # no task is left, so the load may be waiting for these rows
            self._receive_message()
        return self._tasks.popleft()

    def _receive_message(self) -> None:
        message: ToWorker = self._connection.recv()
        if isinstance(message, RowsTaken):
            self._ahead -= message.size
        else:
            self._tasks.append(message)

    def _send_shipment(
        self, parts: list[RowsPart | TaskEnded], tables: dict[str, pa.Table], unfit: list[Row]
    ) -> None:
        file, size = None, 0
        if tables:
            self._shipments += 1
            path = Path(f"{self._rows}{self._shipments}")
            with explain_os_errors(path.parents[1]):
                file, size = str(path), write_tables(path, tables)
        self._connection.send(Shipment(parts, file, size, list(tables), unfit))
        self._ahead += size
        while self._ahead > AHEAD:
            self._receive_message()


if __name__ == "__main__":
    main(int(sys.argv[1]))
