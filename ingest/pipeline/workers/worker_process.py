"""A worker process as seen from the load: gives it tasks, receives its messages, ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

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
from ingest.process_exit import describe_exit

AHEAD_FILES = 64  # that a worker is asked for and has not ended
_UNREAD = 64 * 1024  # bytes of tasks that may wait in the pipe; with more of them, we would wait for it
_PIPE = 512 * 1024  # bytes
_ROOT = Path(__file__).parents[3]  # from where workers import what this process has imported


class WorkerDied(Exception):  # noqa: N818 - a verdict on the file that it was at; the load goes on
    """A worker process has ended; all messages that it sent have been received."""


class WorkerProcess:
    """A child process that reads files, in the order in which they are given to it.

    `is_ready` is True once the process can read; `parcels` are the shipments received from it.
    """

    def __init__(self, start: StartMessage) -> None:
        """Start the process. Raises OSError when that fails."""
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
        self._waiting: dict[int, int] = {}  # bytes of each task that has not ended, by ticket, in order
        self._at: int | None = None
        self.is_ready = False  # to read: starting takes as long as reading some 50 MB
        self.parcels: deque[ReceivedShipment] = deque()
        self._send(start)

    @property
    def waiting_tickets(self) -> list[int]:
        """Tickets of the tasks that the worker has not ended, in order."""
        return list(self._waiting)

    @property
    def current_ticket(self) -> int | None:
        """Ticket of the task that the worker is at, or died at; None when there is none."""
        return self._at if self._at in self._waiting else None

    def give_task(self, task: ReadTask) -> bool:
        """Send a task to the worker; return True when it was accepted.

        False when the worker has `AHEAD_FILES` tasks already, or when its pipe is too full to send without
        waiting.
        """
        data = ForkingPickler.dumps(task)
        full = sum(self._waiting.values()) + len(data) > _UNREAD or len(self._waiting) >= AHEAD_FILES
        if self._waiting and full:
            return False
        self._waiting[task.ticket] = len(data)
        with suppress(OSError):  # it is dead; `receive` will tell
            self._connection.send_bytes(data)
        return True

    def receive(self, patience: float = 0.0) -> bool:
        """Receive one message; return False when none arrived within `patience` seconds.

        Shipments are appended to `parcels`. Raises WorkerDied when the worker has ended, IngestError when the
        load cannot continue.
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
            self.parcels.append(ReceivedShipment(message, self._note_taken))
        else:
            raise message.error
        return True

    def _note_taken(self, size: int) -> None:
        self._send(RowsTaken(size))

    def _send(self, message: StartMessage | RowsTaken) -> None:
        with suppress(OSError):  # it is dead; `receive` will tell
            self._connection.send(message)

    def end_process(self, patience: float = 0.0) -> str:
        """End the worker process and return how it ended, in words.

        The process is killed unless it ends by itself within `patience` seconds.
        """
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.kill()
        return describe_exit(self._process.wait())


def _start_process(descriptor: int) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ingest.pipeline.workers.worker_main", str(descriptor)],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        process_group=0,  # Ctrl-C in a terminal is for the load to answer
    )
