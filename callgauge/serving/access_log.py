"""The access log: who signed in, what they viewed and what they exported, as JSON lines in the store."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from callgauge.serving.identity import User
from callgauge.serving.settings import sign_in_from_environment, store_from_environment

FILE = "access.jsonl"
MOST_BYTES = 10_000_000
OLDER_FILES = 4
"""How many full files are kept, `access.1.jsonl` the newest of them."""
_LONGEST = 500  # characters of a value: a name or an address that somebody sent


class AccessLog:
    """Writes one line per event into a file in `folder`. A full disk or a missing folder stops no request."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = folder / FILE
        self._most = most_bytes
        self._lock = threading.Lock()
        self._has_complained = False

    def write(self, event: str, user: User | None = None, **fields: str | int | None) -> None:
        """Add a line with the time (UTC), the event, and its fields; None is left out.

        JSON escapes all characters that could control a terminal or an editor.
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
                self._make_room(len(data))
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
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


_LOGS: dict[Path, AccessLog] = {}


def log_access(event: str, user: User | None = None, **fields: str | int | None) -> None:
    """Write an event into the access log of the served store; do nothing without a sign-in."""
    folder = store_from_environment()
    if folder is not None and sign_in_from_environment().method != "none":
        _LOGS.setdefault(folder, AccessLog(folder)).write(event, user, **fields)
