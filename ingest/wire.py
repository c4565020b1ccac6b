"""What a load and its worker processes say to each other, over a pipe of their own; knows neither end.

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

from ingest.batches import Row
from ingest.errors import IngestError
from ingest.intake import Intake, Job, Settings
from ingest.reading import Unusable


class Start(msgspec.Struct):
    """To a worker, first of all. `schemas`: an Arrow schema a table; `rows`: how its files of rows begin."""

    settings: Settings
    schemas: dict[str, pa.Schema]
    rows: str


class Task(msgspec.Struct):
    """To a worker: read this. `ticket` stands for the file until it has an id."""

    ticket: int
    job: Job


class Taken(msgspec.Struct):
    """To a worker: a file of rows of so many bytes has been taken in and is gone."""

    size: int


class Begun(msgspec.Struct):
    """From a worker: it is at this file now. If it dies, this is why. First of all, at none: it is ready."""

    ticket: int | None = None


class Part(msgspec.Struct):
    """Rows of a file: so many of each table. They came from `bytes` of the log.

    `read` and `rejects` say how far the reading was then, see `ingest.intake.OnBytes`.
    """

    ticket: int
    rows: Counter[str]
    bytes: int = 0
    read: int = 0
    rejects: int = 0


class Ended(msgspec.Struct):
    """A file that a worker is through with: what it read, or why it cannot be used.

    `counted`: it has got as far as to need a file id. `went_on`: from where the job said.
    """

    ticket: int
    intake: Intake | None = None
    refused: str = ""
    may_pass: bool = False
    counted: bool = False
    went_on: bool = False

    def outcome(self, job: Job, file_id: int) -> Intake:
        """Raises Unusable, as reading it here would."""
        if self.intake is not None:
            return replace(self.intake, file_id=file_id, begun=job.begun if self.went_on else None)
        unusable = Unusable(self.refused)
        unusable.may_pass = self.may_pass
        raise unusable


class Shipment(msgspec.Struct):
    """From a worker: the parts and ends of several files, in their order.

    `path`: the file with the rows of all parts, table behind table as `tables` names them. `unfit`: values
    that no column could hold, as rows of `rejects`; their `file_id` is a ticket.
    """

    parts: list[Part | Ended]
    path: Path | None
    size: int
    tables: list[str]
    unfit: list[Row]


class Failed(msgspec.Struct):
    """From a worker: the load cannot go on."""

    error: IngestError


ToWorker = Task | Taken
FromWorker = Begun | Shipment | Failed


def write_tables(path: Path, tables: Mapping[str, pa.Table]) -> int:
    """Returns the size in bytes. Raises OSError."""
    with pa.OSFile(str(path), "wb") as sink:
        for table in tables.values():
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
        size: int = sink.tell()
    return size


def read_tables(path: Path, names: list[str]) -> dict[str, pa.Table]:
    """The tables of a file, which stay where they are in it. Raises OSError."""
    tables = {}
    source = pa.memory_map(str(path))
    for name in names:
        with pa.ipc.open_stream(source) as stream:
            tables[name] = stream.read_all()
    return tables
