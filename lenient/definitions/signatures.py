"""Reads tool definitions from Python functions, methods and classes: signature, type hints and docstring.

A parameter without a default is required. `self`, `cls` and `*args` are not parameters of a tool; `**kwargs`
allows further parameters of any name. A class with the method `model_json_schema` (such as a pydantic model)
provides its own schema. Docstrings may be in Google, NumPy or Sphinx style.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types
import typing
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
    Set,
)
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from lenient.definitions.declarations import Declaration, ToolDefinitionError
from lenient.definitions.json_schema.json_values import to_json_value
from lenient.regex import compile_regex


def read_function(function: Callable[..., Any], without: Collection[str] = ()) -> Declaration:
    """Return the declaration of a callable. Leave out the parameters whose names are in `without`.

    Type hints that cannot be resolved are ignored. Raises ToolDefinitionError for an object that cannot be
    called or has no signature.
    """
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    target = _unwrap_partial(function)
    name = str(getattr(target, "__name__", type(target).__name__))
    own = _ask_own_schema(target) if isinstance(target, type) else None
    if own is not None:
        return Declaration(name, str(own.get("description") or ""), own)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ToolDefinitionError(f"{name!r} has no signature to read a definition from.") from None
    docstring = _read_docstring(_read_documentation(target))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    hints = resolve_hints(target)
    for at, parameter in enumerate(parameters):
        if parameter.name not in without and (at or parameter.name not in ("self", "cls")):
            hint = hints.get(parameter.name, Any)
            _declare_parameter(schema, parameter, hint, docstring.parameters.get(parameter.name))
    return Declaration(name, docstring.summary, _move_definitions_up(schema))


def _unwrap_partial(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _find_called(target: Any) -> Any:
    if isinstance(target, type):
        return target.__init__  # type: ignore[misc]  # only its hints are read; it is not called
    return target if inspect.isroutine(target) else type(target).__call__


def _read_documentation(target: Any) -> str:
    if isinstance(target, type) or inspect.isroutine(target):
        text = inspect.getdoc(target) or ""
        # the generated docstring of a dataclass is only its signature
        generated = text.startswith(f"{getattr(target, '__name__', '')}(")
        return "" if generated else text
    return inspect.getdoc(type(target).__call__) or inspect.getdoc(type(target)) or ""


def resolve_hints(target: Any) -> dict[str, Any]:
    """Return a dict from names to resolved type hints. Hints that cannot be resolved are left out."""
    owner = _find_called(target)
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        hints: dict[str, Any] = {}
        for name, hint in getattr(owner, "__annotations__", {}).items():
            alone = types.SimpleNamespace(__annotations__={name: hint})
            try:
                spaces = getattr(owner, "__globals__", {})
                hints |= typing.get_type_hints(alone, spaces, include_extras=True)
            except (NameError, TypeError, AttributeError, SyntaxError):
                continue
        return hints


def _declare_parameter(
    schema: dict[str, Any], parameter: inspect.Parameter, hint: Any, description: str | None
) -> None:
    if parameter.kind is parameter.VAR_KEYWORD:
        further = _convert_hint(hint)
        schema["additionalProperties"] = further or True
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        return
    entry = _convert_hint(hint)
    if description:
        entry.setdefault("description", description)
    default = to_json_value(parameter.default)
    if parameter.default is parameter.empty:
        schema["required"].append(parameter.name)
    elif is_json(default):
        entry["default"] = default
    schema["properties"][parameter.name] = entry


def _move_definitions_up(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the `$defs` of inner schemas at the top, because references point there."""
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


# --- docstrings ----------------------------------------------------------------------------------------

_SECTION = compile_regex(
    r"(?:args|arguments|parameters|params|keyword args|keyword arguments|other parameters)"
)
_OTHER_SECTION = compile_regex(
    r"(?:returns?|yields?|raises?|examples?|notes?|warnings?|warns|see also|attributes|references|todo)"
)
_RULE = compile_regex(r"[ \t]*(-{3,}|={3,})[ \t]*")
_GOOGLE = compile_regex(r"\*{0,2}(\w+)[ \t]*(?:\([^\n]*?\))?[ \t]*:(?:[ \t]+(.*))?")
_NUMPY = compile_regex(r"\*{0,2}(\w+(?:[ \t]*,[ \t]*\*{0,2}\w+)*)[ \t]*(?::.*)?")
_SPHINX = compile_regex(
    r":(?:param|parameter|arg|argument|key|keyword)(?:[ \t][^:\n]*?)?[ \t]\*{0,2}(\w+)[ \t]*:[ \t]*(.*)"
)
_FIELD = compile_regex(r":[a-z]+[^:\n]*:")


