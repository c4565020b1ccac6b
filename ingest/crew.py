"""Logs in, read ahead by worker processes; their rows, written when they are asked for, and their counts out.

Workers read the next logs while earlier ones are being written. Every decision on a log is made in its turn
all the same, and its rows are written then, so that the store is the one that a process alone would make.
Until workers are ready, this process reads. A worker that dies costs the log it was at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingest.employment import Died, Worker
from ingest.errors import StoreError
from ingest.generations import Folder
from ingest.hands import Alone, Hands, JobOf, Likely
from ingest.intake import Intake, Job, OnBytes, Settings
from ingest.reading import Unusable
from ingest.sources.archives import ArchiveMember
from ingest.sources.found import Found
from ingest.unpacking import Unpacked
from ingest.wire import Ended, Start, Task
from ingest.writing import Writer

MOST = 4  # workers, unless somebody asks for more: one process writes what they read
# Bytes to read from which on starting workers takes less time than it saves: on two cores 151 MB took a tenth
# longer with two of them, 1 GB a fifth less.
PAYS = 256 * 1024 * 1024
PATIENCE = 0.2  # seconds without a word from a worker, after which the caller is heard
_VAIN_STARTS = 2  # workers that die before they begin; after so many, this process reads on alone
_UNPACKED = 8  # bytes of content in a packed byte, for guessing


def hands_for(workers: int | None, settings: Settings, writer: Writer, folder: Folder) -> Hands:
    """Those who read a load's logs: so many `workers`, or as many as pay (None)."""
    if workers is None:
        size, pays = min(_cores(), MOST), PAYS
    else:
        size, pays = workers, 0
    return Crew(size, pays, settings, writer, folder) if size > 1 else Alone(settings, writer)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class _Ahead:
    """A log that is read before its turn. `worker` None = it is to be read here, or `died` of it."""

    position: int
    task: Task
    worker: Worker | None
    died: str = ""


