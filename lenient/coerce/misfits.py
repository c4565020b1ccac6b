"""Converts only those members of valid JSON that do not fit their definition.

Most faults need one simple conversion: a scalar or list sent as a string, null for an optional parameter, or
an unknown, misspelt or missing name. This module converts such members in a third of the validator's time,
with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from orjson import JSONDecodeError, loads

from lenient.coerce.coercions import REFUSED, coerce
from lenient.coerce.compiled_tool import fits
from lenient.coerce.validator import (
    ABSENT,
    REJECTED,
    Validator,
    find_declared_name,
    hint_undeclared,
    list_missing,
)
from lenient.definitions.json_schema.json_values import is_finite, to_json_text
from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_FOUND, Diagnostic, join_path, shorten
from lenient.scan.source_text import LocatedValue, SourceText, ValueSpan
from lenient.scan.valid_json import holds_each_key_once, locate_member, may_hold_value

_NEW = tuple.__new__  # calling the named tuple takes twice as long
_CONTAINERS = (ValueKind.JSON_ARRAY, ValueKind.JSON_OBJECT)
_MAX_TEXT = 10_000
"""The maximum number of characters of a string that is decoded here; the validator decodes longer strings."""
_Conversion = tuple[str | None, Any, str | None, str | None]
"""The code to report (None = no report), the converted value, the detail and the hint."""


class _NeedsValidatorError(Exception):
    """Raised for a string that may contain a list or an object but is not valid JSON."""


class _SentValue(NamedTuple):
    text: str
    span: ValueSpan
    value: Any

    def json_text(self) -> str:
        start, end, _ = self.span
        return self.text[start:end]

    def decode_text(self, wanted: type) -> Any:
        if not may_hold_value(self.value):
            return REFUSED
        try:
            inner: Any = loads(self.value) if len(self.value) <= _MAX_TEXT else None
        except JSONDecodeError:
            raise _NeedsValidatorError from None
        if type(inner) is not wanted or not holds_each_key_once(self.value, inner):
            raise _NeedsValidatorError
        return inner


def convert_misfits(
    node: Node,
    misfits: dict[str, Any],
    sent: dict[str, Any],
    text: str,
    make_validator: Callable[[list[Diagnostic], dict[str, Any]], Validator],
) -> tuple[dict[str, Any], list[Diagnostic], dict[str, Any]] | None:
    """Convert and report `misfits`, the members of the arguments `sent` that do not fit.

    `text` is the JSON of the arguments. Return the converted arguments, the diagnostics, and a dict from
    positions in the arguments to rejected values. Return None when a value cannot be located. Raises
    TooManyFindingsError.
    """
    arguments = {**sent}
    findings: list[Diagnostic] = []
    rejected: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    fields, validator = node.fields, None
    for key, value in misfits.items():
        span = locate_member(text, key)
        if span is None:
            return None
        name, field = key, fields.get(key)
        if field is None and (name := find_declared_name(node, key, sent)) != key:
            renamed[key], field = name, fields[name]
            where = join_path("$", name), span.start, span.end
            findings.append(Diagnostic("parameter_name_normalised", *where, key, name))
            if fits(field, value):
                continue
        member = _NEW(_SentValue, (text, span, value))
        conversion = _convert_simply(node, name, field, member, len(findings))
        if conversion is None:
            validator = validator or make_validator(findings, rejected)
            located = _NEW(LocatedValue, (value, span, SourceText(text), True, False))
            converted = validator.convert_field(node, name, located, (None, name))
        else:
            converted, place = conversion[1], join_path("$", name)
            if conversion[0] is not None:
                findings.append(_report(member, place, conversion))
            if converted is REJECTED:
                rejected[place] = value
        if converted is REJECTED or converted is ABSENT:
            del arguments[key]
        else:
            arguments[key] = converted
    if renamed:
        arguments = {renamed.get(key, key): value for key, value in arguments.items()}
    if not node.required <= sent.keys():
        start, end = text.index("{"), text.rindex("}") + 1
        findings += [
            Diagnostic("missing_required", join_path("$", name), start, end, detail=name)
            for name in list_missing(node, sent.keys() | renamed.values())
        ]
    return arguments, findings, rejected


def _convert_simply(
    node: Node, name: str, field: Node | None, member: _SentValue, earlier: int
) -> _Conversion | None:
    """Convert one member. Return None when only the validator can convert the member.

    `earlier` is the number of diagnostics so far.
    """
    value = member.value
    if field is None:
        if node.extra is not None or not (type(value) is str or is_finite(value)):
            return None
        return "unknown_parameter", value, shorten(name), hint_undeclared(node, name, earlier)
    if field.is_scalar or field.is_listed_text:
        if value is None:
            if name in node.required:
                return "null_not_allowed", REJECTED, name, None
            return "optional_null_dropped", ABSENT, None, None
        if field.is_scalar:
            converted, code = coerce(field.kind, value, member)  # type: ignore[arg-type]  # it has a kind
            return code, REJECTED if converted is REFUSED else converted, None, None
        listed = field.choices.folded.get(value.strip().casefold()) if type(value) is str else None  # type: ignore[union-attr]
        return None if listed is None else ("enum_case_normalised", listed, None, None)
    if field.kind in _CONTAINERS and field.typed and field.choices is None:
        try:
            converted, code = coerce(field.kind, value, member)
        except _NeedsValidatorError:
            return None
        return (code, converted, None, None) if fits(field, converted) else None
    return None


def _report(member: _SentValue, place: str, conversion: _Conversion) -> Diagnostic:
    (text, (start, end, _), value), (code, converted, detail, hint) = member, conversion
    shown, became = text[start:end], None
    if end - start > MAX_FOUND:
        shown = shorten(shown)
    if converted is not value and converted is not REJECTED and converted is not ABSENT:
        became = to_json_text(converted)
        if len(became) > MAX_FOUND:
            became = shorten(became)
    return _NEW(Diagnostic, (code, place, start, end, shown, became, detail, hint))
