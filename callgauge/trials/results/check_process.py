"""Asks a process of its own what people's checks say, and ends it where it does not answer in time."""

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
    """A process for checks, started when it is first asked, and again after it ended.

    `folder` is where modules of checks are looked for first. Several threads may use it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, question: str, named: str, *arguments: Any, seconds: float) -> Result:
        """Return what a check says: True or False, or None with the reason where it says nothing.

        `named` is the function or the pattern. A check that has not answered after `seconds` is ended.
        """
        try:
            request = pickle.dumps((question, named, *arguments))
        except Exception as problem:  # a tool may have put anything into its metadata
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
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [sys.executable, "-m", check_worker.__name__, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            process_group=0,  # Ctrl-C in a terminal is for the run to answer
        )
        _exchange(self._process, None, _START_SECONDS)
        return self._process

    def _end(self) -> int | None:
        """Kill the process and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        with process:  # closes its pipes
            return process.wait()


def _exchange(process: subprocess.Popen[bytes], request: bytes | None, seconds: float) -> bytes:
    """Write what is asked, if anything, and return the answer. Raises TimeoutError, OSError, EOFError.

    The process is killed after `seconds`, which ends the waiting.
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
