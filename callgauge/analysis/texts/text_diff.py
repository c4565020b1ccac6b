"""Compares two texts line by line, in the unified diff format."""

from __future__ import annotations

import difflib
import json
import re

_LINES = 4_000  # of each text; comparing takes time by the square of them
_LONG = (
    160  # characters after which a line is broken at the end of a sentence, so that one word is one change
)
_BREAK = re.compile(r"(?<=[,{\[])(?!\n)|(?=[}\]])(?<!\n)")  # where JSON would begin a line
_SENTENCE = re.compile(r"(?<=[.;:!?。]) +")


def unified_diff(before: str, after: str) -> str:
    """Return the unified diff of two texts with three lines of context; empty when nothing changed.

    Of texts with more than 4,000 lines only the first 4,000 are compared; the last line of the diff then says
    so.
    """
    old, new = _split_lines(before), _split_lines(after)
    changes = difflib.unified_diff(old[:_LINES], new[:_LINES], "before", "after", lineterm="")
    cut = max(len(old), len(new)) > _LINES
    return "\n".join([*changes, *([f"… only the first {_LINES:,} lines are compared"] if cut else [])])


def definition_text(description: str | None, definition: str | None) -> str:
    """Return a tool's description and its definition as indented JSON, laid out for a comparison by line."""
    laid_out = _indent_json(definition or "null")
    if laid_out is None:
        laid_out = definition or ""
    return f"{description or ''}\n\n{laid_out}".strip()


def arguments_change(before: str, after: str) -> str:
    """Return the unified diff of the raw arguments of two calls, with one member a line.

    Two JSON texts are laid out alike first, so that layout makes no difference. Other texts are only broken
    at commas and brackets.
    """
    laid_out = [_indent_json(text) for text in (before, after)]
    if None in laid_out:
        laid_out = [_BREAK.sub("\n", text) for text in (before, after)]
    old, new = (text or "" for text in laid_out)
    return unified_diff(old, new)


def _indent_json(text: str) -> str | None:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def _split_lines(text: str) -> list[str]:
    return [
        part
        for line in text.splitlines()
        for part in (_SENTENCE.split(line) if len(line) > _LONG else [line])
    ]
