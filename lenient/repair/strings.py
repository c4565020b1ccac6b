"""Where does this string end? A text, the place after an opening quote and what may follow → the place of
the end.

Each quote is looked at once: what follows it must fit (`lenient.repair.follows`), and the quotes and brackets
passed so far must not say that it stands inside text. Looking ahead is bounded, so that the whole is linear.
Knows nothing of values.
"""

from __future__ import annotations

import re

from lenient.repair.bare import UnreadableError
from lenient.repair.ends import Closing, End, Passed
from lenient.repair.follows import LONE_KEY, NEXT_PART, QUOTES, Fit, Place, Role, fit_of, key_name

CLOSING_QUOTES = {
    '"': '"', "'": "'", "`": "`", "“": '”“"', "„": '“”"', "”": '”"', "‘": "’'", "’": "’'", "«": "»", "‹": "›",
    "「": "」", "『": "』", "＂": "＂", "＇": "＇",
}  # fmt: skip
"""Opening quote → the signs that may close it."""

_RUNS = {
    opening: re.compile(rf"[^\\{q}]*+(?:\\(?:[^{q}]|[{q}](?!\s*+,))[^\\{q}]*+)*+", re.DOTALL)
    for opening, q in CLOSING_QUOTES.items()
}
"""Text up to a closing quote; an escaped one only stops it where a comma follows."""
_EXPRESSION = re.compile(
    r"\.[A-Za-z_]\w*+\(|\s*+(?:\|\||&&|\?\?)|\s++(?:%\s*+[(\w\"']|if\s[^\n]{1,80}?\selse\s|(?:OR|AND)\s++\")"
)
"""What a program does with a string that has ended."""
_ESCAPED_KEY_END = re.compile(rf"[^{QUOTES}\\\n]{{1,64}}[{QUOTES}]\s*+[:：]\s*+[{QUOTES}\[{{\d\-tfnTFN]")
_CLOSING_LINES = re.compile(r"(?:[^\S\n]*\n\s*[}\]])+\Z")
_ITEM_AFTER = re.compile(r"[^\"\\\n,]{0,200}+\"\s*+(?:\]|,\s*+[\"\d\[{])")
_ESCAPED_END = re.compile(rf"[{QUOTES}]\s*+,(?={LONE_KEY.pattern}\s*+:)")
"""A quote after a backslash, and yet a real next key: the backslash is the end of a Windows path."""
_LOOK = 32  # looking at a quote costs as much as passing so many characters


class Lookahead:
    """What has been looked at in one text, so that the whole stays linear.

    `tail` is where the run of closing brackets at the end begins. `left` characters may still be passed in
    looking for ends; when none are left, the first quote ends a string.
    """

    __slots__ = ("left", "next_quote", "no_close_from", "part", "part_from", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tail = len(text.rstrip(" \t\r\n}])｝］"))
        if text[self.tail :].isspace():
            self.tail = len(text)  # nothing is closed there
        self.left = 400_000 + 4 * len(text)
        self.next_quote = -1  # of the quotes that no backslash escapes
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
            self.part, self.part_from = NEXT_PART.search(self.text, start), start
        return self.part

    def triple_end(self, quotes: str, start: int) -> int | None:
        """Where the closing triple quotes stand."""
        end = self.text.find(quotes, start) if self.can_close(quotes, start) else -1
        if end < 0:
            self.no_close_from.setdefault(quotes, start)
        return None if end < 0 else end


def find_end(text: str, start: int, opening: str, place: Place, ahead: Lookahead) -> End:
    """The end of the string whose body starts at `start`."""
    run, closing = _RUNS[opening], CLOSING_QUOTES[opening]
    passed = Passed(text, start)
    position = start if ahead.can_close(opening, start) else len(text)
    while (match := run.match(text, position)) is not None and (at := match.end()) < len(text):
        position = at + 1
        if text[at] == "\\":
            if (
                text[position : at + 2] in closing
                and not passed.is_escaped(at, opening)
                and _ends_in_backslash(text, at, place)
            ):
                return End(at + 1, at + 2, Closing.ESCAPED_QUOTE, passed.inner, passed.first)
            position = at + 2
            continue
        ahead.left -= passed.count(at) + _LOOK
        found = End(at, position, Closing.QUOTE, passed.inner, passed.first)
        if place.role is Role.KEY or ahead.left < 0:
            return found
        fit = fit_of(text, position, place)
        if fit is Fit.NO and not passed.inner and _EXPRESSION.match(text, position):
            raise UnreadableError("expression", at)  # a string and what a program does with it
        if passed.accept(fit, at):
            return passed.chosen(found, fit)
        if passed.inner == 0 and passed.balance <= 0:
            ended = _opens_next_part(text, start, at, place)
            if ended is not None:
                return End(ended, ended, Closing.NEXT_PART)
        passed.keep(at, fit, found)
    if passed.inner == 0:
        ahead.no_close_from.setdefault(opening, start)
    return passed.fallback or _without_quote(text, start, opening, place, ahead)


def _ends_in_backslash(text: str, at: int, place: Place) -> bool:
    """Is the backslash at `at` the last sign of a Windows path, the quote after it the end?"""
    return place.role is Role.MEMBER and _ESCAPED_END.match(text, at + 1) is not None


def _opens_next_part(text: str, start: int, at: int, place: Place) -> int | None:
    """Where the string ends if the quote at `at` opens the next key or item, its own closing quote being
    missing.
    """
    from_ = max(start, at - 40)
    before = text[from_:at].rstrip()
    if place.role is Role.ITEM:
        is_next = before.endswith(",") and len(before) > 1 and _ITEM_AFTER.match(text, at + 1)
        return from_ + len(before) - 1 if is_next else None
    if place.role is not Role.MEMBER or not _ESCAPED_KEY_END.match(text, at + 1):
        return None
    name = text[at + 1 : at + 66].split(text[at], 1)[0]
    if place.declares() and not place.awaits(name):
        return None
    if before.endswith(","):
        return from_ + len(_without_closers(before[:-1], place))
    return from_ + len(before) if "\n" in text[from_ + len(before) : at] and before else None


def _without_closers(before: str, place: Place) -> str:
    """The text without the closing brackets on lines of their own that are due after it."""
    run = _CLOSING_LINES.search(before)
    if run is None:
        return before
    due = [frame.close for frame in place.stack[: -1 - len(run.group().split()) : -1]]
    return before[: run.start()] if run.group().split() == due else before


def _without_quote(text: str, start: int, opening: str, place: Place, ahead: Lookahead) -> End:
    """No quote ends it: it ends at the next key, at the closing brackets of the whole, or with the text."""
    closers = max(place.closers, start)
    escaped = "\\" + CLOSING_QUOTES[opening][-1]
    ends_so = start <= closers - 2 and closers < len(text) and text.endswith(escaped, start, closers)
    if ends_so and text.count(escaped, start, closers) % 2:  # else it closes a pair within the text
        return End(closers - 1, closers, Closing.ESCAPED_QUOTE)
    following = ahead.next_part(start) if place.role is Role.MEMBER else None
    if following is not None and (not place.declares() or place.awaits(key_name(following))):
        end = following.start()
        while end > start and text[end - 1].isspace():
            end -= 1
        return End(end, end, Closing.NEXT_PART)
    if closers > start and text[closers - 1] in "”“＂" and closers < len(text):
        return End(closers - 1, closers, Closing.QUOTE)  # another kind of quote closes it
    if place.role in (Role.MEMBER, Role.ITEM) and start < closers < len(text):
        return End(closers, closers, Closing.NEXT_PART)
    return End(len(text), len(text), Closing.TEXT_END)
