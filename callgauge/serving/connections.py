"""Closes idle connections, so that nobody can block the server by opening many connections.

A connection is idle until the header of a request has arrived, and again after each response. The server
closes a connection that is idle for too long. If too many connections are idle, the server closes the one
that has been idle longest.

The server also closes a connection whose client hardly reads the response, because unread responses use
memory.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from typing import Any, Protocol

WAITING_SECONDS = 15.0
READING_SECONDS = 30.0
"""After this time a client must have read `_LEAST_BYTES` of the bytes that wait for it."""
_LEAST_BYTES = 30_000
_MOST_FILES = 65_536
_USUAL_FILES = 1_024


def raise_file_limit() -> int:
    """Raise this process's limit of open files to the hard limit. Return the new limit."""
    try:
        import resource
    except ImportError:  # this module is missing on Windows
        return _USUAL_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


class Waiting(Protocol):
    """Protocol of a connection that can be closed, such as `asyncio.Transport`."""

    def get_extra_info(self, name: str, /) -> Any: ...
    def abort(self) -> None: ...


class WaitingConnections:
    """Keeps the connections that wait for a request, in the order of their arrival.

    At most `most` connections may wait. At most `each` connections with the same address may wait. A
    connection that waits for more than `seconds` is closed.
    """

    def __init__(self, most: int, each: int, seconds: float = WAITING_SECONDS) -> None:
        self._most = most
        self._each = each
        self._seconds = seconds
        self._waiting: OrderedDict[Waiting, tuple[str, asyncio.TimerHandle]] = OrderedDict()
        self._of_address: Counter[str] = Counter()

    def begin(self, transport: Waiting) -> None:
        """Count a connection as waiting. If too many connections wait, close the oldest of them."""
        if transport in self._waiting:
            return
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if self._of_address[address] >= self._each:
            self._close(next(waiting for waiting, (other, _) in self._waiting.items() if other == address))
        elif len(self._waiting) >= self._most:
            self._close(next(iter(self._waiting)))
        timer = asyncio.get_running_loop().call_later(self._seconds, self._close, transport)
        self._waiting[transport] = address, timer
        self._of_address[address] += 1

    def end(self, transport: Waiting) -> None:
        """Stop counting a connection as waiting. Call this when a request has arrived or the connection is
        closed.
        """
        entry = self._waiting.pop(transport, None)
        if entry is not None:
            address, timer = entry
            timer.cancel()
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]

    def _close(self, transport: Waiting) -> None:
        self.end(transport)
        transport.abort()


def guard_connections(protocol: type[Any], waiting: WaitingConnections) -> type[Any]:
    """Return a subclass of uvicorn's HTTP protocol that closes idle connections and slow readers."""

    class GuardedProtocol(protocol):  # type: ignore[misc]  # made at run time, for h11 and httptools
        slow_reader: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            waiting.begin(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            transport = self.transport
            is_asked = self.cycle is not None and not self.cycle.response_complete
            # the protocol changes when a connection becomes a websocket
            if is_asked or transport.is_closing() or transport.get_protocol() is not self:
                waiting.end(transport)
            else:
                waiting.begin(transport)

        def pause_writing(self) -> None:
            super().pause_writing()
            self.check_reader(None)

        def resume_writing(self) -> None:
            super().resume_writing()
            self.forget_reader()

        def check_reader(self, before: int | None) -> None:
            """Close the connection if its client has read too little of the response since the last check.
            `before` is the number of unread bytes at the last check.
            """
            left = self.transport.get_write_buffer_size()
            if before is not None and before - left < _LEAST_BYTES:
                self.transport.abort()
            else:
                loop = asyncio.get_running_loop()
                self.slow_reader = loop.call_later(READING_SECONDS, self.check_reader, left)

        def forget_reader(self) -> None:
            if self.slow_reader is not None:
                self.slow_reader.cancel()

        def connection_lost(self, exc: Exception | None) -> None:
            self.forget_reader()
            waiting.end(self.transport)
            super().connection_lost(exc)

    return GuardedProtocol
