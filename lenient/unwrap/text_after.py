"""Finds text that follows an object whose closing brackets are missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lenient.diagnostics import Diagnostic

_LINE = re.compile(r"\n\s*+(?:(?:`{3,}+|~{3,}+)[ \t]*+(?:\n|\Z)|[A-Z][a-z']*+[ ,:]|[-*] \w|\()")
_TAG = re.compile(r"<(?:/[A-Za-z_][\w:.\-]*+|\|[\w\-]++\|)>")
_DOUBTS = frozenset({
    "unescaped_inner_quote", "unclosed_string", "truncated_member_dropped", "truncated_text", "ambiguous",
    "truncated_number", "truncated_literal", "missing_value", "extra_quote", "stray_text_dropped",
})  # fmt: skip
_OPEN = frozenset(
    {"missing_closer", "unclosed_string", "missing_closing_quote", "extra_closer", "wrong_closer"}
)
_LACKS = frozenset({"missing_closer", "wrong_closer", "missing_closing_quote"})
_AT_END = frozenset({"missing_closer", "extra_closer", "wrong_closer"})


def may_read_rest(found: Sequence[Diagnostic]) -> bool:
    """Return True when brackets or quotes are missing at the end, and something else was mended, too."""
    codes = {one.code for one in found}
    return not codes.isdisjoint(_OPEN) and not codes <= _AT_END


def find_rest(text: str, start: int, end: int) -> int | None:
    """Return where a fence, a tag or a sentence on its own line begins between `start` and `end`, or None.

    What follows closes no more brackets than it opens.
    """
    found = [rest.start() for kind in (_LINE, _TAG) if (rest := kind.search(text, start, end)) is not None]
    if not found:
        return None
    at = min(found)
    return at if text.count("}", at, end) <= text.count("{", at, end) else None


def reads_rest(found: Sequence[Diagnostic], rest: int) -> bool:
    """Return True when something after `rest` was mended, other than missing brackets."""
    return any(one.end is not None and one.end > rest and one.code not in _AT_END for one in found)


def is_whole(found: Sequence[Diagnostic]) -> bool:
    """Return True when an object lacks its brackets and nothing else of it is in doubt."""
    codes = {one.code for one in found}
    return not codes.isdisjoint(_LACKS) and codes.isdisjoint(_DOUBTS)
