"""Where does this string end? A text, the place after an opening quote and what may follow → the place of
the end.

A quote ends a string when what follows it fits the place: a comma and the next key, closing brackets, a
colon after a key. The names that a tool declares are the strongest evidence there is. Knows nothing of
values; each quote is looked at once, with bounded looking ahead, so that the whole is linear.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

CLOSING_QUOTES = {
    '"': '"', "'": "'", "`": "`", "“": '”“"', "„": '“”"', "”": '”"', "‘": "’'", "’": "’'", "«": "»", "‹": "›",
    "「": "」", "『": "』", "＂": "＂", "＇": "＇",
}  # fmt: skip
"""Opening quote → the signs that may close it."""

_STOPS = {
    opening: re.compile("[\\\\" + re.escape(closing) + "]") for opening, closing in CLOSING_QUOTES.items()
}
_GAP = re.compile(r"[\s\x00-\x1f]*+")
_QUOTE = "\"'“”„‘’`＂「」『』«»"
_KEY_TEXT = (
    r"(?:\"((?:[^\"\\\n]|\\.){0,100}+)\"|'((?:[^'\\\n]|\\.){0,100}+)'"
    rf"|[“”„‘’`＂「『«]([^{_QUOTE}\\\n]{{1,64}})[{_QUOTE}])"
)
QUOTED_KEY = re.compile(rf"\s*+{_KEY_TEXT}\s*+[:：]")
NEXT_KEY = re.compile(
    rf"[\s\x00-\x1f]*+(?:{_KEY_TEXT}\s*+(?::|：|=>?)|([A-Za-z_$][\w$.\-]{{0,63}})\s*+[:：](?!//))"
)
"""A key and its colon; the group that took part is the name."""
_ESCAPED_KEY_END = re.compile(rf"[^{_QUOTE}\\\n]{{1,64}}[{_QUOTE}]\s*+[:：]\s*+[{_QUOTE}\[{{\d\-tfnTFN]")
_LONE_KEY = re.compile(rf"\s*+{_KEY_TEXT}")
_CUT_KEY = re.compile(r"\s*+[\"'][^\"'\\\n,:{}]{0,64}\Z")
_ESCAPED_END = re.compile(rf"[{_QUOTE}]\s*+,\s*+{_KEY_TEXT}\s*+:")
"""A quote after a backslash, and yet a real next key: the backslash is the end of a Windows path."""
_VALUE_START = re.compile(rf"\s*+(?:[{_QUOTE}\[{{\-\d(]|(?:true|false|null|True|False|None)\b)")
_CLOSERS = re.compile(r"(?:\s*+[}\])｝］])*+")
_AFTER_VALUE = re.compile(r"(?:\s*+(?:\Z|```|</|[\"'`]\s*+\Z|;|<\||,?\s*+[{｛]\s*+[\"'}])|[^\S\n]*+\n)")
_NEXT_PART = re.compile(rf"\s*+,\s*+{_KEY_TEXT}\s*+[:：]")


class Role(Enum):
    """What a string is where it stands."""

    KEY = "key"
    MEMBER = "member"  # the value of a key
    ITEM = "item"  # an element of an array
    ROOT = "root"


class Closing(Enum):
    """How a string ends."""

    QUOTE = "quote"
    ESCAPED_QUOTE = "escaped quote"  # the backslash before the closing quote belongs to the text
    NEXT_PART = "next part"  # the closing quote is missing, but what follows shows the end
    TEXT_END = "text end"


@dataclass(frozen=True, slots=True)
class End:
    """The body is `text[start:body]`; reading goes on at `after`. `inner` unescaped quotes are part of the
    body, the first of them at `first_inner`.
    """

    body: int
    after: int
    closing: Closing
    inner: int = 0
    first_inner: int = -1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a string stands: its role, the brackets open around it, and the declared names of its object."""

    role: Role
    depth: int
    known: Collection[str] = ()
    closers: int = 0  # where the run of closing brackets at the end of the text begins


