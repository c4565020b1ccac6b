"""Holds a run's folder for one process: a second run of it is refused, with who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from callgauge.trials.results.run_folder import FolderError
from callgauge.trials.running.run_files import explain_full_disk

HOLDER = ".running"


class FolderBusyError(FolderError):
    """Another process is running in the folder."""


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made, for the length of the block. Raises FolderBusyError, FolderError.

    The system lets go of it when the process ends, however it does.
    """
    path = folder / HOLDER
    with explain_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderBusyError(
                f"{_read_holder(path)} is running in {folder}; wait until it ends, or start a new run with "
                "--anew"
            ) from None
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with explain_full_disk(path):
            path.write_text(json.dumps(holder), encoding="utf-8")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _read_holder(path: Path) -> str:
    try:
        told = json.loads(path.read_text("utf-8"))
        return f"process {int(told['pid'])} on {str(told['host'])[:80]} since {str(told['since'])[:40]}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"
