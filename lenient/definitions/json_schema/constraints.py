"""Compiles the constraints of JSON Schema on one value: bounds, sizes, patterns and formats.

As in JSON Schema, a constraint for one type accepts values of all other types. A pattern whose match could
take forever is not used.
"""

from __future__ import annotations

import ipaddress
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from lenient.regex import compile_regex

MAX_PATTERN = 400
MAX_PATTERN_WORK = 10_000_000
"""The maximum backtracking steps of a pattern on one string, estimated as length ** (number of open
repeats).
"""

_OPEN_REPEAT = compile_regex(r"(?<!\\)(?:[*+]|\{\d+,\}|\{\d+,\d{3,}\})")
_REPEATED_GROUP = compile_regex(r"(?<!\\)\)(?:[*+]|\{\d+,)")


class ValueRule(NamedTuple):
    """One constraint. `code` and `detail` are reported when `holds(value)` is False.

    `on_numbers` is a faster form of `holds` for a value that is certainly a number.
    """

    code: str
    detail: str
    holds: Callable[[Any], bool]
    on_numbers: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A regular expression. `text` is the source, and `regex` is the compiled pattern.

    A match against n characters takes at most about n ** `degree` steps.
    """

    text: str
    regex: re.Pattern[str]
    degree: int

    def is_affordable(self, value: str) -> bool:
        return self.degree <= 1 or len(value) ** self.degree <= MAX_PATTERN_WORK

    def rules_out(self, value: str) -> bool:
        """Return True when the string certainly does not match.

        Return False when a match would cost too much.
        """
        return self.is_affordable(value) and self.regex.search(value) is None


def read_rules(schema: Mapping[str, Any]) -> Iterator[ValueRule]:
    """Yield the constraints of one schema. Keywords with a malformed value are ignored."""
    yield from _number_rules(schema)
    yield from _size_rules(schema)
    if schema.get("uniqueItems") is True:
        yield ValueRule("items_not_unique", "uniqueItems", _is_unique)
    checker = FORMATS.get(str(schema.get("format")))
    if checker is not None:
        yield ValueRule("format_mismatch", str(schema["format"]), _check_texts(checker))


def compile_pattern(text: Any) -> CompiledPattern | None:
    """Compile a regular expression.

    Return None when Python cannot compile the expression, or when a match could take forever.
    """
    if not isinstance(text, str) or len(text) > MAX_PATTERN or _REPEATED_GROUP.search(text):
        return None
    try:
        regex = re.compile(text, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None
    open_repeats = len(_OPEN_REPEAT.findall(text))
    return CompiledPattern(text, regex, open_repeats + (0 if text.startswith("^") else 1))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number_rules(schema: Mapping[str, Any]) -> Iterator[ValueRule]:
    for keyword, holds in _BOUNDS.items():
        bound: Any = schema.get(keyword)
        if _is_number(bound) and not (keyword == "multipleOf" and bound <= 0):
            quick = partial(_TURNED[keyword], bound) if keyword in _TURNED else None
            yield ValueRule("number_out_of_bounds", f"{keyword} {bound}", _check_numbers(holds, bound), quick)


def _is_multiple(value: Any, step: Any) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    if not all(map(math.isfinite, (value, step))):
        return False
    return (_to_exact(value) / _to_exact(step)).denominator == 1


def _to_exact(number: float) -> Fraction:
    """Return the exact decimal value of a number: then 0.3 counts as a multiple of 0.1."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


_TURNED: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.le,
    "maximum": operator.ge,
    "exclusiveMinimum": operator.lt,
    "exclusiveMaximum": operator.gt,
}
"""The comparisons with the bound as the first argument, because `partial` binds the first argument."""
_BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.ge,
    "maximum": operator.le,
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
    "multipleOf": _is_multiple,
}


def _check_numbers(holds: Callable[[Any, Any], bool], bound: Any) -> Callable[[Any], bool]:
    return lambda value: not _is_number(value) or holds(value, bound)


def _size_rules(schema: Mapping[str, Any]) -> Iterator[ValueRule]:
    for kind, suffix in ((str, "Length"), (list, "Items"), (dict, "Properties")):
        low: Any = schema.get("min" + suffix)
        high: Any = schema.get("max" + suffix)
        if _is_number(low) and low > 0:
            yield ValueRule("size_out_of_bounds", f"min{suffix} {low}", _require_at_least(kind, low))
        if _is_number(high):
            yield ValueRule("size_out_of_bounds", f"max{suffix} {high}", _require_at_most(kind, high))


def _require_at_least(kind: type, low: float) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, kind) or len(value) >= low  # type: ignore[arg-type]  # kind is sized


def _require_at_most(kind: type, high: float) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, kind) or len(value) <= high  # type: ignore[arg-type]  # kind is sized


def _is_unique(value: Any) -> bool:
    if not isinstance(value, list):
        return True
    return len(set(map(_write_canonical, value))) == len(value)


def _write_canonical(value: Any) -> str:
    """Return a JSON value as a string. Equal values give equal strings, so 1.0 is written as 1."""
    text = json.dumps(value, sort_keys=True)
    if ".0" in text or "e" in text:
        text = json.dumps(json.loads(text, parse_float=_parse_whole), sort_keys=True)
    return text


def _parse_whole(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _check_texts(checker: Callable[[str], object]) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        if not isinstance(value, str):
            return True
        try:
            return checker(value) is not None
        except ValueError:
            return False

    return holds


_EMAIL = compile_regex(r"[^@\s]{1,64}@[^@\s.]+(?:\.[^@\s.]+)+")
_HOSTNAME = compile_regex(
    r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9-]{1,63})*"
)
_DURATION = compile_regex(
    r"P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
)
_POINTER = compile_regex(r"(?:/(?:[^~/]|~[01])*)*")

FORMATS: Mapping[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "duration": _DURATION.fullmatch,
    "email": _EMAIL.fullmatch,
    "hostname": _HOSTNAME.fullmatch,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uuid": UUID,
    "json-pointer": _POINTER.fullmatch,
    "uri-reference": urlsplit,
}
"""The formats that are checked. Any other format is ignored."""
