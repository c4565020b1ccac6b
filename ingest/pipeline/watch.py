"""Loads again whenever something looks different, until Ctrl-C (`--watch`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ingest.errors import IngestError, OptionError

EVERY = 2.0  # seconds between two looks …
_SHARE = 10  # … or so many times as long as a look takes: a large folder is not walked all the time
_PATIENCE = 60.0  # seconds, at most, before a load that failed is tried again

T = TypeVar("T")


def watch(
    look: Callable[[], T],
    load: Callable[[], None],
    complain: Callable[[str], None],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Load now, and again after each change of what `look` returns. Ends with KeyboardInterrupt.

    What goes wrong is told to `complain`, once for as long as it stays the same, and tried again: a folder
    that is not there, a store in use, a full disk, a server that is away. Raises OptionError, which waiting
    does not mend.
    """
    loaded: T | None = None
    trouble = ""
    wait = EVERY
    while True:
        began = time.monotonic()
        try:
            now = look()
            looked = time.monotonic() - began
            if now != loaded:
                load()
                loaded = now
            trouble, wait = "", max(EVERY, _SHARE * looked)
        except OptionError:
            raise
        except IngestError as error:
            if str(error) != trouble:
                complain(str(error))
            wait = min(_PATIENCE, 2 * wait) if trouble else EVERY
            trouble = str(error)
        pause(wait)
