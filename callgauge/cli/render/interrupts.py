"""Handles Ctrl-C: the first asks a command to stop, the second ends it at once.

SIGTERM is handled like Ctrl-C.
"""

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
    """Signal handler that raises KeyboardInterrupt only at the second signal.

    After the first signal, `is_stop_wanted()` returns True.
    """

    def __init__(self, heard: bytes) -> None:
        self._asked = False
        self._heard = heard

    def is_stop_wanted(self) -> bool:
        return self._asked

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        # Not print(): the signal may have come in the middle of one.
        os.write(2, self._heard)


@contextmanager
def catch_interrupts(heard: bytes = _HEARD) -> Iterator[Interrupts]:
    """Handle Ctrl-C and SIGTERM with an `Interrupts` inside the `with` block; the first one says `heard`.

    The previous handlers are restored at the end.
    """
    interrupts = Interrupts(heard)
    before = {number: signal.signal(number, interrupts) for number in _SIGNALS}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
