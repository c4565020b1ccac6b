"""Who reads the logs of a load, this process or others as well: what they promise, and the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ingest.intake import Intake, Job, OnBytes, Settings, take_in
from ingest.sources import solid
from ingest.sources.found import Found
from ingest.writing import Writer

Likely = Callable[[Found], bool]
"""Whether a log will be asked for, as far as its looks tell before its turn."""

JobOf = Callable[[Found], Job]
"""What will be asked for then."""


class Hands(Protocol):
    """Logs are asked for one by one, in their order; how far ahead they are read is the hands' business."""

    @property
    def ahead(self) -> int:
        """How many logs are read, or being read, that were not asked for yet."""

    def expect(self, files: Sequence[Found], likely: Likely, job_of: JobOf) -> None:
        """What will be asked for, in this order, or passed over."""

    def reach(self, position: int) -> None:
        """The log at this place of `files` has its turn: those before it will not be asked for any more."""

    def take_in(self, job: Job, on_bytes: OnBytes) -> Intake:
        """Its rows are with the writer then. Raises Unusable, its rows taken back, or an IngestError."""

    def close(self) -> None:
        """Called once, however the load ends."""


class Alone:
    """This process reads each log when it is asked for."""

    ahead = 0

    def __init__(self, settings: Settings, writer: Writer) -> None:
        self._settings = settings
        self._writer = writer

    def expect(self, files: Sequence[Found], likely: Likely, job_of: JobOf) -> None: ...

    def reach(self, position: int) -> None: ...

    def take_in(self, job: Job, on_bytes: OnBytes) -> Intake:
        return take_in(job, self._settings, self._writer, on_bytes)

    def close(self) -> None:
        solid.rewind()
