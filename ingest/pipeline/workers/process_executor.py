"""Executor with worker processes, which read logs in advance.

Workers read the next logs while this process writes earlier logs. This process decides and writes in the
order of the logs, so the store is the same as with a single process. When a worker dies, only the log that
the worker was reading is rejected.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ingest.errors import StoreError
from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings
from ingest.pipeline.workers.executor import InProcessExecutor, JobOf, Likely, TaskQueue
from ingest.pipeline.workers.messages import ReadTask, StartMessage, TaskEnded
from ingest.pipeline.workers.results import FileIntake, ReceivedPart
from ingest.pipeline.workers.worker_process import WorkerDied, WorkerProcess, can_fork
from ingest.sources.archive_members import ArchiveMember
from ingest.sources.log_file import LogFile
from ingest.store.generations import StoreFolder
from ingest.store.writer import FactWriter

# If processes cannot be forked, a load of fewer bytes is faster without workers. Measured with two workers on
# two cores: 151 MB took 10 % longer, 1 GB took 20 % less time.
PAYS = 256 * 1024 * 1024
FORKING_PAYS = 32 * 1024 * 1024  # the same minimum in bytes where workers can be forked
PATIENCE = 0.2  # seconds without a message from a worker after which the caller checks whether to stop
_VAIN_STARTS = 2  # number of workers that may die before they begin; then this process reads all logs itself
_UNPACKED = 8  # estimated bytes of content per compressed byte


class ReadAhead(msgspec.Struct):
    """A log that is read before it is needed.

    `worker` is the process that reads the log. It is None if this process will read the log, or if the worker
    died (`died` says how).
    """

    task: ReadTask
    worker: WorkerProcess | None
    died: str = ""


class ProcessExecutor:
    """Reads logs with `size` worker processes.

    If there is little to read, workers are started only if `is_requested` is True. Implements `LogExecutor`.
    """

    def __init__(
        self, size: int, is_requested: bool, settings: ReadSettings, writer: FactWriter, folder: StoreFolder
    ) -> None:
        self._size = size
        self._is_requested = is_requested
        self._settings = settings
        self._writer = writer
        self._folder = folder
        self._alone = InProcessExecutor(settings, writer)
        self._rows: Path | None = None
        self._workers: list[WorkerProcess] = []
        self._started = self._vain_starts = 0
        self._tasks = TaskQueue()
        self._ahead: dict[int, ReadAhead] = {}  # logs read ahead, by ticket, in order
        self._position = 0
        # The worker for each compressed archive. One worker reads the archive, because it can only be read
        # forward.
        self._on_tape: dict[str, WorkerProcess] = {}

    @property
    def count_ahead(self) -> int:
        return len(self._ahead)

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        self._tasks.expect(files, likely, job_of)
        pays = FORKING_PAYS if can_fork() else PAYS
        logs, size = 0, 0
        for log_file in files:
            if likely(log_file):
                logs, size = logs + 1, size + content_size(log_file)
                if logs >= self._size and size >= pays:
                    break
        if size >= pays or (self._is_requested and logs > 1):
            self._rows = self._folder.make_rows_folder()
            started = [self._start_worker() for _ in range(min(self._size, max(logs, 1)))]
            self._writer.builder.leave_memory(to_workers=True)
            for worker in filter(None, started):
                self._send_start(worker)

    def reach(self, position: int) -> None:
        self._position = position
        self._tasks.reach(position)
        for ticket in [earlier for earlier in self._ahead if earlier < position]:
            del self._ahead[ticket]

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        self._give_tasks()
        ahead = self._ahead.get(self._position)
        if ahead is None:
            return self._alone.read_file(job, on_bytes)
        try:
            if ahead.task.job == job:
                return self._take_parts(ahead, on_bytes)
        finally:
            del self._ahead[ahead.task.ticket]
        return self._alone.read_file(job, on_bytes)

    def _take_parts(self, ahead: ReadAhead, on_bytes: OnBytes) -> FileResult:
        intake = FileIntake(ahead.task.job, self._writer, on_bytes)
        while ahead.worker is not None:
            if (result := intake.take(self._receive_part(ahead, ahead.worker))) is not None:
                return result
        if ahead.died:
            intake.give_up(f"the process that read it died ({ahead.died})")
        return self._alone.read_file(ahead.task.job, on_bytes)

    def _receive_part(self, ahead: ReadAhead, worker: WorkerProcess) -> ReceivedPart | TaskEnded | None:
        """Return the next part of a file, or the message that the file ended.

        Return None when nothing arrives within `PATIENCE` seconds.
        """
        self._give_tasks()
        self._skip_unwanted(worker)
        if worker.parcels:
            return worker.parcels[0].take_part()
        if ahead.worker is worker:
            self._receive_from(worker, PATIENCE)
        return None

    def close(self) -> None:
        for worker in self._workers:
            worker.end_process()
        self._workers = []
        self._tasks.clear()
        if self._rows is not None:
            shutil.rmtree(self._rows, ignore_errors=True)
            with suppress(StoreError):  # the error that damaged the store file was already reported
                self._writer.builder.leave_memory(to_workers=False)
        self._alone.close()

    def drop_rows(self) -> None: ...

    # --- tasks of the workers ------------------------------------------------------------------

    def _give_tasks(self) -> None:
        for worker in self._workers.copy():
            while self._receive_from(worker):
                pass
            self._skip_unwanted(worker)
        while ready := [worker for worker in self._workers if worker.is_ready]:
            if (task := self._tasks.peek()) is None:
                return
            worker = self._choose_worker(task.job.found, ready)
            if not worker.give_task(task):
                return
            self._ahead[task.ticket] = ReadAhead(task, worker)
            self._tasks.pop()

    def _choose_worker(self, log_file: LogFile, ready: Sequence[WorkerProcess]) -> WorkerProcess:
        least = min(ready, key=lambda worker: len(worker.waiting_tickets))
        if log_file.archive is None or not (
            isinstance(log_file.place, ArchiveMember) and log_file.place.needs_unpacking
        ):
            return least
        if self._on_tape.get(log_file.archive) not in self._workers:
            self._on_tape[log_file.archive] = least
        return self._on_tape[log_file.archive]

    def _skip_unwanted(self, worker: WorkerProcess) -> None:
        while worker.parcels and (ticket := worker.parcels[0].ticket) not in self._ahead:
            if ticket is None:
                worker.parcels.popleft()
            else:
                worker.parcels[0].skip_part()

    # --- the worker processes ------------------------------------------------------------------

    def _start_worker(self) -> WorkerProcess | None:
        """Start one more worker and return it, or None if this fails. The caller sends the start message."""
        if self._vain_starts >= _VAIN_STARTS:
            return None
        try:
            worker = WorkerProcess()
        except OSError:
            self._vain_starts += 1
            return None
        self._workers.append(worker)
        return worker

    def _send_start(self, worker: WorkerProcess) -> None:
        self._started += 1
        rows = f"{self._rows}/{self._started}-"
        worker.send_start(StartMessage(self._settings, dict(self._writer.builder.schemas), rows))

    def _receive_from(self, worker: WorkerProcess, patience: float = 0.0) -> bool:
        """Receive a message of a worker. Return False when there is no message or the worker died.

        Raises IngestError when the load cannot continue.
        """
        try:
            return worker.receive(patience)
        except WorkerDied:
            self._drop_dead_worker(worker)
            return False

    def _drop_dead_worker(self, worker: WorkerProcess) -> None:
        """Remove a worker that died. Give the files that it has not begun to a new worker, if possible.

        The file that the dead worker was reading is marked as failed (`died`).
        """
        self._workers.remove(worker)
        why = worker.end_process(patience=1.0)
        if not worker.is_ready:
            self._vain_starts += 1
        another = self._start_worker()
        if another is not None:
            self._send_start(another)
        for ticket in worker.waiting_tickets:
            if (ahead := self._ahead.get(ticket)) is None:
                continue
            ahead.worker = None
            if ticket == worker.current_ticket:
                ahead.died = why
            elif another is not None and another.give_task(ahead.task):
                ahead.worker = another


def content_size(log_file: LogFile) -> int:
    """Return the size of a log's content in bytes. The size of a compressed log is estimated."""
    return log_file.content_size if log_file.content_size is not None else _UNPACKED * log_file.seen.size
