"""Reads the kind of a value, its listed values, and whether null is allowed, from a flat schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from lenient.definitions.json_schema.nodes import EnumChoices, Node, normalise_name
from lenient.definitions.json_schema.value_kinds import KINDS_BY_FORMAT, KINDS_BY_TYPE, ValueKind, type_names


def takes_null(schema: Mapping[Any, Any]) -> bool:
    """Return True when the schema allows null explicitly."""
    return schema.get("nullable") is True or ("null" in type_names(schema) and admits_null(schema))


def admits_null(schema: Mapping[Any, Any]) -> bool:
    """Return True when `type`, `enum` and `const` permit null.

    Listed values must contain null, too; a schema without `type` permits it.
    """
    types = type_names(schema)
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return (not types or "null" in types) and (not isinstance(listed, list) or None in listed)


def find_kind(schema: Mapping[Any, Any], type_name: str | None) -> ValueKind | None:
    if type_name is None:
        return _infer_kind(schema)
    if type_name != "string":
        return KINDS_BY_TYPE.get(type_name)
    if isinstance(schema.get("enum"), list):
        return ValueKind.ENUM_TOKEN
    return KINDS_BY_FORMAT.get(str(schema.get("format")), ValueKind.STRING)


def _infer_kind(schema: Mapping[Any, Any]) -> ValueKind | None:
    """Infer the kind of a schema without a type from its listed values, properties or items."""
    if isinstance(schema.get("properties"), Mapping):
        return ValueKind.JSON_OBJECT
    if "items" in schema or "prefixItems" in schema:
        return ValueKind.JSON_ARRAY
    listed = schema.get("enum")
    listed = listed if isinstance(listed, list) else [schema["const"]] if "const" in schema else []
    types = {type(value) for value in listed if value is not None}
    if len(types) != 1:
        return ValueKind.NUMBER if types == {int, float} else None
    return _KINDS_BY_PYTHON_TYPE.get(types.pop())


_KINDS_BY_PYTHON_TYPE: Mapping[type, ValueKind] = {
    str: ValueKind.ENUM_TOKEN,
    bool: ValueKind.BOOLEAN,
    int: ValueKind.INTEGER,
    float: ValueKind.NUMBER,
}


def read_choices(schema: Mapping[Any, Any]) -> EnumChoices | None:
    """Return the values that `enum` or `const` lists; None when the schema has neither."""
    listed = schema.get("enum")
    if "const" in schema:
        held = not isinstance(listed, list) or EnumChoices("", tuple(listed)).holds(schema["const"])
        code, listed = "const_mismatch", [schema["const"]] if held else []
    elif isinstance(listed, list):
        code = "enum_out_of_range"
    else:
        return None
    return EnumChoices(
        code, tuple(listed), {} if schema.get("x-case-sensitive") is True else _fold_texts(listed)
    )


def _fold_texts(listed: list[Any]) -> dict[str, Any]:
    """Return the listed texts by their case-folded form; None where two texts share a form."""
    folded: dict[str, Any] = {}
    for value in listed:
        if isinstance(value, str):
            key = value.strip().casefold()
            folded[key] = None if key in folded else value
    return folded


def is_of_kind(kind: ValueKind, value: Any) -> bool:
    """Return True when the value has the JSON type of the kind. Formats do not count."""
    return _TYPES[kind](value)


def lists_its_type(node: Node) -> bool:
    """Return True when each listed value of a node is null or has the node's kind, or none is listed."""
    kind = node.kind
    if node.choices is None or kind is None:
        return True
    return all(value is None or is_of_kind(kind, value) for value in node.choices.allowed)


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, datetime))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


_TYPES: Mapping[ValueKind, Callable[[Any], bool]] = {
    **dict.fromkeys(ValueKind, _is_text),
    ValueKind.BOOLEAN: lambda value: isinstance(value, bool),
    ValueKind.INTEGER: _is_integer,
    ValueKind.NUMBER: _is_number,
    ValueKind.JSON_OBJECT: lambda value: isinstance(value, dict),
    ValueKind.JSON_ARRAY: lambda value: isinstance(value, list),
}


def map_spellings(fields: Mapping[str, Node]) -> dict[str, str | None]:
    """Return the declared names by normalised spelling; None where two names share a spelling."""
    result: dict[str, str | None] = {}
    for name in fields:
        key = normalise_name(name)
        result[key] = None if key in result else name
    return result
