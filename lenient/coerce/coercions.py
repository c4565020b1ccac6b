"""Converts one decoded value to the wanted kind, or rejects the value.

The keys of `COERCIONS` are pairs of the wanted kind and the value's JSON type. The values list the
conversions to try, with the diagnostic code that each conversion reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol

from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.regex import compile_regex
from lenient.scan.strings.unquoted import MAX_DIGITS

REFUSED: Final = object()
"""A coercion returns this when it cannot convert the value."""


OBJECT_AS_TEXT = "object_retained_as_text"
WRAPPING = frozenset({"scalar_coerced_to_list", "separated_text_coerced_to_list"})
"""The codes for a single value that became a list."""


class JsonType(StrEnum):
    """The JSON type of a decoded value; `WHOLE` is a float with the value of an integer."""

    STRING = "string"
    INTEGER = "integer"
    WHOLE = "whole number"  # for example 3.0
    FRACTION = "fraction"  # for example 3.7
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"
    NULL = "null"

    __hash__ = str.__hash__  # the hash of an enum is computed in Python, which is slow


class ValueSource(Protocol):
    """The source of a value. A source knows the value's JSON and decodes JSON inside a string value."""

    def json_text(self) -> str:
        """Return the JSON of the value as it was sent."""

    def decode_text(self, wanted: type) -> Any:
        """Return the value that the string contains as JSON, if this value has the type `wanted`, else
        REFUSED.

        The repairs of the JSON are reported.
        """


Convert = Callable[[Any, ValueSource], Any]


class Coercion(NamedTuple):
    """One conversion. `code` is the diagnostic code of a successful conversion, or None to report nothing."""

    code: str | None
    convert: Convert


