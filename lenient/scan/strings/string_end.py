"""Finds the quote at which a string ends.

The search goes from quote to quote, in linear time. What follows the quote must fit the end of a string
(`lenient.scan.strings.string_end_scoring`). Quotes and brackets inside a string usually form pairs, so an
open pair requires stronger evidence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.strings.string_end_scoring import (
    BLANKS,
    COLONS,
    COMMAS,
    NEXT_PART,
    OPENING,
    QUOTED_KEY,
    QUOTES,
    EndFit,
    StringPlace,
    StringRole,
    key_name,
    score_end,
)


class StringClosing(Enum):
    """The way in which a string ends."""

    QUOTE = "quote"
    ESCAPED_QUOTE = "escaped quote"  # the backslash before the closing quote belongs to the text
    NEXT_PART = "next part"  # the closing quote is missing, but the next member or item shows the end
    TEXT_END = "text end"


@dataclass(frozen=True, slots=True)
class StringEnd:
    """The end of a string.

    The body is `text[start:body]`, and reading continues at `after`. `inner` is the number of unescaped
    quotes in the body, and `first_inner` is the offset of the first such quote. `ambiguous` is True when the
    string may equally well continue after the quote.
    """

    body: int
    after: int
    closing: StringClosing
    inner: int = 0
    first_inner: int = -1
    ambiguous: bool = False

    def find_doubled_quote(self, text: str, start: int) -> int | None:
        """Return the offset of a quote that was typed twice at either end of the body, or None.

        A quote after a digit at the end of the body does not count, because the quote means feet or inches.
        """
        if self.inner != 1 or self.closing is not StringClosing.QUOTE or self.body - start < 2:
            return None
        if text[start - 1] not in "\"'":
            return None
        if self.first_inner == start:
            return start
        is_last = self.first_inner == self.body - 1 and not text[self.body - 2].isdigit()
        return self.first_inner if is_last else None


def is_apostrophe(text: str, at: int) -> bool:
    """Return True when the quote at `at` is between two letters or digits."""
    return text[at] in "'’" and text[at - 1].isalnum() and text[at + 1 : at + 2].isalnum()


class _PassedQuotes:
    """What was passed between a string's start and the current quote: quotes inside the string, and open
    brackets.
    """

    __slots__ = (
        "balance", "counted", "fallback", "fallback_fit", "first",
        "inner", "last", "odd", "start", "text",
    )  # fmt: skip

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = self.counted = start
        self.balance = self.inner = 0
        self.first = self.last = -1
        self.odd = False
        self.fallback: StringEnd | None = None
        self.fallback_fit = EndFit.NO

    def count_brackets(self, at: int) -> int:
        """Count the brackets up to the quote at `at`. Return the number of characters passed."""
        piece = self.text[self.counted : at]
        self.balance += piece.count("{") + piece.count("[") - piece.count("}") - piece.count("]")
        length, self.counted = at + 1 - self.counted, at
        return length

    def accepts_end(self, fit: EndFit, at: int) -> bool:
        """Return True when the string ends at the quote at `at`.

        `fit` is the score of this end. Inside inner quotes or brackets, a higher score is needed.
        """
        if fit is EndFit.NO or self.is_apostrophe(at):
            return False
        if not self.inner:
            return True
        if fit is EndFit.IF_FIRST:
            return False
        inside = self.odd and self.balance > 0
        return not inside if fit is not EndFit.RANDOM else not self.odd or not self.opens_pair()

    def keep_as_text(self, at: int, fit: EndFit, string_end: StringEnd) -> None:
        """Count the quote at `at` as part of the string.

        If `fit` is the best score so far, `string_end` is kept as the fallback.
        """
        if fit > max(self.fallback_fit, EndFit.IF_FIRST):
            self.fallback, self.fallback_fit = replace(string_end, ambiguous=True), fit
        if not self.inner:
            self.first = at
        self.inner += 1
        if not self.is_apostrophe(at):
            self.odd = not self.odd
            self.last = at

    def keep_quotes(self, last: int, times: int) -> None:
        """Count `times` double quotes up to `last` as parts of the string. No string ends at these quotes."""
        self.count_brackets(last)
        self.inner += times
        self.odd ^= times % 2 == 1
        self.last = last

    def is_apostrophe(self, at: int) -> bool:
        return at > self.start and is_apostrophe(self.text, at)

    def opens_pair(self) -> bool:
        """Return True when the last quote inside the string opens a pair."""
        before, after = self.text[self.last - 1], self.text[self.last + 1 : self.last + 2]
        return not after.isspace() and (
            self.last == self.start or before in " \t\n([{=:,>" or not before.isalnum()
        )


# --- the search from quote to quote --------------------------------------------------------------------

CLOSING_QUOTES = {
    '"': '"', "'": "'", "`": "`´", "“": '”“"', "„": '“”"', "”": '”"', "‘": "’'", "‚": "‘’'", "’": "’'",
    "´": "´", "«": "»", "‹": "›", "「": "」", "『": "』", "＂": "＂", "＇": "＇",
}  # fmt: skip
"""Maps each opening quote to the quotes that may close the string."""

_RUNS = {
    opening: compile_regex(rf"[^\\{q}]*+(?:\\(?:[^{q}]|[{q}](?!\s*+,))[^\\{q}]*+)*+", re.DOTALL)
    for opening, q in CLOSING_QUOTES.items()
}
"""Matches everything up to a closing quote. An escaped quote ends the match only before a comma."""
_EXPRESSION = compile_regex(
    r"\.[A-Za-z_]\w*+\(|\s*+(?:\|\||&&|\?\?|\]\s*+\+\s*+\[)|\s++(?:%\s*+[(\w\"']|if\s[^\n]{1,80}?\selse\s|(?:OR|AND)\s++\""
    r"|(?:and|or|[=!]=)\s++(?:\"[^\"\\\n]{0,200}+\"|\w++)\s*+[,}\]])"
)
"""An operation that program code performs on the preceding string."""
_OTHER_CLOSERS = {'"': "", "'": "", "`": "", "”": "“", "’": "‘", "＂": ""}
"""Maps quotes that may close a string of another kind to the corresponding opening quotes."""
_PATH = compile_regex(r"\b[A-Za-z]:(?:[\\/]|\Z)|\\\\[\w.$\-]{2}")
_FILE = compile_regex(r"\.[A-Za-z]\w{0,4}\Z")
_STRAY_END = compile_regex(r"[^,:{}\[\]()\"'“”`\n]{1,60}+(?=[}\])])")
_ANY_CLOSERS = r"[\s\x00-\x1f\u200b\ufeff}\])｝］]*+"
_BARE_KEY = rf"-{{0,2}}[\w$][\w$.\-]{{0,63}}[\"'“”‘’＂?]?\s*+[{COLONS}]"
_WRAPPED_KEY = r"[\[(<]\s*+[\"'`]?[^\W\d][\w$.\-]{0,63}[\"'`]?\s*+[\])>]\s*+[:：=]"
_KEY_START = rf"[/#:*{QUOTES}]|--|__|[rbufRBUF]{{1,2}}[\"']|{_BARE_KEY}|{_WRAPPED_KEY}"
_ARGUMENT = rf"\"[^\"\\\n{COLONS}=＝]{{0,60}}+\"[)\]]"
_MAY_END = (
    rf"{BLANKS}(?:\Z|[/#+}}｝]|`{{3}}|\.\s*+[\"']|[\])］]{_ANY_CLOSERS}(?:\Z|[/#]|--|`{{3}}|[{COMMAS}|&]{BLANKS}(?:{_KEY_START}))"
    rf"|[{COMMAS}]{BLANKS}(?!{_ARGUMENT})(?:\Z|[,….}}\])｝］{{｛]|{_KEY_START}))"
    rf"|[\s\x00-\x1f\u200b\ufeff]++(?:[\"']?{_BARE_KEY}|:)|{BLANKS}[|&]{BLANKS}(?:[\"']|{_BARE_KEY})"
    rf"|{QUOTED_KEY.pattern}"
)
_IS_TEXT = r"[\])]*+(?:[\w(<>=:\\]|\.(?!\s*+[\"']))|[\])]++ ++[\w.(<>=+*%|&]"
_INNER_QUOTES = compile_regex(
    rf"[^\\\"]*+(?:(?:\\[^\"]|\"(?:(?={_IS_TEXT})|(?!{_MAY_END})))[^\\\"]*+)*+", re.DOTALL
)
"""Characters and double quotes at which `score_end` never ends a member after an inner quote.

