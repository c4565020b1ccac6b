"""Loads that read nothing before their workers are ready: a small one would be over by then."""

from __future__ import annotations

from contextlib import suppress

from ingest import crew
from ingest.employment import Died, Worker
from ingest.wire import Start


class ReadyWorker(Worker):
    """A worker that is only had when it is ready, or dead."""

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        with suppress(Died):
            while not self.is_ready:
                self.receive(1.0)


def wait_for_workers() -> None:
    setattr(crew, "Worker", ReadyWorker)  # noqa: B010
