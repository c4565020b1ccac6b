"""The layers around Streamlit's server: a browser that goes away leaves no error, another error stays one."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from callgauge.server import GoneBrowsers


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
        asyncio.run(close_twice({"type": "websocket"}, receive, send))
    asyncio.run(GoneBrowsers(close_twice)({"type": "websocket"}, receive, send))


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_any_other_error_stays_one(kind: str) -> None:
    with pytest.raises(RuntimeError, match="our own mistake"):
        asyncio.run(GoneBrowsers(fail)({"type": kind}, receive, send))
