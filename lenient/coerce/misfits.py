"""Converts the members of valid JSON that do not fit their definition; all others are kept as they are.

A scalar of another type, a null for an optional parameter and an unknown name are the most common faults by
far. They are converted here, in a third of the time that the validator takes for the same result. The
validator converts the members with any other fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lenient.coerce.coercions import REFUSED, coerce
from lenient.coerce.validator import (
    ABSENT,
    REJECTED,
    Validator,
    find_declared_name,
    hint_undeclared,
)
from lenient.definitions.json_schema.json_values import is_finite, to_json_text
from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import MAX_FOUND, Diagnostic, Findings, join_path, shorten
from lenient.scan.source_text import LocatedValue

_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


class _RawScalar(NamedTuple):
    """The source of a scalar: its span in the text of valid JSON."""

    text: str
    start: int
    end: int

    def json_text(self) -> str:
        return self.text[self.start : self.end]

    def decode_text(self, _: type) -> Any:
        return REFUSED


def convert_misfits(
    node: Node,
    misfits: Mapping[str, Any],
    located: LocatedValue,
    findings: Findings,
    make_validator: Callable[[int], Validator],
) -> dict[str, Any] | None:
    """Return the converted arguments, and add their diagnostics to `findings`, as the validator does.

    `misfits` are the members that may not fit. Return None, with no diagnostic added, when the name of one of
    them is another spelling of a declared name.
    """
    sent, text, fields, spans = located.value, located.piece.text, node.fields, located.mark.children
    if not misfits.keys() <= fields.keys():
        unknown = [name for name in misfits if name not in fields]
        if any(find_declared_name(node, name, sent) != name for name in unknown):
            return None
    result, validator = dict(sent), None
    for name, value in misfits.items():
        start, end, _ = spans[name]  # type: ignore[index,call-overload]  # those of an object
        field = fields.get(name)
        code, converted, hint = _convert_simply(node, field, name, value, (text, start, end))
        if converted is REFUSED:
            validator = validator or make_validator(1)
            converted = validator.convert_field(node, name, located.child(name), (None, name))
        if converted is REJECTED or converted is ABSENT:
            del result[name]
        else:
            result[name] = converted
        if code is None:
            continue
        found = text[start:end] if end - start <= MAX_FOUND else shorten(text[start : start + MAX_FOUND + 1])
        became = None if field is None or converted is ABSENT else to_json_text(converted)
        if became is not None and len(became) > MAX_FOUND:
            became = shorten(became)
        detail = shorten(name) if field is None else None
        place = join_path("$", name)
        findings.add(_NEW(Diagnostic, (code, place, start, end, found, became, detail, hint)))
    if not node.required <= sent.keys():
        (validator or make_validator(1)).report_missing(node, sent.keys(), located, None)
    return result


def _convert_simply(
    node: Node, field: Node | None, name: str, value: Any, source: tuple[str, int, int]
) -> tuple[str | None, Any, str | None]:
    """Return the code to report, the converted value and the hint; REFUSED when the validator is needed."""
    if field is None:
        if node.extra is None and (type(value) is str or is_finite(value)):
            return "unknown_parameter", value, hint_undeclared(node, name)
    elif field.is_scalar:
        if value is not None:
            kind: Any = field.kind
            converted, code = coerce(kind, value, _NEW(_RawScalar, source))
            return None if converted is REFUSED else code, converted, None
        if name not in node.required:
            return "optional_null_dropped", ABSENT, None
    return None, REFUSED, None
