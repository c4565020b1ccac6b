"""Scores how well a quote can be the end of a string, given what follows and the open brackets.

Evidence is a comma and the next key, the expected closing brackets, or a colon after a key. Declared names
are the strongest evidence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

from lenient.regex import compile_regex
from lenient.scan.strings.trivia import find_escaped_blanks_end

QUOTES = "\"'“”„‘’‚`´＂＇「」『』«»‹›"
COMMAS = ",，;；、،﹐﹑"
COLONS = ":：﹕"
BLANKS = r"[\s\x00-\x1f\u200b\ufeff]*+"
_KEY_TEXT = (
    r"(?:\"([^\"\\\n]{0,100}+(?:\\.[^\"\\\n]{0,100}+){0,20}+)\"|'([^'\\\n]{0,100}+(?:\\.[^'\\\n]{0,100}+){0,20}+)'"
    rf"|[“”„‘’‚`＂＇「『«‹]([^{{{QUOTES}\\\n]{{1,64}})[{QUOTES}])"
)
_COLON = rf"{BLANKS}(?:[?!.\\]?[{COLONS}]|[=＝]>?)"
_EXTRA_QUOTE = r"(?:\"(?=\"[\w$])|'(?='[\w$]))?"
QUOTED_KEY = compile_regex(rf"{BLANKS}{_EXTRA_QUOTE}{_KEY_TEXT}[\"']?{_COLON}")
_BARE_NAME = r"([A-Za-z_$][\w$.\-]{0,63}|\d{1,9})"
NEXT_KEY = compile_regex(
    rf"{BLANKS}(?:{_EXTRA_QUOTE}{_KEY_TEXT}[\"']?{_COLON}|{_BARE_NAME}\??\s*+[{COLONS}](?!//)"
    rf"|-{{0,2}}{_BARE_NAME}[\"'”’]\s*+[{COLONS}](?!//)"
    rf"|[\"']-{{0,2}}([A-Za-z_][\w\-]{{0,63}})[“”‘’＂\"']?\s*+[{COLONS}]\s*+(?=[\"'\[{{\d\-tfnTFN])|:(\w{{1,64}})\s*+=>)"
)
"""A key and its colon, possibly without the first or last quote.

The group that matched is the name of the key.
"""
_BARE_GROUP = 4
_ASSIGNED = compile_regex(rf"{BLANKS}([^\W\d][\w\-]{{0,63}})\s*+(?:=(?!=)|->)")
EMPHASISED_KEY = compile_regex(
    r"(\*{1,2}|__)(?:\"([^\"\\\n]{1,64})\"|'([^'\\\n]{1,64})')\1(?=\s*+[:：=])"
    r"|(\*{1,2})([\w.\-]{1,64})\4(?=\s*+[:：=])"
)
WRAPPED_KEY = compile_regex(
    r"([\[(<])\s*+([\"'`]?)([^\W\d][\w$.\-]{0,63})\2\s*+[\])>](?=\s*+[:：=]\s*+[\"'\[{\d\-tfnTFN])"
)
"""A key inside brackets."""
LONE_KEY = compile_regex(rf"{BLANKS}{_KEY_TEXT}")
NEXT_PART = compile_regex(rf",{BLANKS}{_KEY_TEXT}\s*+[{COLONS}]")
_PREFIX = compile_regex(r"(?:[rbfuRBFU]|[rR][bBfF]|[bBfF][rR])(?=[\"'])")
_NEXT_STRING = compile_regex(rf"{_KEY_TEXT}{BLANKS}(?=[,}}\"'])")
_BROKEN_KEY = compile_regex(
    r"\"([\w.\-]{0,64})[ \t]*+[\r\n\t]++[ \t]*+([\w.\-]{0,64})\"\s*+:\s*+(?=[\"\[{\d\-tfnTFN])"
)
"""A key that contains a raw line break."""
_CUT_KEY = compile_regex(r"\s*+[\"'][^\"'\n,:{}]{0,64}\Z")
NARRATION = compile_regex(
    r"(?![\w$.\-]++\s*+(?:[,;}]|[\d\-]|(?:true|false|null|True|False|None)\b))"
    r"[^\s\"“”`{}\[\]:=,;][^\"“”`{}\[\]:=]{0,200}+(?:(?<!\w)[\[{][^\"“”`{}\[\]:=]{0,60}+[\]}]\s*+)?[:=]?\s*+(?=\"([^\"\\\n]{1,64})\"\s*+:)"
)
"""Words before a key, at a position where only a key is possible.

