"""Allow only one nightly run at a time per store. The lock of a killed process is released."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.safe_files import is_locked, lock_file

_FILE = "night.lock"
_PATIENCE = 1.0  # One second is enough, because `is_night_running` holds the lock only for a moment.
_BETWEEN = 0.05


class NightBusyError(Exception):
    """Raised when another process runs the nightly job. The message names the process."""


@contextmanager
def hold_night(folder: Path) -> Iterator[None]:
    """Hold the nightly lock of a store during the `with` block. Raises NightBusyError, StoreError."""
    began = time.monotonic()

    def wait(who: str) -> None:
        if time.monotonic() - began > _PATIENCE:
            raise NightBusyError(f"{who} is already running the nightly job of {folder}")
        time.sleep(_BETWEEN)

    with lock_file(folder / _FILE, wait):
        yield


def is_night_running(folder: Path) -> bool:
    """Return True while a process runs the nightly job of the store in `folder`."""
    return is_locked(folder / _FILE)
