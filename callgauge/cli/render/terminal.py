"""Print messages without control characters, handle Ctrl-C, and wait for a locked store."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import msgspec
import typer
from msgspec.structs import asdict

from callgauge.checked_files.file_problems import CheckedFileError

_SIGNALS = ("SIGINT", "SIGTERM")
SignalHandler = Callable[[int, FrameType | None], Any]
_HEARD = b"\ncallgauge: stopping after this batch; Ctrl-C again stops immediately and publishes nothing\n"
_BETWEEN = 0.25  # The pause between two attempts to lock the store, in seconds.


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_to_plain, indent=2)


def _to_plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, msgspec.Struct) else str(value)


def print_message(message: str) -> None:
    """Print a message for the user on stderr, because stdout is for results."""
    print(f"callgauge: {escape_for_terminal(message)}", file=sys.stderr)


@contextmanager
def show_status() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step on stderr. In a terminal, each step replaces the previous
    one.
    """
    if not sys.stderr.isatty():
        yield print_message
        return
    from rich.console import Console
    from rich.text import Text

    with Console(file=sys.stderr).status("") as status:
        yield lambda text: status.update(Text(escape_for_terminal(text)))


def fail(message: str, code: int = 1) -> NoReturn:
    """Print a message, and end the command with an exit code."""
    print_message(message)
    raise typer.Exit(code)


def fail_in_lines(message: str, code: int) -> NoReturn:
    """Print each line as a separate message, and end the command with an exit code."""
    for line in message.splitlines():
        print_message(line)
    raise typer.Exit(code)


def print_mistakes(mistakes: CheckedFileError) -> None:
    """Print each mistake in a hand-written file, one mistake per line."""
    for line in mistakes.lines():
        print_message(line)


def escape_for_terminal(text: str) -> str:
    """Return a string with control characters escaped, so that log content cannot control a terminal."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


class Interrupts:
    """Signal handler that raises KeyboardInterrupt only at the second signal.

    After the first signal, the method `is_stop_wanted` returns True.
    """

    def __init__(self, heard: bytes) -> None:
        self._stop_wanted = False
        self._heard = heard

    def is_stop_wanted(self) -> bool:
        return self._stop_wanted

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self._stop_wanted:
            raise KeyboardInterrupt
        self._stop_wanted = True
        # Do not call print() here, because the signal may have interrupted another print().
        os.write(2, self._heard)


@contextmanager
def catch_interrupts(heard: bytes = _HEARD) -> Iterator[Interrupts]:
    """Handle Ctrl-C and SIGTERM with an `Interrupts` inside the `with` block. At the first signal, print the
    message `heard`.
    """
    interrupts = Interrupts(heard)
    with handle_signals(_SIGNALS, interrupts):
        yield interrupts


@contextmanager
def handle_signals(names: Iterable[str], handler: SignalHandler) -> Iterator[None]:
    """Handle these signals during the `with` block, if the operating system has them."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def make_patience(
    at_most: float | None = None,
    *,
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[str], bool]:
    """Return a function to call before the next attempt to lock a store.

    The function receives a sentence that names the owner of the lock. The first call prints this sentence.
    The function waits for a moment and returns True. After `at_most` seconds (None means no limit), or when
    `stopped()` returns True, it returns False.
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


def describe_days(days: Mapping[str, str | None]) -> str:
    """Return a line with the days. `days` holds `from` and `to`, which are None for all days."""
    return f"Days: {'{from} to {to}'.format(**days) if days['from'] else 'all'}."
