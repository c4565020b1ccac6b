"""Tests the ASGI layers around Streamlit's server. They ignore disconnects, and raise every other error."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from callgauge.serving.streamlit_answers import EARLY, SCRIPTS, CompressedAssets, FirstPage, GoneBrowsers
from tests.event_loops import run


async def close_twice(scope: Scope, receive: Receive, send: Send) -> None:
    connection = WebSocket(scope, receive, send)
    await connection.accept()
    await connection.close()
    await connection.close()


async def fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("our own mistake")


async def receive() -> Message:
    return {"type": "websocket.connect"}


async def send(_message: Message) -> None:
    pass


def test_a_browser_that_went_away_is_no_error() -> None:
    with pytest.raises(RuntimeError, match="once a close message"):
        run(close_twice({"type": "websocket"}, receive, send))
    run(GoneBrowsers(close_twice)({"type": "websocket"}, receive, send))


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_any_other_error_stays_one(kind: str) -> None:
    with pytest.raises(RuntimeError, match="our own mistake"):
        run(GoneBrowsers(fail)({"type": kind}, receive, send))


async def leave(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """End without a response, as an application does when the client has disconnected."""


@pytest.mark.parametrize(
    ("layer", "path"), [(FirstPage, "/"), (CompressedAssets, "/static/js/a.js")], ids=["page", "script"]
)
def test_an_answer_that_never_started_is_no_error(layer: Any, path: str) -> None:
    sent: list[Message] = []

    async def note(message: Message) -> None:
        sent.append(message)

    headers = [(b"accept", b"text/html"), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    run(layer(leave)(scope, receive, note))
    assert sent == []


def test_many_first_requests_compress_a_script_once() -> None:
    running: list[int] = []

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        running.append(1)
        await asyncio.sleep(0.01)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"code"})

    async def ask_often() -> None:
        layer = CompressedAssets(answer)
        headers = [(b"accept-encoding", b"gzip")]
        scope = {"type": "http", "method": "GET", "path": "/static/js/a.js", "headers": headers}
        await asyncio.gather(*(layer(scope, receive, send) for _ in range(20)))

    run(ask_often())
    assert len(running) == 1


def test_the_first_page_names_each_script_of_every_page_once() -> None:
    page = first_page((SCRIPTS.parents[1] / "index.html").read_text(encoding="utf-8"))
    named = re.findall(r'href="\./static/js/([^"]+)"', page)
    assert len(named) == len(set(named))
    assert all((SCRIPTS / name).is_file() for name in named)
    for element in EARLY:
        assert any(name.startswith(f"{element}.") for name in named), element


def first_page(text: str) -> str:

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}
        )
        await send({"type": "http.response.body", "body": text.encode()})

    sent: list[Message] = []

    async def note(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"accept", b"text/html")]}
    run(FirstPage(answer)(scope, receive, note))
    body: bytes = sent[1]["body"]
    return body.decode()