`_IS_TEXT` is faster and covers a part of what `_MAY_END` excludes.
"""
_LAST_COMMENT = compile_regex(
    r"\s*+,?\s*+(?:/\*(?:[^*]|\*(?!/))*+\*/(?:\s*+,)?|(?<=[\s,])(?://|#\s)[^\n\"]*+(?=[^\S\n]*+\n))\s*+\Z"
)
"""A comment at the end of the input."""
_COMMENT_LOOK = 200
_TEXT_AFTER = compile_regex(r"((?:\s*+[}\])])++)[^\S\n]*+(?=\n|//|/\*|#\s|;|```|</|<\||[A-Z][a-z']*+[ ,.!])")
"""Closing brackets and what may follow a whole value, but not a string."""
_MAX_AFTER, _FEW_ENDS = 32, 3
_PATH_LOOK = 300
_LOOK = 32  # examining a quote takes as long as skipping this many characters


class Lookahead:
    """Results of earlier searches in one input, kept so that reading takes linear time.

    `tail` is the offset where the closing brackets at the end of the input begin. `left` is how many
    characters the searches for string ends may still pass. At 0, a string ends at its first quote.
    `left_again` is how many characters may still be examined when values are read a second time.
    """

    __slots__ = ("left", "left_again", "no_close_from", "part", "part_from", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tail = len(text.rstrip(" \t\r\n}])｝］"))
        if text[self.tail :].isspace():
            self.tail = len(text)  # the text does not end with closing brackets, only with whitespace
        self.left = 200_000 + 3 * len(text)
        self.left_again = 60_000 + 2 * len(text)
        self.no_close_from: dict[str, int] = {}
        self.part: re.Match[str] | None = None
        self.part_from = len(text) + 1

    def can_close(self, opening: str, start: int) -> bool:
        """Return False when an earlier search found no quote after `start` that closes `opening`."""
        return start < self.no_close_from.get(opening, len(self.text) + 1)

    def find_next_part(self, start: int) -> re.Match[str] | None:
        """Return the match of the next comma, key and colon from `start` on, or None without a match."""
        is_searched = self.part_from <= start and (self.part is None or start <= self.part.start())
        if not is_searched:
            self.part, self.part_from = NEXT_PART.search(self.text, start), start
        return self.part

    def find_triple_end(self, quotes: str, start: int) -> int | None:
        """Return the offset of the closing triple quotes, or None when there are none."""
        end = self.text.find(quotes, start) if self.can_close(quotes, start) else -1
        if end < 0:
            self.no_close_from.setdefault(quotes, start)
        return None if end < 0 else end


def find_string_end(text: str, start: int, opening: str, place: StringPlace, ahead: Lookahead) -> StringEnd:
    """Return the end of the string whose body starts at `start`.

    Raises UnreadableError when the string belongs to a program expression.
    """
    run = _RUNS[opening]
    passed = _PassedQuotes(text, start)
    many = opening == '"' and place.role is StringRole.MEMBER and not _has_odd_signs(place)
    position = start if ahead.can_close(opening, start) else len(text)
    while (match := run.match(text, position)) is not None and (at := match.end()) < len(text):
        position = at + 1
        if text[at] == "\\":
            position = at + 2
            continue
        if many and passed.inner:
            after = _pass_inner_quotes(text, at, passed, ahead)
            many, at = after >= 0, max(at, after)
            if at == len(text) or text[at] == "\\":
                position = at
                continue
            position = at + 1
        ahead.left -= passed.count_brackets(at) + _LOOK
        string_end = StringEnd(at, position, StringClosing.QUOTE, passed.inner, passed.first)
        if place.role is StringRole.KEY or ahead.left < 0:
            return string_end
        fit = score_end(text, position, place)
        if fit is EndFit.NO and not passed.inner and _EXPRESSION.match(text, position):
            raise UnreadableError("expression", at)  # a program operates on the string
        if passed.accepts_end(fit, at):
            return string_end
        passed.keep_as_text(at, fit, string_end)
    return _find_last_end(start, opening, place, passed, ahead)


def _has_odd_signs(place: StringPlace) -> bool:
    """Return True when an equals sign acts as a colon, or two characters can close the innermost bracket.

    Otherwise quotes that cannot end a member are skipped in groups.
    """
    return place.assigns() or any(frame.also for frame in place.stack[-1:])


def _find_last_end(
    start: int, opening: str, place: StringPlace, passed: _PassedQuotes, ahead: Lookahead
) -> StringEnd:
    text = passed.text
    if passed.inner == 0:
        ahead.no_close_from.setdefault(opening, start)
    if passed.inner == 1 and passed.fallback is None and _leaves_stray_text(text, passed.first, place):
        return StringEnd(passed.first, passed.first + 1, StringClosing.QUOTE)
    return passed.fallback or _find_end_without_quote(text, start, opening, place, ahead)


def _leaves_stray_text(text: str, quote: int, place: StringPlace) -> bool:
    """Return True when the input's last string ends at the last quote and other words follow."""
    before = text[quote - 1]
    if before.isspace() or before.isdigit() or before in OPENING:
        return False
    stray = _STRAY_END.match(text, quote + 1)
    return stray is not None and stray.end() == place.closers


