"""The endpoint /v1/traces: writes OpenTelemetry traces to one file per day, which the next load reads."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from callgauge.traces.otlp_requests import JSON, MOST_BYTES, PROTOBUF, TraceRequestError, read_traces

TRACES = "/v1/traces"
"""The path for traces in the OTLP specification."""
_MOST_AT_ONCE = 4  # At most this many requests are in memory at the same time.
_LOG = logging.getLogger("callgauge.traces")


class TraceFolder:
    """The folder of the traces, with one file per UTC day, such as `traces-2026-11-29.jsonl`. Only the owner
    can read the files.
    """

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.folder = folder
        self._now = now
        self._lock = threading.Lock()

    def append(self, line: bytes) -> None:
        """Append a complete line. After an error, the file is unchanged. Raises OSError."""
        with self._lock:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            append_line(self.folder / f"traces-{self._now():%Y-%m-%d}.jsonl", line)


class TraceIntake:
    """ASGI middleware that answers POST /v1/traces. Other requests go to `app`.

    Traces are written into `folder`. If `folder` is None, the endpoint is disabled. `check` raises
    TraceRequestError when the client may not send traces; `check` may block.
    """

    def __init__(self, app: ASGIApp, folder: TraceFolder | None, check: Callable[[Scope], None]) -> None:
        self._app = app
        self._folder = folder
        self._check = check
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != TRACES or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        is_json = request.headers.get("content-type", "").startswith(JSON)
        try:
            await self._take(request, self._folder)
        except TraceRequestError as problem:
            await _answer(send, problem.status, str(problem), is_json=is_json)
        except ClientDisconnect:
            return
        else:
            await _answer(send, 200, "", is_json=is_json)

    async def _take(self, request: Request, folder: TraceFolder | None) -> None:
        if folder is None:
            raise TraceRequestError(404, "This server takes no traces; start it with --traces DIR.")
        await asyncio.to_thread(self._check, request.scope)
        if self._under_way >= _MOST_AT_ONCE:
            raise TraceRequestError(503, "Too many requests at once; send it again.")
        self._under_way += 1
        try:
            body = await _read_body(request)
            media_type, coding = (request.headers.get(f"content-{name}", "") for name in ("type", "encoding"))
            line = await asyncio.to_thread(read_traces, body, media_type, coding)
            if line:
                await asyncio.to_thread(folder.append, line)
        except OSError as error:
            _LOG.warning("Traces were not written: %s (%s)", error.strerror or error, folder.folder)
            raise TraceRequestError(503, "The traces could not be written; send them again.") from None
        finally:
            self._under_way -= 1


async def _read_body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    parts, size = [], 0
    if not announced.isdigit() or int(announced) > MOST_BYTES:
        raise TraceRequestError(413, f"A request may hold {MOST_BYTES >> 20} MB.")
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise TraceRequestError(413, f"A request may hold {MOST_BYTES >> 20} MB.")
        parts.append(part)
    return b"".join(parts)


async def _answer(send: Send, status: int, message: str, *, is_json: bool) -> None:
    text = message.encode()
    if is_json:
        media_type, body = JSON, json.dumps({"message": message} if message else {}).encode()
    else:  # Field 2 of a Status is the message, whose length is a varint.
        length = bytes((len(text) & 0x7F | 0x80, len(text) >> 7))
        media_type, body = PROTOBUF, b"\x12" + length + text if text else b""
    headers = {"content-type": media_type, "content-length": str(len(body)), "cache-control": "no-store"}
    if status in (429, 503):
        headers["retry-after"] = "5"
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def append_line(path: Path, line: bytes) -> None:
    """Append a complete line to a file that only its owner can read. After an error, the file is unchanged.

    Raises OSError.
    """
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        end = os.fstat(file).st_size
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(file, view) :]
        except OSError:
            os.ftruncate(file, end)
            raise
    finally:
        os.close(file)
