"""Worker pool: child processes read files ahead of the writer; their rows arrive in the load's order.

Workers read the next logs while this process writes earlier ones. All decisions on a log are made in its
turn, and its rows are written then, so that the store is the same as with a single process. Until the workers
are ready, this process reads. When a worker dies, only the log that it was reading is refused.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import StoreError
from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.pipeline.workers.messages import ReadTask, StartMessage, TaskEnded
from ingest.pipeline.workers.readers import JobOf, Likely, LogReader, SingleProcessReader
from ingest.pipeline.workers.results import ReceivedPart
from ingest.pipeline.workers.worker_process import WorkerDied, WorkerProcess
from ingest.sources.archive_members import ArchiveMember
from ingest.sources.log_file import LogFile
from ingest.store.generations import StoreFolder
from ingest.store.writer import FactWriter

MOST = 4  # workers, unless somebody asks for more: one process writes what they read
# Bytes to read from which on starting workers takes less time than it saves: on two cores 151 MB took a tenth
# longer with two of them, 1 GB a fifth less.
PAYS = 256 * 1024 * 1024
PATIENCE = 0.2  # seconds without a word from a worker, after which the caller is heard
_VAIN_STARTS = 2  # workers that die before they begin; after so many, this process reads on alone
_UNPACKED = 8  # bytes of content in a packed byte, for guessing


def make_readers(
    workers: int | None, settings: ReadSettings, writer: FactWriter, folder: StoreFolder
) -> LogReader:
    """Return the reader of a load's logs: a pool of `workers` processes, or a reader in this process.

    `workers` None = as many as there are cores, at most `MOST`; they are started only if the load is large.
    """
    if workers is None:
        size, pays = min(_count_cores(), MOST), PAYS
    else:
        size, pays = workers, 0
    return (
        WorkerPool(size, pays, settings, writer, folder)
        if size > 1
        else SingleProcessReader(settings, writer)
    )


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class ReadAhead:
    """A log that is read before its turn.

    `worker` is the process that reads it; None = this process will read it, or (`died` says how) its worker
    died.
    """

    position: int
    task: ReadTask
    worker: WorkerProcess | None
    died: str = ""


class WorkerPool:
    """Reads logs with `size` worker processes, started when there are at least `pays` bytes to read.

    Implements `LogReader`.
    """

    def __init__(
        self, size: int, pays: int, settings: ReadSettings, writer: FactWriter, folder: StoreFolder
    ) -> None:
        self._size = size
        self._pays = pays
        self._settings = settings
        self._writer = writer
        self._folder = folder
        self._alone = SingleProcessReader(settings, writer)
        self._rows: Path | None = None
        self._workers: list[WorkerProcess] = []
        self._started = self._vain_starts = 0
        self._files: Sequence[LogFile] = ()
        self._next = 0  # the first file that no worker was asked for, and that may have its turn yet
        self._task: ReadTask | None = None  # what that comes to, once somebody looked
        self._tickets = 0
        self._ahead: dict[int, ReadAhead] = {}  # by ticket, in the order of their turns
        self._position = 0
        self._on_tape: dict[str, WorkerProcess] = {}  # a packed archive can only be read forward, by one

    @property
    def count_ahead(self) -> int:
        return len(self._ahead)

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        self._files, self._likely, self._job_of = files, likely, job_of
        logs, size = 0, 0
        for found in files:
            if likely(found):
                logs, size = logs + 1, size + content_size(found)
                if logs >= self._size and size >= self._pays:
                    break
        if (logs > 1 and size >= self._pays) or size >= PAYS:
            self._rows = self._folder.make_rows_folder()
            self._writer.builder.leave_memory(to_workers=True)
            for _ in range(min(self._size, max(logs, 1))):
                self._start_worker()

    def reach(self, position: int) -> None:
        self._position = position
        if self._next < position:
            self._next, self._task = position, None
        for ticket in [one for one, ahead in self._ahead.items() if ahead.position < position]:
            del self._ahead[ticket]

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        self._give_tasks()
        ahead = next((one for one in self._ahead.values() if one.position == self._position), None)
        if ahead is None:
            return self._alone.read_file(job, on_bytes)
        try:
            if ahead.task.job == job:
                return self._take_parts(ahead, on_bytes)
        finally:
            del self._ahead[ahead.task.ticket]
        return self._alone.read_file(job, on_bytes)

    def _take_parts(self, ahead: ReadAhead, on_bytes: OnBytes) -> FileResult:
        file_id: int | None = None
        came = (0, 0)
        while ahead.worker is not None:
            part = self._receive_part(ahead, ahead.worker)
            if file_id is None and (isinstance(part, ReceivedPart) or (part and part.counted)):
                file_id = self._writer.begin_file(others=True)
            if isinstance(part, TaskEnded):
                if part.intake is None and file_id is not None:
                    self._writer.take_back_file()
                return part.file_result(ahead.task.job, file_id or 0)
            if part is not None and file_id is not None:
                self._writer.add_tables(*part.for_file(file_id))
                self._writer.flush_when_due(part.bytes)
                came = part.read_and_rejected
            on_bytes(*came)
        if not ahead.died:
            return self._alone.read_file(ahead.task.job, on_bytes)
        if file_id is not None:
            self._writer.take_back_file()
        unusable = UnusableFileError(f"cannot be read: the process that read it died ({ahead.died})")
        unusable.may_pass = True
        raise unusable

    def _receive_part(self, ahead: ReadAhead, worker: WorkerProcess) -> ReceivedPart | TaskEnded | None:
        """Return the next part or the end of a file; None when none has arrived within `PATIENCE` seconds."""
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
        self._workers, self._files = [], ()
        if self._rows is not None:
            shutil.rmtree(self._rows, ignore_errors=True)
            with suppress(StoreError):  # what broke the building file has been said
                self._writer.builder.leave_memory(to_workers=False)
        self._alone.close()

    # --- what workers are to read --------------------------------------------------------------

    def _give_tasks(self) -> None:
        """Receive the messages of all workers, and give the workers as many tasks as they accept."""
        for worker in self._workers.copy():
            while self._receive_from(worker):
                pass
            self._skip_unwanted(worker)
        while ready := [worker for worker in self._workers if worker.is_ready]:
            if (task := self.next_task()) is None:
                return
            worker = self._choose_worker(task.job.found, ready)
            if not worker.give_task(task):
                return
            self._ahead[task.ticket] = ReadAhead(self._next, task, worker)
            self._next, self._task = self._next + 1, None

    def next_task(self) -> ReadTask | None:
        """Return the next task for a worker; None when there is no file left to read."""
        while self._task is None and self._next < len(self._files):
            found = self._files[self._next]
            if self._likely(found):
                self._tickets += 1
                self._task = ReadTask(self._tickets, self._job_of(found))
            else:
                self._next += 1
        return self._task

    def _choose_worker(self, found: LogFile, ready: Sequence[WorkerProcess]) -> WorkerProcess:
        least = min(ready, key=lambda worker: len(worker.waiting_tickets))
        if found.archive is None or not (
            isinstance(found.place, ArchiveMember) and found.place.needs_unpacking
        ):
            return least
        if self._on_tape.get(found.archive) not in self._workers:
            self._on_tape[found.archive] = least
        return self._on_tape[found.archive]

    def _skip_unwanted(self, worker: WorkerProcess) -> None:
        """Drop the parts a worker has sent of files that are no longer needed."""
        while worker.parcels and (ticket := worker.parcels[0].ticket) not in self._ahead:
            if ticket is None:
                worker.parcels.popleft()
            else:
                worker.parcels[0].skip_part()

    # --- who they are --------------------------------------------------------------------------

    def _start_worker(self) -> WorkerProcess | None:
        """Start one more worker and return it; None when none can be started."""
        if self._vain_starts >= _VAIN_STARTS:
            return None
        self._started += 1
        start = StartMessage(
            self._settings, dict(self._writer.builder.schemas), f"{self._rows}/{self._started}-"
        )
        try:
            worker = WorkerProcess(start)
        except OSError:
            self._vain_starts += 1
            return None
        self._workers.append(worker)
        return worker

    def _receive_from(self, worker: WorkerProcess, patience: float = 0.0) -> bool:
        """Receive a message of a worker; return False when there is none or the worker died.

        Raises IngestError when the load cannot continue.
        """
        try:
            return worker.receive(patience)
        except WorkerDied:
            self._drop_dead_worker(worker)
            return False

    def _drop_dead_worker(self, worker: WorkerProcess) -> None:
        """Remove a worker that died, and give its remaining files to a new worker, if one can be started.

        The file that the dead worker was reading is marked as failed (`died`).
        """
        self._workers.remove(worker)
        why = worker.end_process(patience=1.0)
        if not worker.is_ready:
            self._vain_starts += 1
        another = self._start_worker()
        for ticket in worker.waiting_tickets:
            if (ahead := self._ahead.get(ticket)) is None:
                continue
            ahead.worker = None
            if ticket == worker.current_ticket:
                ahead.died = why
            elif another is not None and another.give_task(ahead.task):
                ahead.worker = another


def content_size(found: LogFile) -> int:
    """Return the size of a log's content in bytes; an estimate when the log is compressed."""
    return found.content_size if found.content_size is not None else _UNPACKED * found.seen.size
