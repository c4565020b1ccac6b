"""A Python function, method or class → the JSON Schema of its arguments: signature, type hints, docstring.

A parameter without a default is required. What binding fills in (`self`, `cls`) and `*args` are no
parameters of a tool; `**kwargs` allows any further one. Knows nothing of how arguments are read.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from lenient.docstrings import read_docstring
from lenient.hints import is_json, json_value, own_schema, schema_of
from lenient.schemas import Declared, ToolDefinitionError


def declared(function: Callable[..., Any]) -> Declared:
    """The declaration of anything callable. Hints that cannot be resolved count as no hint.

    Raises ToolDefinitionError for what cannot be called, or has no signature.
    """
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    told = _told(function)
    name = str(getattr(told, "__name__", type(told).__name__))
    own = own_schema(told) if isinstance(told, type) else None
    if own is not None:
        return Declared(name, str(own.get("description") or ""), own)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ToolDefinitionError(f"{name!r} has no signature to read a definition from.") from None
    said = read_docstring(_documentation(told))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    hints = _hints(told)
    for at, parameter in enumerate(parameters):
        if at or parameter.name not in ("self", "cls"):
            hint = hints.get(parameter.name, Any)
            _declare(schema, parameter, hint, said.parameters.get(parameter.name))
    return Declared(name, said.summary, _with_shared_names(schema))


def _told(function: Any) -> Any:
    """What name, hints and docstring are read from: the function within a partial."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _call(told: Any) -> Any:
    """The function that a call runs, for classes and for objects that can be called."""
    if isinstance(told, type):
        return told.__init__  # type: ignore[misc]  # its hints are read, it is not called
    return told if inspect.isroutine(told) else type(told).__call__


def _documentation(told: Any) -> str:
    if isinstance(told, type) or inspect.isroutine(told):
        text = inspect.getdoc(told) or ""
        generated = text.startswith(f"{getattr(told, '__name__', '')}(")  # a dataclass writes its signature
        return "" if generated else text
    return inspect.getdoc(type(told).__call__) or inspect.getdoc(type(told)) or ""


def _hints(told: Any) -> dict[str, Any]:
    """The resolved hints by name; each that cannot be resolved is left out."""
    owner = _call(told)
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        found: dict[str, Any] = {}
        for name, hint in getattr(owner, "__annotations__", {}).items():
            alone = types.SimpleNamespace(__annotations__={name: hint})
            try:
                spaces = getattr(owner, "__globals__", {})
                found |= typing.get_type_hints(alone, spaces, include_extras=True)
            except (NameError, TypeError, AttributeError, SyntaxError):
                continue
        return found


def _declare(
    schema: dict[str, Any], parameter: inspect.Parameter, hint: Any, description: str | None
) -> None:
    if parameter.kind is parameter.VAR_KEYWORD:
        further = schema_of(hint)
        schema["additionalProperties"] = further or True
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        return
    entry = schema_of(hint)
    if description:
        entry.setdefault("description", description)
    default = json_value(parameter.default)
    if parameter.default is parameter.empty:
        schema["required"].append(parameter.name)
    elif is_json(default):
        entry["default"] = default
    schema["properties"][parameter.name] = entry


def _with_shared_names(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the `$defs` of the schemas within it moved to where their references look for them."""
    shared: dict[str, Any] = {}
    waiting: list[Any] = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            names = item.pop("$defs", None)
            if isinstance(names, Mapping):
                shared = {**names, **shared}
                waiting.extend(names.values())
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return {**schema, "$defs": shared} if shared else schema