def _pass_inner_quotes(text: str, at: int, passed: _PassedQuotes, ahead: Lookahead) -> int:
    """Count quotes from `at` on as parts of the string, as long as what follows each quote cannot follow a
    string.

    Return the offset of the first character to examine, or -1 when `ahead.left` is used up.
    """
    run = _INNER_QUOTES.match(text, at)
    end = run.end() if run else at
    times = text.count('"', at, end)
    if not times:
        return at
    last = text.rfind('"', at, end)
    cost = last - passed.counted + times * (1 + _LOOK)
    if ahead.left < cost:
        return -1
    ahead.left -= cost
    passed.keep_quotes(last, times)
    return end


def end_of_path(text: str, start: int, at: int) -> int:
    """Return the end of a string that has a backslash at `at`, directly before the closing quote.

    The backslash belongs to the string only if the string is the path of a Windows folder.
    """
    is_path = at == start or (
        not text.endswith("\\\\", start, at)
        and _PATH.search(text, max(start, at - _PATH_LOOK), at)
        and not _FILE.search(text, max(at - 6, start), at)
    )
    return at + 1 if is_path else at


def _end_before_part(text: str, start: int, end: int) -> StringEnd:
    """Return the end of a string before the next member or item at `end`.

    A quote of another kind before `end` closes the string, unless the string contains a second quote of this
    kind.
    """
    comment = find_last_comment(text, start, end)
    end = end if comment is None else comment
    last, body = text[end - 1], text[start : end - 1]
    if body and last in _OTHER_CLOSERS and last not in CLOSING_QUOTES[text[start - 1]] and last not in body:
        opening = _OTHER_CLOSERS[last]
        if not opening or opening not in body:
            return StringEnd(end - 1, end, StringClosing.QUOTE)
    return StringEnd(end, end, StringClosing.NEXT_PART)


