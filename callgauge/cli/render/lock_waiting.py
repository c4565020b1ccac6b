"""Waits for a store that another load holds, says once for whom, and decides when to give up."""

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
    """Waits so many seconds for the lock (None = without limit), until `stopped`; says once for whom."""
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
