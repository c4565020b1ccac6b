"""Reduces the memory and threads of processes that load logs. Describes how a process ended."""

from __future__ import annotations

import os
import signal
import sys

# Arrow starts a thread for jemalloc even if it is not used. NumPy starts one thread per core.
_NO_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false", "OPENBLAS_NUM_THREADS": "1"}

_KILLED = 9  # the number of SIGKILL; Windows has no such constant


def leave_threads_out() -> None:
    """Keep libraries from starting threads on import, in this process and its child processes.

    Only a process with one thread can be forked safely. Libraries that are already imported are not affected.
    Environment variables that are already set are not changed.
    """
    for name, value in _NO_THREADS.items():
        os.environ.setdefault(name, value)


def leave_pandas_out() -> None:
    """Make every later import of pandas in this process fail.

    If pandas is installed, Arrow and DuckDB import it, which costs 40 MB and a quarter of a second.
    """
    if not any(isinstance(finder, PandasBlocker) for finder in sys.meta_path):
        sys.meta_path.insert(0, PandasBlocker())


def let_pandas_in() -> None:
    """Undo `leave_pandas_out`, for a command that computes the metrics of the dashboard pages."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, PandasBlocker)]


class PandasBlocker:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError(name)


def describe_exit(code: int) -> str:
    """Return a phrase that says how a process ended.

    `code` is the return code from `subprocess`, negative for a signal.
    """
    if code == -_KILLED:
        return "killed; when memory runs out, the system does so"
    return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"
