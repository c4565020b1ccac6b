"""Writes the access log: who signed in, viewed a page or exported data. The log is a JSON Lines file in the
store's folder.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from callgauge.serving.identity import User
from callgauge.serving.settings import sign_in_from_environment, store_from_environment
from ingest.safe_files import lock_file, new_files_like, replace_private

FILE = "access.jsonl"
MOST_BYTES = 10_000_000
OLDER_FILES = 4
"""The number of full log files that are kept; `access.1.jsonl` is the newest of them."""
DELETED = "(deleted)"
"""Replaces the id of a deleted session or call."""
_LONGEST = 500  # maximum number of characters in a logged value; a client may send a long name or address
_LOCK = "access.lock"
_PATIENCE = 1.0  # seconds that a request waits for the lock; after them it writes without the lock
_PATIENCE_OF_DELETION = 10.0
_WITH_IDS = ("session", "call", "path", "file")  # names of the fields that may contain ids
_MOST_PARTS = 64  # maximum number of parts of an address that are compared with the ids


class AccessLog:
    """Writes one line per event into the log file in `folder`. A write error does not stop the request."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = folder / FILE
        self._most = most_bytes
        self._lock = threading.Lock()
        self._has_complained = False

    def write(self, event: str, user: User | None = None, **fields: str | int | None) -> None:
        """Add a line with the time (UTC), the event, and all fields that are not None.

        Control characters are escaped, because they could affect a terminal or an editor.
        """
        line = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "event": event}
        if user is not None:
            line |= {"user": user.name[:_LONGEST], "role": user.role}
        line |= {
            name: value[:_LONGEST] if isinstance(value, str) else value  # type: ignore[misc]
            for name, value in fields.items()
            if value is not None
        }
        data = json.dumps(line, ensure_ascii=True).encode() + b"\n"
        with self._lock:
            try:
                with ExitStack() as locks:
                    with suppress(TimeoutError):
                        locks.enter_context(_lock_log(self.path.parent, _PATIENCE))
                    self._make_room(len(data))
                    descriptor = _open_log(self.path)
                    try:
                        os.write(descriptor, data)
                    finally:
                        os.close(descriptor)
            except OSError as refused:
                if not self._has_complained:
                    self._has_complained = True
                    print(f"{self.path} cannot be written: {refused.strerror}", file=sys.stderr)

    def _make_room(self, size: int) -> None:
        with suppress(FileNotFoundError):
            if self.path.stat().st_size + size <= self._most:
                return
            for number in range(OLDER_FILES - 1, 0, -1):
                with suppress(FileNotFoundError):
                    self._older(number).replace(self._older(number + 1))
            self.path.replace(self._older(1))

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"access.{number}.jsonl")


@contextmanager
def _lock_log(folder: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a folder's access log during the `with` block. Raises OSError.

    Raises TimeoutError if the lock is not free after `patience` seconds.
    """
    until = time.monotonic() + patience

    def wait(owner: str) -> None:
        if time.monotonic() > until:
            raise TimeoutError(f"{owner} has locked it")
        time.sleep(0.002)

    with lock_file(folder / _LOCK, wait, lambda _folder: nullcontext()):
        yield


def _open_log(path: Path) -> int:
    with new_files_like(path.parent):
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _file_mode(path.parent))


def _file_mode(folder: Path) -> int:
    """Return the mode of a log file. Only the owner may use the file.

    If the folder has the set-group-ID bit, the group gets the same rights to the file as to the folder.
    """
    mode = folder.stat().st_mode
    return 0o600 | (mode & 0o060 if mode & stat.S_ISGID else 0)


def remove_ids(folder: Path, ids: Collection[str]) -> int:
    """Remove these ids of sessions and calls from a folder's access log. Return the number of changed lines.

    Each id is replaced by a placeholder. Running servers may write to the log meanwhile. Raises OSError.
    """
    if not ids:
        return 0
    changed = 0
    shown = {name[:_LONGEST] for name in ids}
    for path in (folder / FILE, *(folder / f"access.{number}.jsonl" for number in range(1, OLDER_FILES + 1))):
        if not path.exists():
            continue
        with _lock_log(folder, _PATIENCE_OF_DELETION), suppress(FileNotFoundError):
            changed += _rewrite(path, lambda line: _leave_ids_out(line, shown))
    return changed


def _rewrite(path: Path, change: Callable[[bytes], bytes]) -> int:
    """Apply `change` to each line of a file. Return the number of changed lines."""
    with path.open("rb") as old:
        lines = [(line, change(line)) for line in old]
        changed = sum(line != result for line, result in lines)
        if changed:
            # `old` now yields the lines that a server without the lock has added meanwhile.
            results = [*(result for _, result in lines), *map(change, old)]
            replace_private(path, b"".join(results), _file_mode(path.parent))
    return changed


def _leave_ids_out(line: bytes, ids: Collection[str]) -> bytes:
    try:
        event: Any = json.loads(line)
    except ValueError:  # a full disk may have cut this line
        text = line.decode("utf-8", "replace")
        return b"" if any(name in text for name in ids) else line
    named = [name for name in _WITH_IDS if _names_one_of(event.get(name), ids)]
    if not named:
        return line
    return json.dumps(event | dict.fromkeys(named, DELETED), ensure_ascii=True).encode() + b"\n"


def _names_one_of(value: object, ids: Collection[str]) -> bool:
    """Return True if a value is one of the ids, or is a URL path that contains one of the ids."""
    if not isinstance(value, str):
        return False
    parts = value.split("/")[:_MOST_PARTS]
    if len(value) == _LONGEST and any(name.startswith(value.rpartition("/")[2]) for name in ids):
        return True  # the log may have cut the address within this id
    return value in ids or any(
        "/".join(parts[start:end]) in ids
        for start in range(len(parts))
        for end in range(start + 1, len(parts) + 1)
    )


_LOGS: dict[Path, AccessLog] = {}


def log_access(event: str, user: User | None = None, **fields: str | int | None) -> None:
    """Write an event into the access log of the served store. Do nothing if the server has no sign-in."""
    folder = store_from_environment()
    if folder is not None and sign_in_from_environment().method != "none":
        _LOGS.setdefault(folder, AccessLog(folder)).write(event, user, **fields)
