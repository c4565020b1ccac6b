"""Reads one member of an object: its key, its colon, and the start of its value.

A key without quotes and a missing colon are repaired. A member that the end of the text cuts off is left out.
"""

from __future__ import annotations

import re

from lenient.diagnostics.unreadable import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.open_brackets import OpenContainer
from lenient.scan.scan_state import ScanState
from lenient.scan.simple_members import PLAIN_KEY
from lenient.scan.source_text import ValueSpan
from lenient.scan.strings.misquoted_keys import (
    MisquotedKey,
    find_colon,
    has_extra_first_quote,
    has_extra_last_quote,
    holds_no_key,
    is_ruby_symbol,
    read_key_with_colon_inside,
    read_key_without_first_quote,
)
from lenient.scan.strings.quoted_string import PREFIX_LETTERS
from lenient.scan.strings.string_end import StringClosing
from lenient.scan.strings.string_end_scoring import (
    COLONS,
    EMPHASISED_KEY,
    NARRATION,
    VALUE_START,
    WRAPPED_KEY,
    StringRole,
    key_name,
)
from lenient.scan.strings.string_search import CLOSING_QUOTES
from lenient.scan.strings.trivia import pass_trivia
from lenient.scan.value_start import read_value_start

_REMARK = re.compile(r"(?:[(\[<（][^()\[\]<>（）\"'`:：\n]{1,40}[)\]>）]|\*{1,3})\s*+(?=[:：=])")
"""A remark between a key and its colon, such as its type."""
_BARE_KEY = compile_regex(
    r"(?:[^\s,:：=(){}\[\]\"'“”‘’`;|<>\-\ud800-\udfff]|-(?!>))++(?:[ \-](?!>)[\w$.]++)*+"
)

_UNICODE = re.compile(r"\\u([0-9a-cA-Ce-fE-F][0-9a-fA-F]{3})")
"""An escape in a key without quotes, but for halves of a pair."""


def read_member(reading: ScanState, frame: OpenContainer) -> None:
    """Read the key and the colon of the member at the current position, and begin to read its value."""
    start = reading.position
    frame.key = None
    plain = PLAIN_KEY.match(reading.text, start)
    if plain is not None:
        key: str | None = plain[1]
        frame.key, reading.position = key, plain.end()
    else:
        key = _read_key(reading, frame)
        if key is None:
            return
        frame.key = key
        reading.pass_gap()
        if reading.position >= len(reading.text):
            reading.drop_member(frame, start)
            return
        if not _pass_colon(reading, frame, start):
            return
    reading.position = pass_trivia(reading.text, reading.position, reading.report, before_value=True)
    sign = reading.text[reading.position : reading.position + 1]
    if not sign:
        reading.drop_member(frame, start)
    elif sign in ",，}]":
        _put_missing_value(reading, frame, start)
    else:
        read_value_start(reading, frame.fields.get(key or ""))


def _read_key(reading: ScanState, frame: OpenContainer) -> str | None:
    """Read and return the key at the current position, None when the end of the text cuts the key off."""
    start = reading.position
    if reading.text[start] not in CLOSING_QUOTES and (words := _find_narration(reading, frame)) is not None:
        reading.report("stray_text_dropped", start, words, found=reading.text[start:words])
        start = reading.position = words
    if reading.text[start] in PREFIX_LETTERS:
        reading.position = reading.strings.pass_prefix(start, reading.string_place(StringRole.KEY))
    sign = reading.text[reading.position]
    if sign == ":" and is_ruby_symbol(reading.text, reading.position):
        reading.position += 1
        start, sign = reading.position, reading.text[reading.position]
    if sign in "*_" and (emphasised := EMPHASISED_KEY.match(reading.text, start)) is not None:
        name = key_name(emphasised)
        reading.report("emphasis_removed", start, emphasised.end(), found=emphasised.group(), became=name)
        reading.position = emphasised.end()
        return name
    if sign == "\\" and (escaped := reading.strings.read_escaped(start)) is not None:
        text, reading.position = escaped
        return text
    if sign in CLOSING_QUOTES:
        return _read_quoted_key(reading, frame, start)
    if sign in "[(<" and (wrapped := WRAPPED_KEY.match(reading.text, start)) is not None:
        reading.report("emphasis_removed", start, wrapped.end(), found=wrapped.group(), became=wrapped[3])
        if sign == "[" and not wrapped[2] and wrapped[3] not in frame.fields:
            reading.report("ambiguous", start, wrapped.end(), hint="Or the name is a variable's value.")
        reading.position = wrapped.end()
        return wrapped[3]
    return _read_bare_key(reading, frame, start)


