"""The logs of a load as tasks for workers, in the order of the load."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.pipeline.workers.executor import JobOf, Likely
from ingest.pipeline.workers.messages import ReadTask
from ingest.sources.log_file import LogFile


class TaskQueue:
    """The logs that may still be given to a worker; a task's ticket is the position of its log."""

    def __init__(self) -> None:
        self._files: Sequence[LogFile] = ()
        self._next = 0  # the first file that no worker was asked for, and that may have its turn yet
        self._task: ReadTask | None = None  # what that comes to, once somebody looked

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        """Take the logs of a load, see `LogExecutor.expect`."""
        self._files, self._likely, self._job_of = files, likely, job_of

    def reach(self, position: int) -> None:
        """Leave out the logs before this position: their turn is over."""
        if self._next < position:
            self._next, self._task = position, None

    def peek(self) -> ReadTask | None:
        """Return the next task, which stays the next until `pop`; None when there is no file left to read."""
        while self._task is None and self._next < len(self._files):
            found = self._files[self._next]
            if self._likely(found):
                self._task = ReadTask(self._next, self._job_of(found))
            else:
                self._next += 1
        return self._task

    def pop(self) -> None:
        """Remove the task that `peek` returned: a worker has it."""
        self._next, self._task = self._next + 1, None

    def clear(self) -> None:
        self._files = ()
