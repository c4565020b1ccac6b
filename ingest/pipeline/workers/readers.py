"""Who reads the logs of a load: the interface, and the reader that does it in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ingest.pipeline.reading.file_reader import FileResult, OnBytes, ReadJob, ReadSettings, read_file
from ingest.sources.archives import compressed_tar
from ingest.sources.log_file import LogFile
from ingest.store.writer import FactWriter

Likely = Callable[[LogFile], bool]
"""Whether a log will be asked for, as far as its looks tell before its turn."""

JobOf = Callable[[LogFile], ReadJob]
"""What will be asked for then."""


class LogReader(Protocol):
    """Is asked for logs one by one, in their order; how far ahead it reads is its own business."""

    @property
    def count_ahead(self) -> int:
        """How many logs are read, or being read, that were not asked for yet."""

    def expect(self, files: Sequence[LogFile], likely: Likely, job_of: JobOf) -> None:
        """Announce what will be asked for, in this order, or passed over."""

    def reach(self, position: int) -> None:
        """The log at this place of `files` has its turn: those before it will not be asked for any more."""

    def read_file(self, job: ReadJob, on_bytes: OnBytes) -> FileResult:
        """Read a log; its rows are with the writer then. Raises UnusableFileError, its rows taken back, or
        IngestError.
        """

    def close(self) -> None:
        """Called once, however the load ends."""


class SingleProcessReader:
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
