"""Decodes the body of a string and reports everything that is not valid JSON.

If JSON does not define an escape, its backslash stays, because the escape usually belongs to a Windows path
or a regular expression.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # C function that typeshed does not list
from operator import itemgetter
from typing import NamedTuple

from lenient.regex import compile_regex
from lenient.scan.strings.paths import LiteralBackslashes, find_literal_backslashes, may_hold_path

_SPECIAL = compile_regex(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\\$|[\x00-\x1f]++|[\ud800-\udfff]",
    re.DOTALL,
)
_CONTROLS = compile_regex(r"[\x00-\x1f]++")
_WITHOUT_CONTROLS = dict.fromkeys(range(0x20))
_SURROGATE = compile_regex(r"[\ud800-\udfff]")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = compile_regex(r"[0-9a-fA-F]{2}")
_CHARACTER = compile_regex(
    r"(?<!\\)(?:\\\\)*+(\\x[a-fA-F][0-9a-fA-F]|\\U000[01][0-9a-fA-F]{4}|\\U0010[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{2,6}\})"
)
"""An escape of Python or JavaScript for one letter.

Escapes for ASCII letters also occur in shell commands and regular expressions.
"""
_SCRIPT = compile_regex(r"[^\\]*+(?:\\[\"\\/bfnrtu'`’”][^\\]*+)*+(\\(?:\n|v|0(?!\d)))")
"""The first escape of a string that JSON does not define but JavaScript and Python define."""
_HALF_ESCAPE = compile_regex(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
REPLACEMENT = "\ufffd"
_BLANKS = ("n", "r", "t")
_DOUBT = "Or the backslash begins a line break or a tab."
_STAND_IN = "\x7f"  # temporarily replaces two backslashes, or a quote


class StringRepair(NamedTuple):
    """All repairs with one code in a string: the span from the first to the last repair, and the number of
    repairs.

    `found` and `became` show the first repair. `doubt` describes another possible meaning of the string.
    """

    code: str
    start: int
    end: int
    times: int
    found: str
    became: str
    doubt: str | None = None

    @property
    def hint(self) -> str | None:
        return self.doubt or (f"{self.times} times" if self.times > 1 else None)


@dataclass(slots=True)
class DecodedBody:
    """The decoded content of a string, and the repairs that decoding needed."""

    text: str
    repairs: list[StringRepair]


def decode_body(text: str, start: int, end: int) -> DecodedBody:
    """Decode the string body `text[start:end]`.

    The character before `start` is the opening quote, if there is one. The kind of quote decides which
    escapes of Python or JavaScript are decoded.
    """
    body = text[start:end]
    if body and may_hold_path(text, start, end):
        return _decode_slowly(body, start, text[start - 1 : start])
    if "\\'" not in body and (decoded := _decode_strictly(body)) is not None:
        return DecodedBody(decoded, [])
    return _decode_quickly(body, start) or _decode_slowly(body, start, text[start - 1 : start])


def _decode_strictly(body: str, *, allow_controls: bool = False) -> str | None:
    try:
        decoded, stop = scanstring(body + '"', 0, not allow_controls)
    except JSONDecodeError:
        return None
    whole = stop == len(body) + 1 and (decoded.isascii() or _SURROGATE.search(decoded) is None)
    return decoded if whole else None


def _decode_quickly(body: str, start: int) -> DecodedBody | None:
    """Return the decoded body if only quotes and control characters are invalid in JSON.

    Return None when this quick method cannot decode the body.
    """
    repairs = list[StringRepair]()
    single = "\\'" in body
    decoded, controls = None if single else _decode_strictly(body, allow_controls=True), True
    if decoded is None:
        if _STAND_IN in body or "\\u007" in body:
            return None
        double = '\\"' in body
        # True if pairs of backslashes precede a quote
        pairs = (single and "\\\\'" in body) or (double and '\\\\"' in body)
        marked = body.replace("\\\\", _STAND_IN) if pairs else body
        parts = marked.split("\\'") if single else [marked]
        written = "'".join(parts).replace('\\"', '"') if double else "'".join(parts)
        if pairs:
            written = written.replace('"', '\\"').replace(_STAND_IN, "\\\\")
        else:
            written = written.replace('"', _STAND_IN)
        decoded, controls = _decode_strictly(written), False
        if decoded is None:
            decoded, controls = _decode_strictly(written, allow_controls=True), True
        if decoded is None:
            return None
        decoded = decoded.replace(_STAND_IN, '"')
        if times := len(parts) - 1:
            first, last = _find_quote_escapes(marked)
            repairs.append(StringRepair("quote_escape", start + first, start + last, times, "\\'", "'"))
    if controls and (times := len(body) - len(body.translate(_WITHOUT_CONTROLS))):
        first, last = _find_controls(body, times)
        sign = body[first]
        repairs.append(StringRepair("raw_control_character", start + first, start + last, times, sign, sign))
    return DecodedBody(decoded, sorted(repairs, key=lambda repair: repair.start))


def _find_controls(body: str, times: int) -> tuple[int, int]:
    """Return the offset of the first of `times` control characters, and the offset after the last one."""
    usual = [sign for sign in "\n\t\r" if sign in body]
    if sum(map(body.count, usual)) == times:
        return min(map(body.index, usual)), max(map(body.rindex, usual)) + 1
    runs = list(_CONTROLS.finditer(body))
    return runs[0].start(), runs[-1].end()


def _find_quote_escapes(marked: str) -> tuple[int, int]:
    r"""Return the offset of the first `\'`, and the offset after the last `\'`.

    Each `_STAND_IN` before these offsets replaces two characters.
    """
    first, last = marked.index("\\'"), marked.rindex("\\'")
    return first + marked.count(_STAND_IN, 0, first), last + 2 + marked.count(_STAND_IN, 0, last)


def trim_half_escape(text: str, start: int, end: int) -> int:
    """Return the end of a body. Leave out the last escape if the input ended in the middle of this escape."""
    half = _HALF_ESCAPE.search(text, max(start, end - 5), end)
    if half is None:
        return end
    backslashes = half.start() - len(text[start : half.start()].rstrip("\\")) - start
    return half.start() if backslashes % 2 == 0 else end


def find_character_escape(text: str, start: int, end: int) -> tuple[int, int] | None:
    r"""Return the span of the first escape such as `\xe9` in `text[start:end]`, or None when there is none.

    In single quotes and back-ticks, `\v`, `\0` and an escaped line break also count. These three do not count
    after another escape that JSON does not define.
    """
    escape = _CHARACTER.search(text, start, end)
    if escape is None and text[start - 1 : start] in ("'", "`"):
        escape = _SCRIPT.match(text, start, end)
    return escape.span(1) if escape is not None else None


def _decode_slowly(body: str, start: int, opening: str) -> DecodedBody:
    repairs: dict[str, StringRepair] = {}  # the end and the number of each repair are added later
    ends: dict[str, int] = {}
    counts: dict[str, int] = {}
    parts: list[str] = []
    last, literal = 0, find_literal_backslashes(body)
    doubt: StringRepair | None = None
    letters = literal.letters
    for match in _SPECIAL.finditer(body):
        code: str | None = "invalid_escape"
        became = match.group()
        is_kept = (
            _is_literal(match, literal)
            if literal.paths
            else became[0] == "\\" and became[1:] != "" and became[1] in letters
        )
        if not is_kept:
            became, code = _decode_foreign_escape(body, match, opening) or _decode_escape(match.group())
        if (
            literal.doubtful
            and doubt is None
            and match.group()[1:2] in _BLANKS
            and (is_kept or not literal.paths)
        ):
            span = start + match.start(), start + match.end()
            doubt = StringRepair("ambiguous", *span, 1, match.group(), became, _DOUBT)
        end = match.end() + (2 if code == "foreign_escape" and match.group() == "\\x" else 0)
        parts += (body[last : match.start()], became)
        last = end
        if code is not None:
            written, times = body[match.start() : last], 1
            # several control characters in a row count as one repair; the diagnostic shows the first
            # character
            if code == "raw_control_character":
                written, became, times = written[0], written[0], len(written)
            if code not in repairs:
                repairs[code] = StringRepair(code, start + match.start(), 0, 0, written, became)
            ends[code], counts[code] = start + last, counts.get(code, 0) + times
    parts.append(body[last:])
    repairs_made = [repair._replace(end=ends[code], times=counts[code]) for code, repair in repairs.items()]
    return DecodedBody("".join(parts), repairs_made if doubt is None else [*repairs_made, doubt])


def _is_literal(match: re.Match[str], literal: LiteralBackslashes) -> bool:
    """Return True when a special sequence is meant literally, such as `\\` at the start of a network path."""
    if match.group()[:1] != "\\":
        return False
    sign, at = match.group()[1:2], match.start()
    if sign != "" and sign in literal.letters:
        return True
    index = bisect_right(literal.paths, at, key=itemgetter(0)) - 1
    if index < 0 or at >= literal.paths[index][1]:
        return False
    return at == literal.paths[index][0] if sign == "\\" else sign != "" and sign in "bfnrtu"


def _decode_foreign_escape(body: str, match: re.Match[str], opening: str) -> tuple[str, str] | None:
    r"""Return the content and the diagnostic code of an escape that only Python or JavaScript defines.

    Such escapes are `\x41` in single quotes or back-ticks, and `\$` in back-ticks. Return None for other
    escapes.
    """
    if match.group() == "\\x" and opening in "'`" and (digits := _HEX.match(body, match.end())):
        return chr(int(digits.group(), 16)), "foreign_escape"
    if match.group() == "\\$" and opening == "`":
        return "$", "quote_escape"
    return None


def _decode_escape(written: str) -> tuple[str, str | None]:
    """Return the content of one special sequence. Also return a diagnostic code when it is not valid JSON."""
    if written[0] != "\\":
        return (REPLACEMENT, "lone_surrogate") if written >= "\ud800" else (written, "raw_control_character")
    sign = written[1:2]
    if sign in _ESCAPES and sign:
        return _ESCAPES[sign], None
    if len(written) == 12:
        return written.encode().decode("unicode_escape").encode("utf-16", "surrogatepass").decode(
            "utf-16"
        ), None
    if len(written) == 6:
        character = bytes.fromhex(written[2:]).decode("utf-16-be", "surrogatepass")
        return (REPLACEMENT, "lone_surrogate") if "\ud800" <= character <= "\udfff" else (character, None)
    if sign in ("'", "`", "’", "”"):
        return sign, "quote_escape"
    return written, "invalid_escape"
