"""Reads a whole object of plain parts: brackets match, and each string ends at its first closing quote.

Commas may be missing or trailing, quotes single, keys without quotes, literals those of Python, and line
breaks raw; comments may stand after commas. The scanner would find the same in such a text, only more slowly;
any other text is left to it.
"""

from __future__ import annotations

import re
from typing import Any

from lenient.diagnostics import MAX_DEPTH, MAX_FINDINGS, Diagnostic, join_path, shorten
from lenient.regex import compile_regex
from lenient.scan.simple_members import LITERALS, NAME, SCALAR, STANDARD, W, parse_number
from lenient.scan.strings.escapes import decode_body

_MEMBER = compile_regex(rf"{W}(?:{NAME}(?:{SCALAR}|([{{\[]))|(\}}))(?:{W},)?+")
_ITEM = compile_regex(rf"{W}(?:{SCALAR}|([{{\[])|(\]))(?:{W},)?+")
_COMMENT = re.compile(
    rf"{W}(//[^\n]{{0,200}}+(?=\n)|#[ \t][^\n]{{0,200}}+(?=\n)|/\*[^*]{{0,200}}+\*/)(?!\s*+[}}\]])"
)
_QUOTED_KEY, _SINGLE_KEY, _BARE_KEY = range(1, 4)
_DOUBLE, _SINGLE, _NUMBER, _LITERAL, _OPENER, _CLOSER = range(4, 10)
"""The groups of `_MEMBER`; those of `_ITEM` are the same without the key, `_KEY_GROUPS` lower."""
_KEY_GROUPS = 3
_EMPTY = ('""', "''")  # it may be a doubled quote
_LONGEST_BEGINNING = 200  # characters
_LONGEST_PATH = 400  # characters; a longer one may be cut
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


def read_plain_text(text: str) -> tuple[dict[str, Any], tuple[Diagnostic, ...]] | None:
    """Return the object that is the whole text, and its findings; None when a part of it is not plain."""
    if text[:1] != "{" or text[-1:] != "}":
        return None
    inner = text.find("{", 1, _LONGEST_BEGINNING)
    if inner > 0 and text.startswith(text[:inner], inner):
        return None  # the object may begin anew
    reader = _PlainReader(text)
    position = 1
    while position >= 0:
        read = reader.read_members if type(reader.container) is dict else reader.read_items
        position = read(position)
    return (reader.container, tuple(reader.findings)) if reader.is_whole else None


