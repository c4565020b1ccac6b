"""A Python function or method → the JSON Schema of its arguments, from signature, type hints and docstring.

A parameter without a default is required. `self`, `cls` and `*args` are no parameters of a tool; `**kwargs`
allows any further one. Knows nothing of how arguments are read.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime
from enum import Enum
from typing import Any

from lenient.diagnostics import MAX_DEPTH
from lenient.schemas import Declared

_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
}
_SEQUENCES = (list, tuple, set, frozenset, Sequence, Iterable, Set)
_GOOGLE = re.compile(r"^[ \t]+\*{0,2}(\w+)[ \t]*(?:\([^()\n]*\))?:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_SPHINX = re.compile(r"^[ \t]*:param(?:[ \t]+[\w\[\], |]+?)?[ \t]+(\w+):[ \t]*(\S[^\n]*)$", re.MULTILINE)


def declared(function: Callable[..., Any]) -> Declared:
    """The declaration of a function. Hints that cannot be resolved count as no hint."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        hints = {}
    documentation = inspect.getdoc(function) or ""
    described = dict(_GOOGLE.findall(documentation)) | dict(_SPHINX.findall(documentation))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    for parameter in inspect.signature(function).parameters.values():
        _declare(schema, parameter, hints.get(parameter.name, Any), described.get(parameter.name))
    name = getattr(function, "__name__", type(function).__name__)
    return Declared(name, documentation.split("\n\n", 1)[0].strip(), schema)


def _declare(
    schema: dict[str, Any], parameter: inspect.Parameter, hint: Any, description: str | None
) -> None:
    if parameter.kind is parameter.VAR_KEYWORD:
        schema["additionalProperties"] = True
    if parameter.name in ("self", "cls") or parameter.kind in (
        parameter.VAR_KEYWORD,
        parameter.VAR_POSITIONAL,
    ):
        return
    entry = schema_of(hint)
    if description:
        entry.setdefault("description", description)
    if parameter.default is parameter.empty:
        schema["required"].append(parameter.name)
    elif parameter.default is None or isinstance(parameter.default, (str, int, float, list, dict)):
        entry["default"] = parameter.default
    schema["properties"][parameter.name] = entry


def schema_of(hint: Any, depth: int = 0) -> dict[str, Any]:
    """The JSON Schema of a type hint; `{}` (anything) for one that has none."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if depth > MAX_DEPTH // 8:  # a class that holds itself
        return {}
    if origin is typing.Annotated:
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        return schema_of(arguments[0], depth) | ({"description": texts[0]} if texts else {})
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return _union([schema_of(argument, depth + 1) for argument in arguments])
    if origin in _SEQUENCES or hint in (frozenset, Sequence, Iterable):
        inner = [argument for argument in arguments[:1] if argument is not Ellipsis]
        return {"type": "array"} | ({"items": schema_of(inner[0], depth + 1)} if inner else {})
    if origin in (dict, Mapping) and len(arguments) == 2:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], depth + 1)}
    return _of_class(hint, depth)


def _union(branches: list[dict[str, Any]]) -> dict[str, Any]:
    if len(branches) == 2 and {"type": "null"} in branches:
        [other] = [branch for branch in branches if branch != {"type": "null"}]
        if isinstance(other.get("type"), str) and "enum" not in other:
            return other | {"type": [other["type"], "null"]}
    return {"anyOf": branches}


def _of_class(hint: Any, depth: int) -> dict[str, Any]:
    if not isinstance(hint, type):
        return {}
    if issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        return _record(hint, depth)
    return dict(_SCALARS.get(hint, {}))


def _record(hint: type, depth: int) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except (NameError, TypeError):
        return {"type": "object"}
    required = getattr(hint, "__required_keys__", None)
    if dataclasses.is_dataclass(hint):
        missing = dataclasses.MISSING
        required = [
            f.name for f in dataclasses.fields(hint) if f.default is missing and f.default_factory is missing
        ]
    properties = {name: schema_of(inner, depth + 1) for name, inner in hints.items()}
    return {"type": "object", "properties": properties, "required": sorted(required or ())}
