"""Compiles regular expressions at first use, so that every Python version finds the same matches.

Most programs use few of the parser's patterns. Compiling all of them takes longer than importing the parser.

Before Python 3.11.5, a possessively repeated group such as `(?:[^*]|\\*(?!/))*+` has a bug: after a failed
attempt, the match does not return to the start of this attempt
(https://github.com/python/cpython/issues/106052). An atomic group around a plain repetition has the same
meaning and works in all versions.
"""

from __future__ import annotations

import re
import sys
from typing import Any, AnyStr, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")
_IS_RIGHT = sys.version_info >= (3, 11, 5)
_POSSESSIVE = re.compile(r"([*+?]|\{\d*,?\d*\})\+")


def compile_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when one of its methods is first used.

    Before Python 3.11.5, an equivalent pattern is compiled. For a pattern that may have an error, use
    `re.compile`.
    """
    return cast("re.Pattern[AnyStr]", LazyPattern(pattern, flags))


class LazyPattern:
    """A pattern with the methods of `re.Pattern`. After the first use, they are those of `re.Pattern`."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern and take over its methods, so that no later use calls this function."""
        pattern = self.pattern
        if not _IS_RIGHT and isinstance(pattern, str):
            pattern = make_atomic(pattern)
        compiled = re.compile(pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the pattern without its methods."""
        return compile_regex, (self.pattern, self.flags)


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
