"""The place where a member of an object begins → its key, its colon and the value begun, or its end.

Keys may lack quotes, or a colon; what the text's end cuts off is left out. Knows nothing of arrays.
"""

from __future__ import annotations

import re

from lenient.repair.bare import UnreadableError
from lenient.repair.ends import Closing
from lenient.repair.follows import COLONS, VALUE_START, Role
from lenient.repair.frames import Frame
from lenient.repair.gaps import pass_gap
from lenient.repair.keys import (
    Misquoted,
    extra_first_quote,
    extra_last_quote,
    is_no_object,
    is_symbol,
    with_colon_inside,
    without_first_quote,
    written_colon,
)
from lenient.repair.plain import PLAIN_KEY
from lenient.repair.reading import Reading
from lenient.repair.strings import CLOSING_QUOTES
from lenient.repair.values import take_value
from lenient.source import Mark

_BARE_KEY = re.compile(r"[^\s,:：=(){}\[\]\"'“”‘’`\ud800-\udfff]++(?:[ \-][\w$.]++)*+")


def take_member(reading: Reading, frame: Frame) -> None:
    """Read the key and its colon, and begin the value."""
    start = reading.position
    frame.key = None
    plain = PLAIN_KEY.match(reading.text, start)
    if plain is not None:
        key: str | None = plain[1]
        frame.key, reading.position = key, plain.end()
    else:
        key = _key(reading, frame)
        if key is None:
            return
        frame.key = key
        reading.gap()
        if reading.position >= len(reading.text):
            reading.drop_member(frame, start)
            return
        if not _colon(reading, frame, start):
            return
    reading.position = pass_gap(reading.text, reading.position, reading.report, before_value=True)
    sign = reading.text[reading.position : reading.position + 1]
    if not sign:
        reading.drop_member(frame, start)
    elif sign in ",，}]":
        _no_value(reading, frame, start)
    else:
        take_value(reading, frame.fields.get(key or ""))


def _key(reading: Reading, frame: Frame) -> str | None:
    """The key that starts here; None when the text's end cut it off."""
    start = reading.position
    reading.position = reading.strings.prefix_end(start)
    sign = reading.text[reading.position]
    if sign == ":" and is_symbol(reading.text, reading.position):
        reading.position += 1
        start, sign = reading.position, reading.text[reading.position]
    if sign == "\\" and (escaped := reading.strings.escaped(start)) is not None:
        text, reading.position = escaped
        return text
    if sign in CLOSING_QUOTES:
        return _quoted_key(reading, frame, start)
    match = _BARE_KEY.match(reading.text, start)
    if match is None:
        raise UnreadableError("unexpected_character", start)
    if match.group().startswith(("...", "…")):
        raise UnreadableError("ellipsis", start)
    reading.position = match.end()
    if reading.position >= len(reading.text):
        reading.drop_member(frame, start)
        return None
    if without_first_quote(reading.text, reading.position):
        reading.position += 1
        reading.report("missing_opening_quote", start, reading.position, found=match.group())
    else:
        reading.report("unquoted_key", start, reading.position, found=match.group())
    return match.group()


def _quoted_key(reading: Reading, frame: Frame, start: int) -> str | None:
    """The key in quotes that starts here."""
    at = reading.position
    if reading.text.startswith(reading.text[at], at + 1) and extra_first_quote(reading.text, at):
        _extra_quote(reading)
    text, end = reading.string(Role.KEY)
    if extra_last_quote(reading.text, reading.position):
        _extra_quote(reading)
    if ":" in text or "：" in text:
        mend = with_colon_inside(reading.text, start, end.after, frame.fields)
        if mend is not None:
            return _misquoted(reading, mend)
    if end.closing is Closing.TEXT_END:
        reading.drop_member(frame, start)
        return None
    return text


def _extra_quote(reading: Reading) -> None:
    """Pass a quote too many."""
    at = reading.position
    reading.report("extra_quote", at, at + 1, found=reading.text[at])
    reading.position = at + 1


def _misquoted(reading: Reading, mend: Misquoted) -> str:
    """A key that took its colon in; goes on at the colon, the one drawn out of the quotes included."""
    reading.report(mend.code, mend.start, mend.end, found=reading.text[mend.start : mend.end] or None)
    reading.position = mend.after
    reading.colon_passed = mend.colon
    return mend.name


def _colon(reading: Reading, frame: Frame, start: int) -> bool:
    """Pass the colon; False when the member has no value."""
    text, at = reading.text, reading.position
    sign = text[at]
    if reading.colon_passed:
        reading.colon_passed = False
        return True
    reading.strings.joins = True
    written = written_colon(text, at)
    if written is not None:
        if written in COLONS and written != ":":
            reading.report("fullwidth_punctuation", at, at + 1, found=written, became=":")
        elif written != ":":
            reading.report("wrong_separator", at, at + len(written), found=written, became=":")
        reading.position += len(written)
        return True
    if sign in ",，}]":
        _no_value(reading, frame, start)
        return False
    if not VALUE_START.match(text, at) and text[start] not in CLOSING_QUOTES:
        raise UnreadableError("unexpected_character", at)  # two words are no member
    reading.report("missing_colon", at, at, became=":")
    reading.strings.joins = False
    return True


def _no_value(reading: Reading, frame: Frame, start: int) -> None:
    """A key without a value stands for null; a brace with lone words in it is no object at all."""
    number = reading.text[start].isdigit()  # half of a number with a decimal comma, no key
    if number or (not frame.children and is_no_object(reading.text, start, reading.position)):
        raise UnreadableError("no_value", start)
    reading.report("missing_value", start, reading.position, became="null")
    reading.put(None, Mark(start, reading.position))
