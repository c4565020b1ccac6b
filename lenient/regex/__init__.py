"""Compiles regular expressions so that every Python version finds the same matches.

Before Python 3.11.5, a possessively repeated group such as `(?:[^*]|\\*(?!/))*+` has a bug: after a failed
attempt, the match does not return to the start of this attempt
(https://github.com/python/cpython/issues/106052). An atomic group around a plain repetition has the same
meaning and works in all versions.
"""

from __future__ import annotations

import re
import sys

_IS_RIGHT = sys.version_info >= (3, 11, 5)
_POSSESSIVE = re.compile(r"([*+?]|\{\d*,?\d*\})\+")


def compile_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the compiled pattern. Before Python 3.11.5, compile an equivalent pattern. Raises re.error."""
    return re.compile(pattern if _IS_RIGHT else make_atomic(pattern), flags)


def make_atomic(pattern: str) -> str:
    """Return the pattern with an atomic group in place of each possessively repeated group.

    The pattern must not contain comments (`re.VERBOSE`).
    """
    parts: list[str] = []
    opened: list[int] = []  # indexes in `parts` where the open groups begin
    at = 0
    while at < len(pattern):
        length = _measure_item(pattern, at)
        item = pattern[at : at + length]
        at += length
        if item == "(":
            opened.append(len(parts))
        parts.append(item)
        if item != ")":
            continue
        start = opened.pop()
        if repeated := _POSSESSIVE.match(pattern, at):
            parts[start] = f"(?>{parts[start]}"
            parts.append(f"{repeated[1]})")
            at = repeated.end()
    return "".join(parts)


def _measure_item(pattern: str, at: int) -> int:
    """Return the length of the escape, character set or character that begins at the offset `at`."""
    if pattern[at] == "\\":
        return 2
    if pattern[at] != "[":
        return 1
    end = at + 1
    end += pattern.startswith("^", end)
    end += pattern.startswith("]", end)  # `]` at the start of a set is a member of the set
    while pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end + 1 - at
