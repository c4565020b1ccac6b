"""One value and the kind that is wanted → the value in that kind, or a refusal. COERCIONS is the whole
policy.

Goes in: a decoded JSON scalar or container. Comes out: what the tool gets and the code to report. Knows
nothing of fields, paths or definitions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol

from lenient.parameters import ValueKind
from lenient.repair.bare import MAX_DIGITS

REFUSED: Final = object()
"""What a coercion returns when it cannot."""


class Json(StrEnum):
    """The JSON type that was found; numbers are told apart by whether an integer says the same."""

    STRING = "string"
    INTEGER = "integer"
    WHOLE = "whole number"  # 3.0
    FRACTION = "fraction"  # 3.7
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"
    NULL = "null"


class Source(Protocol):
    """What a coercion may ask about the value besides the value itself."""

    def json_text(self) -> str:
        """The value's JSON text as it was sent."""

    def decoded(self, wanted: type) -> Any:
        """The value of that type which the text holds, or REFUSED. Mends are reported by the source."""


Convert = Callable[[Any, Source], Any]


class Coercion(NamedTuple):
    """What is tried, and what is reported when it succeeds; `code` None = silently."""

    code: str | None
    convert: Convert


_EXPONENT = re.compile(r"[eE]([+-]?\d+)$", re.ASCII)
_NUMBER_TEXT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`]+")
_FINER = re.compile(r"[.,]\d{6}0*+[1-9]", re.ASCII)
_MIDNIGHT = re.compile(r"(?<=[T ])24(?=:00(?::00(?:\.0+)?)?(?![:.\d]))", re.ASCII)
_MILLISECONDS_FROM = 1e11
"""Seconds reach this in the year 5138, milliseconds passed it in 1973."""


def json_type(value: Any) -> Json:
    """The JSON type of a decoded value. NaN and the infinities count as fractions: every row refuses them."""
    if isinstance(value, float):
        return Json.WHOLE if value.is_integer() else Json.FRACTION
    return _TYPES.get(type(value), Json.STRING)


_TYPES: Mapping[type, Json] = {
    str: Json.STRING,
    int: Json.INTEGER,
    bool: Json.BOOLEAN,
    dict: Json.OBJECT,
    list: Json.ARRAY,
    type(None): Json.NULL,
}


def is_absolute_uri(text: str) -> bool:
    """A scheme, a colon and something after it, without blanks."""
    return _URI.fullmatch(text) is not None


def _keep(value: Any, _: Source) -> Any:
    return value


def _as_text(_: Any, source: Source) -> Any:
    return source.json_text()


def _boolean_text(value: str, _: Source) -> Any:
    return {"true": True, "false": False}.get(value.strip().lower(), REFUSED) if len(value) < 100 else REFUSED


def _boolean_number(value: float, _: Source) -> Any:
    return bool(value) if value in (0, 1) else REFUSED


def _finite(value: float, _: Source) -> Any:
    return value if math.isfinite(value) else REFUSED


def _exact(text: str) -> Fraction | None:
    """The number that a text names, digit for digit; None when it names none of a size that is read."""
    text = text.strip()
    if len(text) > MAX_DIGITS or not _NUMBER_TEXT.fullmatch(text):
        return None
    exponent = _EXPONENT.search(text)
    if exponent is not None and (len(exponent[1]) > 5 or abs(int(exponent[1])) + len(text) > MAX_DIGITS):
        return None
    return Fraction(text)


def _exact_number(value: float, source: Source) -> Fraction:
    """A float is only near the number that was sent: its text tells."""
    exact = _exact(source.json_text())
    return Fraction(value) if exact is None else exact


def _integer_text(value: str, _: Source) -> Any:
    exact = _exact(value)
    return exact.numerator if exact is not None and exact.denominator == 1 else REFUSED


def _whole_number(value: float, source: Source) -> Any:
    exact = _exact_number(value, source)
    return exact.numerator if exact.denominator == 1 else REFUSED


def _truncated(value: float, source: Source) -> Any:
    return math.trunc(_exact_number(value, source)) if math.isfinite(value) else REFUSED


def _number_text(value: str, source: Source) -> Any:
    text = value.strip()
    if len(text) > MAX_DIGITS or not _NUMBER_TEXT.fullmatch(text):
        return REFUSED
    if text.lstrip("+-").isdigit():
        return int(text)
    return _finite(float(text), source)


def _held_object(_: str, source: Source) -> Any:
    return source.decoded(dict)


def _held_array(_: str, source: Source) -> Any:
    return source.decoded(list)


def _list_of_one(value: Any, _: Source) -> Any:
    return [value]


def _timestamp(text: str) -> datetime | None:
    trimmed = text.strip()
    if len(trimmed) > 64 or not _TIMESTAMP.fullmatch(trimmed):
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


def _aware_timestamp(value: str, _: Source) -> Any:
    found = _timestamp(value)
    return found if found is not None and found.tzinfo is not None else REFUSED


def _exact_timestamp(value: str, source: Source) -> Any:
    return REFUSED if _FINER.search(value) else _aware_timestamp(value, source)


def _naive_timestamp(value: str, _: Source) -> Any:
    found = _timestamp(value)
    return REFUSED if found is None else found.replace(tzinfo=UTC)


def _epoch(value: float, _: Source) -> Any:
    if not math.isfinite(value):
        return REFUSED
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (OverflowError, OSError, ValueError):
        return REFUSED


_K, _J = ValueKind, Json
_KEPT = (Coercion(None, _keep),)
_RETAINED = (Coercion("non_string_literal_retained", _as_text),)
_WRAPPED = (Coercion("scalar_coerced_to_list", _list_of_one),)
_NUMBERS = (_J.INTEGER, _J.WHOLE, _J.FRACTION)
_TEXT_KINDS = (_K.STRING, _K.ENUM_TOKEN, _K.ATTACHMENT_REFERENCE)
_NOT_TEXT = (*_NUMBERS, _J.BOOLEAN, _J.OBJECT, _J.ARRAY)

COERCIONS: Mapping[tuple[ValueKind, Json], tuple[Coercion, ...]] = {
    **{(kind, _J.STRING): _KEPT for kind in _TEXT_KINDS},
    **{(kind, found): _RETAINED for kind in _TEXT_KINDS for found in _NOT_TEXT},
    (_K.BOOLEAN, _J.BOOLEAN): _KEPT,
    (_K.BOOLEAN, _J.STRING): (Coercion("string_literal_converted_to_boolean", _boolean_text),),
    (_K.BOOLEAN, _J.INTEGER): (Coercion("number_coerced_to_boolean", _boolean_number),),
    (_K.BOOLEAN, _J.WHOLE): (Coercion("number_coerced_to_boolean", _boolean_number),),
    (_K.INTEGER, _J.INTEGER): _KEPT,
    (_K.INTEGER, _J.WHOLE): (
        Coercion("number_coerced_to_integer", _whole_number),
        Coercion("fractional_number_truncated_to_integer", _truncated),
    ),
    (_K.INTEGER, _J.FRACTION): (Coercion("fractional_number_truncated_to_integer", _truncated),),
    (_K.INTEGER, _J.STRING): (Coercion("string_literal_converted_to_integer", _integer_text),),
    **{(_K.NUMBER, found): (Coercion(None, _finite),) for found in _NUMBERS},
    (_K.NUMBER, _J.STRING): (Coercion("string_literal_converted_to_number", _number_text),),
    (_K.JSON_OBJECT, _J.OBJECT): _KEPT,
    (_K.JSON_OBJECT, _J.STRING): (Coercion("string_literal_converted_to_object", _held_object),),
    (_K.JSON_ARRAY, _J.ARRAY): _KEPT,
    (_K.JSON_ARRAY, _J.STRING): (Coercion("string_literal_converted_to_array", _held_array), *_WRAPPED),
    **{(_K.JSON_ARRAY, found): _WRAPPED for found in (*_NUMBERS, _J.BOOLEAN, _J.OBJECT)},
    (_K.TIMESTAMP, _J.STRING): (
        Coercion(None, _exact_timestamp),
        Coercion("timestamp_truncated_to_microseconds", _aware_timestamp),
        Coercion("timestamp_without_offset", _naive_timestamp),
    ),
    **{(_K.TIMESTAMP, found): (Coercion("epoch_converted_to_timestamp", _epoch),) for found in _NUMBERS},
    (_K.URI, _J.STRING): _KEPT,
}
"""(wanted, found) → what is tried, in order. A pair that is not here is refused."""

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


def coerce(kind: ValueKind, value: Any, source: Source) -> tuple[Any, str | None]:
    """The value in the wanted kind and the code to report, or (REFUSED, the code of the refusal)."""
    for row in COERCIONS.get((kind, json_type(value)), ()):
        converted = row.convert(value, source)
        if converted is not REFUSED:
            return converted, row.code
    return REFUSED, REFUSALS[kind]
