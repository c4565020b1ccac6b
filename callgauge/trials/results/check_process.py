"""Runs users' check functions in a separate process, and kills the process when a check takes too long."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from callgauge.trials.results import check_worker
from callgauge.trials.results.check_worker import Result, read_frame, write_frame

_START_SECONDS = 60.0


class CheckProcess:
    """A process that runs checks. It starts with the first check, and again if it has ended.

    Modules of checks are imported from `folder` first. Thread-safe.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, question: str, named: str, *arguments: Any, seconds: float) -> Result:
        """Return the result of a check. If the check has no result, return None and the reason.

        `named` is the name of the check function, or the regular expression. After `seconds` the check is
        killed.
        """
        try:
            request = pickle.dumps((question, named, *arguments))
        # The turn can hold any object, because a tool may add one to the metadata of its result.
        except Exception as problem:
            return None, f"{named} cannot be given this turn: {problem}"
        with self._lock:
            try:
                process = self._process or self._start()
                reply = _exchange(process, request, seconds)
            except TimeoutError:
                self._end()
                return None, f"{named} did not answer within {seconds:g} seconds"
            except (OSError, EOFError):
                return None, f"{named} ended its process: exit code {self._end()}"
        result: Result = pickle.loads(reply)  # noqa: S301 - written by our own process
        return result

    def close(self) -> None:
        """End the process if it is running."""
        with self._lock:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [sys.executable, "-m", check_worker.__name__, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            process_group=0,  # Ctrl-C in a terminal must reach only the main process.
        )
        _exchange(self._process, None, _START_SECONDS)
        return self._process

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        with process:  # Leaving the block closes the pipes of the process.
            return process.wait()


def _exchange(process: subprocess.Popen[bytes], request: bytes | None, seconds: float) -> bytes:
    """Send a request, if there is one, and return the answer. Raises TimeoutError, OSError, EOFError.

    A timer kills the process after `seconds`.
    """
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        if request is not None and process.stdin is not None:
            write_frame(process.stdin, request)
        return read_frame(process.stdout) if process.stdout is not None else b""
    except (OSError, EOFError):
        if is_late.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
