"""Reads one member of an object: its key, its colon, and the start of its value.

Missing or misplaced quotes of keys and missing colons are repaired. A member that the end of the input cuts
off is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.scan_state import OpenContainer, ScanState
from lenient.scan.simple_members import PLAIN_KEY
from lenient.scan.source_text import ValueSpan
from lenient.scan.strings.quoted_string import PREFIX_LETTERS
from lenient.scan.strings.string_end import CLOSING_QUOTES, StringClosing
from lenient.scan.strings.string_end_scoring import (
    BLANKS,
    COLONS,
    EMPHASISED_KEY,
    NARRATION,
    NEXT_KEY,
    VALUE_START,
    WRAPPED_KEY,
    StringRole,
    key_name,
)
from lenient.scan.strings.trivia import pass_trivia
from lenient.scan.value_start import read_value_start

_REMARK = compile_regex(r"(?:[(\[<（][^()\[\]<>（）\"'`:：\n]{1,40}[)\]>）]|\*{1,3})\s*+(?=[:：=])")
"""A remark between a key and its colon, for example the key's type."""
_BARE_KEY = compile_regex(
    r"(?:[^\s,:：=(){}\[\]\"'“”‘’`;|<>\-\ud800-\udfff]|-(?!>))++(?:[ \-](?!>)[\w$.]++)*+"
)

_UNICODE = compile_regex(r"\\u([0-9a-cA-Ce-fE-F][0-9a-fA-F]{3})")
"""A Unicode escape in a key without quotes, except half of a surrogate pair."""


def read_member(reading: ScanState, frame: OpenContainer) -> None:
    """Read the key and the colon of the member at the current position, and start to read its value."""
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
    start = reading.position
    if reading.text[start] not in CLOSING_QUOTES and (words := _find_narration(reading, frame)) is not None:
        reading.report("stray_text_dropped", start, words, found=reading.text[start:words])
        start = reading.position = words
    if reading.text[start] in PREFIX_LETTERS:
        reading.position = reading.strings.pass_prefix(start, reading.string_place(StringRole.KEY))
    sign = reading.text[reading.position]
    if sign == ":" and _is_ruby_symbol(reading.text, reading.position):
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
    match = _BARE_KEY.match(reading.text, start)
    if match is None:
        raise UnreadableError("unexpected_character", start)
    if match.group().startswith(("...", "…")):
        raise UnreadableError("ellipsis", start)
    if not match.group().strip("*"):
        # a spread operator: this object contains the members of another object
        raise UnreadableError("expression", start)
    written = match.group().removesuffix("?")
    name = _UNICODE.sub(lambda escape: chr(int(escape[1], 16)), written)
    reading.position = start + len(written)
    if reading.position >= len(reading.text):
        reading.drop_member(frame, start)
        return None
    code = "unquoted_key"
    if _read_key_without_first_quote(reading.text, reading.position):
        reading.position += 1
        code = "missing_opening_quote"
    became = name if name != written else None
    reading.report(code, start, reading.position, found=written, became=became)
    return name


def _find_narration(reading: ScanState, frame: OpenContainer) -> int | None:
    """Return the offset of a key that follows stray words, or None when there are no stray words."""
    words = NARRATION.match(reading.text, reading.position)
    if words is None or WRAPPED_KEY.match(reading.text, reading.position):
        return None
    bare = _BARE_KEY.match(reading.text, reading.position)
    return None if bare is not None and bare.group() in frame.fields else words.end()


def _read_quoted_key(reading: ScanState, frame: OpenContainer, start: int) -> str | None:
    at = reading.position
    if reading.text.startswith(reading.text[at], at + 1) and _EXTRA_FIRST.match(reading.text, at):
        _pass_extra_quote(reading)
    text, end = reading.read_string(StringRole.KEY)
    if "${" in text and reading.text[at] == "`":
        raise UnreadableError("expression", at)
    if _has_extra_last_quote(reading.text, reading.position):
        _pass_extra_quote(reading)
    if ":" in text or "：" in text:
        repair = _read_key_with_colon_inside(reading.text, start, end.after, frame.fields)
        if repair is not None:
            reading.strings.ends.pop(at, None)
            return _read_misquoted_key(reading, repair)
    if end.closing is StringClosing.TEXT_END:
        reading.drop_member(frame, start)
        return None
    if not frame.fields and (line := reading.text.find("\n", at, end.body)) >= 0:
        reading.report("ambiguous", line, line + 1, hint="Or the line break is not part of the name.")
    return text


def _pass_extra_quote(reading: ScanState) -> None:
    at = reading.position
    reading.report("extra_quote", at, at + 1, found=reading.text[at])
    reading.position = at + 1


def _read_misquoted_key(reading: ScanState, repair: _MisquotedKey) -> str:
    reading.report(
        repair.code, repair.start, repair.end, found=reading.text[repair.start : repair.end] or None
    )
    reading.position = repair.after
    reading.colon_passed = repair.colon
    return repair.name


