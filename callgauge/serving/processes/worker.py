"""Starts and restarts one worker process for the front process, and passes connections to it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

from callgauge.serving.settings import ENDS_WITH_INPUT_VARIABLE, WORKER_VARIABLE

_MOST_WAITING = 1_000  # maximum number of connections that wait because the channel is full
# seconds before a restart; the longer time applies if the process ended during its start
_PAUSE, _LONG_PAUSE = 0.5, 5.0
_STOP_PATIENCE = 7.0  # seconds; a server needs at most 5 to stop


class WorkerEndedError(Exception):
    """Raised when a worker ends before it was ready for the first time. `code` is the worker's exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"a worker has ended with {code}")
        self.code = code


class Worker:
    """A server process that is restarted when it ends.

    `command` starts the server. `ready` is set when the first process accepts connections.
    """

    def __init__(self, number: int, count: int, command: Sequence[str]) -> None:
        self.number = number
        self.ready = asyncio.Event()
        self._count = count
        self._command = command
        self._process: Process | None = None
        self._channel: socket.socket | None = None
        self._takes_connections = False
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._reported_at = time.monotonic()

    @property
    def silence(self) -> float:
        """Return the seconds since the worker last reported that its event loop is alive."""
        return time.monotonic() - self._reported_at

    @property
    def takes_connections(self) -> bool:
        return self._takes_connections and self._waiting < _MOST_WAITING

    async def run(self) -> None:
        """Start the process, and restart it each time it ends. Raises WorkerEndedError."""
        while True:
            code, was_ready = await self._run_once()
            if not self.ready.is_set():
                raise WorkerEndedError(code)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            print(f"callgauge: worker {self.number} {how} and starts again", file=sys.stderr, flush=True)
            await asyncio.sleep(_PAUSE if was_ready else _LONG_PAUSE)

    async def hand_over(self, connection: socket.socket) -> bool:
        """Pass a connection to the process. Return False if the process cannot accept a connection now."""
        if not self.takes_connections:
            return False
        self._waiting += 1
        try:
            async with self._turn:
                return await self._send(connection)
        finally:
            self._waiting -= 1

    async def stop(self) -> None:
        """Stop the process, and wait until it has ended."""
        if self._process is None or self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_PATIENCE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _run_once(self) -> tuple[int, bool]:
        """Start a process and wait until it ends. Return the exit code, and whether the process accepted
        connections.
        """
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            place = f"{self.number} {self._count} {theirs.fileno()}"
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, WORKER_VARIABLE: place, ENDS_WITH_INPUT_VARIABLE: "yes"},
                stdin=PIPE,  # closes when this process ends for any reason
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # this process handles Ctrl-C in a terminal
            )
            theirs.close()
            self._channel = ours
            asyncio.get_running_loop().add_reader(ours, self._read_reports, ours)
            try:
                code = await self._process.wait()
                return code, self._takes_connections
            finally:
                self._takes_connections, self._channel = False, None
                asyncio.get_running_loop().remove_reader(ours)

    def _read_reports(self, channel: socket.socket) -> None:
        try:
            has_reported = bool(channel.recv(1_000))
        except OSError:
            has_reported = False
        if not has_reported:  # an empty report means that the process ends
            asyncio.get_running_loop().remove_reader(channel)
            return
        self._reported_at, self._takes_connections = time.monotonic(), True
        self.ready.set()

    async def _send(self, connection: socket.socket) -> bool:
        while self._takes_connections and self._channel is not None:
            try:
                socket.send_fds(self._channel, [b"."], [connection.fileno()])
            except BlockingIOError:  # the worker is busy
                await asyncio.sleep(0.01)
            except OSError:  # the process has ended
                return False
            else:
                return True
        return False
