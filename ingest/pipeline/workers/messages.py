"""The messages between a load and its worker processes, over a pipe of their own.

Rows do not go through the pipe: a worker writes them to a file, as Arrow IPC streams one behind another, and
says where. Both ends are this program, of one version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pyarrow as pa

from ingest.errors import IngestError
from ingest.pipeline.reading.file_reader import FileResult, ReadJob, ReadSettings
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.sessions.row_batches import Row


class StartMessage(msgspec.Struct):
    """Tells a worker what it needs before any file.

    `schemas`: an Arrow schema a table; `rows`: how its files of rows are named.
    """

    settings: ReadSettings
    schemas: dict[str, pa.Schema]
    rows: str


class ReadTask(msgspec.Struct):
    """Tells a worker to read this file. `ticket` stands for the file until it has an id."""

    ticket: int
    job: ReadJob


class RowsTaken(msgspec.Struct):
    """Tells a worker that a file of rows of so many bytes was written to the store and is gone."""

    size: int


class TaskBegun(msgspec.Struct):
    """A worker says which file it is at; if it dies, this is why. Without a file it is ready."""

    ticket: int | None = None


class RowsPart(msgspec.Struct):
    """Rows of a file: so many of each table. They came from `bytes` of the log.

    `read` and `rejects` say how far the reading was then, see `ingest.pipeline.reading.file_reader.OnBytes`.
    """

    ticket: int
    rows: Counter[str]
    bytes: int = 0
    read: int = 0
    rejects: int = 0


class TaskEnded(msgspec.Struct):
    """A file that a worker is done with: what it read, or why it cannot be used.

    `counted`: it has got as far as to need a file id. `went_on`: from where the job said.
    """

    ticket: int
    intake: FileResult | None = None
    refused: str = ""
    may_pass: bool = False
    counted: bool = False
    went_on: bool = False

    def file_result(self, job: ReadJob, file_id: int) -> FileResult:
        """Return the result. Raises UnusableFileError, as reading it here would."""
        if self.intake is not None:
            return replace(self.intake, file_id=file_id, begun=job.begun if self.went_on else None)
        unusable = UnusableFileError(self.refused)
        unusable.may_pass = self.may_pass
        raise unusable


class Shipment(msgspec.Struct):
    """A worker sends the parts and ends of several files, in their order.

    `path`: the file with the rows of all parts, table behind table as `tables` names them. `unfit`: values
    that no column could hold, as rows of `rejects`; their `file_id` is a ticket.
    """

    parts: list[RowsPart | TaskEnded]
    path: Path | None
    size: int
    tables: list[str]
    unfit: list[Row]


class WorkerFailed(msgspec.Struct):
    """A worker says that the load cannot go on."""

    error: IngestError


ToWorker = ReadTask | RowsTaken
FromWorker = TaskBegun | Shipment | WorkerFailed


def write_tables(path: Path, tables: Mapping[str, pa.Table]) -> int:
    """Write the tables of a part. Returns the size in bytes. Raises OSError."""
    with pa.OSFile(str(path), "wb") as sink:
        for table in tables.values():
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
        size: int = sink.tell()
    return size


def read_tables(path: Path, names: list[str]) -> dict[str, pa.Table]:
    """Return the tables of a file, which stay where they are in it. Raises OSError."""
    tables = {}
    source = pa.memory_map(str(path))
    for name in names:
        with pa.ipc.open_stream(source) as stream:
            tables[name] = stream.read_all()
    return tables
