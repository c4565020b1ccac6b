"""Splits a text into brackets, commas, colons, strings and words, where every string certainly ends.

A string ends at its first unescaped quote. That is certain where a bracket, comma, colon or blank stands
around each string: a quote that belongs to a text would leave words of this text outside of the strings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from lenient.diagnostics import MAX_DEPTH
from lenient.regex import compile_regex
from lenient.scan.strings.string_end import StringEnd

STRING, WORD = "s", "w"
MAX_TOKENS = 4_000

_GAP = r"(?:\s++|(?<=[\s,{\[}\]])(?://[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/))*+"
_DOUBLE, _SINGLE = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"", r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_ENDS = r"(?=[\s,:}\])\[{=：，；，｝］]|\Z)"
_TOKEN = compile_regex(
    rf"{_GAP}(?:("
    rf"\"\"\"(?:(?!\"\"\").)*+\"\"\"{_ENDS}"
    rf"|\"\"(?=[^\s,:}}\])\"])(?:[^\"\\]|\\.)*+\"\"(?=\s*+[:：=])"
    rf"|\*\*(?:{_DOUBLE}|{_SINGLE})\*\*{_ENDS}"
    rf"|{_DOUBLE}(?={_ENDS[3:-1]}|\"[^\"])"
    rf"|{_SINGLE}(?={_ENDS[3:-1]}|'[^'])"
    rf"|“[^“”\"\\]*+[”\"]{_ENDS}|`[^`\\]*+`{_ENDS}"
    rf")|([\w+\-.$]++)(?=[\s,:}}\])\[{{=：，；｝］]|\Z)"
    r"|(=>?|:=|:(?!//)|[{}\[\](),;：﹕，、；｛｝［］（）]))",
    re.DOTALL,
)
_BLANKS = compile_regex(_GAP)
_COLON = re.compile(r"\s*+[:：=]")
_SIGNS = {
    "=": ":", "=>": ":", ":=": ":", "：": ":", "﹕": ":", ";": ",", "，": ",", "、": ",", "；": ",",
    "｛": "{", "｝": "}", "［": "[", "］": "]", "（": "(", "）": ")",
}  # fmt: skip
"""Maps the other spellings of brackets, commas and colons to those of JSON."""

_DEPTH = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}


class TextTokens(NamedTuple):
    """The tokens of a text: for each its kind, its span and where it stands in the text.

    A kind is `STRING`, `WORD`, or the bracket, comma or colon itself. `end` is the offset at which no further
    token could be read, the length of the text when all of it was.
    """

    kinds: str
    starts: list[int]
    ends: list[int]
    end: int


def split_tokens(text: str, start: int, known: Mapping[int, StringEnd]) -> TextTokens | None:
    """Return the tokens of `text` from `start` on, None when they are too many or nested too deep.

    `known` are the ends of strings that were found otherwise, by the offsets at which the strings begin. The
    tokens end before the first part of which it is not certain where it ends.
    """
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, last = start, ""
    depth = 0
    doubled = text.startswith("{{", start)
    match_token, match_gap = _TOKEN.match, _BLANKS.match
    while True:
        if known and (gap := match_gap(text, position)) is not None and gap.end() in known:
            begin, position, kind = gap.end(), known[gap.end()].after, STRING
        elif (match := match_token(text, position)) is not None:
            group = match.lastindex or 0
            begin, position = match.span(group)
            kind = (STRING, WORD, "")[group - 1] or _SIGNS.get(match[group], text[begin])
        else:
            break
        if doubled and kind in "{}" and text.startswith(kind, position):
            position += 1  # a template doubled its braces
        if (
            kind == WORD
            and last in (STRING, WORD)
            and (ends[-1] == begin or _COLON.match(text, position) is None)
        ):
            return TextTokens("".join(kinds[:-1]), starts[:-1], ends[:-1], starts[-1])
        kinds.append(kind)
        starts.append(begin)
        ends.append(position)
        if kind in _DEPTH:
            depth += _DEPTH[kind]
        if len(kinds) > MAX_TOKENS or depth > MAX_DEPTH:
            return None
        last = kind
    rest = match_gap(text, position)
    return TextTokens("".join(kinds), starts, ends, rest.end() if rest else position)


def name_of_key(text: str, start: int, end: int) -> str:
    """Return the name of the key that is `text[start:end]`, without its quotes."""
    return text[start:end].strip("*").strip("\"'`“”")
