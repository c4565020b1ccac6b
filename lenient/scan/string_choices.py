"""Lists the possible ends of a string with their costs, for the search for the cheapest interpretation.

A quote ends a string if what follows can come after a value or a key. A skipped quote belongs to the string
and has a cost. The cost is higher if the quote seems to separate two members or items. A string without its
last quote may end where the next member or item begins. The declared names show where a member begins, even
if the member lacks quotes or a colon.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from lenient.regex import compile_regex
from lenient.scan.strings.quoted_string import is_bracketed_word
from lenient.scan.strings.string_end import (
    CLOSING_QUOTES,
    StringClosing,
    StringEnd,
    end_of_path,
    find_ends_of_values,
    find_last_comment,
    is_apostrophe,
)
from lenient.scan.strings.string_end_scoring import COLONS, NEXT_PART, QUOTED_KEY

# The costs have the same scale as the repair costs in `lenient.scan.repair_search`.
_INNER, _FIRST_INNER = 0.3, 0.4  # cost of each quote that belongs to the text; cost of the first such quote
_ODD_INNER = 0.5  # cost if the quotes do not form pairs
_FURTHER_INNER, _FEW = 0.08, 4  # cost of each quote in brackets of the text, or after the first `_FEW` quotes
_LATE_INNER, _MANY = 0.01, 12  # cost of each quote after `_MANY` other quotes
_APOSTROPHE = 0.05
_LIKE_STRUCTURE = 0.9  # extra cost of a quote that seems to separate two members or items
_LIKE_MEMBER = 0.6  # extra cost of such a quote if it is in brackets of the text
_AFTER_COLON, _TOUCHING = 0.4, 0.5  # extra costs of a quote after a colon, or directly after another quote
# cost if the text leaves brackets open; cost if it also begins with a bracket
_OPEN_BRACKET, _OPEN_JSON = 0.5, 1.0
_CLOSES_OUTER = 0.5  # cost if the text closes a bracket that was opened before the text
_COMMA_LAST = 0.6  # cost if a comma, or a blank and a letter, is next to the last quote
_MISSING_END, _ESCAPED_END, _OPEN_END = 1.0, 1.0, 1.6
# first cost: the backslash before a quote ends a path; second cost: the escaped quote closes a pair
_PATH_END, _PAIR_END = 0.4, 0.3
_UNSURE_NAME = 0.25  # cost if no definition confirms the end of the name
_NAME_INNER = 1.0  # cost of each quote inside a name
# first cost: a name begins or ends with a blank; second cost: a name contains unusual characters
_EDGED_NAME, _ODD_NAME = 0.4, 0.6
_LINE_IN_NAME = 0.5

_MOST_ENDS, _MOST_QUOTES, _MOST_KEY_QUOTES = 40, 600, 3
_MOST_OPEN = 8  # maximum number of possible ends inside open brackets of the text
_LOOK_BACK, _LOOK_AHEAD = 48, 4_000
_CLOSERS = " \t\r\n}])｝］"

_MARKS = {
    opening: compile_regex(rf"\\.|[{''.join(map(re.escape, closing))}]", re.DOTALL)
    for opening, closing in CLOSING_QUOTES.items()
}
PLAIN_VALUE = r"(?:[\"'“\[{]|-?\d|(?:true|false|null|True|False|None)\b)"
"""The beginning of a JSON or Python value."""
_KEY = rf"\w[\w.\-]{{0,63}}+[\"']\s*+[{COLONS}]|(?<=\s)[^\W\d][\w\-]{{0,63}}+\s*+[{COLONS}]\s"
_NEXT_STRING = r"\"[^\"\n]{0,64}+\"(?:\s*+[:,}\]]|[ \t]*+\")|['“]"
_MAY_END = compile_regex(
    rf"[\s\x00-\x1f\ufeff]*+(?:[,;{COLONS}=}}\])，；、｝］]|\Z|//|/\*|(?<=\s)#|{_NEXT_STRING}"
    rf"|[\[{{](?=\s*+[\"\d\-\[{{])|{_KEY}|`{{3}}|\*\*[\"']|[.|&]\s*+[\"'])|\\[nrt]"
)
"""What may follow a string: a bracket, comma, colon or comment, the end of the input, a string, an object or
a key.
"""
_SIGN_AFTER = compile_regex(rf"\s*+(?:[,{COLONS}}}\]]|\Z)")
_AFTER_KEY = compile_regex(rf"\s*+(?:[{COLONS}]|=)")
_BEFORE_PART = compile_regex(r"((?:\s*+[}\]])*+)\s*+(,)?\s*+((?:[{\[]\s*+)*+)\Z")
_BRACKET = compile_regex(r"[\[\]{}]")
_KEY_SHAPE = compile_regex(rf"\s*+(?:[{COLONS}]\s*+{PLAIN_VALUE}|=>?\s*+[\"'\[{{])")
_PART_SHAPE = compile_regex(
    rf"\s*+[}}\]]*+\s*+,\s*+(?:[A-Za-z_]\w*+\s*+:\s*+{PLAIN_VALUE}|[\[{{]?\s*+[\"'][^\"'\n]{{1,64}}[\"']\s*+[:,}}\]])"
    r"|\s*+[}\]]++\s*+,\s*+[{\[]|\s*+\{\s*+\"\w++\"\s*+:"
    r"|\s*+[}\])]++\s*+(?:\n|\Z)|\s++\[\s*+\""
)
_MEMBER_SHAPE = compile_regex(rf"\s*+,\s*+\"[^\"\n]{{1,64}}+\"\s*+:\s*+{PLAIN_VALUE}")
_NEXT_TEXT = compile_regex(r"\s*+,\s*+[\"'][\w\"']")
"""What follows a quote that separates two members or items."""
_COLON_BEFORE = compile_regex(r"[\w\"'][\"']?\s*+:\s*+\Z")
_ITEM_SHAPE = compile_regex(r"\"[^\"\\\n]{0,200}+\"\s*+[,\]]")
_UNCLOSED_NAME = compile_regex(
    rf"([^\W\d][\w$.\-]{{0,63}})(?=\s*+[{COLONS}=]\s*+{PLAIN_VALUE}|\s++{PLAIN_VALUE})"
)
_PLAIN_NAME = compile_regex(r"[\w$.\-/@ ]*+\Z")
_EDGE = compile_regex(r",\s*+[\"'].?\Z|[\s\"'][\"']\w\Z")
"""A comma at the end of a string, or a blank or quote before a quote and a letter."""
_ESCAPED_OBJECT = compile_regex(r"[{\[]\s*+(?:\\n\s*+)*+[{\[]?\s*+\\++\"")
"""The beginning of an object or array whose quotes are escaped, as inside a string."""
_FIRST_QUOTE = compile_regex(r"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
_QUOTE = r"[\"'“”]\s*+"
_STRUCTURE = compile_regex(
    rf"(?<=[\w.])\"\"(?=\w)|{_QUOTE}[{COLONS}=](?![:=/])"
    rf"|{_QUOTE}[}}\]]*+\s*+(?:[,|]\s*+[{{\[]*+\s*+[\"'“]\w|,\s*+[^\W\d][\w .\-/\[\]]*+[\"']?\s*+[{COLONS}])"
)
"""Two quotes that touch, a quote and a colon, or a quote, a comma and the next member or item."""


class StringChoice(NamedTuple):
    """One possible end of a string, and the cost of this end.

    The body is `text[start:end.body]`. `opened` is False when the opening quote is missing. `doubtful` means
    that a quote in the body seems to separate two members or items.
    """

    start: int
    end: StringEnd
    cost: float
    opened: bool = True
    doubtful: bool = False

    @property
    def is_broken(self) -> bool:
        """Return True when the closing quote is missing."""
        return self.end.closing in (StringClosing.NEXT_PART, StringClosing.TEXT_END)


def list_value_ends(
    text: str,
    start: int,
    opening: str,
    names: Collection[str],
    limit: float,
    *,
    opened: bool,
    is_named: bool,
) -> tuple[list[StringChoice], int]:
    """Return the possible ends of a string value that begins at `start`, and how many quotes were examined.

    Each end costs at most `limit`. `is_named` means that a surrounding object declares names that have no
    value yet. `names` are the names that the string may contain as a key. When the opening quote is missing,
    `opened` is False and a quote must end the string.
    """
    search = _ValueEnds(text, start, opening, names, limit, opened, is_named)
    if search.pass_quotes() and opened:
        search.add_ends_without_quote()
    return search.choices, search.inner


@dataclass(slots=True)
class _ValueEnds:
    """The possible ends of one string, and the quotes and brackets passed so far.

    `depth` is the number of brackets that the string opened and did not close. `lowest` is the lowest value
    of `depth`, and `parentheses` is the number of open round brackets. Brackets are counted up to the offset
    `counted`. `is_open` means that a quote has no partner yet. `doubtful` means that a quote seemed to
    separate two members or items.
    """

    text: str
    start: int
    opening: str
    names: Collection[str]
    limit: float
    opened: bool
    is_named: bool
    choices: list[StringChoice] = field(default_factory=list)
    inner: int = 0
    first: int = -1
    cost: float = 0.0
    is_open: bool = False
    doubtful: bool = False
    depth: int = 0
    lowest: int = 0
    parentheses: int = 0
    counted: int = field(init=False)
    is_json: bool = field(init=False)

    def __post_init__(self) -> None:
        self.counted = self.start
        self.is_json = self.text[self.start : self.start + 1] in ("{", "[")

    def pass_quotes(self) -> bool:
        """Examine each quote that may end the string.

        Return False when the remaining quotes would cost too much.
        """
        escaped = 0
        for mark in _MARKS[self.opening].finditer(self.text, self.start):
            at = mark.start()
            if self.text[at] == "\\":
                if self.text[at + 1] in CLOSING_QUOTES[self.opening] and len(self.choices) < _MOST_ENDS:
                    self.add_escaped(at, closes_pair=escaped % 2 == 1)
                    escaped += 1
                continue
            self.count_brackets(at)
            self.add_ends_at(at)
            self.keep_as_text(at)
            if self.cost > self.limit or len(self.choices) >= _MOST_ENDS or self.inner > _MOST_QUOTES:
                return False
        return True

    def count_brackets(self, at: int) -> None:
        more, least = _count_depth(self.text, self.counted, at)
        if self.depth + least < self.lowest:
            self.cost += 0.0 if self.lowest else _CLOSES_OUTER
            self.lowest = self.depth + least
        self.depth += more
        self.parentheses += self.text.count("(", self.counted, at) - self.text.count(")", self.counted, at)
        self.counted = at

    def add_escaped(self, at: int, *, closes_pair: bool) -> None:
        if at + 2 < len(self.text) and _MAY_END.match(self.text, at + 2):
            body = end_of_path(self.text, self.start, at)
            cost = _PATH_END if body > at else _ESCAPED_END + (_PAIR_END if closes_pair else 0.0)
            self.add(body, at + 2, StringClosing.ESCAPED_QUOTE, cost)

    def add_ends_at(self, at: int) -> None:
        """Add the ends for the quote at `at`.

        The string may end at the quote. If the quote may open the next member or item, the string may also
        end before the quote.
        """
        if _MAY_END.match(self.text, at + 1):
            self.add(at, at + 1, StringClosing.QUOTE)
        if self.opened and (end := _find_end_before(self.text, self.start, at)) is not None:
            self.add(end, end, StringClosing.NEXT_PART, _MISSING_END)
        if self.names and _AFTER_KEY.match(self.text, at + 1):
            for name in self.names:
                end = at - len(name)
                if end > self.start and self.text.endswith(name, self.start, at):
                    self.add(end, end, StringClosing.NEXT_PART, _MISSING_END)

    def add_ends_without_quote(self) -> None:
        text, start = self.text, self.start
        part = None if self.inner else NEXT_PART.search(text, start, start + _LOOK_AHEAD)
        tail = len(text.rstrip(_CLOSERS))
        ends = [part.start()] if part is not None else []
        ends += [tail] if not text[tail:].isspace() and start <= tail < len(text) else []
        for end in [_strip_comment(text, start, end) for end in ends] + find_ends_of_values(text, start):
            self.add(end, end, StringClosing.NEXT_PART, _MISSING_END)
        self.add(len(text), len(text), StringClosing.TEXT_END, _OPEN_END)

    def add(self, body: int, after: int, closing: StringClosing, more: float = 0.0) -> None:
        """Add one end. The cost of the end is the cost of the skipped quotes plus `more`."""
        cost = self.cost + more + (_ODD_INNER if self.is_open else 0.0)
        plain = not self.inner and closing is StringClosing.QUOTE and _SIGN_AFTER.match(self.text, after)
        if self.depth > 0 and not plain:
            cost += _OPEN_JSON if self.is_json else _OPEN_BRACKET
            if sum(choice.end.closing is closing for choice in self.choices) >= _MOST_OPEN:
                return
        from_ = max(body - 4, self.start - 1)
        is_quote = closing is StringClosing.QUOTE and not plain
        at_edge = is_quote and _EDGE.search(self.text, from_, body + 2) is not None
        cost += _COMMA_LAST if at_edge else 0.0
        if cost <= self.limit and body >= self.start:
            end = StringEnd(body, after, closing, self.inner, self.first)
            # True if no declared name shows that the text ends here
            unpaired = self.is_open and not self.is_named
            doubtful = self.doubtful or at_edge or unpaired
            self.choices.append(StringChoice(self.start, end, cost, self.opened, doubtful))

    def keep_as_text(self, at: int) -> None:
        self.inner += 1
        if self.inner == 1:
            self.first = at
        if is_apostrophe(self.text, at):
            self.cost += _APOSTROPHE
            return
        price = self.price_inner(at)
        self.doubtful = self.doubtful or price >= _LIKE_STRUCTURE
        self.cost += price + (_FIRST_INNER if self.inner == 1 else 0.0)
        self.is_open = not self.is_open

    def price_inner(self, at: int) -> float:
        text, after = self.text, at + 1
        few = self.depth <= 0 and self.inner <= _FEW
        price = _INNER if few else _FURTHER_INNER if self.inner <= _MANY else _LATE_INNER
        if text.startswith(text[at], after):
            price += _TOUCHING
        if self.depth > 0:
            looks = not self.is_json and (_MEMBER_SHAPE.match(text, after) or _KEY_SHAPE.match(text, after))
            return price + (_LIKE_MEMBER if looks else 0.0)
        if self.parentheses > 0:
            return price  # the quote belongs to an argument of a call in the text
        looks = not self.is_open and _NEXT_TEXT.match(text, after)
        if looks or _KEY_SHAPE.match(text, after) or _PART_SHAPE.match(text, after):
            return price + _LIKE_STRUCTURE
        return price + (_AFTER_COLON if _COLON_BEFORE.search(text, max(at - 16, 0), at) else 0.0)


def _count_depth(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bracket depth at `end`, relative to `start`, and the lowest depth from `start` to `end`."""
    depth = least = 0
    for bracket in _BRACKET.finditer(text, start, end):
        depth += 1 if bracket[0] in "{[" else -1
        least = min(depth, least)
    return depth, least


