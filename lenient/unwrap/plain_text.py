"""Reads a whole object of plain parts: brackets match, and each string ends at its first closing quote.

Commas may be missing or trailing, quotes single, keys without quotes, literals those of Python, and line
breaks raw. The scanner would find the same in such a text, only more slowly; any other text is left to it.
"""

from __future__ import annotations

import re
from typing import Any

from lenient.diagnostics import MAX_DEPTH, Diagnostic, Findings, TooManyFindingsError, join_path
from lenient.scan.simple_members import LITERALS, NAME, SCALAR, STANDARD, W, parse_number
from lenient.scan.strings.escapes import decode_body

_MEMBER = re.compile(rf"{W}(?:{NAME}(?:{SCALAR}|([{{\[]))|(\}}))(?:{W},)?+")
_ITEM = re.compile(rf"{W}(?:{SCALAR}|([{{\[])|(\]))(?:{W},)?+")
_DOUBLE, _SINGLE, _NUMBER, _LITERAL, _OPENER, _CLOSER = range(1, 7)
"""The groups of `_ITEM`; in `_MEMBER` those of the key stand before them."""
_QUOTED_KEY, _SINGLE_KEY, _BARE_KEY = range(1, 4)
_EMPTY = ('""', "''")  # it may be a doubled quote
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


def read_plain_text(text: str) -> tuple[dict[str, Any], tuple[Diagnostic, ...]] | None:
    """Return the object that is the whole text, and its findings; None when a part of it is not plain."""
    if text[:1] != "{" or text[-1:] != "}":
        return None
    reader = _PlainReader(text)
    position = 1
    try:
        while position >= 0:
            read = reader.read_members if type(reader.container) is dict else reader.read_items
            position = read(position)
    except TooManyFindingsError:
        return None
    return (reader.container, tuple(reader.findings.items)) if reader.is_whole else None


class _PlainReader:
    """Reads one text. `container` is the object or array that is being read, `where` its path.

    `filled` is True when a value stands since the opening bracket or the last comma. `is_whole` is True when
    the whole text has been read.
    """

    __slots__ = ("container", "filled", "findings", "is_whole", "stack", "text", "where")

    def __init__(self, text: str) -> None:
        self.text = text
        self.findings = Findings()
        self.container: Any = {}
        self.where = "$"
        self.filled = self.is_whole = False
        self.stack: list[tuple[Any, str]] = []

    def read_members(self, position: int) -> int:
        """Read members up to the next bracket. Return the offset after it; -1 when reading ends."""
        text, members, match_member = self.text, self.container, _MEMBER.match
        while (match := match_member(text, position)) is not None:
            last = match.lastindex or 0
            group = last - _BARE_KEY
            if group == _CLOSER:
                return self.close(match.end(), position)
            key = match[1]
            if key is None or self.filled:
                key = self.read_odd_key(match, position)
            if key is None or key in members:
                return -1
            if group == _OPENER:
                value: Any = {} if match[last] == "{" else []
                members[key] = value
                return self.open(value, key, match.end(last))
            members[key] = self.read_value(match, last, group, key)
            position = match.end()
            self.filled = text[position - 1] != ","
        return -1

    def read_items(self, position: int) -> int:
        """Read items up to the next bracket. Return the offset after it; -1 when reading ends."""
        text, items, match_item = self.text, self.container, _ITEM.match
        while (match := match_item(text, position)) is not None:
            group = match.lastindex or 0
            if group == _CLOSER:
                return self.close(match.end(), position)
            if self.filled and not self.add_comma(match, group, position):
                return -1
            if group == _OPENER:
                value: Any = {} if match[group] == "{" else []
                step = len(items)
                items.append(value)
                return self.open(value, step, match.end(group))
            items.append(self.read_value(match, group, group, len(items)))
            position = match.end()
            self.filled = text[position - 1] != ","
        return -1

    # --- brackets ------------------------------------------------------------------------------------

    def open(self, value: Any, step: str | int, position: int) -> int:
        if len(self.stack) == MAX_DEPTH - 1 or self.text[position] == ",":
            return -1
        self.stack.append((self.container, self.where))
        self.container, self.where, self.filled = value, join_path(self.where, step), False
        return position

    def close(self, end: int, position: int) -> int:
        """Close the innermost bracket, which ends at `end`; `position` is the offset after the last part."""
        if not self.filled and self.container:
            self.report("trailing_comma", self.part_path(), position - 1, position, ",")
        if not self.stack:
            self.is_whole = end == len(self.text)
            return -1
        self.container, self.where = self.stack.pop()
        self.filled = self.text[end - 1] != ","
        return end

    # --- mends ---------------------------------------------------------------------------------------

    def read_odd_key(self, match: re.Match[str], position: int) -> str | None:
        """Return the key of a member that has no comma before it, or whose key is not in double quotes.

        Return None when a comma is missing before a bare key or after an empty string. `position` is the
        offset after the last member.
        """
        form = next(form for form in (_QUOTED_KEY, _SINGLE_KEY, _BARE_KEY) if match[form] is not None)
        start, end = match.span(form)
        if self.filled:
            if form == _BARE_KEY or self.text[position - 2 : position] in _EMPTY:
                return None
            self.report("missing_comma", self.where, start - 1, start - 1, None, ",")
        if form == _SINGLE_KEY:
            self.report("single_quotes", self.where, start - 1, end + 1, "'")
        elif form == _BARE_KEY:
            self.report("unquoted_key", self.where, start, end, match[form])
        return match[form]

    def add_comma(self, match: re.Match[str], group: int, position: int) -> bool:
        """Report the comma that is missing before an item; False when the item may belong to the last one.

        `position` is the offset after the last item.
        """
        start, before = match.start(group), self.text[position - 2 : position]
        if group in (_DOUBLE, _SINGLE):
            start -= 1
            if start == position or before in _EMPTY:
                return False
        elif group != _OPENER or before[-1] not in "}]":
            return False
        self.report("missing_comma", self.part_path(), start, start, None, ",")
        return True

    def read_value(self, match: re.Match[str], last: int, group: int, step: str | int) -> Any:
        """Return the scalar in the last group of `match`, and report its mends."""
        written = match[last]
        if group == _NUMBER:
            return parse_number(written)
        if group == _LITERAL:
            if written in STANDARD:
                path = join_path(self.where, step)
                self.report("nonstandard_literal", path, *match.span(last), written, STANDARD[written])
            return LITERALS[written]
        if group == _SINGLE:
            start, end = match.span(last)
            self.report("single_quotes", join_path(self.where, step), start - 1, end + 1, "'")
        if "\\" in written or "\n" in written or "\t" in written or "\r" in written:
            body = decode_body(self.text, *match.span(last))
            for mend in body.mends:
                times = f"{mend.times} times" if mend.times > 1 else None
                path = join_path(self.where, step)
                self.report(mend.code, path, mend.start, mend.end, mend.found, mend.became, times)
            return body.text
        return written

    def part_path(self) -> str:
        """Return the path at which a mend between two parts is reported."""
        container = self.container
        return self.where if type(container) is dict else join_path(self.where, len(container))

    def report(
        self,
        code: str,
        path: str,
        start: int,
        end: int,
        found: str | None,
        became: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.findings.add(_NEW(Diagnostic, (code, path, start, end, found, became, None, hint)))