def _read_bare_key(reading: ScanState, frame: OpenContainer, start: int) -> str | None:
    """Read and return the key without quotes at `start`, None when the end of the text cuts it off."""
    match = _BARE_KEY.match(reading.text, start)
    if match is None:
        raise UnreadableError("unexpected_character", start)
    if match.group().startswith(("...", "…")):
        raise UnreadableError("ellipsis", start)
    if not match.group().strip("*"):
        raise UnreadableError("expression", start)  # another object is unpacked
    written = match.group().removesuffix("?")
    name = _UNICODE.sub(lambda escape: chr(int(escape[1], 16)), written)
    reading.position = start + len(written)
    if reading.position >= len(reading.text):
        reading.drop_member(frame, start)
        return None
    code = "unquoted_key"
    if read_key_without_first_quote(reading.text, reading.position):
        reading.position += 1
        code = "missing_opening_quote"
    became = name if name != written else None
    reading.report(code, start, reading.position, found=written, became=became)
    return name


def _find_narration(reading: ScanState, frame: OpenContainer) -> int | None:
    """Return the offset of the key after words where a key is due, None when no words stand there."""
    words = NARRATION.match(reading.text, reading.position)
    if words is None or WRAPPED_KEY.match(reading.text, reading.position):
        return None
    bare = _BARE_KEY.match(reading.text, reading.position)
    return None if bare is not None and bare.group() in frame.fields else words.end()


def _read_quoted_key(reading: ScanState, frame: OpenContainer, start: int) -> str | None:
    """Read and return the quoted key at the current position, None when the text's end cuts it off."""
    at = reading.position
    if reading.text.startswith(reading.text[at], at + 1) and has_extra_first_quote(reading.text, at):
        _pass_extra_quote(reading)
    text, end = reading.read_string(StringRole.KEY)
    if "${" in text and reading.text[at] == "`":
        raise UnreadableError("expression", at)
    if has_extra_last_quote(reading.text, reading.position):
        _pass_extra_quote(reading)
    if ":" in text or "：" in text:
        mend = read_key_with_colon_inside(reading.text, start, end.after, frame.fields)
        if mend is not None:
            reading.strings.ends.pop(at, None)
            return _read_misquoted_key(reading, mend)
    if end.closing is StringClosing.TEXT_END:
        reading.drop_member(frame, start)
        return None
    if not frame.fields and (line := reading.text.find("\n", at, end.body)) >= 0:
        reading.report("ambiguous", line, line + 1, hint="Or the line break is no part of the name.")
    return text


def _pass_extra_quote(reading: ScanState) -> None:
    """Skip the superfluous quote at the current position and report the repair."""
    at = reading.position
    reading.report("extra_quote", at, at + 1, found=reading.text[at])
    reading.position = at + 1


def _read_misquoted_key(reading: ScanState, mend: MisquotedKey) -> str:
    """Report the repair of a misquoted key, move the position past the key and return its name."""
    reading.report(mend.code, mend.start, mend.end, found=reading.text[mend.start : mend.end] or None)
    reading.position = mend.after
    reading.colon_passed = mend.colon
    return mend.name


def _pass_colon(reading: ScanState, frame: OpenContainer, start: int) -> bool:
    """Read the colon after a key. Return False when the value is missing and null was stored instead."""
    text, at = reading.text, reading.position
    sign = text[at]
    if reading.colon_passed:
        reading.colon_passed = False
        return True
    reading.strings.joins = True
    remark = _REMARK.match(text, at)
    if remark is not None:
        reading.report("stray_text_dropped", at, remark.end(), found=remark.group())
        reading.position = at = remark.end()
        sign = text[at]
    written = find_colon(text, at)
    if written is not None:
        if written in COLONS and written != ":":
            reading.report("fullwidth_punctuation", at, at + 1, found=written, became=":")
        elif written != ":":
            frame.equals |= written in ("=", "->")
            reading.report("wrong_separator", at, at + len(written), found=written, became=":")
        reading.position += len(written)
        return True
    if sign in ",，}]":
        _put_missing_value(reading, frame, start)
        return False
    is_bare = text[start] not in CLOSING_QUOTES
    if is_bare and (not VALUE_START.match(text, at) or not _has_comma_before(frame)):
        raise UnreadableError("unexpected_character", at)  # two words are no member
    reading.report("missing_colon", at, at, became=":")
    reading.strings.joins = False
    return True


def _has_comma_before(frame: OpenContainer) -> bool:
    """Return True when a comma, or the opening brace, stands before the member that is being read."""
    return not frame.marks or frame.comma >= next(reversed(frame.marks.values())).end


def _put_missing_value(reading: ScanState, frame: OpenContainer, start: int) -> None:
    """Store null for a key without a value.

    Raises UnreadableError when the text at `start` is no key, but a number or a lone word in braces.
    """
    number = reading.text[start].isdigit()  # half of a number with a decimal comma, no key
    if number or (not frame.children and holds_no_key(reading.text, start, reading.position)):
        raise UnreadableError("no_value", start)
    reading.report("missing_value", start, reading.position, became="null")
    reading.put_value(None, ValueSpan(start, reading.position))