class Lookahead:
    """What has been looked at in one text, so that the whole stays linear.

    `tail` is where the run of closing brackets at the end begins. `left` characters may still be passed in
    looking for ends; when none are left, the first quote ends a string.
    """

    __slots__ = ("left", "no_close_from", "part", "part_from", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tail = len(text.rstrip(" \t\r\n}])｝］"))
        self.left = 2_000 + 4 * len(text)
        self.no_close_from: dict[str, int] = {}
        self.part: re.Match[str] | None = None
        self.part_from = len(text) + 1

    def can_close(self, opening: str, start: int) -> bool:
        """False when a search has shown that no closing quote follows."""
        return start < self.no_close_from.get(opening, len(self.text) + 1)

    def next_part(self, start: int) -> re.Match[str] | None:
        """The next comma with a key and a colon after it."""
        known = self.part_from <= start and (self.part is None or start <= self.part.start())
        if not known:
            self.part, self.part_from = _NEXT_PART.search(self.text, start), start
        return self.part

    def triple_end(self, quotes: str, start: int) -> int | None:
        """Where the closing triple quotes stand."""
        end = self.text.find(quotes, start) if self.can_close(quotes, start) else -1
        if end < 0:
            self.no_close_from.setdefault(quotes, start)
        return None if end < 0 else end


def find_end(text: str, start: int, opening: str, place: Place, ahead: Lookahead) -> End:
    """The end of the string whose body starts at `start`."""
    stops = _STOPS[opening]
    position, inner, first, balance, counted = start, 0, -1, 0, start
    fallback: End | None = None
    while ahead.can_close(opening, start) and (match := stops.search(text, position)):
        at = match.start()
        position = at + 1
        if text[at] == "\\":
            if (
                place.role is Role.MEMBER
                and _ESCAPED_END.match(text, at + 1)
                and text[at + 1] in CLOSING_QUOTES[opening]
            ):
                return End(at + 1, at + 2, Closing.ESCAPED_QUOTE, inner, first)
            position = at + 2
            continue
        ahead.left -= position - counted
        balance += _open_brackets(text, counted, at)
        counted = at
        found = End(at, position, Closing.QUOTE, inner, first)
        if place.role is Role.KEY or ahead.left < 0:
            return found
        fits = _follows(text, position, place)
        if fits is Fit.SURE or (inner == 0 and fits is not Fit.NO) or (balance <= 0 and fits is Fit.LIKELY):
            return found
        if inner == 0 and balance <= 0 and (ended := _opens_next_member(text, start, at, place)) is not None:
            return End(ended, ended, Closing.NEXT_PART)
        fallback = fallback or (found if fits is Fit.LIKELY else None)
        inner, first = inner + 1, first if inner else at
    if inner == 0:
        ahead.no_close_from.setdefault(opening, start)
    return fallback or _without_quote(text, start, opening, place, ahead)


def key_name(key: re.Match[str]) -> str:
    """The name in a match of `NEXT_KEY` or `QUOTED_KEY`."""
    return key.group(key.lastindex or 0)


class Fit(Enum):
    """How well what follows a quote fits its ending a string."""

    NO = 0
    IF_FIRST = 1  # only when no quote before it was taken for text
    LIKELY = 2
    SURE = 3


def _open_brackets(text: str, start: int, end: int) -> int:
    if end - start > 32:
        opened = text.count("{", start, end) + text.count("[", start, end)
        return opened - text.count("}", start, end) - text.count("]", start, end)
    piece = text[start:end]
    return piece.count("{") + piece.count("[") - piece.count("}") - piece.count("]")


def _follows(text: str, position: int, place: Place) -> Fit:
    """Does what stands after a quote fit the end of a string in this place?"""
    gap = _GAP.match(text, position)
    at = gap.end() if gap else position
    sign = text[at : at + 1]
    if not sign:
        return Fit.SURE
    if place.role is Role.ROOT:
        return Fit.LIKELY if at > position and "\n" in text[position:at] else Fit.NO
    if sign in ",，;":
        return _after_comma(text, at + 1, place)
    if sign in "}])｝］":
        return _after_closers(text, at, place)
    if sign == "+" and _VALUE_START.match(text, at + 1):
        return Fit.LIKELY
    if text.startswith(("//", "/*"), at) or (sign == "#" and at > position):
        return Fit.LIKELY
    return _without_comma(text, position, at, place)


def _after_comma(text: str, at: int, place: Place) -> Fit:
    gap = _GAP.match(text, at)
    following = gap.end() if gap else at
    if following >= len(text):
        return Fit.LIKELY
    if text[following] in "}])" or text.startswith(("//", "/*", "#", ",", "...", "…"), following):
        return Fit.LIKELY
    if place.role is Role.ITEM:
        return Fit.LIKELY if _VALUE_START.match(text, at) else Fit.NO
    key = NEXT_KEY.match(text, at)
    if key is None:
        lone = _LONE_KEY.match(text, at)
        if lone is not None and key_name(lone) in place.known:
            return Fit.LIKELY
        return Fit.IF_FIRST if _CUT_KEY.match(text, at) else Fit.NO
    return Fit.SURE if key_name(key) in place.known else Fit.LIKELY


def _after_closers(text: str, at: int, place: Place) -> Fit:
    """Closing brackets must fit the depth, and then the text must go on, or end, as a value does."""
    run = _CLOSERS.match(text, at)
    end = run.end() if run else at
    closed = end - at if end - at <= 2 else len("".join(text[at:end].split()))
    if end >= len(text):
        return Fit.SURE
    if closed >= place.depth:
        if _AFTER_VALUE.match(text, end):
            return Fit.LIKELY
        early = _after_early_close(text, end, place)
        return Fit.IF_FIRST if early is Fit.NO and closed == place.depth else early
    rest = _GAP.match(text, end)
    following = rest.end() if rest else end
    if following >= len(text):
        return Fit.SURE
    return Fit.LIKELY if text[following] == "," and _starts_part(text, following + 1) else Fit.NO


def _after_early_close(text: str, end: int, place: Place) -> Fit:
    """All is closed, and yet a declared name follows: a bracket too many."""
    gap = _GAP.match(text, end)
    at = gap.end() if gap else end
    key = NEXT_KEY.match(text, at + 1) if text.startswith(",", at) else None
    return Fit.LIKELY if key and key_name(key) in place.known else Fit.NO


def _starts_part(text: str, at: int) -> bool:
    gap = _GAP.match(text, at)
    following = gap.end() if gap else at
    return (
        following >= len(text)
        or text[following] in "}]"
        or NEXT_KEY.match(text, at) is not None
        or _VALUE_START.match(text, at) is not None
    )


def _without_comma(text: str, position: int, at: int, place: Place) -> Fit:
    """The comma may be missing: then a key follows, or (in an array) a string after a blank."""
    if place.role is Role.ITEM:
        return Fit.LIKELY if at > position and text[at] in _QUOTE else Fit.NO
    key = QUOTED_KEY.match(text, at)
    if key is not None:
        return Fit.SURE if key_name(key) in place.known else Fit.LIKELY
    bare = NEXT_KEY.match(text, at) if "\n" in text[position:at] else None
    return Fit.LIKELY if bare is not None else Fit.NO


def _opens_next_member(text: str, start: int, at: int, place: Place) -> int | None:
    """Where the string ends if the quote at `at` opens the next key, its own closing quote being missing."""
    if place.role is not Role.MEMBER or not _ESCAPED_KEY_END.match(text, at + 1):
        return None
    name = text[at + 1 : at + 66].split(text[at], 1)[0]
    if place.known and name not in place.known:
        return None
    before = text[max(start, at - 40) : at].rstrip()
    blanks = text[max(start, at - 40) + len(before) : at]
    if before.endswith(","):
        return max(start, at - 40) + len(before) - 1
    return max(start, at - 40) + len(before) if "\n" in blanks and before else None


def _without_quote(text: str, start: int, opening: str, place: Place, ahead: Lookahead) -> End:
    """No quote ends it: it ends at the next key, at the closing brackets of the whole, or with the text."""
    closers = max(place.closers, start)
    escaped = "\\" + CLOSING_QUOTES[opening][-1]
    if start <= closers - 2 and closers < len(text) and text.endswith(escaped, start, closers):
        return End(closers - 1, closers, Closing.ESCAPED_QUOTE)
    following = ahead.next_part(start) if place.role is Role.MEMBER else None
    if following is not None and (not place.known or key_name(following) in place.known):
        return End(following.start(), following.start(), Closing.NEXT_PART)
    if place.role in (Role.MEMBER, Role.ITEM) and start < closers < len(text):
        return End(closers, closers, Closing.NEXT_PART)
    return End(len(text), len(text), Closing.TEXT_END)
