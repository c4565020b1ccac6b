r"""Decodes escapes in a text, so that detectors find values in any spelling.

A value may be written with escapes of JSON (`\u0041`, `\/`), of URLs (`%41`), or of HTML (`&#65;`). Escapes
may be nested, and terminal colours may be added. Each view is a decoded text that maps its characters to the
text before decoding. A placeholder is written with the same escapes and the same length as the value.

A command that is a list of words is shown as one line of a shell, because the detectors know shell commands.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html.entities import html5
from typing import Any

from lenient.regex import compile_regex

_LAYERS = 10  # levels of JSON within JSON; `lenient` decodes the same number of levels
# The pattern begins with a character class, so that `re` can skip most of a text fast.
_ESCAPE = re.compile(
    r"""[\\%&\x1b](?:(?<=\\)(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|["'`\\/nrtbf]|(?:033|e)\[[\d;]{0,16}[A-Za-z])"""
    r"|(?<=\x1b)(?:\[[\d;:?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[()][0-9AB])"
    r"|(?<=%)[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*"
    r"|(?<=&)(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
)
_SHORT = {rf"\{sign}": sign for sign in "\"'`\\/"} | {
    r"\n": "\n", r"\r": "\r", r"\t": "\t", r"\b": "\b", r"\f": "\f",
}  # fmt: skip
_COLOURS = ("\x1b", "\\033", "\\e")
INNER_BLANK = "\ue000"  # a private-use character, which no log contains
_WORD_LONGEST = 1_000  # largest number of characters of a word
_WORD = (
    rf"\"(?:[^\"\\\r\n]|\\[^\r\n]){{0,{_WORD_LONGEST}}}+\"|'(?:[^'\\\r\n]|\\[^\r\n]){{0,{_WORD_LONGEST}}}+'"
    r"|[\w.*]{1,40}+"
)
_LIST = compile_regex(
    rf"[\[(]\s{{0,40}}+(?:(?:{_WORD})\s{{0,40}}+(?:,\s{{0,40}}+)?+){{1,200}}+(?:[\"'][^\"'\r\n]{{1,{_WORD_LONGEST}}}+\Z)?"
)
_QUOTED = re.compile(rf"{_WORD}|[\"'][^\"'\r\n]{{1,{_WORD_LONGEST}}}\Z")
_LINES = compile_regex(rf"(?:(?:\A|\n)[ \t]{{0,40}}+- [^\r\n]{{1,{_WORD_LONGEST}}}+\r?){{2,200}}+")
_LINE = re.compile(r"(?:\A|\n)[ \t]{0,40}- [ \t]{0,4}([^\r\n]+)")
_HAS_OPTION = re.compile(r"[\"'\s]-{1,2}[A-Za-z]")
_PROGRAM = re.compile(r"[\"']([\w./-]{1,60})[\"']\s{0,4},\s{0,40}[\"']?\w{1,20}[\"']?\s{0,4}[:=]\s{0,4}\Z")
_PROGRAM_KEYS = frozenset({"command", "cmd", "program", "executable"})
_BLANK = re.compile(r"\s")
_LETTER_OF_LENGTH = {2: "é", 3: "ẽ", 4: "𝓪"}  # for each number of bytes in UTF-8, a letter of that length


class View:
    """A text without some of its escapes or line breaks, and the origin of its characters.

    Pieces are the positions where the text differs from `source`. Piece i is at `at[i]` and has `width[i]` (0
    or 1) characters. It replaces `source[start[i]:end[i]]`.
    """

    __slots__ = ("_parent", "at", "end", "source", "start", "text", "width")

    def __init__(self, text: str, source: str, parent: View | None) -> None:
        self.text = text
        self.source = source
        self._parent = parent
        self.at: list[int] = []
        self.width: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []

    def add_piece(self, at: int, width: int, start: int, end: int) -> None:
        self.at.append(at)
        self.width.append(width)
        self.start.append(start)
        self.end.append(end)

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text from which `text[start:end]` comes."""
        first, last = self._span(start)[0], self._span(end - 1)[1]
        return (first, last) if self._parent is None else self._parent.locate(first, last)

    def pieces_within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the offset and the width of each piece between `start` and `end`."""
        for piece in range(bisect_right(self.at, start), bisect_left(self.at, end)):
            yield self.at[piece], self.width[piece]

    def source_end(self, end: int) -> int:
        """Return the offset in `source` of the end of `text[:end]`."""
        return self._span(end - 1)[1]

    def spell(self, start: int, end: int, chosen: str) -> str:
        """Return what to write in the original text so that `text[start:end]` is decoded as `chosen`.

        The result has as many characters as the text that it replaces.
        """
        parts: list[str] = []
        done, behind = start, self._span(start)[0]
        piece = bisect_right(self.at, start - 1)
        while piece < len(self.at) and self.at[piece] < end:
            at = self.at[piece]
            if self.start[piece] >= behind:
                parts.append(chosen[done - start : at - start])
                escape = self.source[self.start[piece] : self.end[piece]]
                width = self.width[piece]
                if width and chosen[at - start] != self.text[at]:
                    escape = _respell(escape, chosen[at - start])
                parts.append(escape)
                done, behind = at + width, self.end[piece]
            piece += 1
        parts.append(chosen[done - start :])
        spelled = "".join(parts)
        if self._parent is None:
            return spelled
        first = self._span(start)[0]
        return self._parent.spell(first, first + len(spelled), spelled)

    def _span(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self.at, position) - 1
        if piece < 0:
            return position, position + 1
        if self.width[piece] and self.at[piece] == position:
            return self.start[piece], self.end[piece]
        place = self.end[piece] + position - self.at[piece] - self.width[piece]
        return place, place + 1


def decode_layers(text: str) -> Iterator[View]:
    """Yield the text with one more level of escapes decoded each time, until no escape is left."""
    view: View | None = None
    for _ in range(_LAYERS):
        view = _decode(text, view)
        if view is None:
            return
        yield view
        text = view.text


def _decode(text: str, parent: View | None) -> View | None:
    if "\\" not in text and "%" not in text and "&" not in text and "\x1b" not in text:
        return None
    view = View("", text, parent)
    parts: list[str] = []
    last = length = 0
    for match in _ESCAPE.finditer(text):
        start, end = match.span()
        escape = match[0]
        if escape.startswith(_COLOURS):
            parts.append(text[last:start])
            length += start - last
            view.add_piece(length, 0, start, end)
            last = end
            continue
        pieces = ((_SHORT[escape], 2),) if escape in _SHORT else _decode_escape(escape)
        if not pieces:
            continue
        parts.append(text[last:start])
        length += start - last
        for sign, size in pieces:
            view.add_piece(length, 1, start, start + size)
            parts.append(sign)
            start += size
            length += 1
        last = end
    if not view.at:
        return None
    parts.append(text[last:])
    view.text = "".join(parts)
    return view


def _decode_escape(escape: str) -> Sequence[tuple[str, int]]:
    """Return (character, length) pairs for the characters that an escape encodes.

    `length` is the number of the escape's characters that encode the character.
    """
    first = escape[0]
    if first == "\\":
        digits = escape[2:]
        return ((chr(int(digits, 16)), len(escape)),)
    if first == "%":
        signs = bytes.fromhex(escape.replace("%", "")).decode("utf-8", "surrogateescape")
        return [(sign, 3 if "\udc80" <= sign <= "\udcff" else 3 * len(sign.encode())) for sign in signs]
    if escape[1] == "#":
        hexadecimal = escape[2] in "xX"
        number = int(escape[3:-1], 16) if hexadecimal else int(escape[2:-1])
        return ((chr(number), len(escape)),) if 0 < number <= 0x10FFFF else ()
    sign = html5.get(escape[1:], "")
    return ((sign, len(escape)),) if len(sign) == 1 else ()


def _respell(escape: str, sign: str) -> str:
    """Return an escape of the same form and length for another character, if there is one."""
    code, new = ord(sign), escape
    if escape[0] == "\\" and len(escape) > 2:
        digits = len(escape) - 2
        if code < 16**digits:
            new = f"{escape[:2]}{code:0{digits}x}"
    elif escape[0] == "%":
        length = len(escape) // 3
        data = (
            sign
            if len(sign.encode("utf-8", "surrogatepass")) == length
            else _LETTER_OF_LENGTH.get(length, "x")
        ).encode()
        new = "".join(f"%{byte:02X}" for byte in data)
    elif escape[:2] == "&#":
        new = _respell_entity(escape, code)
    return new if len(new) == len(escape) else escape


def _respell_entity(escape: str, code: int) -> str:
    head, digits = (escape[:3], escape[3:-1]) if escape[2] in "xX" else (escape[:2], escape[2:-1])
    form = "x" if escape[2] in "xX" else "d"
    # Only the small letters a, b and c have two-digit codes in decimal.
    for other in (code, 97 + code % 3, 100 + code % 23):
        spelled = f"{other:{form}}"
        if len(spelled) == len(digits) or (len(spelled) < len(digits) and digits.startswith("0")):
            return f"{head}{spelled:0>{len(digits)}};"
    return escape


def join_words(text: str, parent: View | None) -> View | None:
    """Return the lists of words that contain an option, each list as one line. Return None when there are no
    such lists.
    """
    if "'-" not in text and '"-' not in text and "- -" not in text:
        return None
    view = View("", text, parent)
    parts: list[str] = []
    length = last = 0
    for quoted, words in _find_lists(text):
        for at, (start, end) in enumerate(words):
            view.add_piece(length, 1, last, start)
            parts.append(" " if at else "\n")
            word = text[start:end]
            length += 1
            # an unquoted word is a variable; write it as `$name`
            if quoted and text[start - 1] not in "\"'":
                view.add_piece(length, 1, start, start + 1)
                word = f"${word[1:]}"
            for blank in _BLANK.finditer(word):
                view.add_piece(length + blank.start(), 1, start + blank.start(), start + blank.end())
            parts.append(_BLANK.sub(INNER_BLANK, word))
            length += end - start
            last = end
    view.text = "".join([*parts, "\n"])
    return view if parts else None


def _find_lists(text: str) -> Iterator[tuple[bool, list[tuple[int, int]]]]:
    """Yield the words of each list.

    A list has quoted strings in brackets, or one word per line after a dash.
    """
    lists: list[tuple[int, bool, list[tuple[int, int]]]] = []
    for pattern, each in ((_LIST, _QUOTED), (_LINES, _LINE)):
        for match in pattern.finditer(text):
            if _HAS_OPTION.search(text, *match.span()):
                spans = [word.span(each.groups) for word in each.finditer(text, *match.span())]
                words = [_within_quotes(text, *span) for span in spans]
                program = _PROGRAM.search(text, max(0, match.start() - 140), match.start())
                words = [program.span(1), *words] if program else words
                lists.append((words[0][0], pattern is _LIST, words))
    behind = 0
    for start, quoted, words in sorted(lists):
        if start >= behind:
            behind = words[-1][1]
            yield quoted, words


def _within_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    first = text[start]
    if first not in "\"'":
        return start, end
    return start + 1, end - (end - start > 1 and text[end - 1] == first)


def is_command(items: Sequence[Any]) -> bool:
    """Return True for a list of strings if one of the strings is a command-line option."""
    return (
        len(items) > 1
        and all(type(item) is str for item in items)
        and any(item.startswith("-") and item.lstrip("-")[:1].isalpha() for item in items)
    )


def program_of(members: Mapping[Any, Any]) -> str:
    """Return the program that a mapping names as its command. Return '' if the mapping names no program."""
    return next(
        (str(name) for key, name in members.items() if key in _PROGRAM_KEYS and type(name) is str), ""
    )


def join_items(items: Sequence[str]) -> str:
    """Return the items of a decoded list as one line. Each item keeps its length."""
    return " ".join(_BLANK.sub(INNER_BLANK, item) for item in items)