def _pass_colon(reading: ScanState, frame: OpenContainer, start: int) -> bool:
    """Read the colon after a key.

    Return False when the value is missing and null was stored instead.
    """
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
    written = _find_colon(text, at)
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
        raise UnreadableError("unexpected_character", at)  # two words without a colon are not a member
    reading.report("missing_colon", at, at, became=":")
    reading.strings.joins = False
    return True


def _has_comma_before(frame: OpenContainer) -> bool:
    return not frame.marks or frame.comma >= next(reversed(frame.marks.values())).end


def _put_missing_value(reading: ScanState, frame: OpenContainer, start: int) -> None:
    """Store null for a key without a value.

    Raises UnreadableError when a number, or a single word in braces, is at `start` instead of a key.
    """
    number = reading.text[start].isdigit()  # digits after a decimal comma are not a key
    if number or (not frame.children and _holds_no_key(reading.text, start, reading.position)):
        raise UnreadableError("no_value", start)
    reading.report("missing_value", start, reading.position, became="null")
    reading.put_value(None, ValueSpan(start, reading.position))


# --- keys with misplaced quotes ------------------------------------------------------------------------

_LAST_QUOTE = compile_regex(r"[\"'”’`]\s*+(?:[:：]|=(?!=))")
_COLON_INSIDE = compile_regex(r"(-{0,2}[^\W\d][\w$.\-]{0,63})([“”„‘’‚'\"`＂]?)\s*+[:：]")
_COLON = compile_regex(r"\s*+[?!.\\]?[:：=＝]")
_ENDS = compile_regex(r"\s*+[,}]")
_NO_TEXT = compile_regex(r"\s*+(?:[\[{\"']|-?\d[\d.eE+\-]*+\s*+[,}\n]|(?:true|false|null)\b\s*+[,}\n])")
_WRITTEN_COLON = compile_regex(rf"[:：﹕]{BLANKS}[:：﹕]|[?!.\\][:：]|:=|=>|->|[=＝]|[:：﹕]|-(?=\s)")
_EXTRA_FIRST = compile_regex(
    r"\"(?=\"[\w$][^\"'\n]{0,64}\"{1,2}\s*+[:：])|\"(?=\"[\w$][\w$.\-]{0,64}\s*+:\s*+[\"\[{\d])|'(?='[\w$][^\"'\n]{0,64}'\s*+[:：])"
)
"""Two quotes before a key. The first quote is superfluous."""
_EXTRA_LAST = compile_regex(r"[\"'](?=\s*+[:：])")
_SYMBOL = compile_regex(r":\w++\s*+=>")


class _MisquotedKey(NamedTuple):
    """A key with a missing or misplaced quote, and the repair of this quote.

    `after` is the offset where reading continues. `code`, `start` and `end` are the code and the span of the
    repair. `colon` is True when the colon after the key was also read.
    """

    name: str
    after: int
    code: str
    start: int
    end: int
    colon: bool


def _read_key_without_first_quote(text: str, end: int) -> bool:
    return _LAST_QUOTE.match(text, end) is not None


def _read_key_with_colon_inside(
    text: str, start: int, after: int, declared: Collection[str]
) -> _MisquotedKey | None:
    """Return the key if the quoted string from `start` to `after` wrongly includes the colon.

    Return None when the string itself is the key: a colon follows the string, no value follows the inner
    colon, or `declared` has names but lacks the name before the inner colon.
    """
    inside = _COLON_INSIDE.match(text, start + 1)
    if inside is None or inside.end() > after or _COLON.match(text, after):
        return None
    name, colon = inside.group(1), inside.end() - 1
    if declared and name not in declared:
        return None
    if inside.group(2):
        end = inside.end(2)
        return _MisquotedKey(name, end, "smart_quotes", start, end, colon=False)
    if inside.end() == after - 1 and VALUE_START.match(text, after) and text[after] not in "tfnTFN":
        return _MisquotedKey(name, after, "wrong_separator", colon, after, colon=True)
    if _NO_TEXT.match(text, inside.end()):
        end = start + 1 + len(name)
        return _MisquotedKey(name, end, "missing_closing_quote", end, end, colon=False)
    is_value = text.startswith((" ", "\t"), inside.end()) or declared
    if is_value and after > inside.end() and text[after - 1] == text[start] and _ENDS.match(text, after):
        end = start + 1 + len(name)
        return _MisquotedKey(name, end, "missing_closing_quote", end, end, colon=False)
    return None


def _holds_no_key(text: str, start: int, end: int) -> bool:
    """Return True when `text[start:end]` begins an object but is no key, as in a set."""
    sign = text[end : end + 1]
    if ":" in text[start:end]:
        return False
    return sign in ("}", "]") or (sign == "," and NEXT_KEY.match(text, end + 1) is None)


def _find_colon(text: str, at: int) -> str | None:
    """`), or None when there is none.=>SKIP=>`), or None when there is none."""
    match = _WRITTEN_COLON.match(text, at)
    return match.group() if match else None


def _has_extra_last_quote(text: str, at: int) -> bool:
    return _EXTRA_LAST.match(text, at) is not None


def _is_ruby_symbol(text: str, at: int) -> bool:
    """Return True when the key at `at` is written as in Ruby: `:name =>`."""
    return _SYMBOL.match(text, at) is not None
