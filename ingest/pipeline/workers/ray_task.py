"""The task of a Ray worker. It reads one file and writes the rows where the load can read them.

Ray may run a task twice, even at the same time, and may kill a task at any moment.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa

from ingest.errors import DamagedFileError, IngestError, OptionError
from ingest.pipeline.reading.file_reader import ReadJob, ReadSettings
from ingest.pipeline.workers.messages import ReadTask, RowsPart, Shipment, TaskEnded
from ingest.pipeline.workers.row_collector import RowCollector
from ingest.pipeline.workers.shared_rows import SharedRows, find_end, name_rows
from ingest.sessions.row_batches import Row
from ingest.sources.log_content import compute_fingerprint
from ingest.sources.log_file import can_open
from ingest.version import CALLGAUGE_VERSION


class ClusterSettings(msgspec.Struct, frozen=True):
    """The settings that all tasks of a load share. `place` is where tasks write rows (`SharedRows`)."""

    settings: ReadSettings
    schemas: Mapping[str, pa.Schema]
    place: str


class TaskOutcome(msgspec.Struct, frozen=True):
    """The outcome of a task: the name of the rows, the machine that cannot open the file, or an error that
    ends the load.
    """

    name: str | None = None
    unseen_by: str | None = None
    error: IngestError | None = None


def run_task(version: str, settings: bytes, task: bytes) -> TaskOutcome:
    """Read the file of a pickled `ReadTask` and share its rows, unless the rows exist already.

    `settings` are pickled `ClusterSettings`. `version` is the load's version of Callgauge.
    """
    if version != CALLGAUGE_VERSION:
        return TaskOutcome(error=OptionError(
            f"the machine {socket.gethostname()} of the cluster has Callgauge {CALLGAUGE_VERSION} and this "
            f"machine has {version}; install the same version on both"
        ))  # fmt: skip
    try:
        return _share_rows(_unpickle(settings), pickle.loads(task))  # noqa: S301 - sent by the load
    except IngestError as error:
        return TaskOutcome(error=error)


# cached, because all tasks of a load have the same settings
_unpickle: Any = lru_cache(maxsize=1)(pickle.loads)


def _share_rows(common: ClusterSettings, task: ReadTask) -> TaskOutcome:
    job = task.job
    if not can_open(job.found.place):
        return TaskOutcome(unseen_by=socket.gethostname())
    fingerprint = ""
    with suppress(OSError, ValueError, DamagedFileError):  # reading the file will report the error
        fingerprint = compute_fingerprint(job.found)
    name = name_rows(job, common.settings, common.schemas, fingerprint)
    shared = SharedRows(common.place)
    if not _is_whole(shared.find(name), job, fingerprint):
        _read_and_share(common, task, shared, name)
    return TaskOutcome(name)


def _is_whole(shipments: list[Shipment] | None, job: ReadJob, fingerprint: str) -> bool:
    """Return True when the shared rows cover the whole content and all files now next to the file."""
    end = find_end(shipments) if shipments else None
    if end is None or end.intake is None or end.intake.fingerprint != fingerprint:
        return False
    return not any(can_open(job.found.place.sibling(name)) for name in end.intake.lacks)


def _read_and_share(common: ClusterSettings, task: ReadTask, shared: SharedRows, name: str) -> None:
    shipments: list[Shipment] = []

    def ship(parts: list[RowsPart | TaskEnded], tables: dict[str, pa.Table], unfit: list[Row]) -> None:
        file, size = shared.write_tables(name, len(shipments), tables) if tables else (None, 0)
        shipments.append(Shipment(parts, file, size, list(tables), unfit))

    collector = RowCollector(common.schemas, ship)
    # The ticket is always 0, because another load, with other tickets, may use these rows.
    collector.read_task(ReadTask(0, task.job), common.settings)
    collector.ship()
    shared.complete(name, shipments)
