"""Writes what happens in a conversation as lines of the session log (docs/session-log.md)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

_LOG = logging.getLogger("callgauge.SessionLog")


class SessionLog:
    """The lines of one session, each written to the end of a file at once; its folder is made.

    A log must never break a conversation: when the disk is full the conversation goes on, one warning is
    given, and `failure` says what happened.
    """

    def __init__(self, path: str | Path, session_id: str) -> None:
        self.path = Path(path)
        self.session_id = session_id
        self.failure: str | None = None
        self._lock = threading.Lock()

    def write(
        self,
        kind: str,
        *,
        turn: int | None = None,
        step: int | None = None,
        content: str | None = None,
        role: str | None = None,
        **meta: Any,
    ) -> None:
        """Append one event; fields of `meta` that are None are left out."""
        event: dict[str, Any] = {"ts": _now(), "sessionId": self.session_id, "type": kind}
        told = {
            "turn": turn,
            "step": step,
            "role": role,
            "content": content,
            "meta": _drop_unset(meta) or None,
        }
        event |= _drop_unset(told)
        self.append(event)

    def append(self, event: dict[str, Any]) -> None:
        """Write an event to the end of the file."""
        line = encode_event(event)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, self.path.open("ab") as file:
                file.write(line)
        except OSError as error:
            if self.failure is None:
                self.failure = f"{self.path}: {error.strerror or error}"
                _LOG.warning("The session is no longer logged: %s", self.failure)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _drop_unset(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def encode_event(event: Mapping[str, Any]) -> bytes:
    """Return an event as a line of JSON."""
    try:
        return orjson.dumps(event, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError):  # lone surrogates, numbers beyond 64 bits
        return orjson.dumps(_make_plain(event), default=str, option=orjson.OPT_APPEND_NEWLINE)


def _make_plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(_make_plain(str(name))): _make_plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_plain(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 63:
        return str(value)
    return value
