"""Locks of files that end with their process, and writes that survive a power cut."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ingest.errors import explain_os_errors


@contextmanager
def lock_file(path: Path, wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a file, which is created if need be. The kernel releases it when the process ends.

    While another process holds the lock, `wait` is called again and again with the description of that
    process, which is stored in the file; `wait` sleeps or raises. Raises StoreError when the file cannot be
    opened or written.
    """
    with explain_os_errors(path.parent):
        # Not "w": whoever fails to get the lock must not wipe out who holds it.
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        while not _try_lock(lock, fcntl.LOCK_EX):
            wait(_describe_owner(path))
        with explain_os_errors(path.parent):
            _write_owner(lock)
        yield
    finally:
        os.close(lock)


def is_locked(path: Path) -> bool:
    """Return True while another process holds the lock of a file."""
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_owner(lock: int) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(holder).encode(), 0)


def _describe_owner(path: Path) -> str:
    try:
        holder = json.loads(path.read_text("utf-8"))
        return f"process {int(holder['pid'])} on {str(holder['host'])[:80]} since {str(holder['since'])[:40]}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"


def flush_to_disk(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk, and wait until that is done."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_text(path: Path, text: str) -> None:
    """Replace the text of a small file. After a power cut the file contains the old or the whole new text."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, "utf-8")
    flush_to_disk(new)
    new.replace(path)
    flush_to_disk(path.parent)
