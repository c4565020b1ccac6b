"""Receives connections that the front process passes to a worker. Reports that the worker is alive."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callgauge.serving.processes.first_request import COOKIE, is_for_first, read_worker
from callgauge.serving.settings import WORKER_VARIABLE, sign_in_from_environment

_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class WorkerPlace(NamedTuple):
    """The number of this worker, the number of all workers, and the file descriptor of its channel."""

    number: int
    total: int
    channel: int


def worker_place() -> WorkerPlace | None:
    """Return the WorkerPlace of this process. Return None if it is not a worker of a front process."""
    place = os.environ.get(WORKER_VARIABLE)
    return WorkerPlace(*map(int, place.split())) if place else None


class HandedConnections:
    """Receives the connections that the front process accepted.

    `channel` is a Unix socket to the front process. `make_protocol` creates the protocol of a new connection.
    """

    def __init__(self, channel: socket.socket, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        self._channel = channel
        self._make_protocol = make_protocol
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        self._channel.setblocking(False)
        asyncio.get_running_loop().add_reader(self._channel, self._take)

    def end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._channel)

    async def report(self) -> None:
        """Tell the front process that this worker's event loop is alive."""
        with suppress(OSError):  # the front process is busy, or has ended
            self._channel.send(b".")

    def _take(self) -> None:
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1, _CLOSE_ON_EXEC)
            except BlockingIOError:
                return
            except OSError:  # the front process has ended without reading all reports
                data, descriptors = b"", []
            if not data:  # the front process has ended; then standard input closes, and so this process ends
                self.end()
                return
            for descriptor in descriptors:
                task = asyncio.create_task(self._connect(socket.socket(fileno=descriptor)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _connect(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._make_protocol, connection)
        except OSError:  # the client has closed the connection
            connection.close()


class WorkerAnswers:
    """Closes each connection after one response, and sets the cookie that binds a browser to this worker.

    A proxy may send requests of several browsers over one connection. The front process reads only the first
    request of a connection, so each request needs its own connection.
    """

    def __init__(self, app: ASGIApp, number: int) -> None:
        self._app = app
        self._number = number
        is_secure = (sign_in_from_environment().address or "").startswith("https:")
        self._cookie = f"{COOKIE}={number}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if is_secure else ''}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_new = (
            "text/html" in headers.get("accept", "")
            and not is_for_first(scope["path"])
            and read_worker(headers.get("cookie", "")) != self._number
        )

        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(raw=list(message.get("headers", ())))
                answered["connection"] = "close"
                if is_new:
                    answered.append("set-cookie", self._cookie)
                message = {**message, "headers": answered.raw}
            await send(message)

        await self._app(scope, receive, send_and_close)
