"""Controls a worker process: sends tasks to it, receives its messages, and ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ingest.pipeline.workers import worker_main
from ingest.pipeline.workers.messages import (
    FromWorker,
    ReadTask,
    RowsTaken,
    Shipment,
    StartMessage,
    TaskBegun,
    TaskEnded,
)
from ingest.pipeline.workers.results import ReceivedShipment
from ingest.processes import describe_exit

AHEAD_FILES = 64  # largest number of unfinished tasks that are sent to a worker
# bytes of tasks that may wait in the pipe to a worker; with more bytes, sending could block
_UNREAD = 64 * 1024
_PIPE = 512 * 1024
_ROOT = Path(__file__).parents[3]  # the folder from which workers import this code


class WorkerDied(Exception):  # noqa: N818 - a verdict on the file that it was at; the load goes on
    """A worker process has ended, and all its messages have been received."""


class WorkerProcess:
    """A child process that reads files in the order of its tasks.

    `is_ready` is True as soon as the process can read files. `parcels` are the shipments received from
    it.
    """

    def __init__(self) -> None:
        """Start the process, which then waits for `send_start`. Raises OSError when the start fails."""
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIPE)
        with theirs:
            try:
                self._process = _start_process(theirs.fileno())
            except BaseException:
                ours.close()
                raise
        self._connection = Connection(ours.detach())
        self._waiting: dict[int, int] = {}  # ticket of each unfinished task → its size in bytes, in order
        self._at: int | None = None
        # without a fork, the start of the process takes as long as reading 50 MB
        self.is_ready = False
        self.parcels: deque[ReceivedShipment] = deque()

    def send_start(self, start: StartMessage) -> None:
        self._send(start)

    @property
    def waiting_tickets(self) -> list[int]:
        """Tickets of the tasks that the worker has not finished, in order."""
        return list(self._waiting)

    @property
    def current_ticket(self) -> int | None:
        """The ticket of the task in progress, or of the task during which the worker died. None if there is
        no task.
        """
        return self._at if self._at in self._waiting else None

    def give_task(self, task: ReadTask) -> bool:
        """Send a task to the worker. Return True when the worker accepts it.

        Return False when the worker already has `AHEAD_FILES` tasks. Also return False when sending would
        block because the pipe to the worker is full.
        """
        data = ForkingPickler.dumps(task)
        full = sum(self._waiting.values()) + len(data) > _UNREAD or len(self._waiting) >= AHEAD_FILES
        if self._waiting and full:
            return False
        self._waiting[task.ticket] = len(data)
        with suppress(OSError):  # the process is dead; `receive` will report this
            self._connection.send_bytes(data)
        return True

    def receive(self, patience: float = 0.0) -> bool:
        """Receive one message. Return False when no message arrived within `patience` seconds.

        Shipments are appended to `parcels`. Raises WorkerDied when the worker has ended. Raises IngestError
        when the load cannot continue.
        """
        try:
            if not self._connection.poll(patience):
                return False
            message: FromWorker = self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied from error
        if isinstance(message, TaskBegun):
            self._at, self.is_ready = message.ticket, True
        elif isinstance(message, Shipment):
            for part in message.parts:
                if isinstance(part, TaskEnded):
                    self._waiting.pop(part.ticket, None)
            self.parcels.append(ReceivedShipment(message, pa.memory_map, self._note_taken))
        else:
            raise message.error
        return True

    def _note_taken(self, shipment: Shipment) -> None:
        if shipment.file is not None:
            with suppress(OSError):
                Path(shipment.file).unlink()
            self._send(RowsTaken(shipment.size))

    def _send(self, message: StartMessage | RowsTaken) -> None:
        with suppress(OSError):  # the process is dead; `receive` will report this
            self._connection.send(message)

    def end_process(self, patience: float = 0.0) -> str:
        """End the worker process. Return a phrase that says how the process ended.

        The process is killed unless it ends by itself within `patience` seconds.
        """
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.kill()
        return describe_exit(self._process.wait())


class _Process(Protocol):
    """The methods and attributes of `subprocess.Popen` that are used here."""

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


class ForkedProcess:
    """A worker process that is forked from this process, so it need not import any module again."""

    def __init__(self, descriptor: int) -> None:
        """Fork the process. Raises OSError when the fork fails."""
        self._code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            worker_main.run_forked(descriptor)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended. Return its exit code, which is negative for a signal.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        began = time.monotonic()
        while self._code is None:
            ended, status = os.waitpid(self.pid, 0 if timeout is None else os.WNOHANG)
            if ended:
                self._code = os.waitstatus_to_exitcode(status)
            elif timeout is not None and time.monotonic() - began >= timeout:
                raise subprocess.TimeoutExpired("worker", timeout)
            else:
                time.sleep(0.01)
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def _start_process(descriptor: int) -> _Process:
    return ForkedProcess(descriptor) if can_fork() else _start_program(descriptor)


def can_fork() -> bool:
    """Return True when this process can be forked safely: on Linux, when it has only one thread."""
    if not hasattr(os, "fork"):
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - of a thread that ends, no path is left
    except OSError:
        return False


def _start_program(descriptor: int) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ingest.pipeline.workers.worker_main", str(descriptor)],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        process_group=0,  # Ctrl-C in a terminal must reach only the load
    )
