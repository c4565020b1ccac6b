"""The interface of what reads a load's logs, and its implementation that uses this process only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings, read_file
from ingest.sources.archives import compressed_tar
from ingest.sources.log_file import LogFile
from ingest.store.writer import FactWriter

Likely = Callable[[LogFile], bool]
"""Function that returns True when the load will probably read this log."""

JobOf = Callable[[LogFile], ReadJob]
"""Function that returns the job with which the load will probably read this log."""


class LogExecutor(Protocol):
    """Interface of an object that reads the logs of a load, one by one and in order.

    An implementation may read logs before `read_file` is called for them.
    """

    @property
    def count_ahead(self) -> int:
        """The number of logs that are being read, or have been read, before their turn."""

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        """Announce the logs of the load in their order, before the first `read_file`.

        `likely` says whether a log will be read, `job_of` returns its job.
        """

    def reach(self, position: int) -> None:
        """Announce the turn of the log at this position of `files`; earlier logs will not be read."""

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        """Read a log, pass its rows to the writer, and return the result.

        Raises UnusableFileError, after taking back the log's rows, or IngestError.
        """

    def close(self) -> None:
        """Release all resources; called once, however the reading ends."""

    def drop_rows(self) -> None:
        """Remove what is kept of rows outside the store; called once the load is published."""


class InProcessExecutor:
    """Reads each log in this process when it is asked for."""

    count_ahead = 0

    def __init__(self, settings: ReadSettings, writer: FactWriter) -> None:
        self._settings = settings
        self._writer = writer

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None: ...

    def reach(self, position: int) -> None: ...

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        return read_file(job, self._settings, self._writer, on_bytes)

    def close(self) -> None:
        compressed_tar.close_kept_archive()

    def drop_rows(self) -> None: ...
