"""Reads tool definitions from Python functions, methods and classes: signature, type hints and docstring.

A parameter without a default is required. `self`, `cls` and `*args` are no parameters of a tool; `**kwargs`
allows further parameters of any name.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any

from lenient.definitions.declarations import Declaration, ToolDefinitionError
from lenient.definitions.docstrings import read_docstring
from lenient.definitions.type_hints import ask_own_schema, convert_hint, is_json, to_json_value


def read_function(function: Callable[..., Any], without: Collection[str] = ()) -> Declaration:
    """Return the declaration of a callable, without the parameters named in `without`.

    Type hints that cannot be resolved are ignored.
    Raises ToolDefinitionError for an object that cannot be called, or that has no signature.
    """
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    told = _unwrap_partial(function)
    name = str(getattr(told, "__name__", type(told).__name__))
    own = ask_own_schema(told) if isinstance(told, type) else None
    if own is not None:
        return Declaration(name, str(own.get("description") or ""), own)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ToolDefinitionError(f"{name!r} has no signature to read a definition from.") from None
    said = read_docstring(_read_documentation(told))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    hints = resolve_hints(told)
    for at, parameter in enumerate(parameters):
        if parameter.name not in without and (at or parameter.name not in ("self", "cls")):
            hint = hints.get(parameter.name, Any)
            _declare_parameter(schema, parameter, hint, said.parameters.get(parameter.name))
    return Declaration(name, said.summary, _move_definitions_up(schema))


def _unwrap_partial(function: Any) -> Any:
    """Return the function inside a `functools.partial`, which has the name, hints and docstring."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _find_called(told: Any) -> Any:
    """Return the function that a call runs, for classes and for callable objects."""
    if isinstance(told, type):
        return told.__init__  # type: ignore[misc]  # its hints are read, it is not called
    return told if inspect.isroutine(told) else type(told).__call__


def _read_documentation(told: Any) -> str:
    if isinstance(told, type) or inspect.isroutine(told):
        text = inspect.getdoc(told) or ""
        generated = text.startswith(f"{getattr(told, '__name__', '')}(")  # a dataclass writes its signature
        return "" if generated else text
    return inspect.getdoc(type(told).__call__) or inspect.getdoc(type(told)) or ""


def resolve_hints(told: Any) -> dict[str, Any]:
    """Return the resolved type hints by name; hints that cannot be resolved are left out."""
    owner = _find_called(told)
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


def _declare_parameter(
    schema: dict[str, Any], parameter: inspect.Parameter, hint: Any, description: str | None
) -> None:
    if parameter.kind is parameter.VAR_KEYWORD:
        further = convert_hint(hint)
        schema["additionalProperties"] = further or True
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        return
    entry = convert_hint(hint)
    if description:
        entry.setdefault("description", description)
    default = to_json_value(parameter.default)
    if parameter.default is parameter.empty:
        schema["required"].append(parameter.name)
    elif is_json(default):
        entry["default"] = default
    schema["properties"][parameter.name] = entry


def _move_definitions_up(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the `$defs` of inner schemas at its top, where references point to them."""
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