_EXPONENT = compile_regex(r"[eE]([+-]?\d+)$", re.ASCII)
_NUMBER_TEXT = compile_regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_TIMESTAMP = compile_regex(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_URI = compile_regex(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`]+")
_LONGEST_TIMESTAMP = 64
_WITH_OFFSET = compile_regex(r"\S+[Tt ]\S+(?:[Zz]|[+-]\d\d(?::?\d\d)?)", re.ASCII)
_FRACTION = compile_regex(r"[.,](\d+)", re.ASCII)
_MIDNIGHT = compile_regex(r"(?<=[T ])24(?=:00(?::00(?:\.0+)?)?(?![:.\d]))", re.ASCII)
_SEPARATORS = compile_regex(r"[,;，；、\r\n]")
_BRACKETED = compile_regex(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]")
"""Brackets in which separators do not separate list items: `*.{ts,tsx}`, `f(a, b)`."""
_EXACT_DIGITS = 15
_EXACT = 10.0**_EXACT_DIGITS
"""Different decimal numbers with at most `_EXACT_DIGITS` digits are never the same float."""
_MILLISECONDS_FROM = 1e11
"""Smaller timestamps are in seconds, and others are in milliseconds.

This number of seconds is the year 5138; this number of milliseconds is 1973.
"""


def json_type(value: Any) -> JsonType:
    """Return the JSON type of a decoded value.

    NaN and the infinities count as fractions. All coercions to numbers, booleans and timestamps refuse NaN
    and the infinities.
    """
    if isinstance(value, float):
        return JsonType.WHOLE if value.is_integer() else JsonType.FRACTION
    return _TYPES.get(type(value), _STRING)


_STRING = JsonType.STRING  # an attribute lookup on the enum is slow
_TYPES: Mapping[type, JsonType] = {
    str: JsonType.STRING,
    int: JsonType.INTEGER,
    bool: JsonType.BOOLEAN,
    dict: JsonType.OBJECT,
    list: JsonType.ARRAY,
    type(None): JsonType.NULL,
}


def is_absolute_uri(text: str) -> bool:
    """Return True when the string has a scheme, a colon, at least one more character, and no whitespace."""
    return _URI.fullmatch(text) is not None


def _keep_value(value: Any, _: ValueSource) -> Any:
    return value


def _write_as_text(_: Any, source: ValueSource) -> Any:
    return source.json_text()


def _parse_boolean(value: str, _: ValueSource) -> Any:
    return {"true": True, "false": False}.get(value.strip().lower(), REFUSED) if len(value) < 100 else REFUSED


def _convert_to_boolean(value: float, _: ValueSource) -> Any:
    return bool(value) if value in (0, 1) else REFUSED


def _require_finite(value: float, _: ValueSource) -> Any:
    return value if math.isfinite(value) else REFUSED


def _parse_exact(text: str) -> Fraction | None:
    """Return the exact number that a string contains.

    Return None when there is no number, or when the number is too large.
    """
    text = text.strip()
    if len(text) > MAX_DIGITS or not _NUMBER_TEXT.fullmatch(text):
        return None
    exponent = _EXPONENT.search(text)
    if exponent is not None and (len(exponent[1]) > 5 or abs(int(exponent[1])) + len(text) > MAX_DIGITS):
        return None
    return Fraction(text)


def _exact_number(value: float, source: ValueSource) -> Fraction:
    """Return the number as it was sent, because the decoded float may be rounded."""
    exact = _parse_exact(source.json_text())
    return Fraction(value) if exact is None else exact


def _parse_integer(value: str, _: ValueSource) -> Any:
    if value.isdecimal() and value.isascii() and len(value) <= MAX_DIGITS:
        return int(value)
    exact = _parse_exact(value)
    return exact.numerator if exact is not None and exact.denominator == 1 else REFUSED


def _convert_whole(value: float, source: ValueSource) -> Any:
    if 0 < abs(value) < _EXACT and len(source.json_text()) <= _EXACT_DIGITS:
        return int(value)
    exact = _exact_number(value, source)
    return exact.numerator if exact.denominator == 1 else REFUSED


def _truncate(value: float, source: ValueSource) -> Any:
    return math.trunc(_exact_number(value, source)) if math.isfinite(value) else REFUSED


def _parse_number(value: str, source: ValueSource) -> Any:
    text = value.strip()
    if len(text) > MAX_DIGITS or not _NUMBER_TEXT.fullmatch(text):
        return REFUSED
    if text.lstrip("+-").isdigit():
        return int(text)
    return _require_finite(float(text), source)


def _decode_object(_: str, source: ValueSource) -> Any:
    return source.decode_text(dict)


def _decode_array(_: str, source: ValueSource) -> Any:
    return source.decode_text(list)


def _wrap_in_list(value: Any, _: ValueSource) -> Any:
    return [value]


def _wrap_separated(value: str, _: ValueSource) -> Any:
    parts = _SEPARATORS.split(_BRACKETED.sub("x", value))
    return [value] if sum(not part.isspace() and part != "" for part in parts) > 1 else REFUSED


def read_timestamp(text: str) -> datetime | None:
    """Return the moment that an ISO 8601 timestamp gives, or None for other strings.

    The moment has a UTC offset only if the timestamp has one. Fractions of a second are cut off after six
    digits.
    """
    trimmed = text.strip()
    if len(trimmed) > _LONGEST_TIMESTAMP or not _TIMESTAMP.fullmatch(trimmed):
        return None
    seconds, _, fraction = trimmed.upper().replace(",", ".").partition(".")
    digits = re.match(r"\d*", fraction)
    length = digits.end() if digits else 0
    if fraction:
        seconds += "." + fraction[:length][:6].ljust(6, "0") + fraction[length:]
    seconds = seconds.replace(" +", "+").replace(" -", "-").replace(" Z", "Z")
    started, ends = _MIDNIGHT.subn("00", seconds)  # 24:00 is the end of a day
    try:
        return datetime.fromisoformat(started) + timedelta(days=ends)
    except (ValueError, OverflowError):
        return None


def is_timestamp(text: str) -> bool:
    """Return True when the string is an ISO 8601 timestamp with a UTC offset."""
    is_whole = len(text) <= _LONGEST_TIMESTAMP and _WITH_OFFSET.fullmatch(text) is not None
    return is_whole and read_timestamp(text) is not None


def _keep_timestamp(value: str, _: ValueSource) -> Any:
    return value if is_timestamp(value) else REFUSED


def _normalise_timestamp(value: str, _: ValueSource) -> Any:
    moment = read_timestamp(value)
    return REFUSED if moment is None or moment.tzinfo is None else _write_timestamp(moment, value)


def _add_offset(value: str, _: ValueSource) -> Any:
    moment = read_timestamp(value)
    return REFUSED if moment is None else _write_timestamp(moment.replace(tzinfo=UTC), value)


def _convert_epoch(value: float, _: ValueSource) -> Any:
    if not math.isfinite(value):
        return REFUSED
    try:
        moment = datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (OverflowError, OSError, ValueError):
        return REFUSED
    return _write_timestamp(moment, f"{moment:.%f}".rstrip("0"))


def _write_timestamp(moment: datetime, sent: str) -> str:
    """Return the moment in RFC 3339, with all digits of the second in the timestamp `sent`."""
    fraction = _FRACTION.search(sent)
    written = moment.isoformat(timespec="seconds")
    end = len("2026-12-01T09:00:00")
    offset = "Z" if not moment.utcoffset() else written[end:]
    return f"{written[:end]}{'.' + fraction[1] if fraction else ''}{offset}"


_K, _J = ValueKind, JsonType
_UNCHANGED = (Coercion(None, _keep_value),)
_RETAINED = (Coercion("non_string_literal_retained", _write_as_text),)
_OBJECT_RETAINED = (Coercion(OBJECT_AS_TEXT, _write_as_text),)
_WRAPPED = (Coercion("scalar_coerced_to_list", _wrap_in_list),)
_NUMBERS = (_J.INTEGER, _J.WHOLE, _J.FRACTION)
_TEXT_KINDS = (_K.STRING, _K.ENUM_TOKEN, _K.ATTACHMENT_REFERENCE)

COERCIONS: Mapping[tuple[ValueKind, JsonType], tuple[Coercion, ...]] = {
    **{(kind, _J.STRING): _UNCHANGED for kind in _TEXT_KINDS},
    **{(kind, json_type): _RETAINED for kind in _TEXT_KINDS for json_type in (*_NUMBERS, _J.BOOLEAN)},
    **{(kind, json_type): _OBJECT_RETAINED for kind in _TEXT_KINDS for json_type in (_J.OBJECT, _J.ARRAY)},
    (_K.BOOLEAN, _J.BOOLEAN): _UNCHANGED,
    (_K.BOOLEAN, _J.STRING): (Coercion("string_literal_converted_to_boolean", _parse_boolean),),
    (_K.BOOLEAN, _J.INTEGER): (Coercion("number_coerced_to_boolean", _convert_to_boolean),),
    (_K.BOOLEAN, _J.WHOLE): (Coercion("number_coerced_to_boolean", _convert_to_boolean),),
    (_K.INTEGER, _J.INTEGER): _UNCHANGED,
    (_K.INTEGER, _J.WHOLE): (
        Coercion("number_coerced_to_integer", _convert_whole),
        Coercion("fractional_number_truncated_to_integer", _truncate),
    ),
    (_K.INTEGER, _J.FRACTION): (Coercion("fractional_number_truncated_to_integer", _truncate),),
    (_K.INTEGER, _J.STRING): (Coercion("string_literal_converted_to_integer", _parse_integer),),
    **{(_K.NUMBER, json_type): (Coercion(None, _require_finite),) for json_type in _NUMBERS},
    (_K.NUMBER, _J.STRING): (Coercion("string_literal_converted_to_number", _parse_number),),
    (_K.JSON_OBJECT, _J.OBJECT): _UNCHANGED,
    (_K.JSON_OBJECT, _J.STRING): (Coercion("string_literal_converted_to_object", _decode_object),),
    (_K.JSON_ARRAY, _J.ARRAY): _UNCHANGED,
    (_K.JSON_ARRAY, _J.STRING): (
        Coercion("string_literal_converted_to_array", _decode_array),
        Coercion("separated_text_coerced_to_list", _wrap_separated),
        *_WRAPPED,
    ),
    **{(_K.JSON_ARRAY, json_type): _WRAPPED for json_type in (*_NUMBERS, _J.BOOLEAN, _J.OBJECT)},
    (_K.TIMESTAMP, _J.STRING): (
        Coercion(None, _keep_timestamp),
        Coercion("timestamp_normalised", _normalise_timestamp),
        Coercion("timestamp_without_offset", _add_offset),
    ),
    **{
        (_K.TIMESTAMP, json_type): (Coercion("epoch_converted_to_timestamp", _convert_epoch),)
        for json_type in _NUMBERS
    },
    (_K.URI, _J.STRING): _UNCHANGED,
}
"""The conversions to try for each pair of wanted kind and JSON type. Any other pair is refused."""

REFUSALS: Mapping[ValueKind, str] = {
    _K.STRING: "unsupported_string_literal",
    _K.ENUM_TOKEN: "unsupported_string_literal",
    _K.ATTACHMENT_REFERENCE: "unsupported_string_literal",
    _K.BOOLEAN: "unsupported_boolean_literal",
    _K.INTEGER: "unsupported_integer_literal",
    _K.NUMBER: "unsupported_number_literal",
    _K.JSON_OBJECT: "unsupported_object_literal",
    _K.JSON_ARRAY: "unsupported_array_literal",
    _K.TIMESTAMP: "unsupported_timestamp_literal",
    _K.URI: "unsupported_uri_literal",
}


def coerce(kind: ValueKind, value: Any, source: ValueSource) -> tuple[Any, str | None]:
    """Return the value converted to the wanted kind, and the code to report, or None to report nothing.

    When no conversion succeeds, return REFUSED and the code of the failure.
    """
    for row in COERCIONS.get((kind, json_type(value)), ()):
        converted = row.convert(value, source)
        if converted is not REFUSED:
            return converted, row.code
    return REFUSED, REFUSALS[kind]
