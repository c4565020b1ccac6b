"""One parameter of a tool: its allowed values and their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final

from lenient.definitions.json_schema.json_values import to_json_value
from lenient.definitions.json_schema.value_kinds import (
    KINDS_BY_FORMAT,
    KINDS_BY_TYPE,
    ValueKind,
    type_names,
)


class Unset(Enum):
    """The type of UNSET.

    UNSET is an enum member, so it stays the same object after pickling.
    """

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


UNSET: Final = Unset.UNSET
"""Means that no default was declared. A declared default may be None."""


class Cardinality(StrEnum):
    """What a parameter takes: one value, one value or null, a list, or an object with fields of any name."""

    SINGLE = "single"
    OPTIONAL = "optional"
    LIST = "list"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class EnumConstraint:
    """The allowed values of a parameter.

    If `case_sensitive` is False, a string that differs from an allowed value only in case is changed to this
    value.
    """

    allowed: tuple[Any, ...]
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """One declared parameter of a tool.

    `schema` is the JSON Schema from which the parameter was read. If there is a `schema`, the other fields
    only summarise it.
    """

    name: str
    kind: ValueKind = ValueKind.STRING
    cardinality: Cardinality = Cardinality.SINGLE
    required: bool = True
    description: str = ""
    enum: EnumConstraint | None = None
    example: Any = None
    default: Any = UNSET
    schema: Mapping[str, Any] | None = None

    def to_json_schema(self) -> dict[str, Any]:
        """Return this parameter as JSON Schema, with `x-case-sensitive` as an extension."""
        return dict(self.schema) if self.schema is not None else _write_schema(self)


def read_parameter(name: str, schema: Any, required: bool) -> ToolParameter:
    """Return the parameter that one entry of a JSON Schema's `properties` declares."""
    details = schema if isinstance(schema, Mapping) else {}
    inner, cardinality = _find_cardinality(details)
    listed = inner.get("enum")
    constraint = (
        EnumConstraint(tuple(v for v in listed if v is not None), bool(inner.get("x-case-sensitive")))
        if isinstance(listed, list)
        else None
    )
    examples = details.get("examples")
    return ToolParameter(
        name=name,
        kind=_find_kind(inner),
        cardinality=cardinality,
        required=required,
        description=str(details.get("description") or ""),
        enum=constraint,
        example=examples[0] if isinstance(examples, list) and examples else details.get("example"),
        default=details.get("default", UNSET),
        schema=schema if isinstance(schema, Mapping) else {"not": {}} if schema is False else {},
    )


def _find_cardinality(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], Cardinality]:
    types = type_names(schema)
    items, extra = schema.get("items"), schema.get("additionalProperties")
    if types == ["array"] and isinstance(items, Mapping):
        return items, Cardinality.LIST
    if types == ["object"] and isinstance(extra, Mapping) and not schema.get("properties"):
        return extra, Cardinality.MAP
    if "null" in types or schema.get("nullable") is True:
        return schema, Cardinality.OPTIONAL
    return schema, Cardinality.SINGLE


def _find_kind(schema: Mapping[str, Any]) -> ValueKind:
    types = [name for name in type_names(schema) if name != "null"]
    kind = KINDS_BY_TYPE.get(types[0], ValueKind.STRING) if types else ValueKind.STRING
    if kind is not ValueKind.STRING:
        return kind
    if "enum" in schema:
        return ValueKind.ENUM_TOKEN
    return KINDS_BY_FORMAT.get(str(schema.get("format")), kind)


_WRITTEN: Mapping[ValueKind, Mapping[str, Any]] = {
    ValueKind.STRING: {"type": "string"},
    ValueKind.BOOLEAN: {"type": "boolean"},
    ValueKind.INTEGER: {"type": "integer"},
    ValueKind.NUMBER: {"type": "number"},
    ValueKind.JSON_OBJECT: {"type": "object"},
    ValueKind.JSON_ARRAY: {"type": "array"},
    ValueKind.TIMESTAMP: {"type": "string", "format": "date-time"},
    ValueKind.URI: {"type": "string", "format": "uri"},
    ValueKind.ENUM_TOKEN: {"type": "string"},
    ValueKind.ATTACHMENT_REFERENCE: {"type": "string", "format": "attachment-reference"},
}


def _write_schema(parameter: ToolParameter) -> dict[str, Any]:
    value: dict[str, Any] = dict(_WRITTEN[parameter.kind])
    if parameter.enum is not None:
        listed = map(to_json_value, parameter.enum.allowed)
        value["enum"] = [_convert_listed(allowed, parameter.kind) for allowed in listed]
        if parameter.cardinality is Cardinality.OPTIONAL:
            value["enum"].append(None)
        if parameter.enum.case_sensitive:
            value["x-case-sensitive"] = True
    if parameter.cardinality is Cardinality.LIST:
        value = {"type": "array", "items": value}
    elif parameter.cardinality is Cardinality.MAP:
        value = {"type": "object", "additionalProperties": value}
    elif parameter.cardinality is Cardinality.OPTIONAL:
        value["type"] = [value["type"], "null"]
    if parameter.description:
        value["description"] = parameter.description
    if parameter.default is not UNSET:
        value["default"] = to_json_value(parameter.default)
    if parameter.example is not None:
        value["examples"] = [to_json_value(parameter.example)]
    return value


def _convert_listed(value: Any, kind: ValueKind) -> Any:
    """Return an allowed value, converted to the kind of the parameter.

    An enum may list a number as a string.
    """
    if kind not in (ValueKind.INTEGER, ValueKind.NUMBER) or not isinstance(value, str):
        return value
    try:
        return int(value) if kind is ValueKind.INTEGER else float(value)
    except ValueError:
        return value
