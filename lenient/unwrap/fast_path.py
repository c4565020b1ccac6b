"""Repairs simple defects without the scanner, when the rest of the input is valid JSON.

`read_one_defect` repairs one common defect with fast C functions: a code fence, prose around the object, one
layer of string encoding, raw newlines in strings, a comma after the last member, or missing closing brackets
at the end.

`read_plain_text` reads a whole object in which brackets match and each string ends at the first closing
quote. It repairs missing and trailing commas, single quotes, keys without quotes, Python literals, raw line
breaks, and comments after commas.

Both functions read only input that has no other meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from lenient.diagnostics import MAX_DEPTH, MAX_FINDINGS, Diagnostic, Path, join_path, render_path, shorten
from lenient.diagnostics.codes import Stage
from lenient.regex import compile_regex
from lenient.scan.simple_members import LITERALS, NAME, SCALAR, STANDARD, W, parse_number
from lenient.scan.strings.escapes import decode_body
from lenient.scan.strings.paths import any_may_hold_path
from lenient.scan.valid_json import NO_JSON, ReadFitting
from lenient.unwrap.surrounding_text import OBJECT_START, SOURCE_CODE, holds_value

_FENCE = compile_regex(r"[ \t\r\n]*+(`{3,}[ \t]*+(?:[A-Za-z][\w+.\-]*+)?[ \t]*+\r?\n?)[ \t\r\n]*+(?=\{)")
_FENCE_END = compile_regex(r"[ \t\r\n]*+`{3,}[ \t\r\n]*+\Z")
_PROSE = compile_regex(r"[^\W\d_][^\[\]{}()\"`~<>“‘「＂｛\x00-\x08\x0b-\x1f\ufeff\ud800-\udfff]*+")
_BROKEN = compile_regex(r"[\n\t][^\"\\]*+(?:\\.[^\"\\]*+)*+\"", re.DOTALL)
"""The rest of a string after its first newline or tab."""
_LAST_NUMBER = compile_regex(r"(?<![\w.+\-])-?[0-9][0-9.eE+\-]*+\Z")
_LONGEST_NUMBER = 40  # in characters
_REPAIR = Stage.REPAIR  # a lookup on the enum is slow
_NEW = tuple.__new__  # calling the named tuple takes twice as long
_CLOSERS = {
    # a value may end with a quote or with the last letter of true, false or null
    **dict.fromkeys('"el', ("}", "}]}", "]}", "}}", "]}]}")),
    "}": ("]}", "}", "}}"),
    "]": ("}", "}}", "}]}"),
    **dict.fromkeys("0123456789", ("}", "]}", "}]}", "}}")),
}
"""Maps the last character of the input to the closing brackets that may be missing, the most likely first."""


class FastResult(NamedTuple):
    """The arguments, the diagnostics, and the step for the trace."""

    arguments: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    step: tuple[Stage, str, str, Any]


def read_one_defect(text: str, value: Any, read: ReadFitting) -> FastResult | None:
    """Return the arguments if the input has one common defect, else None.

    `value` is the value that orjson decoded, or NO_JSON.
    """
    if type(value) is str:
        return _read_encoded(text, value, read)
    if value is not NO_JSON or not text:
        return None
    if text[0] != "{":
        return _read_fenced(text, read) or _read_in_prose(text, read)
    if text[-1] == "}":
        return _read_raw_newlines(text, read) or _read_trailing_comma(text, read)
    return _read_unclosed(text, read)


def _read_encoded(text: str, inner: str, read: ReadFitting) -> FastResult | None:
    if inner[:1] != "{" or text[0] != '"' or text[-1] != '"' or type(value := read(inner)) is not dict:
        return None
    diagnostic = Diagnostic("string_encoding_removed", "$", 0, len(text), shorten(text[:200]))
    return FastResult(value, (diagnostic,), (Stage.UNWRAP, "string decoded", text, inner))


def _read_fenced(text: str, read: ReadFitting) -> FastResult | None:
    opening = _FENCE.match(text)
    last = text.rfind("}") + 1
    if opening is None or _FENCE_END.match(text, last) is None:
        return None
    first = opening.end()
    if type(value := read(text[first:last])) is not dict:
        return None
    diagnostic = Diagnostic("code_fence_removed", "$", *opening.span(1), opening.group(1))
    return FastResult(value, (diagnostic,), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_in_prose(text: str, read: ReadFitting) -> FastResult | None:
    first, last = text.find("{"), text.rfind("}") + 1
    if not 0 < first < last or _PROSE.fullmatch(text, 0, first) is None:
        return None
    before, after = text[:first], text[last:].strip(" \t\r\n")
    if (
        (after and (_PROSE.fullmatch(after) is None or holds_value(after, 0, len(after), ())))
        or OBJECT_START.match(text, first) is None
        or SOURCE_CODE.search(before)
        or type(value := read(text[first:last])) is not dict
        or not value  # an empty object in a sentence is probably not the arguments
    ):
        return None
    diagnostics = [Diagnostic("narration_removed", "$", 0, first, shorten(before[:200]))]
    if after:
        start = text.index(after[0], last)
        diagnostics.append(
            Diagnostic("narration_removed", "$", start, start + len(after), shorten(after[:200]))
        )
    return FastResult(value, tuple(diagnostics), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_raw_newlines(text: str, read: ReadFitting) -> FastResult | None:
    """Read an object with raw newlines and tabs in strings.

    Return None for other input, and when a string has only escaped newlines or tabs: then it is uncertain
    which newlines and tabs are raw.
    """
    if "\n" not in text or "\\\n" in text or "\r" in text:
        return None
    written = text.replace("\n", "\\n")
    if "\t" in written:
        if "\\\t" in written:
            return None
        written = written.replace("\t", "\\t")
    if type(value := read(written)) is not dict:
        return None
    if any_may_hold_path(text, value):
        return None
    places: list[Path] = []
    if not _collect_broken(value, None, places) or len(places) >= MAX_FINDINGS:
        return None
    if len(places) == 1:  # no other string has raw newlines or tabs
        diagnostics = [_report_controls(text, 0, len(text), places[0])]
    else:
        parts = _BROKEN.finditer(text)
        diagnostics = [
            _report_controls(text, *part.span(), path) for part, path in zip(parts, places, strict=False)
        ]
        if len(diagnostics) < len(places) or next(parts, None) is not None:
            return None
    return _NEW(FastResult, (value, tuple(diagnostics), (_REPAIR, "text repaired", text, value)))


def _report_controls(text: str, start: int, end: int, path: Path) -> Diagnostic:
    """Return the diagnostic for raw newlines and tabs in the only affected string of `text[start:end]`."""
    first, last = text.find("\n", start, end), text.rfind("\n", start, end)
    times = text.count("\n", start, end)
    if "\t" in text and (tab := text.find("\t", start, end)) >= 0:
        first = tab if first < 0 else min(first, tab)
        last = max(last, text.rfind("\t", start, end))
        times += text.count("\t", start, end)
    hint = f"{times} times" if times > 1 else None
    where, sign = render_path(path), text[first]
    return _NEW(Diagnostic, ("raw_control_character", where, first, last + 1, sign, sign, None, hint))


def _collect_broken(value: Any, path: Path, into: list[Path]) -> bool:
    """Add the positions of the strings with a newline or tab.

    Return False when a key contains a newline or tab.
    """
    if type(value) is dict:
        keys = "".join(value)
        if "\n" in keys or "\t" in keys:
            return False
        parts: Iterable[tuple[str | int, Any]] = value.items()
    else:
        parts = enumerate(value)
    for step, item in parts:
        if type(item) is str:
            if "\n" in item or "\t" in item:
                into.append((path, step))
        elif (type(item) is dict or type(item) is list) and not _collect_broken(item, (path, step), into):
            return False
    return True


def _read_trailing_comma(text: str, read: ReadFitting) -> FastResult | None:
    """Read an object with a comma after its last member. Strings may contain raw newlines."""
    body = text[:-1].rstrip(" \t\r\n")
    if body[-1:] != ",":
        return None
    written, comma = f"{body[:-1]}}}", len(body) - 1
    diagnostic = Diagnostic("trailing_comma", "$", comma, comma + 1, ",")
    value = read(written)
    if value and type(value) is dict:
        earlier: tuple[Diagnostic, ...] = ()
        if any_may_hold_path(text, value):
            return None
    else:
        broken = _read_raw_newlines(written, read)
        if broken is None or not broken.arguments:
            return None
        value, earlier = broken.arguments, broken.diagnostics
    return FastResult(value, (*earlier, diagnostic), (_REPAIR, "text repaired", text, value))


def _read_unclosed(text: str, read: ReadFitting) -> FastResult | None:
    for closers in _CLOSERS.get(text[-1], ()):
        value = read(text + closers)
        if type(value) is dict and not any_may_hold_path(text, value):
            where, end = render_path(_find_last_place(value, len(closers))), len(text)
            diagnostic = Diagnostic("missing_closer", where, end, end, None, closers)
            number = _LAST_NUMBER.search(text, end - _LONGEST_NUMBER) if text[-1].isdigit() else None
            cut = () if number is None else (_report_cut_number(number, value),)
            return FastResult(value, (*cut, diagnostic), (_REPAIR, "text repaired", text, value))
    return None


def _report_cut_number(number: re.Match[str], value: Any) -> Diagnostic:
    """Return the diagnostic for the number at the end of the input, because the number may be incomplete.

    This number is the last in `value`.
    """
    path: Path = None
    while type(value) is dict or type(value) is list:
        step = next(reversed(value)) if type(value) is dict else len(value) - 1
        path, value = (path, step), value[step]
    return Diagnostic("truncated_number", render_path(path), *number.span(), number.group(), str(value))


def _find_last_place(value: Any, depth: int) -> Path:
    """Return the position in the arguments at which the input ended with `depth` open brackets.

    It is the position of the innermost object, or of the next item of the innermost array.
    """
    path: Path = None
    for _ in range(depth - 1):
        step = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
        path, value = (path, step), value[step]
    return path if isinstance(value, dict) else (path, len(value))


# --- whole objects of plain parts ----------------------------------------------------------------------

_MEMBER = compile_regex(rf"{W}(?:{NAME}(?:{SCALAR}|([{{\[]))|(\}}))(?:{W},)?+")
_ITEM = compile_regex(rf"{W}(?:{SCALAR}|([{{\[])|(\]))(?:{W},)?+")
_COMMENT = compile_regex(
    rf"{W}(//[^\n]{{0,200}}+(?=\n)|#[ \t][^\n]{{0,200}}+(?=\n)|/\*[^*]{{0,200}}+\*/)(?!\s*+[}}\]])"
)
_QUOTED_KEY, _SINGLE_KEY, _BARE_KEY = range(1, 4)
_DOUBLE, _SINGLE, _NUMBER, _LITERAL, _OPENER, _CLOSER = range(4, 10)
"""The group numbers in `_MEMBER`. In `_ITEM`, which has no key, the numbers are lower by `_KEY_GROUPS`."""
_KEY_GROUPS = 3
_EMPTY = ('""', "''")  # an empty string may be a doubled quote
_LONGEST_BEGINNING = 200  # in characters
_LONGEST_PATH = 400  # in characters; a longer path may be cut


def read_plain_text(text: str) -> tuple[dict[str, Any], tuple[Diagnostic, ...]] | None:
    """Return the object that the input contains, and its diagnostics. Return None for a complex input."""
    if text[:1] != "{" or text[-1:] != "}":
        return None
    inner = text.find("{", 1, _LONGEST_BEGINNING)
    if inner > 0 and text.startswith(text[:inner], inner):
        return None  # leave the text to other code, because the object may restart
    reader = _PlainReader(text)
    position = 1
    while position >= 0:
        read = reader.read_members if type(reader.container) is dict else reader.read_items
        position = read(position)
    return (reader.container, tuple(reader.findings)) if reader.is_whole else None


class _PlainReader:
    """Reads one input. `container` is the current object or array, and `where` is its position in the
    arguments.

    `filled` is True when a value was read since the opening bracket or the last comma. `is_whole` is True
    when the whole input has been read. `steps` is a cache.
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
        """Read members up to the next bracket.

        Return the offset after the bracket, or -1 when reading stops.
        """
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
        """Close the innermost bracket at the offset `end`.

        `position` is the offset after the last member or item.
        """
        if not self.filled and self.container:
            self.report("trailing_comma", self.part_path(), position - 1, position, ",")
        if not self.stack:
            self.is_whole = end == len(self.text) and len(self.findings) <= MAX_FINDINGS
            return -1
        self.container, self.where = self.stack.pop()
        self.filled = self.text[end - 1] != ","
        return end

    # --- repairs ---------------------------------------------------------------------------------------

    def add_comma_before_key(self, match: re.Match[str], position: int) -> bool:
        """Report the missing comma before a member, and return True.

        Before a key without quotes or after an empty string, report nothing and return False. `position` is
        the offset after the last member.
        """
        if match[_BARE_KEY] is not None or self.text[position - 2 : position] in _EMPTY:
            return False
        start = match.start(_SINGLE_KEY if match[_QUOTED_KEY] is None else _QUOTED_KEY) - 1
        self.report("missing_comma", self.where, start, start, None, ",")
        return True

    def add_comma_before_item(self, match: re.Match[str], position: int) -> bool:
        """Report the missing comma before an item, and return True.

        Return False when the item may belong to the previous item. `position` is the offset after the
        previous item.
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
        """Skip and report a comment after a comma or opening bracket.

        Return the offset after the comment, or -1 when there is no comment.
        """
        comment = None if self.filled else _COMMENT.match(self.text, position)
        if comment is None:
            return -1
        self.report("comment_removed", self.part_path(), *comment.span(1), shorten(comment[1]))
        return comment.end()

    def decode(self, span: tuple[int, int], step: str | int) -> str:
        body = decode_body(self.text, *span)
        for repair in body.repairs:
            path = join_path(self.where, step)
            self.report(repair.code, path, repair.start, repair.end, repair.found, repair.became, repair.hint)
        return body.text

    def read_literal(self, written: str, start: int, step: str | int) -> bool | None:
        if (standard := STANDARD.get(written)) is not None:
            path = join_path(self.where, step)
            self.report("nonstandard_literal", path, start, start + len(written), written, standard)
        value: bool | None = LITERALS[written]
        return value

    def write_step(self, name: str) -> str:
        step = self.steps[name] = join_path("", name)
        return step

    def part_path(self) -> str:
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
