"""Splits a text into brackets, commas, colons, strings and words, where every string certainly ends.

A string ends at its first unescaped quote. That is certain where a bracket, comma, colon or blank stands around
each string: a quote that belongs to a text would leave words of this text outside of the strings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

STRING, WORD = "s", "w"
MAX_TOKENS = 4_000

_GAP = r"(?:\s++|(?<=[\s,{\[}\]])(?://[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/))*+"
_TOKEN = re.compile(
    _GAP + r"(?:(\"(?:[^\"\\]|\\.)*+\"(?=[\s,:}\])\[{\"]|\Z)|'(?:[^'\\]|\\.)*+'(?=[\s,:}\])\[{']|\Z))"
    r"|([\w+\-.$]++)(?=[\s,:}\])\[{]|\Z)|([{}\[\](),]|:(?!//)))",
    re.DOTALL,
)
_COLON = re.compile(r"\s*+:")
_BLANKS = re.compile(_GAP)


class Tokens(NamedTuple):
    """The tokens of a text: for each its kind, its span and where it stands in the text.

    A kind is `STRING`, `WORD`, or the bracket, comma or colon itself. `end` is the offset at which no further
    token could be read, the length of the text when all of it was.
    """

    kinds: str
    starts: list[int]
    ends: list[int]
    end: int


def split_tokens(text: str, start: int) -> Tokens | None:
    """Return the tokens of `text` from `start` on, None when there are more than `MAX_TOKENS`.

    The tokens end before the first part of which it is not certain where it ends.
    """
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, last = start, ""
    match_token = _TOKEN.match
    while (match := match_token(text, position)) is not None:
        group = match.lastindex or 0
        begin, position = match.span(group)
        kind = STRING if group == 1 else WORD if group == 2 else text[begin]  # noqa: PLR2004
        if kind == WORD and last in (STRING, WORD) and (ends[-1] == begin or _COLON.match(text, position) is None):
            return Tokens("".join(kinds[:-1]), starts[:-1], ends[:-1], starts[-1])
        kinds.append(kind)
        starts.append(begin)
        ends.append(position)
        if len(kinds) > MAX_TOKENS:
            return None
        last = kind
    gap = _BLANKS.match(text, position)
    return Tokens("".join(kinds), starts, ends, gap.end() if gap else position)
