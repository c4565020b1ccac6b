"""How a caller stops a load early: the `Stop` function, and the exception raised inside a file."""

from __future__ import annotations

from collections.abc import Callable

Stop = Callable[[], bool]
"""Function that returns True once the user has asked the load to stop."""


def never_stop() -> bool:
    """Return False: the `Stop` function of a load that cannot be stopped."""
    return False


class LoadCancelled(BaseException):  # not an Exception: reading a file turns those into a verdict on the file
    """The user asked the load to stop while a file was being read."""
