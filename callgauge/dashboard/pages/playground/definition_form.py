"""Creates form fields for a tool definition, and raw arguments from a filled form.

A value that is not valid JSON is written as typed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lenient import Cardinality, ToolDefinition, ToolParameter, ValueKind
from lenient.definitions.json_schema.value_kinds import type_names

MOST = 40
"""Maximum number of fields in a form. Further parameters can only be edited as text."""

Input = Literal["text", "choice", "truth", "whole", "number", "lines", "json"]

_EXACT = 2**53 - 1  # browsers cannot represent larger whole numbers exactly
_TYPED: Mapping[ValueKind, Input] = {
    ValueKind.BOOLEAN: "truth",
    ValueKind.INTEGER: "whole",
    ValueKind.NUMBER: "number",
    ValueKind.JSON_OBJECT: "json",
    ValueKind.JSON_ARRAY: "json",
}
_HINTS = {
    ValueKind.TIMESTAMP: "2026-11-22T10:00:00Z",
    ValueKind.URI: "https://example.org/page",
    ValueKind.ATTACHMENT_REFERENCE: "the name of an attachment",
}


@dataclass(frozen=True, slots=True)
class FormField:
    """One parameter of the form. `input` is the kind of input widget.

    `value` is the initial value. If `value` is None, the parameter is omitted. For a selector, the `options`
    and the `value` are JSON texts.
    """

    name: str
    input: Input
    required: bool
    description: str
    hint: str
    options: tuple[str, ...]
    value: Any


def list_fields(tool: ToolDefinition, arguments: Mapping[str, Any]) -> list[FormField]:
    """Return the fields of the first MOST parameters, filled with the values in `arguments`."""
    return [_make_field(parameter, arguments.get(parameter.name)) for parameter in tool.parameters[:MOST]]


def _make_field(parameter: ToolParameter, value: Any) -> FormField:
    input_kind, options = _choose_input(parameter)
    if value is not None and not _can_show(input_kind, options, value):
        input_kind = "json"
    begins = value
    if input_kind == "json" and value is not None:
        begins = json.dumps(value, ensure_ascii=False)
    elif input_kind == "choice" and value is not None:
        begins = option_text(value)
    elif input_kind == "lines" and value is not None:
        begins = "\n".join(value)
    hint = {"json": "any JSON value", "lines": "one item a line"}.get(
        input_kind, _HINTS.get(parameter.kind, "")
    )
    return FormField(
        parameter.name, input_kind, parameter.required, parameter.description, hint, options, begins
    )


def _choose_input(parameter: ToolParameter) -> tuple[Input, tuple[str, ...]]:
    names = set(type_names(parameter.schema or {})) - {"null"}
    if parameter.cardinality is Cardinality.LIST:
        texts = parameter.kind in (ValueKind.STRING, ValueKind.URI, ValueKind.ENUM_TOKEN)
        items = (parameter.schema or {}).get("items")
        return ("lines" if texts and isinstance(items, Mapping) and type_names(items) else "json"), ()
    if parameter.cardinality is Cardinality.MAP:
        return "json", ()
    if parameter.enum is not None and parameter.enum.allowed:
        return "choice", tuple(dict.fromkeys(map(option_text, parameter.enum.allowed)))
    if parameter.schema is not None and len(names) != 1:
        return "json", ()
    return _TYPED.get(parameter.kind, "text"), ()


def option_text(value: Any) -> str:
    """Return an enum value as JSON text, so that 1 and "1" are different."""
    return json.dumps(value, ensure_ascii=False)


def _can_show(input_kind: Input, options: tuple[str, ...], value: Any) -> bool:
    if input_kind == "choice":
        return option_text(value) in options
    if input_kind == "lines":
        return isinstance(value, list) and all(_is_line(item) for item in value)
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _EXACT
    return {
        "text": isinstance(value, str) and "\n" not in value and value != "",
        "truth": isinstance(value, bool),
        "whole": whole,
        "number": whole or (isinstance(value, float) and math.isfinite(value)),
        "json": True,
    }[input_kind]


def _is_line(item: Any) -> bool:
    return isinstance(item, str) and item != "" and item.splitlines() == [item]


def write_arguments(fields: Sequence[FormField], values: Sequence[Any], arguments: Mapping[str, Any]) -> str:
    """Return the raw arguments: the values of the fields, then the arguments that have no field.

    `values` has one value per field. None and empty values are omitted.
    """
    shown = {field.name for field in fields}
    parts = [
        (name, json.dumps(value, ensure_ascii=False))
        for name, value in arguments.items()
        if name not in shown
    ]
    filled = [
        (field.name, _field_text(field, value))
        for field, value in zip(fields, values, strict=True)
        if value is not None and value != ""
    ]
    members = (f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in [*filled, *parts])
    return "{" + ", ".join(members) + "}"


def _field_text(field: FormField, value: Any) -> str:
    if field.input in ("json", "choice"):
        return str(value)
    if field.input == "lines":
        return json.dumps([line for line in str(value).split("\n") if line], ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)
