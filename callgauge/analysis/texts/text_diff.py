"""Compares two texts line by line, in the unified diff format."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_LINES = 4_000  # maximum number of compared lines; the time grows with their square
_LONG = 160  # longer lines are broken after a sentence, so that the diff of a changed word is short
_BREAK = re.compile(r"(?<=[,{\[])(?!\n)|(?=[}\]])(?<!\n)")  # places where indented JSON begins a line
_SENTENCE = re.compile(r"(?<=[.;:!?。]) +")


def unified_diff(before: str, after: str) -> str:
    """Return the unified diff of two texts with three lines of context.

    The result is empty when nothing changed. Only the first 4,000 lines of each text are compared. If a text
    has more lines, the last line of the diff says so.
    """
    old, new = _split_lines(before), _split_lines(after)
    changes = difflib.unified_diff(old[:_LINES], new[:_LINES], "before", "after", lineterm="")
    cut = max(len(old), len(new)) > _LINES
    return "\n".join([*changes, *([f"… only the first {_LINES:,} lines are compared"] if cut else [])])


def definition_text(description: str | None, definition: str | None) -> str:
    """Return a tool's description and its definition as indented JSON, with lines that are short enough for a
    diff.
    """
    laid_out = _indent_json(definition or "null")
    if laid_out is None:
        laid_out = definition or ""
    return f"{description or ''}\n\n{laid_out}".strip()


def arguments_change(before: str, after: str) -> str:
    """Return what changed between the raw arguments of two calls: lines that begin with `-` and `+`.

    Two JSON objects are compared member by member, without regard to order and layout. Other arguments are
    broken into lines at commas and brackets. The result is empty when no value changed.
    """
    try:
        old, new = json.loads(before), json.loads(after)
        if isinstance(old, dict) and isinstance(new, dict):
            return "\n".join(_list_changes("", old, new))
    except (ValueError, RecursionError):
        pass
    texts = [_BREAK.sub("\n", text).splitlines() for text in (before, after)]
    parts = [[line.strip().rstrip(",") for line in lines] for lines in texts]
    # If the parts are equal, only a comma or a blank differs.
    compared = texts if parts[0] == parts[1] else parts
    changes = difflib.unified_diff(compared[0][:_LINES], compared[1][:_LINES], lineterm="", n=1)
    return "\n".join(line for line in islice(changes, 2, None) if not line.startswith("@@"))


def _list_changes(path: str, old: Any, new: Any) -> Iterator[str]:
    """Yield the changed members of two JSON values, each with its path, such as `filters.limit: 20`."""
    if _write_json(old) == _write_json(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            inner = f"{path}.{name}" if path else name
            yield from _list_changes(inner, old.get(name, _ABSENT), new.get(name, _ABSENT))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from _list_changes(f"{path}[{place}]", *pair)
    elif isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONG:
        yield f"  {path}:"
        changes = difflib.unified_diff(_split_lines(old), _split_lines(new), lineterm="", n=0)
        lines = [line for line in islice(changes, 2, None) if not line.startswith("@@")]
        yield from lines or [f"- {_write_json(old)}", f"+ {_write_json(new)}"]
    else:
        signed = (("-", old), ("+", new))
        yield from (f"{sign} {path}: {_write_json(value)}" for sign, value in signed if value is not _ABSENT)


_ABSENT = object()


def _write_json(value: Any) -> str | None:
    return None if value is _ABSENT else json.dumps(value, ensure_ascii=False, sort_keys=True)


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
