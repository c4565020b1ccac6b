"""Repeats a load (`--watch`) whenever the files have changed. Ctrl-C ends the repetition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ingest.errors import IngestError, OptionError

EVERY = 2.0  # seconds between two checks for changes
# Each check reads the whole folder. So the pause lasts at least this many times as long as a check.
_SHARE = 10
_PATIENCE = 60.0  # longest pause in seconds before a failed load is tried again

T = TypeVar("T")


def watch(
    look: Callable[[], T],
    load: Callable[[], None],
    complain: Callable[[str], None],
    pause: Callable[[float], None] = time.sleep,
    loaded: T | None = None,
) -> NoReturn:
    """Call `load` each time `look` returns another value than `loaded`. At first `loaded` is None.

    Never returns; ends with KeyboardInterrupt. If `look` or `load` raises IngestError or OSError (a missing
    folder, a store in use, a full disk, an unreachable server), `complain` is called with the message. The
    same message is not repeated. The load is tried again. An OptionError is raised to the caller, because
    waiting cannot fix a wrong option. `pause` waits for a number of seconds.
    """
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
        except (IngestError, OSError) as error:
            if str(error) != trouble:
                complain(str(error))
            wait = min(_PATIENCE, 2 * wait) if trouble else EVERY
            trouble = str(error)
        pause(wait)
