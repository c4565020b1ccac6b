"""Run a command whose model requests are recorded. Pass signals to the command, and return its exit code."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from callgauge.cli import render
from callgauge.cli.render.terminal import handle_signals

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127  # Shells use these exit codes.
_SIGNALED = 128
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


def check_command(command: Sequence[str]) -> None:
    """Exit with a message if the program does not exist."""
    if shutil.which(command[0]) is None:
        is_file = Path(command[0]).is_file()
        reason = "the file is not executable" if is_file else "command not found"
        render.fail(f"{command[0]}: {reason}", _NOT_EXECUTABLE if is_file else _NOT_FOUND)


@contextmanager
def serve_in_thread(run: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Serve in a thread during the `with` block. At the end of the block, wait for the current requests."""
    thread = threading.Thread(target=run, name="callgauge-recorder-server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join()


def run_command(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command with these environment variables. Return its exit code, or 128 plus its signal."""
    passed_on = _PassedSignals()
    with handle_signals(_PASSED_ON, passed_on):
        try:
            child = subprocess.Popen(command, env={**os.environ, **variables})
        except OSError as problem:
            render.fail(f"{command[0]}: {problem.strerror or problem}", _NOT_EXECUTABLE)
        passed_on.pass_to(child)
        code = child.wait()
    return code if code >= 0 else _SIGNALED - code


class _PassedSignals:
    """Passes signals of this process to a child process.

    A signal that the terminal sends to both processes is not passed. A signal that arrives before the child
    has started is passed afterwards.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGINT, getattr(signal, "SIGQUIT", None)) and _is_in_foreground():
            return
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def pass_to(self, child: subprocess.Popen[bytes]) -> None:
        """Send all later signals to this child process. Also send the signals that have already arrived."""
        self._child = child
        for number in self._early:
            child.send_signal(number)


def _is_in_foreground() -> bool:
    """Return True when the terminal sends signals to this process and its children."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def load_recorded(log: Path, store: Path) -> int:
    """Load the recorded log into a store. Return the exit code of `callgauge ingest`."""
    command = [sys.executable, "-m", "callgauge", "ingest", str(log), "--store", str(store)]
    return subprocess.run(command, check=False).returncode