class Crew:
    """`size` workers, started when there are `pays` bytes to read."""

    def __init__(self, size: int, pays: int, settings: Settings, writer: Writer, folder: Folder) -> None:
        self._size = size
        self._pays = pays
        self._settings = settings
        self._writer = writer
        self._folder = folder
        self._alone = Alone(settings, writer)
        self._rows: Path | None = None
        self._workers: list[Worker] = []
        self._started = self._vain_starts = 0
        self._files: Sequence[Found] = ()
        self._next = 0  # the first file that no worker was asked for, and that may have its turn yet
        self._task: Task | None = None  # what that comes to, once somebody looked
        self._tickets = 0
        self._ahead: dict[int, _Ahead] = {}  # by ticket, in the order of their turns
        self._position = 0
        self._on_tape: dict[str, Worker] = {}  # a packed archive can only be read forward, by one

    @property
    def ahead(self) -> int:
        return len(self._ahead)

    def expect(self, files: Sequence[Found], likely: Likely, job_of: JobOf) -> None:
        self._files, self._likely, self._job_of = files, likely, job_of
        logs, size = 0, 0
        for found in files:
            if likely(found):
                logs, size = logs + 1, size + _weight(found)
                if logs >= self._size and size >= self._pays:
                    break
        if (logs > 1 and size >= self._pays) or size >= PAYS:
            self._rows = self._folder.rows_aside()
            self._writer.building.leave_memory(to_workers=True)
            for _ in range(min(self._size, max(logs, 1))):
                self._employ()

    def reach(self, position: int) -> None:
        self._position = position
        if self._next < position:
            self._next, self._task = position, None
        for ticket in [one for one, ahead in self._ahead.items() if ahead.position < position]:
            del self._ahead[ticket]

    def take_in(self, job: Job, on_bytes: OnBytes) -> Intake:
        self._feed()
        ahead = next((one for one in self._ahead.values() if one.position == self._position), None)
        if ahead is None:
            return self._alone.take_in(job, on_bytes)
        try:
            if ahead.task.job == job:
                return self._taken_in(ahead, on_bytes)
        finally:
            del self._ahead[ahead.task.ticket]
        return self._alone.take_in(job, on_bytes)

    def _taken_in(self, ahead: _Ahead, on_bytes: OnBytes) -> Intake:
        file_id: int | None = None
        came = (0, 0)
        while ahead.worker is not None:
            part = self._next_part(ahead, ahead.worker)
            if file_id is None and (isinstance(part, Unpacked) or (part and part.counted)):
                file_id = self._writer.begin_file(others=True)
            if isinstance(part, Ended):
                if part.intake is None and file_id is not None:
                    self._writer.take_back_file()
                return part.outcome(ahead.task.job, file_id or 0)
            if part is not None and file_id is not None:
                self._writer.add_others(*part.of_file(file_id))
                self._writer.after(part.bytes)
                came = part.came
            on_bytes(*came)
        if not ahead.died:
            return self._alone.take_in(ahead.task.job, on_bytes)
        if file_id is not None:
            self._writer.take_back_file()
        unusable = Unusable(f"cannot be read: the process that read it died ({ahead.died})")
        unusable.may_pass = True
        raise unusable

    def _next_part(self, ahead: _Ahead, worker: Worker) -> Unpacked | Ended | None:
        """The next part of a file; None when there was none for a while."""
        self._feed()
        self._pass_over(worker)
        if worker.parcels:
            return worker.parcels[0].next()
        if ahead.worker is worker:
            self._hear(worker, PATIENCE)
        return None

    def close(self) -> None:
        for worker in self._workers:
            worker.dismiss()
        self._workers, self._files = [], ()
        if self._rows is not None:
            shutil.rmtree(self._rows, ignore_errors=True)
            with suppress(StoreError):  # what broke the building file has been said
                self._writer.building.leave_memory(to_workers=False)
        self._alone.close()

    # --- what workers are to read --------------------------------------------------------------

    def _feed(self) -> None:
        """Hear what the workers have to say, and give them as much to do as they take."""
        for worker in self._workers.copy():
            while self._hear(worker):
                pass
            self._pass_over(worker)
        while ready := [worker for worker in self._workers if worker.is_ready]:
            if (task := self._upcoming()) is None:
                return
            worker = self._worker_for(task.job.found, ready)
            if not worker.ask_for(task):
                return
            self._ahead[task.ticket] = _Ahead(self._next, task, worker)
            self._next, self._task = self._next + 1, None

    def _upcoming(self) -> Task | None:
        """The next that a worker can be asked for."""
        while self._task is None and self._next < len(self._files):
            found = self._files[self._next]
            if self._likely(found):
                self._tickets += 1
                self._task = Task(self._tickets, self._job_of(found))
            else:
                self._next += 1
        return self._task

    def _worker_for(self, found: Found, ready: Sequence[Worker]) -> Worker:
        least = min(ready, key=lambda worker: len(worker.waiting))
        if found.archive is None or not (isinstance(found.place, ArchiveMember) and found.place.on_tape):
            return least
        if self._on_tape.get(found.archive) not in self._workers:
            self._on_tape[found.archive] = least
        return self._on_tape[found.archive]

    def _pass_over(self, worker: Worker) -> None:
        """Leave out what a worker has read and nobody asks for any more."""
        while worker.parcels and (ticket := worker.parcels[0].ticket) not in self._ahead:
            if ticket is None:
                worker.parcels.popleft()
            else:
                worker.parcels[0].skip()

    # --- who they are --------------------------------------------------------------------------

    def _employ(self) -> Worker | None:
        """One worker more; None when none can be had."""
        if self._vain_starts >= _VAIN_STARTS:
            return None
        self._started += 1
        start = Start(self._settings, dict(self._writer.building.schemas), f"{self._rows}/{self._started}-")
        try:
            worker = Worker(start)
        except OSError:
            self._vain_starts += 1
            return None
        self._workers.append(worker)
        return worker

    def _hear(self, worker: Worker, patience: float = 0.0) -> bool:
        """False when there was nothing to hear. Raises IngestError when the load cannot go on."""
        try:
            return worker.receive(patience)
        except Died:
            self._lost(worker)
            return False

    def _lost(self, worker: Worker) -> None:
        """A worker died: the log it was at is refused, the others that it had are read by another."""
        self._workers.remove(worker)
        why = worker.dismiss(patience=1.0)
        if not worker.is_ready:
            self._vain_starts += 1
        another = self._employ()
        for ticket in worker.waiting:
            if (ahead := self._ahead.get(ticket)) is None:
                continue
            ahead.worker = None
            if ticket == worker.at:
                ahead.died = why
            elif another is not None and another.ask_for(ahead.task):
                ahead.worker = another


def _weight(found: Found) -> int:
    """Bytes of content, more or less."""
    return found.content_size if found.content_size is not None else _UNPACKED * found.seen.size
