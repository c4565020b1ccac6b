"""Reads the header of a connection's first request, but leaves its bytes in the socket."""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from urllib.parse import unquote

COOKIE = "callgauge_worker"
"""The cookie with the number of a browser's worker. Only this worker has the state of the browser's pages."""
FIRST = 1
"""The worker that answers sign-ins and programs, so that one process counts them for limits."""
MOST_BYTES = 65_536
"""The maximum size of a header in bytes, as in uvicorn. Longer requests go to the first worker."""
_OF_FIRST = ("/sign-in", "/sign-out", "/api/", "/mcp", "/metrics", "/v1/traces", "/healthz")
_END = re.compile(rb"\n\r?\n")
_COOKIE = re.compile(rf"(?:^|;)\s*{COOKIE}=([0-9]{{1,3}})\s*(?:;|$)")
_PAUSE = 0.02  # seconds between two reads; a slow client must not keep this process busy


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """The fields of a request that the front process needs. `size` is the header's length in bytes."""

    method: str
    path: str
    worker: int | None
    accepts_html: bool
    size: int

    @property
    def is_for_first(self) -> bool:
        return is_for_first(self.path)


def is_for_first(path: str) -> bool:
    """Return True if only the first worker answers requests for this URL path."""
    return path.startswith(_OF_FIRST) or not path.startswith("/")


def read_worker(cookies: str) -> int | None:
    """Return the number of the worker in a Cookie header. Return None if the header has no such number."""
    match = _COOKIE.search(cookies)
    return int(match[1]) if match else None


async def read_first_request(connection: socket.socket) -> FirstRequest | None:
    """Wait for a request's header, and return the request. Return None if the client disconnects first.

    The bytes stay in the socket, so that a worker can read them.
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
        )  # do not wake up again for the same bytes
        await asyncio.sleep(_PAUSE)


async def wait_until_readable(connection: socket.socket) -> None:
    """Wait until a socket has bytes to read or is closed."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


def _parse(header: bytes) -> FirstRequest:
    """Return the request that a header describes. An invalid request goes to the first worker, which rejects
    it.
    """
    line, *lines = header.decode("latin-1").split("\n")
    method, _, rest = line.partition(" ")
    fields: dict[str, str] = {}
    for name, colon, value in (field.partition(":") for field in lines):
        if colon:
            key = name.lower()
            fields[key] = f"{fields[key]}; {value.strip()}" if key in fields else value.strip()
    return FirstRequest(
        method,
        unquote(rest.partition(" ")[0].partition("?")[0]),  # uvicorn decodes the path in the same way
        read_worker(fields.get("cookie", "")),
        "text/html" in fields.get("accept", ""),
        len(header),
    )
