"""Makes values and log text printable: as JSON, or as text without control characters for a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import typer

from callgauge.checked_files.file_problems import CheckedFileError


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def print_message(message: str) -> None:
    """Print a message for the user on stderr; results go to stdout."""
    print(f"callgauge: {escape_for_terminal(message)}", file=sys.stderr)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print a message, and end the command with an exit code."""
    print_message(message)
    raise typer.Exit(code)


def fail_in_lines(message: str, code: int) -> NoReturn:
    """Print a message of several lines, each as one of its own, and end the command with an exit code."""
    for line in message.splitlines():
        print_message(line)
    raise typer.Exit(code)


def print_mistakes(mistakes: CheckedFileError) -> None:
    """Print what is wrong in a file that a person wrote, a line for each mistake."""
    for line in mistakes.lines():
        print_message(line)


def escape_for_terminal(text: str) -> str:
    """Return text with control characters escaped, so that log text cannot control a terminal."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
