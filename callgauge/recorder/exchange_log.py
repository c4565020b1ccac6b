"""Writes recorded exchanges into files, one an hour, in a thread of its own.

The log must never break an agent: while it cannot be written (a full disk) exchanges pass and are lost to it;
that is said once, and again when it goes on.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from callgauge.recorder.exchange import PassingExchange

_LOG = logging.getLogger("callgauge.Recorder")
_WAITING = 10_000  # exchanges that may wait for the disk; their bodies are bounded by `Memory`


class ExchangeLog:
    """The files of one recorder in a folder: `2026-11-24T19Z.8788.jsonl`, by UTC hours.

    `name` tells recorders that share a folder apart. Files are readable for their owner only: they hold what
    people and models said. `free` is called with each exchange once nothing of it is needed any more.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        free: Callable[[PassingExchange], None] = lambda _exchange: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.folder = folder
        self.written = 0
        self.lost = 0
        self._name = name
        self._free = free
        self._now = now
        self._is_failing = False
        self._waiting: queue.Queue[PassingExchange | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._write_all, name="callgauge-recorder", daemon=True)

    def open(self) -> None:
        """Make the folder and begin to write. Raises OSError when the folder cannot be written to."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13), str(self.folder))
        self._thread.start()

    def take(self, exchange: PassingExchange) -> None:
        """Write an exchange soon; never waits. Called from the thread of the proxy."""
        try:
            self._waiting.put_nowait(exchange)
        except queue.Full:
            self._note_loss("the disk is too slow")
            self._free(exchange)

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (exchange := self._waiting.get()) is not None:
            try:
                self._write(exchange.to_line())
            except OSError as error:
                self._note_loss(error.strerror or str(error))
            except Exception as error:  # a line that cannot be made must not end the log
                self._note_loss(f"{type(error).__name__}: {error}")
            else:
                self.written += 1
                if self._is_failing:
                    self._is_failing = False
                    _LOG.warning("Recording goes on. %s", self._count_lost())
            finally:
                self._free(exchange)

    def _write(self, line: bytes) -> None:
        """Append a line whole, or not at all."""
        path = self.folder / f"{self._now():%Y-%m-%dT%HZ}.{self._name}.jsonl"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            end = os.fstat(file).st_size
            view = memoryview(line)
            try:
                while view:
                    view = view[os.write(file, view) :]
            except OSError:
                os.ftruncate(file, end)
                raise
        finally:
            os.close(file)

    def _note_loss(self, why: str) -> None:
        self.lost += 1
        if not self._is_failing:
            self._is_failing = True
            _LOG.warning(
                "Not recorded: %s (%s). Requests still pass; free the disk or name another folder.",
                why,
                self.folder,
            )

    def _count_lost(self) -> str:
        return f"{self.lost:,} exchange{'s were' if self.lost > 1 else ' was'} not recorded."
