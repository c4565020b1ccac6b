"""Defines how a load reads logs: the interface, an implementation in this process, and a queue of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings, read_file
from ingest.pipeline.workers.messages import ReadTask
from ingest.sources.archives import tar_archive
from ingest.sources.log_file import LogFile
from ingest.store.writer import FactWriter

Likely = Callable[[LogFile], bool]
"""Function that returns True when the load will probably read this log."""

JobOf = Callable[[LogFile], ReadJob]
"""Function that returns the job with which the load will probably read this log."""


class LogExecutor(Protocol):
    """Interface of an object that reads the logs of a load in order.

    An implementation may read logs before `read_file` is called for them.
    """

    @property
    def count_ahead(self) -> int:
        """The number of logs whose reading began before `read_file` was called for them."""

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        """Announce the logs of the load in order, before the first `read_file`.

        `likely` returns whether a log will probably be read. `job_of` returns the job for a log.
        """

    def reach(self, position: int) -> None:
        """Announce that the log at this position of `files` is next. Earlier logs will not be read."""

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        """Read a log, pass its rows to the writer, and return the result.

        If the log is unusable, its rows are removed and UnusableFileError is raised. Raises IngestError.
        """

    def close(self) -> None:
        """Release all resources. This is called once, even after an error."""

    def drop_rows(self) -> None:
        """Remove the rows that a cluster's workers shared. This is called after the load is published."""


class InProcessExecutor:
    """Reads each log in this process when `read_file` is called."""

    count_ahead = 0

    def __init__(self, settings: ReadSettings, writer: FactWriter) -> None:
        self._settings = settings
        self._writer = writer

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None: ...

    def reach(self, position: int) -> None: ...

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        return read_file(job, self._settings, self._writer, on_bytes)

    def close(self) -> None:
        tar_archive.close_kept_archive()

    def drop_rows(self) -> None: ...


class TaskQueue:
    """The logs that workers have not started yet. The ticket of a task is the position of its log."""

    def __init__(self) -> None:
        self._files: Sequence[LogFile] = ()
        self._next = 0  # index of the next file to give to a worker
        self._task: ReadTask | None = None

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        self._files, self._likely, self._job_of = files, likely, job_of

    def reach(self, position: int) -> None:
        """Skip the logs before this position, because they are no longer needed."""
        if self._next < position:
            self._next, self._task = position, None

    def peek(self) -> ReadTask | None:
        """Return the next task without removing it. Return None when there is no file left to read."""
        while self._task is None and self._next < len(self._files):
            log_file = self._files[self._next]
            if self._likely(log_file):
                self._task = ReadTask(self._next, self._job_of(log_file))
            else:
                self._next += 1
        return self._task

    def pop(self) -> None:
        """Remove the task that `peek` returned. Call this after a worker has accepted the task."""
        self._next, self._task = self._next + 1, None

    def clear(self) -> None:
        self._files = ()
