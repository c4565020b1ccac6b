"""Runs the front process of `callgauge serve`, which passes each new connection to a worker.

The front process reads the header of the first request, but leaves the bytes in the socket. It answers
`/healthz/live` itself, so that no page can delay the response. It restarts workers that end, and ends all
workers when it ends.

Arguments: ADDRESS PORT WORKERS COMMAND...
"""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from callgauge.serving.connections import WaitingConnections, raise_file_limit
from callgauge.serving.processes.first_request import FirstRequest, read_first_request
from callgauge.serving.processes.server_child import bind_port
from callgauge.serving.processes.worker import Worker, WorkerEndedError
from callgauge.serving.settings import ALIVE

_LONGEST_SILENCE = 60.0  # seconds without a report; a worker reports each second unless it is busy
_BACKLOG = 2_048
_NO_FILES = 0.1  # seconds until the next attempt when the limit of open files is reached
_UNAVAILABLE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<title>Callgauge restarts</title><h1>The dashboard restarts</h1>
<p>This page loads again by itself in a few seconds.</p></html>
"""


class FrontProcess:
    """Passes the connections of a listening socket to workers.

    A browser with a worker cookie stays with that worker. Other browsers are assigned to the workers in turn.
    """

    def __init__(self, listening: socket.socket, workers: Sequence[Worker]) -> None:
        self._listening = listening
        self._workers = workers
        self._turns = itertools.cycle(workers)
        most = max(64, min(raise_file_limit() // 4, 1_000))
        self._arrivals = WaitingConnections(most, each=most // 2)
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self) -> None:
        """Accept connections, until this task is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(self._listening)
            except OSError:
                await asyncio.sleep(_NO_FILES)
                continue
            task = asyncio.create_task(self._route(connection, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _route(self, connection: socket.socket, address: Any) -> None:
        with connection, suppress(OSError):  # OSError: the client has closed the connection
            arrival = _Arrival(address, asyncio.current_task())
            self._arrivals.begin(arrival)
            try:
                request = await read_first_request(connection)
            finally:
                self._arrivals.end(arrival)
            if request is None:
                return
            if request.path == ALIVE and request.method in ("GET", "HEAD"):
                await self._answer_alive(connection, request)
            elif not await self._choose(request).hand_over(connection):
                await _answer(connection, request, 503, "text/html; charset=utf-8", _UNAVAILABLE)

    def _choose(self, request: FirstRequest) -> Worker:
        if request.is_for_first:
            return self._workers[0]
        if request.worker is not None and 1 <= request.worker <= len(self._workers):
            return self._workers[request.worker - 1]
        if request.accepts_html:
            following = itertools.islice(self._turns, len(self._workers))
            return next((worker for worker in following if worker.takes_connections), self._workers[0])
        return self._workers[0]

    async def _answer_alive(self, connection: socket.socket, request: FirstRequest) -> None:
        silent = next((worker for worker in self._workers if worker.silence > _LONGEST_SILENCE), None)
        answer = {"status": "ok"}
        if silent is not None:
            reason = f"worker {silent.number} has not responded for {silent.silence:.0f} seconds"
            answer = {"status": "unhealthy", "reason": reason}
        await _answer(connection, request, 503 if silent else 200, "application/json", json.dumps(answer))


class _Arrival:
    """A new connection whose request header is not complete. `WaitingConnections` may close it."""

    def __init__(self, address: Any, task: asyncio.Task[Any] | None) -> None:
        self._address = address
        self._task = task

    def get_extra_info(self, _name: str) -> Any:
        """Return the client's address and port."""
        return self._address

    def abort(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()


async def _answer(
    connection: socket.socket, request: FirstRequest, status: int, media_type: str, text: str
) -> None:
    body = text.encode()
    header = [
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Service Unavailable'}",
        f"content-type: {media_type}",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        *(["retry-after: 3"] if status != 200 else []),
        "connection: close",
    ]
    connection.recv(request.size)  # if unread bytes remain, closing the connection could lose the answer
    answer = "\r\n".join([*header, "", ""]).encode() + (b"" if request.method == "HEAD" else body)
    await asyncio.get_running_loop().sock_sendall(connection, answer)
    connection.shutdown(socket.SHUT_WR)


async def run(address: str, port: int, count: int, command: Sequence[str]) -> int:
    """Serve until a signal arrives, and return the exit code."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for stop_signal in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(stop_signal, stopped.set)
    try:
        listening = bind_port(address, port)
        listening.setblocking(False)
    except OSError as refused:
        print(f"callgauge: cannot listen on {address}:{port}: {refused.strerror}", file=sys.stderr)
        return 1
    with listening:
        workers = [Worker(number, count, command) for number in range(1, count + 1)]
        front = FrontProcess(listening, workers)

        async def serve() -> None:
            for worker in workers:
                await worker.ready.wait()
            listening.listen(_BACKLOG)
            await front.accept()

        running = [asyncio.create_task(work) for work in (serve(), *(worker.run() for worker in workers))]
        stopping = asyncio.create_task(stopped.wait())
        done, _ = await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
        for task in (*running, stopping):
            task.cancel()
    await asyncio.gather(*(worker.stop() for worker in workers))
    for task in done - {stopping}:
        problem = task.exception()
        if isinstance(problem, WorkerEndedError):
            return max(problem.code, 1)
        if problem is not None:
            raise problem
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