def find_last_comment(text: str, start: int, end: int) -> int | None:
    """Return the end of `text[start:end]` without the comment at its end, or None when there is no comment.

    A line comment must end at the end of its line.
    """
    if "*/" not in text[end - 8 : end] and "\n" not in text[max(end - _COMMENT_LOOK, start) : end + 1]:
        return None
    after = end + 1 if text[end : end + 1] == "\n" else end
    comment = _LAST_COMMENT.search(text, max(start, end - _COMMENT_LOOK), after)
    if comment is None:
        return None
    at = start + len(text[start : comment.start()].rstrip())
    return at if at > start else None


def find_ends_of_values(text: str, start: int) -> list[int]:
    """Return the offsets at which a string without its last quote may end, because the whole value may end
    there.
    """
    matches = zip(range(_FEW_ENDS), _TEXT_AFTER.finditer(text, start), strict=False)
    return [after.start() for _, after in matches if after.start() > start]


def _find_text_after(text: str, start: int, place: StringPlace, ahead: Lookahead) -> int | None:
    """Return the end of a string without its last quote if the whole value ends there.

    All open brackets must be closed after this end. The string must open no brace, and no JSON may follow.
    Return None when there is no such end.
    """
    ahead.left -= len(text) - start
    if ahead.left < 0:
        return None
    due = "".join(frame.close for frame in reversed(place.stack))
    matches = _TEXT_AFTER.finditer(text, start)
    for _, after in zip(range(_MAX_AFTER), matches, strict=False):
        at, end = after.start(), after.end()
        if "".join(after[1].split()) != due or at == start:
            continue
        if text.count("{", start, at) > text.count("}", start, at):
            continue
        return at if text.count("}", end) <= text.count("{", end) else None
    return None


def _find_end_without_quote(
    text: str, start: int, opening: str, place: StringPlace, ahead: Lookahead
) -> StringEnd:
    """Return the end of a string without a closing quote.

    The string ends before the next key, before the last closing brackets, or at the end of the input.
    """
    closers = max(place.closers, start)
    escaped = "\\" + CLOSING_QUOTES[opening][-1]
    ends_so = start <= closers - 2 and closers < len(text) and text.endswith(escaped, start, closers)
    # if the number is even, the quote closes a pair inside the text
    if ends_so and text.count(escaped, start, closers) % 2:
        return StringEnd(end_of_path(text, start, closers - 2), closers, StringClosing.ESCAPED_QUOTE)
    following = ahead.find_next_part(start) if place.role is StringRole.MEMBER else None
    if following is not None and (not place.declares_fields() or place.awaits(key_name(following))):
        end = following.start()
        while end > start and text[end - 1].isspace():
            end -= 1
        return _end_before_part(text, start, end)
    if closers > start and text[closers - 1] in "”“＂" and closers < len(text):
        return StringEnd(closers - 1, closers, StringClosing.QUOTE)  # another kind of quote closes the string
    if place.stack and (ended := _find_text_after(text, start, place, ahead)) is not None:
        return _end_before_part(text, start, ended)
    if place.role in (StringRole.MEMBER, StringRole.ITEM) and start < closers < len(text):
        return _end_before_part(text, start, closers)
    return StringEnd(len(text), len(text), StringClosing.TEXT_END)
