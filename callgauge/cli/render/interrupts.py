"""Ctrl-C: the first asks a load to stop, the second stops it at once. SIGTERM counts like Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HEARD = b"\ncallgauge: stopping after this batch; once more stops at once and publishes nothing\n"
INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


class Interrupts:
    """`wanted()` is True once somebody asked for an end; a second time raises KeyboardInterrupt at once."""

    def __init__(self) -> None:
        self._asked = False

    def is_stop_wanted(self) -> bool:
        return self._asked

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        # Not print(): the signal may have come in the middle of one.
        os.write(2, _HEARD)


@contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """While it lasts, the first Ctrl-C only asks."""
    interrupts = Interrupts()
    before = {number: signal.signal(number, interrupts) for number in _SIGNALS}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