class _PlainReader:
    """Reads one text. `container` is the object or array that is being read, `where` its path.

    `filled` is True when a value stands since the opening bracket or the last comma. `is_whole` is True when
    the whole text has been read. `steps` keeps how a name is written in a path.
    """

    __slots__ = ("container", "filled", "findings", "is_whole", "stack", "steps", "text", "where")

    def __init__(self, text: str) -> None:
        self.text = text
        self.findings: list[Diagnostic] = []
        self.container: Any = {}
        self.where = "$"
        self.filled = self.is_whole = False
        self.stack: list[tuple[Any, str]] = []
        self.steps: dict[str, str] = {}

    def read_members(self, position: int) -> int:
        """Read members up to the next bracket. Return the offset after it; -1 when reading ends."""
        text, members, match_member = self.text, self.container, _MEMBER.match
        where, steps, add, filled = self.where, self.steps, self.findings.append, self.filled
        while (match := match_member(text, position)) is not None:
            last = match.lastindex or 0
            if last == _CLOSER:
                self.filled = filled
                return self.close(match.end(), position)
            key = match[_QUOTED_KEY]
            if filled and not self.add_comma_before_key(match, position):
                return -1
            if key is None:
                key = match[_SINGLE_KEY]
                if key is None:
                    key = match[_BARE_KEY]
                    odd = ("unquoted_key", where, *match.span(_BARE_KEY), key, None, None, None)
                else:
                    start, end = match.span(_SINGLE_KEY)
                    odd = ("single_quotes", where, start - 1, end + 1, "'", None, None, None)
                add(_NEW(Diagnostic, odd))
            if key in members:
                return -1
            written = match[last]
            if last <= _SINGLE:
                if last == _SINGLE:
                    step = steps.get(key) or self.write_step(key)
                    start, end = match.span(last)
                    odd = ("single_quotes", where + step, start - 1, end + 1, "'", None, None, None)
                    add(_NEW(Diagnostic, odd))
                if "\\" in written or not written.isprintable():
                    written = self.decode(match.span(last), key)
                members[key] = written
            elif last == _NUMBER:
                members[key] = parse_number(written)
            elif last == _LITERAL:
                members[key] = self.read_literal(written, match.start(last), key)
            else:
                value: Any = {} if written == "{" else []
                members[key] = value
                return self.open(value, key, match.end(last))
            position = match.end()
            filled = text[position - 1] != ","
        self.filled = filled
        return self.pass_comment(position)

    def read_items(self, position: int) -> int:
        """Read items up to the next bracket. Return the offset after it; -1 when reading ends."""
        text, items, match_item = self.text, self.container, _ITEM.match
        where, add, filled = self.where, self.findings.append, self.filled
        while (match := match_item(text, position)) is not None:
            group = match.lastindex or 0
            last = group + _KEY_GROUPS
            if last == _CLOSER:
                self.filled = filled
                return self.close(match.end(), position)
            if filled and not self.add_comma_before_item(match, position):
                return -1
            written = match[group]
            if last <= _SINGLE:
                if last == _SINGLE:
                    start, end = match.span(group)
                    path = f"{where}[{len(items)}]"
                    add(_NEW(Diagnostic, ("single_quotes", path, start - 1, end + 1, "'", None, None, None)))
                if "\\" in written or not written.isprintable():
                    written = self.decode(match.span(group), len(items))
                items.append(written)
            elif last == _NUMBER:
                items.append(parse_number(written))
            elif last == _LITERAL:
                items.append(self.read_literal(written, match.start(group), len(items)))
            else:
                value: Any = {} if written == "{" else []
                items.append(value)
                return self.open(value, len(items) - 1, match.end(group))
            position = match.end()
            filled = text[position - 1] != ","
        self.filled = filled
        return self.pass_comment(position)

    # --- brackets ------------------------------------------------------------------------------------

    def open(self, value: Any, step: str | int, position: int) -> int:
        if len(self.stack) == MAX_DEPTH - 1 or self.text[position] == ",":
            return -1
        where = join_path(self.where, step)
        if len(where) > _LONGEST_PATH or len(self.findings) > MAX_FINDINGS:
            return -1
        self.stack.append((self.container, self.where))
        self.container, self.where, self.filled = value, where, False
        return position

    def close(self, end: int, position: int) -> int:
        """Close the innermost bracket, which ends at `end`; `position` is the offset after the last part."""
        if not self.filled and self.container:
            self.report("trailing_comma", self.part_path(), position - 1, position, ",")
        if not self.stack:
            self.is_whole = end == len(self.text) and len(self.findings) <= MAX_FINDINGS
            return -1
        self.container, self.where = self.stack.pop()
        self.filled = self.text[end - 1] != ","
        return end

    # --- mends ---------------------------------------------------------------------------------------

    def add_comma_before_key(self, match: re.Match[str], position: int) -> bool:
        """Report the comma that is missing before a member; False before a bare key or after an empty string.

        `position` is the offset after the last member.
        """
        if match[_BARE_KEY] is not None or self.text[position - 2 : position] in _EMPTY:
            return False
        start = match.start(_SINGLE_KEY if match[_QUOTED_KEY] is None else _QUOTED_KEY) - 1
        self.report("missing_comma", self.where, start, start, None, ",")
        return True

    def add_comma_before_item(self, match: re.Match[str], position: int) -> bool:
        """Report the comma that is missing before an item; False when the item may belong to the last one.

        `position` is the offset after the last item.
        """
        group = match.lastindex or 0
        start, before = match.start(group), self.text[position - 2 : position]
        last = group + _KEY_GROUPS
        if last in (_DOUBLE, _SINGLE):
            start -= 1
            if start == position or before in _EMPTY:
                return False
        elif last != _OPENER or before[-1] not in "}]":
            return False
        self.report("missing_comma", self.part_path(), start, start, None, ",")
        return True

    def pass_comment(self, position: int) -> int:
        """Skip and report a comment after a comma or opening bracket. Return the offset after it, else -1."""
        comment = None if self.filled else _COMMENT.match(self.text, position)
        if comment is None:
            return -1
        self.report("comment_removed", self.part_path(), *comment.span(1), shorten(comment[1]))
        return comment.end()

    def decode(self, span: tuple[int, int], step: str | int) -> str:
        """Return the text of a string body that holds escapes or line breaks, and report its mends."""
        body = decode_body(self.text, *span)
        for mend in body.mends:
            times = f"{mend.times} times" if mend.times > 1 else None
            path = join_path(self.where, step)
            self.report(mend.code, path, mend.start, mend.end, mend.found, mend.became, times)
        return body.text

    def read_literal(self, written: str, start: int, step: str | int) -> bool | None:
        """Return the value of a literal, and report one of Python."""
        if (standard := STANDARD.get(written)) is not None:
            path = join_path(self.where, step)
            self.report("nonstandard_literal", path, start, start + len(written), written, standard)
        value: bool | None = LITERALS[written]
        return value

    def write_step(self, name: str) -> str:
        """Return how `name` is written at the end of a path."""
        step = self.steps[name] = join_path("", name)
        return step

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
        self.findings.append(_NEW(Diagnostic, (code, path, start, end, found, became, None, hint)))
