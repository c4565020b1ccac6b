"""Mistakes in files that people write, as data: the position, a description, and how to fix the mistake."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

KeyPath = tuple[str | int, ...]
"""The position of a value in a file: names of keys, and list indexes from 0."""
_MOST_TOLD = 50  # maximum number of problems in one message
_LONGEST = 60


class Mistake(msgspec.Struct, frozen=True):
    """A mistake in the value of a key, and how to fix it."""

    key: KeyPath
    what: str
    advice: str


class Problem(msgspec.Struct, frozen=True):
    """One mistake in a file.

    `line` counts from 1, or is None when the line is not known. `key` is a dotted key such as `arms.models`.
    """

    file: Path
    line: int | None
    key: str
    what: str
    advice: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else f"{self.file}"
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {key}{self.what}; {self.advice}"


class CheckedFileError(Exception):
    """Raised when a file cannot be used. The message has one line for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """Return one line for each problem, or lines only for the first problems if there are many."""
        more = len(self.problems) - _MOST_TOLD
        lines = [str(problem) for problem in self.problems[:_MOST_TOLD]]
        return [*lines, *([f"… and {more} more"] if more > 0 else [])]


def write_key(key: KeyPath) -> str:
    """Return a key in dotted form, such as `arms.only[0].model`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


def quote_value(value: Any) -> str:
    """Return a value for a message, shortened and on one line."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = str(type(value).__name__)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Return advice for an unknown name: the most similar valid name, or all valid names."""
    if near := difflib.get_close_matches(name, names, n=1):
        return f'did you mean "{near[0]}"?'
    if not names:
        return "none yet"
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return f"known: {shown}"


def read_text(path: Path, most_bytes: int) -> str:
    """Return the content of a file without a byte order mark.

    Raises ValueError with the problem as message.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as problem:
        raise ValueError(f"cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    if len(data) > most_bytes:
        raise ValueError(f"is larger than {most_bytes >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ValueError(f"is not UTF-8 text: byte {data[problem.start]:#04x} in line {line}") from None
