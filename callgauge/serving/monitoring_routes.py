"""Routes for monitoring programs. `/healthz` needs no sign-in. `/metrics` needs a sign-in unless
sign-in is disabled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from callgauge.serving.identity import LOCAL_USER, read_headers
from callgauge.serving.settings import ALIVE

HEALTH = "/healthz"
"""Answers 200 if the store opens and its newest load is recent enough, else 503."""
METRICS = "/metrics"
_READ = ("GET", "HEAD")


class PlainAnswer(NamedTuple):
    status: int
    media_type: str
    text: str


class HealthRoute:
    """Answers `/healthz` before all other checks, for any Host header and without sign-in.

    `check` returns whether the server is healthy, and a dict of more JSON fields. `check` may block. The
    response contains no stored data.
    """

    def __init__(self, app: ASGIApp, check: Callable[[], tuple[bool, dict[str, object]]]) -> None:
        self._app = app
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in (HEALTH, ALIVE):
            await self._app(scope, receive, send)
        elif scope["method"] not in _READ:
            await _send(send, scope, _say(405, "Only GET and HEAD are answered here."))
        elif scope["path"] == ALIVE:
            await _send(send, scope, _make_answer(200, {"status": "ok"}))
        else:
            is_well, details = await asyncio.to_thread(self._check)
            status = "ok" if is_well else "unhealthy"
            await _send(send, scope, _make_answer(200 if is_well else 503, {"status": status, **details}))


class MetricsRoute:
    """Answers `/metrics` for signed-in users. A server without sign-in answers only requests from this
    machine.

    `write` returns the metrics as text, and may block.
    """

    def __init__(self, app: ASGIApp, write: Callable[[], PlainAnswer]) -> None:
        self._app = app
        self._write = write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != METRICS:
            await self._app(scope, receive, send)
        elif not _may_read(scope):
            refused = "Metrics are for those who signed in; without a sign-in, for this machine only."
            await _send(send, scope, _say(403, refused))
        else:
            await _send(send, scope, await asyncio.to_thread(self._write))


def _may_read(scope: Scope) -> bool:
    user = read_headers(Headers(scope=scope))
    return user is not None and (bool(user.name) or user == LOCAL_USER)


def _say(status: int, sentence: str) -> PlainAnswer:
    return PlainAnswer(status, "text/plain; charset=utf-8", sentence)


def _make_answer(status: int, body: dict[str, object]) -> PlainAnswer:
    return PlainAnswer(status, "application/json", json.dumps(body))


async def _send(send: Send, scope: Scope, answer: PlainAnswer) -> None:
    body = answer.text.encode()
    headers = {
        "content-type": answer.media_type,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
