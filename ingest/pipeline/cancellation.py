"""How a load is asked to end before its time, and how it leaves the file at work then."""

from __future__ import annotations

from collections.abc import Callable

Stop = Callable[[], bool]
"""True once somebody asked for an end."""


def never_stop() -> bool:
    """The `Stop` of a load that nobody interrupts."""
    return False


class LoadCancelled(BaseException):  # not an Exception: reading a file turns those into a verdict on the file
    """Somebody asked for an end while a file was read."""