The group is the name of the key.
"""
REMARK = compile_regex(
    r"\s*+(?:\([^()\"“”`{}\[\]\n]{0,80}+\)|[^\s,:=\"'“”`{}\[\]()][^,:=\"“”`{}\[\]()\n]{0,60}+(?<!\s))"
)
"""Words after a value."""
_NEXT_NAME = compile_regex(r"\s*+,\s*+\"([^\"\\\n]{1,64})\"\s*+:")
VALUE_START = compile_regex(rf"{BLANKS}(?:[{QUOTES}\[{{\-\d(｛［]|(?:true|false|null|True|False|None)\b)")
_JOINED = compile_regex(rf"{BLANKS}(?:/\*[^*\n]{{0,80}}+\*/\s*+)?[\"']")
_FENCE = compile_regex(r"`{3}\s*+(?=[,}\]])")
_ODD_SIGNS = frozenset(".|&,")
_ODD_COMMA = compile_regex(
    r"(?:[.|&]|,\s*+:)(?=\s*+(?:\"[^\"\\\n]{1,64}\"|'[^'\\\n]{1,64}')\s*+(?::|=>))|\|(?=\s++[A-Za-z_]\w{0,63}:\s)"
)
_ODD_ITEM_COMMA = compile_regex(r"[.|&](?=\s*+\"[^\"\\\n]{0,200}\"\s*+[,\].|&])")
"""Characters that replace a comma."""
_GAP = compile_regex(BLANKS)
_COMMENT = compile_regex(
    r"(?:(?://|#|--\s)[^\n]{0,300}+(?=\n)|/\*(?:[^*]|\*(?!/)){0,300}+\*/)[\s\x00-\x1f]*+"
)
_AFTER_ALL = compile_regex(
    r"(?:\s*+(?:\Z|```|</|[\"'`”]\s*+\Z|;|[`\"']?\s*+<\||,?\s*+[{｛]\s*+[\"'}]|//|/\*)|[^\S\n]*+\n|`\s*+(?:\n|\Z))"
)
"""What may follow a whole value: the end of the input, a fence, a tag, another object, or a new line."""
_AFTER_ARGUMENT = (")", "]")
OPENING = "([{=:,>\"'"
"""After these characters, a quote opens a string."""
CLOSERS = {"}": "}", "]": "]", ")": ")", "｝": "}", "］": "]"}


class StringRole(Enum):
    """The role of a string in its JSON."""

    KEY = "key"
    MEMBER = "member"  # the value of a key
    ITEM = "item"  # an element of an array
    ROOT = "root"


class EnclosingBracket(Protocol):
    """An open bracket: its closing bracket, the names declared for its object, and the names read so far.

    `equals` is True when an equals sign or an arrow acts as a colon in the object. `doubled` is True when the
    brace was written twice. The field `also` is another character that closes the bracket. `wrapped` is True
    when a round bracket follows the closing bracket.
    """

    close: str
    key: str | None
    equals: bool
    doubled: bool
    also: str
    wrapped: bool

    @property
    def fields(self) -> Collection[str]: ...
    @property
    def children(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class StringPlace:
    """The context of a string: its role and the open brackets around the string.

    `closers` is the offset where the closing brackets at the end of the input begin.
    """

    role: StringRole
    stack: Sequence[EnclosingBracket] = ()
    closers: int = 0

    def awaits(self, name: str) -> bool:
        """Return True when a surrounding object declares `name` and has no member with this name yet."""
        for frame in self.stack[-1:-9:-1]:
            if name in frame.fields:
                return name not in frame.children and name != frame.key
        return False

    def assigns(self) -> bool:
        """Return True when an equals sign or an arrow was used as a colon in a surrounding object."""
        return any(frame.equals for frame in self.stack[-1:-9:-1])

    def declares_fields(self) -> bool:
        """Return True when the definition names the fields of the surrounding object."""
        return bool(self.stack and self.stack[-1].fields)


class EndFit(IntEnum):
    """The score for how well a quote can be the end of a string."""

    NO = 0
    IF_FIRST = 1  # the quote ends the string only if no earlier quote was counted as text
    RANDOM = 2  # the quote precedes a key that the definition does not name
    LIKELY = 3
    SURE = 4


def key_name(key: re.Match[str]) -> str:
    """Return the name in a match of `NEXT_KEY` or `QUOTED_KEY`."""
    return key.group(key.lastindex or 0)


def pass_blanks(text: str, at: int) -> int:
    """Return the offset after whitespace, control characters and at most three short comments."""
    gap = _GAP.match(text, at)
    at = gap.end() if gap else at
    for _ in range(3):
        if text[at : at + 1] not in ("/", "#", "-") or (comment := _COMMENT.match(text, at)) is None:
            break
        at = comment.end()
    return at


def find_odd_comma(text: str, at: int, *, is_member: bool) -> int | None:
    """Return the offset after characters that replace a comma between members or items, or None.

    A key must follow the characters. In an array, a whole string may follow instead.
    """
    if text[at : at + 1] not in _ODD_SIGNS:
        return None
    odd = (_ODD_COMMA if is_member else _ODD_ITEM_COMMA).match(text, at)
    return odd.end() if odd is not None else None


def _pass_fence(text: str, at: int) -> int:
    """Return the offset after a code fence at `at` if a comma or closing bracket follows, else `at`."""
    fence = _FENCE.match(text, at)
    return fence.end() if fence is not None else at


def score_end(text: str, position: int, place: StringPlace) -> EndFit:
    """Score how well what follows `position` fits the end of a string."""
    gap = _GAP.match(text, position)
    at = gap.end() if gap else position
    sign = text[at : at + 1]
    if not sign:
        return EndFit.SURE
    if place.role is StringRole.ROOT:
        return EndFit.LIKELY if at > position and "\n" in text[position:at] else EndFit.NO
    if sign == "#" and at == position:
        after = pass_blanks(text, at)  # the comment has no blank before it
        goes_on = at < after < len(text) and text[after] not in "#\\"
        return min(score_end(text, after, place), EndFit.IF_FIRST) if goes_on else EndFit.NO
    if sign in ("/", "#") and (after := pass_blanks(text, at)) > at:
        at = after
        sign = text[at : at + 1]
        position = at - 1
    if sign == "\\" and (after := find_escaped_blanks_end(text, at)) > at:
        return min(score_end(text, after, place), EndFit.IF_FIRST)
    if sign == "`" and (after := _pass_fence(text, at)) > at:
        at = after
        sign = text[at]
    if (odd := find_odd_comma(text, at, is_member=place.role is StringRole.MEMBER)) is not None:
        return _score_part(text, odd, place, len(place.stack) - 1)
    if sign in COMMAS:
        return _score_part(text, at + 1, place, len(place.stack) - 1)
    if sign in CLOSERS:
        return _score_closers(text, at, place)
    if sign == "+" and _JOINED.match(text, at + 1):
        return EndFit.LIKELY
    return _score_missing_comma(text, position, at, place)


def _score_part(text: str, at: int, place: StringPlace, level: int) -> EndFit:
    """Score how well what follows a comma fits a member or item of the bracket at `level` of the stack."""
    following = pass_blanks(text, at)
    sign = text[following : following + 1]
    frame = place.stack[level] if place.stack else None
    if not sign or sign in ",…" or text.startswith("...", following):
        return EndFit.LIKELY
    if sign in CLOSERS:
        return EndFit.LIKELY if _is_due(CLOSERS[sign], place, level) else EndFit.NO
    if frame is not None and frame.close != "}":
        prefixed = VALUE_START.match(text, following) or _PREFIX.match(text, following)
        return EndFit.LIKELY if prefixed else EndFit.IF_FIRST
    if sign in "{｛" and level > 0 and place.stack[level - 1].close == "]":
        return EndFit.LIKELY  # a new object starts, because the current object was not closed
    if sign == "{" and (key := QUOTED_KEY.match(text, following + 1)) and place.awaits(key_name(key)):
        return EndFit.LIKELY  # a superfluous brace and a declared key follow
    return _score_key(text, following, place)


def _is_due(close: str, place: StringPlace, level: int) -> bool:
    """Return True when the character `close` closes one of the four innermost brackets up to `level` of the
    stack.
    """
    return any(frame.close == close for frame in place.stack[max(level - 3, 0) : level + 1])


def _score_key(text: str, at: int, place: StringPlace) -> EndFit:
    """Score a quote before the next key. The key may be undeclared or lack its colon."""
    key = NEXT_KEY.match(text, at)
    if key is None and (prefix := _PREFIX.match(text, at)) is not None:
        key = QUOTED_KEY.match(text, prefix.end())
    if key is None and text[at] in "*_":
        key = EMPHASISED_KEY.match(text, at)
    if key is None and place.assigns():
        key = _ASSIGNED.match(text, at)
    if key is None and text[at] in "[(<" and (wrapped := WRAPPED_KEY.match(text, at)) is not None:
        return EndFit.SURE if place.awaits(wrapped[3]) else EndFit.IF_FIRST
    if key is None and text[at] not in QUOTES and (narration := NARRATION.match(text, at)) is not None:
        return _if_first(narration[1], place)
    if key is None:
        return _score_lone_string(text, at, place)
    if place.awaits(key_name(key)):
        return EndFit.SURE
    if (key.lastindex or 0) >= _BARE_GROUP and not VALUE_START.match(text, key.end()):
        return EndFit.IF_FIRST
    return EndFit.RANDOM if place.declares_fields() else EndFit.LIKELY


def _if_first(name: str, place: StringPlace) -> EndFit:
    """Score a quote if words and the key `name` follow, with a comma before or after the words."""
    return EndFit.IF_FIRST if place.awaits(name) or not place.declares_fields() else EndFit.NO


def _score_remark(text: str, position: int, place: StringPlace) -> EndFit:
    """Score a quote before words, a comma and a key."""
    before = text[position - 2]
    if before.isspace() or before.isdigit() or before in OPENING or place.role is not StringRole.MEMBER:
        return EndFit.NO
    remark = REMARK.match(text, position)
    following = _NEXT_NAME.match(text, remark.end()) if remark is not None else None
    return EndFit.NO if following is None else _if_first(following[1], place)


def _score_lone_string(text: str, at: int, place: StringPlace) -> EndFit:
    """Score a quote as the end of a string when a string without a colon follows in the place of a key."""
    if (broken := _BROKEN_KEY.match(text, at)) is not None:
        return EndFit.SURE if place.awaits(broken[1] + broken[2]) else EndFit.LIKELY
    if _CUT_KEY.match(text, at):
        return EndFit.IF_FIRST
    lone = LONE_KEY.match(text, at)
    if lone is None:
        return EndFit.NO
    if text[lone.end() : lone.end() + 1] in _AFTER_ARGUMENT:
        return EndFit.NO  # the string is an argument or item of a call or list inside a text
    after = pass_blanks(text, lone.end())
    if after < len(text) and text[after] in ":：":  # a comment is between the string and the colon
        return EndFit.SURE if place.awaits(key_name(lone)) else EndFit.LIKELY
    if place.awaits(key_name(lone)):
        return EndFit.SURE if after > lone.end() and VALUE_START.match(text, after) else EndFit.LIKELY
    colonless = after > lone.end() and VALUE_START.match(text, after)
    sign = text[after : after + 1]
    alone = sign in ("}", "") or (sign == "," and NEXT_KEY.match(text, after + 1))
    return EndFit.IF_FIRST if colonless or alone else EndFit.NO


def _score_closers(text: str, at: int, place: StringPlace) -> EndFit:
    """Score a quote before the closing brackets at `at`.

    The brackets must be the expected ones, and what follows the brackets must be possible after a value.
    """
    level, wrong = len(place.stack) - 1, 0
    tail = place.closers
    if tail <= at:  # the rest of the text consists of closing brackets
        return EndFit.SURE
    end = at
    while (sign := text[end : end + 1]) in CLOSERS and sign and level >= -3:
        frame = place.stack[level] if level >= 0 else None
        if frame is not None and CLOSERS[sign] not in (frame.close, frame.also):
            wrong += 1
        elif frame is not None and (frame.doubled or frame.wrapped):
            end += text.startswith(")" if frame.wrapped else "}", end + 1)
        level -= 1
        end = _pass_fence(text, pass_blanks(text, end + 1))
    if end >= len(text):
        return EndFit.SURE
    if wrong:
        return EndFit.NO
    if level >= 0:
        return _score_inner_closers(text, end, place, level)
    if _AFTER_ALL.match(text, _pass_closers(text, at, end)):
        return EndFit.LIKELY
    key = NEXT_KEY.match(text, end + 1) if text.startswith(",", end) else None
    if key and place.awaits(key_name(key)):
        return EndFit.LIKELY  # a superfluous bracket follows
    return EndFit.IF_FIRST if level == -1 else EndFit.NO


def _pass_closers(text: str, at: int, end: int) -> int:
    """Return the offset after the last of several closing brackets, before the blanks that follow."""
    blanks = len(text[at:end]) - len(text[at:end].rstrip())
    return end - blanks


def _score_inner_closers(text: str, end: int, place: StringPlace, level: int) -> EndFit:
    """Score a quote before closing brackets that leave outer brackets open.

    A member or item of the right kind must follow the brackets. The comma may be missing.
    """
    in_object = place.stack[level].close == "}"
    comma = end + 1 if text[end] in COMMAS else None
    if text[end] in "|&":
        comma = find_odd_comma(text, end, is_member=in_object)
    if comma is not None:
        fit = _score_part(text, comma, place, level)
        return EndFit.LIKELY if fit is EndFit.RANDOM else fit
    if in_object:
        return EndFit.LIKELY if QUOTED_KEY.match(text, end) else EndFit.NO
    return EndFit.LIKELY if text[end] in "{[｛［" else EndFit.NO


def _score_missing_comma(text: str, position: int, at: int, place: StringPlace) -> EndFit:
    """Score a quote that no comma follows.

    In an object, a key must follow. In an array, a blank and a value may follow instead.
    """
    if place.role is StringRole.ITEM:
        if at == position:
            return EndFit.NO
        return (
            EndFit.LIKELY
            if text[at] in QUOTES
            else EndFit.IF_FIRST
            if VALUE_START.match(text, at)
            else EndFit.NO
        )
    key = QUOTED_KEY.match(text, at)
    if key is not None:
        return EndFit.SURE if place.awaits(key_name(key)) else EndFit.LIKELY
    if at > position and _NEXT_STRING.match(text, at):
        return EndFit.IF_FIRST  # adjacent strings may be joined
    bare = NEXT_KEY.match(text, at) if at > position else None
    if bare is None and at > position and place.assigns() and _ASSIGNED.match(text, at):
        return EndFit.LIKELY
    if bare is None:
        return _score_remark(text, position, place)
    if place.awaits(key_name(bare)):
        return EndFit.SURE
    plain = "\n" in text[position:at] or (not place.declares_fields() and VALUE_START.match(text, bare.end()))
    return EndFit.IF_FIRST if plain else EndFit.NO
