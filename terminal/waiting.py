"""A store that another load holds in, one line about it and the decision to try again or give up out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from terminal.texts import printable

_BETWEEN = 0.25  # seconds between two looks at the lock


def waiting(
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
            print(f"callgauge: waiting: {printable(who)}", file=sys.stderr, flush=True)
        if stopped() or (at_most is not None and clock() - began[0] >= at_most):
            return False
        sleep(_BETWEEN)
        return True

    return patience
