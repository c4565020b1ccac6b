"""Shows how far a run of trials is: one line that is written anew on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from callgauge.cli.render.load_progress import format_duration
from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from callgauge.trials.running.run import RunProgress

_EVERY = 10.0  # seconds between two lines where there is no terminal


def run_figures(now: RunProgress) -> str:
    """Return the progress as text: trials, tasks, money and tokens, time so far and left."""
    parts = [
        f"{now.trials:,} of {now.planned_trials:,} trials",
        f"{now.tasks:,} of {now.planned_tasks:,} tasks",
        f"${now.spent.cost:.4f}" if now.spent.cost else "",
        f"{now.spent.tokens:,.0f} tokens",
        format_duration(now.seconds),
        f"{format_duration(now.seconds_left)} left" if now.seconds_left is not None else "",
    ]
    return "  ".join(part for part in parts if part)


@contextmanager
def show_run(stream: TextIO | None = None) -> Iterator[Callable[[RunProgress], None]]:
    """Yield a function that shows the progress of a run on `stream` (stderr); news keep their lines."""
    stream = stream or sys.stderr
    is_terminal = stream.isatty()
    said = time.monotonic()

    def tell(now: RunProgress) -> None:
        nonlocal said
        if now.told is not None:
            print(f"{_CLEAR if is_terminal else ''}{escape_for_terminal(now.told)}", file=stream, flush=True)
        elif is_terminal:
            print(f"{_CLEAR}{run_figures(now)}", end="", file=stream, flush=True)
        elif time.monotonic() - said >= _EVERY:
            said = time.monotonic()
            print(run_figures(now), file=stream, flush=True)

    try:
        yield tell
    finally:
        if is_terminal:
            print(_CLEAR, end="", file=stream, flush=True)


_CLEAR = "\r\x1b[2K"
