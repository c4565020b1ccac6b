"""Makes a load wait until its workers are ready. A small load would otherwise end before that."""

from __future__ import annotations

from contextlib import suppress

from ingest.pipeline.workers import process_executor
from ingest.pipeline.workers.messages import StartMessage
from ingest.pipeline.workers.worker_process import WorkerDied, WorkerProcess


class ReadyWorker(WorkerProcess):
    """A worker whose constructor waits until the process is ready or dead."""

    def send_start(self, start: StartMessage) -> None:
        super().send_start(start)
        with suppress(WorkerDied):
            while not self.is_ready:
                self.receive(1.0)


def wait_for_workers() -> None:
    setattr(process_executor, "WorkerProcess", ReadyWorker)  # noqa: B010
