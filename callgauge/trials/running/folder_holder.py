"""Holds a run's folder for one process: a second run of it is refused, with who holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callgauge.trials.results.run_folder import FolderError
from callgauge.trials.running.run_files import explain_full_disk
from ingest.safe_files import lock_file

_LOCK = ".running"


class FolderBusyError(FolderError):
    """Another process is running in the folder."""


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made, for the length of the block. Raises FolderBusyError, FolderError.

    The system lets go of it when the process ends, however it does.
    """

    def refuse(owner: str) -> None:
        raise FolderBusyError(
            f"{owner} is running in {folder}; wait until it ends, or start a new run with --anew"
        )

    with explain_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder / _LOCK, refuse, explain_full_disk):
        yield
