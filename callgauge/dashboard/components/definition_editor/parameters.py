"""Reads the parameters of a tool definition for the form, and writes the edits into the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lenient import ToolParameter
from lenient.definitions.json_schema.value_kinds import type_names

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
MOST = 40
"""Maximum number of parameters in a form. Further parameters can only be edited as text."""
_UNIONS = ("anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class ParameterField:
    """One parameter as the form shows it.

    `types` holds names of TYPES; empty means any type. `allowed` holds the values of the parameter's enum as
    JSON, separated by commas; empty means any value.
    """

    name: str = ""
    types: tuple[str, ...] = ()
    required: bool = False
    allowed: str = ""


def list_types(schema: Any) -> tuple[str, ...]:
    """Return the names of the JSON types that a schema allows, including the types of a union."""
    if not isinstance(schema, Mapping):
        return ()
    types = type_names(schema)
    for union in _UNIONS:
        branches = schema.get(union)
        for branch in branches if isinstance(branches, list) else ():
            types += list_types(branch)
    if schema.get("nullable") is True and types:
        types.append("null")
    return tuple(dict.fromkeys(types))


def describe_parameter(parameter: ToolParameter) -> str:
    """Return in words the types of a parameter and whether the parameter is required, such as “integer or
    null, required”.
    """
    names = list_types(parameter.schema) if parameter.schema is not None else (parameter.kind.value,)
    return f"{' or '.join(names) or 'any type'}{', required' if parameter.required else ''}"


def list_parameters(schema: Mapping[str, Any]) -> list[ParameterField]:
    """Return the first MOST parameters of an object's schema."""
    properties, required = schema_properties(schema), required_names(schema)
    return [
        ParameterField(
            name,
            tuple(kind for kind in list_types(inner) if kind in TYPES),
            name in required,
            _write_values(inner.get("enum") if isinstance(inner, Mapping) else None),
        )
        for name, inner in [*properties.items()][:MOST]
    ]


def write_parameters(
    schema: Mapping[str, Any], before: Sequence[ParameterField], after: Sequence[ParameterField | None]
) -> dict[str, Any]:
    """Return the schema with edited parameters. What the form does not show stays unchanged.

    `after` has one entry for each parameter in `before`, and then the new parameters. An entry None removes
    the parameter. New parameters without a name are ignored.
    """
    edited = {old.name: (old, new) for old, new in zip(before, after, strict=False)}
    properties: dict[str, Any] = {}
    for name, inner in schema_properties(schema).items():
        old, new = edited.get(name, (None, None))
        if old is None:
            properties[name] = inner
        elif new is not None:
            properties[new.name or name] = _write_parameter(inner, old, new)
    added = [new for new in after[len(before) :] if new is not None and new.name]
    for new in added:
        properties[new.name] = _write_parameter({}, ParameterField(), new)
    renamed = {old.name: new.name or old.name for old, new in edited.values() if new is not None}
    wanted = [renamed[old.name] for old, new in edited.values() if new is not None and new.required]
    wanted += [new.name for new in added if new.required]
    required = [
        renamed.get(name, name)
        for name in required_names(schema)
        if name not in edited or renamed.get(name) in wanted
    ]
    required += [name for name in wanted if name not in required]
    result = {**schema, "properties": properties, "required": required}
    if not required and "required" not in schema:
        del result["required"]
    return result


def schema_properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a JSON schema declares, as a mapping from name to schema."""
    properties = schema.get("properties")
    return dict(properties) if isinstance(properties, Mapping) else {}


def required_names(schema: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that a JSON schema requires."""
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _write_parameter(inner: Any, old: ParameterField, new: ParameterField) -> Any:
    result = dict(inner) if isinstance(inner, Mapping) else {}
    if set(new.types) != set(old.types):
        _write_types(result, new.types)
    if new.allowed != old.allowed:
        result.pop("enum", None)
        if values := parse_values(new.allowed):
            result["enum"] = values
    return result if isinstance(inner, Mapping) or result else inner


def _write_types(schema: dict[str, Any], types: Sequence[str]) -> None:
    schema.pop("nullable", None)
    union = next((name for name in _UNIONS if isinstance(schema.get(name), list)), None)
    if union and types:
        branches = [
            branch
            for branch in schema[union]
            if not list_types(branch) or set(list_types(branch)) & set(types)
        ]
        covered = {name for branch in branches for name in list_types(branch)}
        schema[union] = branches + [{"type": name} for name in types if name not in covered]
        return
    for name in ("type", *_UNIONS):
        schema.pop(name, None)
    if types:
        schema["type"] = types[0] if len(types) == 1 else list(types)


def _write_values(values: Any) -> str:
    if not isinstance(values, list):
        return ""
    return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)


def parse_values(text: str) -> list[Any]:
    """Return the values in a comma-separated list such as `"guide", 3`.

    A list that is not JSON is split at the commas.
    """
    try:
        values: list[Any] = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        values = [part for piece in text.split(",") if (part := piece.strip().strip('"'))]
    return values