@dataclass(slots=True)
class _Docstring:
    """The sections of a docstring.

    `summary` stands above the first section or field. `parameters` maps parameter names to descriptions.
    """

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def _read_docstring(text: str) -> _Docstring:
    lines = text.splitlines()
    result = _Docstring()
    first = len(lines)
    for start, title, body in _find_sections(lines):
        first = min(first, start)
        if _SECTION.fullmatch(title):
            underlined = start + 1 < len(lines) and _RULE.fullmatch(lines[start + 1]) is not None
            result.parameters |= _read_entries(body, _NUMPY if underlined else _GOOGLE)
    fields = [at for at, line in enumerate(lines) if _FIELD.match(line)]
    if fields:
        first = min(first, fields[0])
        result.parameters |= _read_sphinx_fields(lines[fields[0] :])
    result.summary = _join_lines(lines[:first], paragraphs=True)
    return result


def _find_sections(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each section of a docstring: its line number, its title in lower case, and its lines."""
    starts = [at for at in range(len(lines)) if _read_title(lines, at)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        title = _read_title(lines, start) or ""
        body = lines[start + 1 : end]
        if body and _RULE.fullmatch(body[0]):
            body = body[1:]
        yield start, title, body


def _read_title(lines: list[str], at: int) -> str | None:
    """Return the section title on the line `at` in lower case, or None when the line is not a title.

    A title is `Args:`, or `Parameters` above a line of dashes.
    """
    line = lines[at]
    title = line.strip().rstrip(":").lower()
    if line[:1].isspace() or not (_SECTION.fullmatch(title) or _OTHER_SECTION.fullmatch(title)):
        return None
    ruled = at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1])
    return title if ruled or line.rstrip().endswith(":") else None


def _read_entries(body: list[str], head: re.Pattern[str]) -> dict[str, str]:
    """Return a dict from the names in a section to the descriptions.

    Names have the smallest indentation. A description is on the line of the name or on indented lines below.
    """
    indents = [len(line) - len(line.lstrip()) for line in body if line.strip()]
    least = min(indents, default=0)
    entries: dict[str, list[str]] = {}
    names: list[str] = []
    for line in body:
        outermost = bool(line.strip()) and len(line) - len(line.lstrip()) == least
        entry = head.fullmatch(line.strip()) if outermost else None
        if entry:
            names = [name.strip(" \t*") for name in entry.group(1).split(",")]
            beside = entry.group(2) if head is _GOOGLE else None
            entries.update((name, [beside or ""]) for name in names)
        else:
            for name in names:
                entries[name].append(line)
    return {name: _join_lines(lines) for name, lines in entries.items() if _join_lines(lines)}


def _read_sphinx_fields(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    name = None
    for line in lines:
        field = _SPHINX.fullmatch(line.strip())
        if field:
            name = field.group(1)
            entries[name] = [field.group(2)]
        elif _FIELD.match(line.strip()):
            name = None
        elif name is not None:
            entries[name].append(line)
    return {name: _join_lines(texts) for name, texts in entries.items() if _join_lines(texts)}


def _join_lines(lines: list[str], *, paragraphs: bool = False) -> str:
    """Join lines to one string.

    If `paragraphs` is True, blank lines separate paragraphs. Otherwise blank lines are removed.
    """
    text = "\n".join(line.strip() for line in lines).strip()
    parts = re.split(r"\n{2,}", text)
    return ("\n\n" if paragraphs else " ").join(" ".join(part.split()) for part in parts)


# --- type hints ----------------------------------------------------------------------------------------

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


def _convert_hint(hint: Any, above: tuple[type, ...] = ()) -> dict[str, Any]:
    """Return the JSON Schema of a type hint, or `{}` (any value) when the hint has no schema.

    `above` are the classes that contain the hint. A class that contains itself becomes an object with any
    fields.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _convert_hint(arguments[0], above) | _read_annotation(arguments[1:])
    if origin in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
        return _convert_hint(arguments[0], above)
    if origin is typing.Literal:
        return _enum_schema(list(arguments))
    if origin in (typing.Union, types.UnionType):
        return _union_schema([_convert_hint(argument, above) for argument in arguments])
    if isinstance(hint, typing.NewType):
        return _convert_hint(hint.__supertype__, above)
    if isinstance(hint, typing.TypeVar):
        return _convert_hint(hint.__bound__, above) if hint.__bound__ is not None else {}
    return _container_schema(origin or hint, arguments, above) or _class_schema(hint, above)


def _read_annotation(extras: tuple[Any, ...]) -> dict[str, Any]:
    """Return a schema with the description from the metadata of `Annotated`, or `{}` when there is no
    description.

    The description is a string, or the attribute `description` or `documentation` of a metadata object.
    """
    for extra in extras:
        text = extra if isinstance(extra, str) else getattr(extra, "description", None)
        text = text if text is not None else getattr(extra, "documentation", None)
        if isinstance(text, str) and text:
            return {"description": text}
    return {}


def _enum_schema(values: list[Any]) -> dict[str, Any]:
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
        prefix = [_convert_hint(argument, above) for argument in arguments]
        return {"type": "array", "prefixItems": prefix, "minItems": length, "maxItems": length}
    if kind is tuple:
        return {"type": "array", **_items_keyword(arguments, above)}
    if kind in _MAPPINGS:
        inner = _convert_hint(arguments[1], above) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
    return None


def _items_keyword(arguments: tuple[Any, ...], above: tuple[type, ...]) -> dict[str, Any]:
    inner = _convert_hint(arguments[0], above) if arguments else {}
    return {"items": inner} if inner else {}


def _class_schema(hint: Any, above: tuple[type, ...]) -> dict[str, Any]:
    if not isinstance(hint, type):
        return {}
    own = _ask_own_schema(hint)
    if own is not None:
        return own
    if issubclass(hint, Enum):
        return _enum_schema([member.value for member in hint])
    if issubclass(hint, PurePath):
        return {"type": "string"}
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint) or hasattr(hint, "_fields"):
        return _record_schema(hint, above)
    for base in (hint, *hint.__mro__):
        if base in _SCALARS:
            return dict(_SCALARS[base])
    return {}


