"""Reads the header of a connection's first request, without taking it from the connection."""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from urllib.parse import unquote

COOKIE = "callgauge_worker"
"""The cookie with the number of a browser's worker: the state and files of its pages are in that process."""
FIRST = 1
"""The worker that answers sign-ins and programs, so that each limit on them counts in one place."""
MOST_BYTES = 65_536
"""The longest header, as in uvicorn. The first worker answers the request if its header is longer."""
_OF_FIRST = ("/sign-in", "/sign-out", "/api/", "/mcp", "/metrics", "/v1/traces", "/healthz")
_END = re.compile(rb"\n\r?\n")
_COOKIE = re.compile(rf"(?:^|;)\s*{COOKIE}=([0-9]{{1,3}})\s*(?:;|$)")
_PAUSE = 0.02  # seconds; a client that sends its header byte by byte must not keep this process busy


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """A request, as far as its connection needs it. `size`: the bytes of its header."""

    method: str
    path: str
    worker: int | None
    accepts_html: bool
    size: int

    @property
    def is_for_first(self) -> bool:
        return is_for_first(self.path)


def is_for_first(path: str) -> bool:
    """Return True if the first worker answers all requests for this path."""
    return path.startswith(_OF_FIRST) or not path.startswith("/")


def read_worker(cookies: str) -> int | None:
    """Return the number of the worker that a Cookie header names."""
    match = _COOKIE.search(cookies)
    return int(match[1]) if match else None


async def read_first_request(connection: socket.socket) -> FirstRequest | None:
    """Wait for the header of a request; None if the client closes the connection before the header's end.

    The bytes stay in the connection, so that a worker reads the same request.
    """
    size = 0
    while True:
        await wait_until_readable(connection)
        try:
            data = connection.recv(MOST_BYTES, socket.MSG_PEEK)
        except BlockingIOError:
            continue
        if len(data) <= size:
            return None
        end = _END.search(data)
        if end or len(data) == MOST_BYTES:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            return _parse(data[: end.end() if end else MOST_BYTES])
        size = len(data)
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVLOWAT, size + 1
        )  # do not wake for the same bytes
        await asyncio.sleep(_PAUSE)


async def wait_until_readable(connection: socket.socket) -> None:
    """Wait until a socket has bytes to read, or is closed."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


def _parse(header: bytes) -> FirstRequest:
    """Return the request of a header. The first worker gets, and rejects, a request that is invalid."""
    line, *lines = header.decode("latin-1").split("\n")
    method, _, rest = line.partition(" ")
    fields: dict[str, str] = {}
    for name, colon, value in (field.partition(":") for field in lines):
        if colon:
            key = name.lower()
            fields[key] = f"{fields[key]}; {value.strip()}" if key in fields else value.strip()
    return FirstRequest(
        method,
        unquote(rest.partition(" ")[0].partition("?")[0]),  # as uvicorn reads it
        read_worker(fields.get("cookie", "")),
        "text/html" in fields.get("accept", ""),
        len(header),
    )
