"""Messages between a load and its worker processes. Each worker has a pipe to the load.

Rows are not sent through the pipe. A worker writes rows to a file as Arrow IPC streams and sends the file's
path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from ingest.errors import IngestError
from ingest.load_report import ForeignKind
from ingest.pipeline.reading.file_reader import FileResult, ReadJob, ReadSettings
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.sessions.row_batches import Row


class StartMessage(msgspec.Struct):
    """The first message to a worker, with everything that the worker needs before the first file.

    `schemas` are the Arrow schemas by table. `rows` is the beginning of the paths to which the worker writes
    rows.
    """

    settings: ReadSettings
    schemas: dict[str, pa.Schema]
    rows: str


class ReadTask(msgspec.Struct):
    """Message to a worker: read this file.

    `ticket` is the file's position in the load. It identifies the file until the file has an id.
    """

    ticket: int
    job: ReadJob


class RowsTaken(msgspec.Struct):
    """Message to a worker: the load has read and deleted a file of rows with `size` bytes."""

    size: int


class TaskBegun(msgspec.Struct):
    """Message from a worker that begins to read a file.

    `ticket` is None when the worker is ready for its first file. If the worker dies, this message shows which
    file the worker was reading.
    """

    ticket: int | None = None


class RowsPart(msgspec.Struct):
    """Some of the rows of a file.

    `rows` counts the rows by table. The rows come from `bytes` bytes of the log. `read` and `rejects` count
    the stored bytes read and the rejects of the file so far.
    """

    ticket: int
    rows: Counter[str]
    bytes: int = 0
    read: int = 0
    rejects: int = 0


class TaskEnded(msgspec.Struct):
    """Message from a worker that has finished a file.

    `intake` is the result of the reading. If `intake` is None, the file is unusable: `refused` is the reason,
    and `may_pass`, `is_companion`, `foreign` and `is_noted` come from the error. `counted` is True when the
    reading needed a file id. `went_on` is True when the reading resumed at the job's checkpoint.
    """

    ticket: int
    intake: FileResult | None = None
    refused: str = ""
    may_pass: bool = False
    is_companion: bool = False
    foreign: ForeignKind | None = None
    is_noted: bool = True
    counted: bool = False
    went_on: bool = False

    def file_result(self, job: ReadJob, file_id: int) -> FileResult:
        """Return the result with the file id `file_id`. Raises UnusableFileError when there is no result."""
        if self.intake is not None:
            return replace(self.intake, file_id=file_id, begun=job.begun if self.went_on else None)
        unusable = UnusableFileError(self.refused)
        unusable.may_pass, unusable.is_companion = self.may_pass, self.is_companion
        unusable.foreign = self.foreign
        unusable.is_noted = self.is_noted
        raise unusable


class Shipment(msgspec.Struct):
    """Message from a worker with parts and ends of several files, in order.

    `file` is the file with the rows of all parts, one table after another in the order of `tables`. It is
    None when there are no rows. `size` is the size of this file in bytes. `unfit` are rejects for values that
    do not fit their column. Their `file_id` is a ticket.
    """

    parts: list[RowsPart | TaskEnded]
    file: str | None
    size: int
    tables: list[str]
    unfit: list[Row]


class WorkerFailed(msgspec.Struct):
    """Message from a worker with an error that ends the whole load."""

    error: IngestError


ToWorker = ReadTask | RowsTaken
FromWorker = TaskBegun | Shipment | WorkerFailed


def write_tables(path: Path, tables: Mapping[str, pa.Table]) -> int:
    """Write tables to a file as Arrow IPC streams. Return the size of the file in bytes. Raises OSError."""
    with pa.OSFile(str(path), "wb") as sink:
        return write_tables_to(sink, tables)


def write_tables_to(sink: pa.NativeFile, tables: Mapping[str, pa.Table]) -> int:
    """Write tables to a stream, one Arrow IPC stream after another. Return the number of written bytes."""
    for table in tables.values():
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    size: int = sink.tell()
    return size


def read_tables(source: pa.NativeFile, names: list[str]) -> dict[str, pa.Table]:
    """Return the tables that `write_tables_to` wrote, under these names. Raises OSError.

    The tables use the memory of the source, so nothing is copied.
    """
    tables = {}
    for name in names:
        with pa.ipc.open_stream(source) as stream:
            tables[name] = stream.read_all()
    return tables
