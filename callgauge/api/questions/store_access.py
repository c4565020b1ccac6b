"""Opens the newest published store file for programs, and limits the time of their questions.

All programs share the opened file. Each question is answered in a thread. Only a few questions are answered
at the same time, and only a few may wait. A question is interrupted when it takes too long or the client has
disconnected. No query stays open between questions, so the store file can be replaced at any time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

import anyio
import anyio.to_thread

from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import (
    Connection,
    NothingLoadedError,
    StoreReader,
    UnshownStoreError,
    open_generation,
    published_generation,
)
from callgauge.api.questions.problems import ProblemError
from callgauge.serving.settings import texts_are_shown

SECONDS = 20.0
"""The maximum duration of one question, in seconds."""
AT_ONCE, WAITING = 3, 12
_BETWEEN = 0.05  # The pause between two interruptions, in seconds.
_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_Identity = tuple[str, int, int]


class _Interruptible:
    """A database connection whose queries another thread can interrupt."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cursors: list[Connection] = []
        self._lock = threading.Lock()
        self.is_interrupted = False

    def cursor(self) -> Connection:
        with self._lock:
            if self.is_interrupted:
                raise ProblemError(504, "The question was stopped.")
            self._cursors.append(self._connection.cursor())
            return self._cursors[-1]

    def interrupt(self) -> None:
        with self._lock:
            self.is_interrupted = True
            for cursor in self._cursors:
                cursor.interrupt()


@dataclass(slots=True)
class StoreAccess:
    """The metrics of one published store file. `connection` is the DuckDB connection to the file."""

    folder: Path
    reader: StoreReader
    connection: Connection

    @property
    def generation(self) -> str:
        """The name of the published store file, such as gen-000012."""
        return self.reader.path.stem


@dataclass(slots=True)
class _Opened:
    connection: Connection
    users: int = 0


@dataclass(slots=True)
class SharedStore:
    """The store that all programs share. `seconds` is the time limit for one question."""

    folder: Path | None
    seconds: float = SECONDS
    _opened: dict[_Identity, _Opened] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open_questions: int = 0
    _limiter: anyio.CapacityLimiter | None = None

    async def answer(
        self,
        question: Callable[[StoreAccess], _T],
        wait_until_left: Callable[[], Awaitable[None]] | None = None,
    ) -> _T:
        """Answer a question in a thread, and return the answer. Raises ProblemError.

        `wait_until_left` returns when the client has disconnected.
        """
        if self._open_questions >= AT_ONCE + WAITING:
            raise ProblemError(503, "Many questions are waiting already: ask again in some seconds.")
        self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
        self._open_questions += 1
        try:
            async with self._limiter:
                return await self._run(question, wait_until_left)
        finally:
            self._open_questions -= 1

    async def _run(
        self,
        question: Callable[[StoreAccess], _T],
        wait_until_left: Callable[[], Awaitable[None]] | None,
    ) -> _T:
        running: list[_Interruptible] = []
        stopped, finished = threading.Event(), threading.Event()

        def run() -> _T | Exception:
            try:
                with self._lease() as (path, connection):
                    guarded = _Interruptible(connection)
                    running.append(guarded)
                    as_connection = cast("Connection", guarded)
                    folder = self.folder or path.parent
                    return question(StoreAccess(folder, StoreReader(as_connection, path), as_connection))
            except MetricError as problem:
                return ProblemError(500, str(problem))
            # The caller raises the exception, because the task group would wrap it.
            except Exception as problem:
                return problem
            finally:
                finished.set()

        def interrupt() -> None:
            # Repeat the interruption, because it has no effect before a query starts.
            while not finished.wait(_BETWEEN):
                for connection in running:
                    connection.interrupt()

        async def stop_when(reached: Callable[[], Awaitable[None]]) -> None:
            try:
                await reached()
            finally:  # This also runs at shutdown, because the server waits for its threads.
                if not finished.is_set():
                    stopped.set()
                    threading.Thread(target=interrupt, daemon=True).start()

        async with anyio.create_task_group() as group:
            group.start_soon(stop_when, lambda: anyio.sleep(self.seconds))
            if wait_until_left is not None:
                group.start_soon(stop_when, wait_until_left)
            outcome = await anyio.to_thread.run_sync(run)
            group.cancel_scope.cancel()
        if stopped.is_set():
            raise ProblemError(
                504, f"Stopped after {self.seconds:g} seconds. Narrow it: fewer days, one model, fewer rows."
            )
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    @contextmanager
    def _lease(self) -> Iterator[tuple[Path, Connection]]:
        try:
            path = published_generation(str(self.folder) if self.folder else None)
            status = path.stat()
            identity = (str(path), status.st_ino, status.st_mtime_ns)
            with self._lock:
                if identity not in self._opened:
                    self._opened[identity] = _Opened(open_generation(path, texts=texts_are_shown()))
                opened = self._opened[identity]
                opened.users += 1
        except NothingLoadedError:
            raise ProblemError(503, "Nothing has been loaded yet: `callgauge ingest` does.") from None
        except (UnshownStoreError, OSError) as problem:
            # The message contains local paths, so it is not sent over the network.
            _LOG.warning("Programs cannot read the store: %s", problem)
            raise ProblemError(
                503, "The store cannot be read at the moment; the server's log has the reason."
            ) from None
        try:
            yield path, opened.connection
        finally:
            with self._lock:
                opened.users -= 1
                if not opened.users:
                    del self._opened[identity]
                    opened.connection.close()
