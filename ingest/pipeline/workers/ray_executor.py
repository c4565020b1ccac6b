"""Executor with a Ray cluster. A task reads one log and shares its rows. Tasks may end in any order.

This process takes the rows in the load's order and writes the store. Shared rows stay until the load is
published. So after a kill, the next load finds and uses these rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ingest.errors import InputError
from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings
from ingest.pipeline.workers.executor import InProcessExecutor, JobOf, Likely, TaskQueue
from ingest.pipeline.workers.messages import ReadTask
from ingest.pipeline.workers.ray_cluster import RayCluster, TaskDiedError
from ingest.pipeline.workers.ray_task import ClusterSettings
from ingest.pipeline.workers.results import FileIntake, ReceivedShipment
from ingest.pipeline.workers.shared_rows import SharedRows
from ingest.sources.log_file import LogFile, can_open
from ingest.store.generations import StoreFolder
from ingest.store.writer import FactWriter

_PATIENCE = 0.2  # seconds without a message from the cluster after which the caller checks whether to stop
_TASKS_PER_CPU = 4  # unfinished tasks per processor, enough to keep all machines busy
_FEWEST_TASKS = 64  # the smallest limit of unfinished tasks; a small cluster may grow when tasks wait


class SubmittedTask(msgspec.Struct):
    """A task of the cluster. `is_done` is True after the task has ended."""

    task: ReadTask
    reference: Any
    is_done: bool = False


class RayExecutor:
    """Reads logs on a Ray cluster. Implements `LogExecutor`."""

    def __init__(
        self,
        connect: Callable[[], RayCluster],
        shared: str | None,
        settings: ReadSettings,
        writer: FactWriter,
        folder: StoreFolder,
    ) -> None:
        """Make an executor that calls `connect` as soon as there is something to read.

        Tasks write rows to `shared`. If `shared` is None, tasks write to the store's folder. Raises
        OptionError.
        """
        self._connect = connect
        self._rows = SharedRows(shared or str(folder.shared_rows_path))
        self._settings = settings
        self._writer = writer
        self._alone = InProcessExecutor(settings, writer)
        self._tasks = TaskQueue()
        self._cluster: RayCluster | None = None
        self._ahead: dict[int, SubmittedTask] = {}
        self._unwanted: list[SubmittedTask] = []  # tasks of logs that the load did not need in the end
        self._names: set[str] = set()  # names of the rows that tasks of this load wrote
        self._position = 0

    @property
    def count_ahead(self) -> int:
        return len(self._ahead)

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        self._tasks.expect(files, likely, job_of)

    def reach(self, position: int) -> None:
        self._tasks.reach(position)
        self._position = position
        self._unwanted += [self._ahead.pop(ticket) for ticket in list(self._ahead) if ticket < position]

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        cluster = self._submit_tasks()
        ahead = self._ahead.get(self._position)
        if cluster is None or ahead is None or ahead.task.job != job:
            return self._alone.read_file(job, on_bytes)
        try:
            return self._take_rows(cluster, ahead, on_bytes)
        finally:
            del self._ahead[self._position]

    def _submit_tasks(self) -> RayCluster | None:
        """Record which tasks have ended. Submit as many tasks as the cluster can run, and return the cluster.

        Return None when nothing had to be submitted so far.
        """
        if self._cluster is None and self._tasks.peek() is not None:
            self._cluster = self._connect()
            schemas = dict(self._writer.builder.schemas)
            self._cluster.share(ClusterSettings(self._settings, schemas, self._rows.place))
        if (cluster := self._cluster) is None:
            return None
        running = {
            submission.reference: submission for submission in self._ahead.values() if not submission.is_done
        }
        for reference in cluster.find_done(list(running), 0.0):
            running.pop(reference).is_done = True
        for _ in range(max(_TASKS_PER_CPU * cluster.cpus, _FEWEST_TASKS) - len(running)):
            if (task := self._tasks.peek()) is None:
                break
            self._ahead[task.ticket] = SubmittedTask(task, cluster.submit(pickle.dumps(task)))
            self._tasks.pop()
        return cluster

    def _take_rows(self, cluster: RayCluster, ahead: SubmittedTask, on_bytes: OnBytes) -> FileResult:
        while not cluster.find_done([ahead.reference], _PATIENCE):
            on_bytes(0, 0)
            self._submit_tasks()
        intake = FileIntake(ahead.task.job, self._writer, on_bytes)
        try:
            outcome = cluster.take_outcome(ahead.reference)
        except TaskDiedError as died:
            intake.give_up(f"the task that read it died each time ({died})")
        if outcome.error is not None:
            raise outcome.error
        log_file = ahead.task.job.found
        if outcome.unseen_by is not None and can_open(log_file.place):
            raise InputError(
                f"the machine {outcome.unseen_by} of the cluster cannot open {log_file.name}: "
                "put the logs into a folder that all machines have under the same path, or into an object "
                "store; nothing was published"
            )
        shipments = self._rows.find(outcome.name) if outcome.name is not None else None
        if outcome.name is None or shipments is None:  # the file no longer exists, or its rows were removed
            return self._alone.read_file(ahead.task.job, on_bytes)
        self._names.add(outcome.name)
        for shipment in shipments:
            received = ReceivedShipment(shipment, self._rows.open_piece)
            while received.ticket is not None:
                if (result := intake.take(received.take_part())) is not None:
                    return result
        raise AssertionError("rows are shared with the end of their file")

    def close(self) -> None:
        if self._cluster is not None:
            self._names |= self._cluster.names_of([submission.reference for submission in self._unwanted])
            self._cluster.close()
        self._tasks.clear()
        self._ahead.clear()
        self._alone.close()

    def drop_rows(self) -> None:
        for name in self._names:
            self._rows.remove(name)
