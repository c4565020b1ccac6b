"""Describes in words how a child process ended."""

from __future__ import annotations

import signal


def describe_exit(code: int) -> str:
    """Return in words how a process ended.

    `code` is the return code as `subprocess` gives it: negative for a signal.
    """
    if code == -signal.SIGKILL:
        return "killed; when memory runs out, the system does so"
    return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"
