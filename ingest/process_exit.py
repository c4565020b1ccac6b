"""Says in words how a child process ended."""

from __future__ import annotations

import signal


def describe_exit(code: int) -> str:
    """Return how a process ended, by its return code as `subprocess` gives it: a signal's is negative."""
    if code == -signal.SIGKILL:
        return "killed; when memory runs out, the system does so"
    return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"
