"""Executes a function in a forked child process, which SIGKILL ends at a chosen durable write."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path


def forked(work: Callable[[], object]) -> int:
    """Call `work` in a child process. Return 0, or the number of the signal that ended the process.

    DuckDB may be used only in child processes.
    """
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"a child failed with {os.WEXITSTATUS(status)}")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


THOROUGH = os.environ.get("PROPERTIES") == "thorough"
"""Thorough runs kill at the first two and the last write of each kind. Ordinary runs kill at the middle."""


def dying_at(number: int, log: Path) -> Callable[[str], None]:
    steps = 0

    def on_write(step: str) -> None:
        nonlocal steps
        steps += 1
        if steps == number:
            log.write_text(step)
            os.kill(os.getpid(), signal.SIGKILL)

    return on_write
