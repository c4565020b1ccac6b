"""Chooses the executor of a load: this process, worker processes, or a Ray cluster."""

from __future__ import annotations

import os
import sys
from functools import partial

import msgspec

from ingest.errors import OptionError
from ingest.pipeline.reading.file_reader import ReadSettings
from ingest.pipeline.workers.executor import InProcessExecutor, LogExecutor
from ingest.pipeline.workers.process_executor import ProcessExecutor
from ingest.store.generations import StoreFolder
from ingest.store.writer import FactWriter

MOST = 4  # largest default number of workers; the single writing process could not keep up with more
RAY = "ray"


class ExecutorOptions(msgspec.Struct, frozen=True):
    """The options that say where the logs of a load are read.

    `workers` is the number of processes. If `workers` is None, a large load gets one process per core, at
    most `MOST`. `cluster` is `ray` or `ray://ADDRESS`, or None for this machine only. The workers of a
    cluster write rows to the folder or address `shared`. If `shared` is None, the workers write rows to a
    folder in the store.
    """

    workers: int | None = None
    cluster: str | None = None
    shared: str | None = None

    def __post_init__(self) -> None:
        """Raise OptionError when the options contradict each other."""
        if self.shared is not None and self.cluster is None:
            raise OptionError("--shared works only with a cluster: add --on ray")
        if self.cluster is not None and self.cluster != RAY and not self.cluster.startswith(f"{RAY}://"):
            raise OptionError(f"--on {self.cluster} is not a cluster; use ray, or ray://HOST:PORT")


def make_executor(
    options: ExecutorOptions, settings: ReadSettings, writer: FactWriter, folder: StoreFolder
) -> LogExecutor:
    """Return the executor of a load. Raises OptionError when rows cannot be written to `shared`."""
    if options.cluster is not None:
        from ingest.pipeline.workers.ray_cluster import RayCluster
        from ingest.pipeline.workers.ray_executor import RayExecutor

        connect = partial(RayCluster, options.cluster, options.workers or _count_cores())
        return RayExecutor(connect, options.shared, settings, writer, folder)
    size = min(_count_cores(), MOST) if options.workers is None else options.workers
    if size == 1 or sys.platform == "win32":  # Windows cannot pass an open socket to a new process
        return InProcessExecutor(settings, writer)
    return ProcessExecutor(size, options.workers is not None, settings, writer, folder)


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
