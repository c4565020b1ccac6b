"""Tests that idle connections are closed after some seconds, or earlier if there are too many."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from callgauge.serving import connections
from callgauge.serving.connections import WaitingConnections, guard_connections, raise_file_limit

REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
WAIT = 0.5
LONG = 30_000_000  # bytes; this is more than fits into the buffers of the kernel


async def slow_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond slowly: more slowly than a connection may wait before its request arrives."""
    if scope["type"] == "http" and scope["path"] == "/long":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(LONG // 100_000):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    elif scope["type"] == "http":
        await asyncio.sleep(2 * WAIT)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port() -> Iterator[int]:
    waiting = WaitingConnections(most=4, each=3, seconds=WAIT)
    config = uvicorn.Config(slow_app, log_level="critical", lifespan="off", timeout_keep_alive=60)
    config.load()
    config.http_protocol_class = guard_connections(H11Protocol, waiting)
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def ask(connection: socket.socket) -> bytes:
    connection.sendall(REQUEST)
    answer = b""
    while not answer.endswith(b"ok") and (part := connection.recv(1_000)):
        answer += part
    return answer


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes a connection. Return False if the connection stays open."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nhost: loc"])
def test_a_connection_without_a_whole_header_is_closed(port: int, begun: bytes) -> None:
    with connect(port) as waiting:
        waiting.sendall(begun)
        assert is_closed(waiting)


def test_a_header_that_drips_keeps_no_connection_open(port: int) -> None:
    with connect(port) as waiting:
        try:
            for letter in b"GET / HTTP/1.1\r\nhost: " + b"x" * 1_000:
                waiting.sendall(bytes([letter]))
                time.sleep(WAIT / 8)
        except (BrokenPipeError, ConnectionResetError):
            return
    pytest.fail("the connection was not closed")


def test_an_answer_may_take_longer_and_the_next_request_is_answered_too(port: int) -> None:
    with connect(port) as asking:
        for _ in range(2):
            assert ask(asking).endswith(b"ok")
        asking.sendall(b"GET")
        assert is_closed(asking)


def test_where_too_many_wait_the_longest_is_closed_and_who_asks_is_answered(port: int) -> None:
    waiting = [connect(port) for _ in range(20)]
    with connect(port) as asking:
        assert ask(asking).endswith(b"ok")
    assert all(is_closed(connection) for connection in waiting)
    for connection in waiting:
        connection.close()


def read_long(port: int, after: float) -> int:
    """Request the long response, and read nothing for some seconds. Return how many bytes then arrive."""
    with connect(port) as reading:
        reading.sendall(b"GET /long HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        time.sleep(after)
        size = 0
        with suppress(ConnectionResetError):
            while part := reading.recv(1_000_000):
                size += len(part)
        return size


@pytest.mark.thorough
def test_only_a_client_that_hardly_reads_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_SECONDS", 0.5)
    assert read_long(port, after=0) > LONG
    assert read_long(port, after=2) < LONG


def test_the_limit_of_open_files_is_raised_to_what_is_allowed() -> None:
    assert raise_file_limit() >= 1_024
    assert raise_file_limit() == raise_file_limit()