def _ask_own_schema(hint: Any) -> dict[str, Any] | None:
    """Return the schema that a class's method `model_json_schema` returns, as in pydantic.

    Return None when the class has no such method, or when the method fails.
    """
    ask = getattr(hint, "model_json_schema", None)
    try:
        schema = ask() if callable(ask) else None
    except Exception:
        return None
    return dict(schema) if isinstance(schema, Mapping) else None


def _record_schema(hint: type, above: tuple[type, ...]) -> dict[str, Any]:
    if hint in above:
        return {"type": "object"}
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except (NameError, TypeError):
        return {"type": "object"}
    defaults = _collect_defaults(hint)
    properties: dict[str, Any] = {}
    for name, inner in hints.items():
        properties[name] = _convert_hint(inner, (*above, hint))
        if name in defaults and is_json(to_json_value(defaults[name])):
            properties[name]["default"] = to_json_value(defaults[name])
    required = [name for name in hints if name not in defaults and _is_required(hint, hints[name])]
    return {"type": "object", "properties": properties, "required": required}


def _is_required(record: type, hint: Any) -> bool:
    """Return True when a field without a default is required.

    A TypedDict declares this for each field (`Required`, `NotRequired`) or for all fields (`total`).
    """
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return bool(getattr(record, "__total__", True))


def _collect_defaults(hint: type) -> Mapping[str, Any]:
    """Return a dict from the field names of a record class to the defaults.

    A default factory that makes an empty container is called. For any other factory the default is `...`.
    """
    if not dataclasses.is_dataclass(hint):
        return getattr(hint, "_field_defaults", {})
    result: dict[str, Any] = {}
    for record_field in dataclasses.fields(hint):
        if record_field.default is not dataclasses.MISSING:
            result[record_field.name] = record_field.default
        elif record_field.default_factory is not dataclasses.MISSING:
            result[record_field.name] = (
                record_field.default_factory()
                if record_field.default_factory in (list, dict, tuple, set)
                else ...
            )
    return result


def is_json(value: Any) -> bool:
    """Return True when JSON can represent the value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_json(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_json, value))
    return value is None or isinstance(value, (str, bool, int, float))
