"""Replaces the matches in a text by placeholders of the same length and shape.

Letters become letters of the same case, and digits become digits. A zero stays zero, so that no number gets a
leading zero. All other characters stay. A backslash escape becomes an escape of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b, shake_128
from typing import NamedTuple

from ingest.privacy.decoded_views import INNER_BLANK, View

_ESCAPE = re.compile(r"(\\+)(u[0-9a-fA-F]{0,4}|x[0-9a-fA-F]{0,2}|[\s\S])")
_HEX_BODY = re.compile(r"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}")
_ESCAPED_LAYOUT = re.compile(r"""\s*["'`]?\s*[{\[]\s*\\""")
# letters that are no escape after a backslash, or that mean the same escape in all languages
_NOT_ESCAPING = "acdeghijklmopqswyz"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS, _WIDE_DIGITS = "123456789", "１２３４５６７８９"
_ACCENTED = "àáâãäåèéêëìíîïòóôõöùúûü"
_OTHER_LETTER = {True: "00e9", False: "0078"}


class Spot(NamedTuple):
    """A match at the characters `start` to `end` of a text.

    The match was found in `view`, at the characters `first` to `last`. `view` is None when the match was
    found in the text itself.
    """

    start: int
    end: int
    kind: str
    view: View | None = None
    first: int = 0
    last: int = 0


def merge_spots(spots: Iterable[Spot]) -> Iterator[tuple[int, Spot]]:
    """Yield the spots from left to right. With each spot, yield the offset at which the uncovered rest of the
    spot begins.

    Earlier spots may cover the beginning of a spot. A completely covered spot is left out. If two spots start
    at the same offset, the first spot is used.
    """
    covered = 0
    for spot in sorted(spots, key=lambda spot: spot.start):
        if spot.end > covered:
            yield max(spot.start, covered), spot
            covered = spot.end


def replace_spots(text: str, spots: Iterable[Spot], key: bytes, *, parsed: bool) -> str:
    """Return the text in which placeholders replace the found values.

    `parsed` means that `lenient` will parse the text as arguments, so every escape must stay valid.
    """
    parts: list[str] = []
    last = 0
    nested: bool | None = None
    for start, spot in merge_spots(spots):
        chosen = _choose_spelling(text, spot, key)[start - spot.start :]
        if "\\" in text[max(0, start - 1) : spot.end]:
            nested = _is_nested(text) if nested is None else nested
            chosen = _restore_escapes(text, start, spot.end, chosen, nested=nested, parsed=parsed)
        parts += (text[last:start], chosen)
        last = spot.end
    parts.append(text[last:])
    return "".join(parts)


def _choose_spelling(text: str, spot: Spot, key: bytes) -> str:
    if spot.view is None:
        return _choose_characters(text[spot.start : spot.end], spot.kind, key)
    value = spot.view.text[spot.first : spot.last]
    return spot.view.spell(spot.first, spot.last, _choose_characters(value, spot.kind, key))


def _is_nested(text: str) -> bool:
    """Return True when the text contains JSON inside a string, or is itself the inside of such a string."""
    return '\\"' in text or _ESCAPED_LAYOUT.match(text) is not None


@lru_cache(maxsize=8_192)  # cached, because nearly every line contains a home folder
def _choose_characters(value: str, kind: str, key: bytes) -> str:
    """Return a placeholder with one character for each character of the value.

    Up to half of the letters spell the type of the value. The other characters come from the value and the
    key.
    """
    plain = _ESCAPE.sub(_decode_escape, value) if "\\" in value else value
    plain = plain.replace(INNER_BLANK, " ")
    digest = blake2b(plain.encode("utf-8", "surrogatepass"), key=key, digest_size=32).digest()
    random = shake_128(digest).digest(len(value))
    word = iter(kind[: sum(map(str.isalpha, value)) // 2])
    return "".join(_substitute(sign, random[at], word) for at, sign in enumerate(value))


def _substitute(sign: str, random: int, word: Iterator[str]) -> str:
    if sign.isdecimal():
        return sign if sign == "0" else (_DIGITS if sign.isascii() else _WIDE_DIGITS)[random % 9]
    if not sign.isalpha():
        return sign
    letters = _LETTERS if sign.isascii() else _ACCENTED
    letter = (sign.isascii() and next(word, None)) or letters[random % len(letters)]
    return letter.upper() if sign.isupper() else letter


def _decode_escape(escape: re.Match[str]) -> str:
    r"""Return the character that an escape within a value encodes.

    So `jos\u00e9` and `josé` count as the same value.
    """
    body = escape[2]
    return chr(int(body[1:], 16)) if len(body) == 5 else body


def _restore_escapes(text: str, start: int, end: int, replacement: str, *, nested: bool, parsed: bool) -> str:
    r"""Return the placeholder `replacement` after putting the letters of its escapes back.

    In a text that is not parsed, a value may begin after a backslash (C:\\nina). Then the first letter of the
    value does not belong to an escape.
    """
    first, chosen = start, list(replacement)
    while text[first - 1 : first] == "\\":
        first -= 1
    for escape in _ESCAPE.finditer(text, first, end + 5):
        at, body = escape.start(2), escape[2]
        if at >= end:
            break
        if (len(escape[1]) % 2 == 0 and not nested) or (at == start and not parsed):
            continue
        if at >= start and _is_same_form(body, "".join(chosen[at - start : at - start + len(body)])):
            continue
        for offset, sign in enumerate(_choose_escape(body, chosen[at - start] if at >= start else "")):
            if start <= at + offset < end:
                chosen[at + offset - start] = sign if escape.end() <= end else body[offset]
    return "".join(chosen)


def _is_same_form(body: str, chosen: str) -> bool:
    return (
        len(body) in (3, 5)
        and _HEX_BODY.fullmatch(body) is not None
        and (chosen[:1] == body[0] and _HEX_BODY.fullmatch(chosen) is not None)
    )


def _choose_escape(body: str, chosen: str) -> str:
    """Return the characters that follow the backslash of an escape in a placeholder.

    The result is an escape of the same kind. It encodes another letter if possible.
    """
    if len(body) == 5:
        letter = chr(int(body[1:], 16))
        return f"u{_OTHER_LETTER[not letter.isascii()]}" if letter.isalpha() else body
    if len(body) == 1 and body.isascii() and body.isalpha() and (body.isupper() or body in _NOT_ESCAPING):
        return chosen if body.isupper() or chosen in _NOT_ESCAPING else "z"
    return body
