"""Converts Python type hints to JSON Schema.

A class with the method `model_json_schema` (such as a pydantic model) provides its own schema.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection, Iterable, Mapping, MutableMapping, MutableSequence, Sequence, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    complex: {},
    bytes: {"type": "string", "contentEncoding": "base64"},
    Decimal: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    timedelta: {"type": "string", "format": "duration"},
    UUID: {"type": "string", "format": "uuid"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
}
_SEQUENCES = (list, Sequence, MutableSequence, Iterable, Collection)
_SETS = (set, frozenset, Set)
_MAPPINGS = (dict, Mapping, MutableMapping)
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def convert_hint(hint: Any, above: tuple[type, ...] = ()) -> dict[str, Any]:
    """Return the JSON Schema of a type hint; `{}` (any value) when the hint has no schema.

    `above` are the classes around the hint: a class inside itself becomes an object with any fields.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return convert_hint(arguments[0], above) | _read_annotation(arguments[1:])
    if origin in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
        return convert_hint(arguments[0], above)
    if origin is typing.Literal:
        return _enum_schema(list(arguments))
    if origin in (typing.Union, types.UnionType):
        return _union_schema([convert_hint(argument, above) for argument in arguments])
    if isinstance(hint, typing.NewType):
        return convert_hint(hint.__supertype__, above)
    if isinstance(hint, typing.TypeVar):
        return convert_hint(hint.__bound__, above) if hint.__bound__ is not None else {}
    return _container_schema(origin or hint, arguments, above) or _class_schema(hint, above)


def _read_annotation(extras: tuple[Any, ...]) -> dict[str, Any]:
    """Return the description among the extras of an `Annotated` as a schema, `{}` when there is none.

    The description is a text, or the attribute `description` or `documentation` of an extra.
    """
    for extra in extras:
        text = extra if isinstance(extra, str) else getattr(extra, "description", None)
        text = text if text is not None else getattr(extra, "documentation", None)
        if isinstance(text, str) and text:
            return {"description": text}
    return {}


def _enum_schema(values: list[Any]) -> dict[str, Any]:
    """Return the schema of listed values, with their type when all values have the same type."""
    names = {_JSON_TYPES.get(type(value)) for value in values}
    [name] = names if len(names) == 1 else [None]
    return {"type": name, "enum": values} if name is not None else {"enum": values}


def _union_schema(branches: list[dict[str, Any]]) -> dict[str, Any]:
    if len(branches) == 2 and {"type": "null"} in branches:
        [other] = [branch for branch in branches if branch != {"type": "null"}] or [{"type": "null"}]
        if isinstance(other.get("type"), str):
            listed = {"enum": [*other["enum"], None]} if "enum" in other else {}
            return other | {"type": [other["type"], "null"]} | listed
    return {"anyOf": branches} if {} not in branches else {}


def _container_schema(
    kind: Any, arguments: tuple[Any, ...], above: tuple[type, ...]
) -> dict[str, Any] | None:
    if kind in _SETS:
        return {"type": "array", **_items_keyword(arguments, above), "uniqueItems": True}
    if kind in _SEQUENCES:
        return {"type": "array", **_items_keyword(arguments, above)}
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        length = len(arguments)
        prefix = [convert_hint(argument, above) for argument in arguments]
        return {"type": "array", "prefixItems": prefix, "minItems": length, "maxItems": length}
    if kind is tuple:
        return {"type": "array", **_items_keyword(arguments, above)}
    if kind in _MAPPINGS:
        inner = convert_hint(arguments[1], above) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
    return None


def _items_keyword(arguments: tuple[Any, ...], above: tuple[type, ...]) -> dict[str, Any]:
    inner = convert_hint(arguments[0], above) if arguments else {}
    return {"items": inner} if inner else {}


def _class_schema(hint: Any, above: tuple[type, ...]) -> dict[str, Any]:
    if not isinstance(hint, type):
        return {}
    own = ask_own_schema(hint)
    if own is not None:
        return own
    if issubclass(hint, Enum):
        return _enum_schema([member.value for member in hint])
    if issubclass(hint, PurePath):
        return {"type": "string"}
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint) or hasattr(hint, "_fields"):
        return _record_schema(hint, above)
    for known in (hint, *hint.__mro__):
        if known in _SCALARS:
            return dict(_SCALARS[known])
    return {}


def ask_own_schema(hint: Any) -> dict[str, Any] | None:
    """Return the schema that the class's own `model_json_schema` gives, as in pydantic.

    Return None when the class has no such method, or when the method fails.
    """
    ask = getattr(hint, "model_json_schema", None)
    try:
        found = ask() if callable(ask) else None
    except Exception:
        return None
    return dict(found) if isinstance(found, Mapping) else None


def _record_schema(hint: type, above: tuple[type, ...]) -> dict[str, Any]:
    """Return the schema of a dataclass, TypedDict or NamedTuple."""
    if hint in above:
        return {"type": "object"}
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except (NameError, TypeError):
        return {"type": "object"}
    defaults = _collect_defaults(hint)
    properties: dict[str, Any] = {}
    for name, inner in hints.items():
        properties[name] = convert_hint(inner, (*above, hint))
        if name in defaults and is_json(to_json_value(defaults[name])):
            properties[name]["default"] = to_json_value(defaults[name])
    required = [name for name in hints if name not in defaults and _is_required(hint, hints[name])]
    return {"type": "object", "properties": properties, "required": required}


def _is_required(record: type, hint: Any) -> bool:
    """Return True when a field without a default is required.

    A TypedDict can decide this for each field (`Required`, `NotRequired`) or for all fields (`total`).
    """
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return bool(getattr(record, "__total__", True))


def _collect_defaults(hint: type) -> Mapping[str, Any]:
    """Return the defaults of a record class by field name.

    A default factory that makes an empty container is called; for any other factory the default is `...`.
    """
    if not dataclasses.is_dataclass(hint):
        return getattr(hint, "_field_defaults", {})
    result: dict[str, Any] = {}
    for one in dataclasses.fields(hint):
        if one.default is not dataclasses.MISSING:
            result[one.name] = one.default
        elif one.default_factory is not dataclasses.MISSING:
            result[one.name] = (
                one.default_factory() if one.default_factory in (list, dict, tuple, set) else ...
            )
    return result


def to_json_value(value: Any) -> Any:
    """Return a default as a JSON value.

    Enumerations give their values, sets and tuples give lists, dates and times give ISO 8601 texts.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    return value.isoformat() if isinstance(value, (date, time)) else value


def is_json(value: Any) -> bool:
    """Return True when JSON can carry the value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_json(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_json, value))
    return value is None or isinstance(value, (str, bool, int, float))