def _strip_comment(text: str, start: int, end: int) -> int:
    """Return the end of a string that lacks its last quote, without blanks and comments before `end`."""
    comment = find_last_comment(text, start, end)
    return start + len(text[start : end if comment is None else comment].rstrip())


def _find_end_before(text: str, start: int, at: int) -> int | None:
    """Return the end of a string without a last quote, if the quote at `at` opens the next member or item.

    Return None for other quotes.
    """
    is_key = QUOTED_KEY.match(text, at) is not None
    if not is_key and not _ITEM_SHAPE.match(text, at):
        return None
    comment = find_last_comment(text, start, at)
    stop = at if comment is None else comment
    before = _BEFORE_PART.search(text, max(start, stop - _LOOK_BACK), stop)
    if before is None or not (is_key or before[2]):
        return None
    end = before.start() if before[2] or (not before[1] and not before[3]) else at
    if before[1] and before[2] and _count_depth(text, start, end)[0] > 0:
        end = before.start(2)  # the brackets before the comma belong to the text
    end = _strip_comment(text, start, end)
    if not before[2] and text[start:end].endswith(","):
        end -= 1
    backslashes = end - start - len(text[start:end].rstrip("\\"))
    end -= backslashes % 2
    return end if end > start else None


def list_key_ends(
    text: str, start: int, opening: str, names: Collection[str], limit: float
) -> list[StringChoice]:
    """Return the possible ends of a key that begins at `start`.

    Each end costs at most `limit`. `names` are the declared names that have no value yet.
    """
    choices: list[StringChoice] = []
    inner, first = 0, -1
    for mark in _MARKS[opening].finditer(text, start):
        at = mark.start()
        if text[at] == "\\":
            continue
        name, cost, edged = text[start:at], inner * _NAME_INNER, False
        if inner or not _AFTER_KEY.match(text, at + 1):
            edged = name != name.strip()
            cost += (_EDGED_NAME if edged else 0.0) + (_LINE_IN_NAME if "\n" in name else 0.0)
            cost += 0.0 if _PLAIN_NAME.match(name) else _ODD_NAME
        end = StringEnd(at, at + 1, StringClosing.QUOTE, inner, first)
        choices.append(StringChoice(start, end, cost, doubtful=edged))
        first = first if inner else at
        inner += 1
        if inner * _NAME_INNER > limit or inner > _MOST_KEY_QUOTES:
            break
    ends = {start + len(name): 0.0 for name in names if text.startswith(name, start)}
    if (unclosed := _UNCLOSED_NAME.match(text, start)) is not None:
        ends.setdefault(unclosed.end(), _UNSURE_NAME if names else 0.0)
    for at, more in ends.items():
        if text[at : at + 1] not in CLOSING_QUOTES[opening]:
            end = StringEnd(at, at, StringClosing.NEXT_PART)
            choices.append(StringChoice(start, end, _MISSING_END + more))
    return [choice for choice in choices if choice.cost <= limit]


def begins_unopened(text: str, at: int) -> bool:
    """Return True when a string without its first quote may begin with the bracket at `at`."""
    if _ESCAPED_OBJECT.match(text, at) is None and not is_bracketed_word(text, at):
        return False
    first = _FIRST_QUOTE.match(text, at, at + _LOOK_AHEAD)
    if first is None:
        return False
    end = first.end()
    return _MAY_END.match(text, end) is not None and _EDGE.search(text, max(end - 5, at), end + 1) is None


def looks_like_parts(text: str, end: StringEnd) -> bool:
    """Return True when a quote in a string looks like the end of a string between two members or items."""
    first = end.first_inner
    if end.inner % 2 and not text[first - 1].isdigit():
        return True
    return first >= 0 and _STRUCTURE.search(text, first, end.body) is not None
