"""Locks the folder of a trial run, so that only one process at a time writes to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callgauge.trials.results.run_folder import FolderError
from callgauge.trials.running.run_files import explain_full_disk
from ingest.safe_files import lock_file

_LOCK = ".running"


class FolderBusyError(FolderError):
    """Raised when another process uses the folder. The message names the process."""


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Create and lock a folder during the `with` block. Raises FolderBusyError, FolderError.

    The operating system releases the lock when the process ends or is killed.
    """

    def refuse(owner: str) -> None:
        raise FolderBusyError(
            f"{owner} is running in {folder}; wait until it ends, or start a new run with --anew"
        )

    with explain_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder / _LOCK, refuse, explain_full_disk):
        yield
