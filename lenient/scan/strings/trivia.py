"""Skips whitespace, comments and stray control characters between the members and items of a value."""

from __future__ import annotations

from typing import Protocol

from lenient.regex import compile_regex


class RepairReport(Protocol):
    """A callback that reports one repair: code, span, the characters in the span and the replacement."""

    def __call__(
        self,
        code: str,
        start: int,
        end: int,
        *,
        found: str | None = None,
        became: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
    ) -> None: ...


_BLANKS = compile_regex(r"[ \t\n\r]*+")
_ODD_BLANKS = compile_regex(r"[\f\v\x85\xa0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]++")
_COMMENT = compile_regex(r"//[^\n]*+|#[^\n]*+|--[ \t][^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_MEMBER = compile_regex(r",?\s*+\"[^\"\\\n]{1,64}\"\s*+[:：]")
_LAST_CLOSERS = compile_regex(r"\s*+[}\])][\s}\])]*+\Z")
_LOOK = 500  # number of characters of a comment in which a member is searched
_LOOK_FOR_END = 5_000  # maximum number of characters between `/*` and `*/`
_NEXT_PART = r"[\"'“\[{}\],:\d\-]|(?:true|false|null|True|False|None)\b|\Z"
ESCAPED_BLANK = rf"\\[nrt](?=(?:\s|\\[nrt]){{0,20}}+(?:{_NEXT_PART}))"
"""A line break or tab between two members or items that was escaped as in a string."""
_ESCAPED_BLANKS = compile_regex(rf"(?:\\[nrt]\s*+)++(?={_NEXT_PART})")
_HASH_ITEM = compile_regex(r"#[\w\-]++[^\S\n]*+(?:\]|,(?![^\S\n]*+\n))")
_HASH_LINE = compile_regex(r"#[\w\-]++,?+[^\S\n]*+\n")
_HASH_WORD = compile_regex(r"#[\w\-]++(?:\s*+[,}\n]|\")")
_CONTROLS = compile_regex(r"(?:\x1b\[[0-9;]{0,20}m|[\x00-\x08\x0e-\x1f\x7f])++")
"""Control characters, and the colour codes of a terminal."""
_FENCE = compile_regex(r"`{3,}[ \t]*+(?:[A-Za-z][\w+.\-]*+)?\s*+")
_SOLID = frozenset("\"'{}[],:0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
"""These characters never begin whitespace or comments. They begin most members and items."""


def pass_trivia(
    text: str, position: int, report: RepairReport, *, before_value: bool = False, before_item: bool = False
) -> int:
    """Return the offset after whitespace, comments and control characters.

    Comments, control characters and whitespace that JSON does not allow are reported. `before_value` and
    `before_item` mean that the value of a member or an item is expected, so a word may start with `#`.
    """
    while text[position : position + 1] not in _SOLID:
        blanks = _BLANKS.match(text, position)
        position = blanks.end() if blanks else position
        sign = text[position : position + 1]
        if not sign or sign in _SOLID:
            return position
        if sign == "#" and before_value and _HASH_WORD.match(text, position):
            return position
        if sign == "#" and before_item:
            if _HASH_ITEM.match(text, position):
                return position
            line = _HASH_LINE.match(text, position)
            if line is not None and text[max(position - _LOOK, 0) : position].rstrip(" \t").endswith("\n"):
                report("ambiguous", position, line.end(), hint="Or this is an item.")
        if sign == "#" or text.startswith(("//", "/*", "-- "), position):
            position = _pass_comment(text, position, report)
        elif sign == "\\" and (end := find_escaped_blanks_end(text, position)) > position:
            report("partial_escaping_removed", position, end, found=text[position:end])
            position = end
        elif (controls := _CONTROLS.match(text, position)) is not None:
            report("control_character_removed", position, controls.end(), found=controls.group())
            position = controls.end()
        elif (odd := _ODD_BLANKS.match(text, position)) is not None:
            report("nonstandard_blank", position, odd.end(), found=odd.group())
            position = odd.end()
        else:
            return position
    return position


def find_escaped_blanks_end(text: str, position: int) -> int:
    """Return the offset after escaped line breaks and tabs at `position` between two members or items."""
    escaped = _ESCAPED_BLANKS.match(text, position)
    return position if escaped is None else escaped.end()


def _pass_comment(text: str, start: int, report: RepairReport) -> int:
    """Report the comment at `start` and return the offset after the comment.

    A comment without its end mark ends before the next member, or before the last closing brackets.
    """
    block = text.startswith("/*", start)
    member = None
    if text.find("*/" if block else "\n", start, start + (_LOOK_FOR_END if block else _LOOK)) < 0:
        member = _MEMBER.search(text, start, start + _LOOK)
    if member is not None:
        report("comment_removed", start, member.start(), found=text[start : member.start()])
        report("ambiguous", start, member.start(), hint="Or the comment continues.")
        return member.start()
    comment = _COMMENT.match(text, start)
    end = comment.end() if comment is not None else start
    if end == len(text) and not (block and text.endswith("*/")):
        closers = _LAST_CLOSERS.search(text, max(start, end - 100))
        end = closers.start() if closers is not None else end
        if closers is not None and text.startswith("#", start) and "," in text[start:end]:
            report("ambiguous", start, end, hint="Or the comment ends before its comma.")
    report("comment_removed", start, end, found=text[start:end])
    return end


def find_fence_end(text: str, at: int, following: str) -> int | None:
    """Return the offset after the code fence at `at`, or None when there is no fence.

    After the fence, a character in `following` or the end of the input must come.
    """
    fence = _FENCE.match(text, at)
    return fence.end() if fence is not None and text[fence.end() : fence.end() + 1] in following else None
