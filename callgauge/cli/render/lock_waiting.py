"""Waits for a store that another load has locked, and gives up after a time limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from callgauge.cli.render.printable import escape_for_terminal

_BETWEEN = 0.25  # seconds between two looks at the lock


def make_patience(
    at_most: float | None = None,
    *,
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[str], bool]:
    """Return a function that waits before the next attempt to lock a store.

    It is called with a sentence on who holds the lock, and prints the sentence the first time. It returns
    True after a short pause, False when `at_most` seconds have passed (None = no limit) or `stopped()`
    returns True.
    """
    began: list[float] = []

    def patience(who: str) -> bool:
        if not began:
            began.append(clock())
            print(f"callgauge: waiting: {escape_for_terminal(who)}", file=sys.stderr, flush=True)
        if stopped() or (at_most is not None and clock() - began[0] >= at_most):
            return False
        sleep(_BETWEEN)
        return True

    return patience
