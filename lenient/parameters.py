"""One parameter of a tool: what it takes, and the JSON Schema it was read from or is written as.

Knows nothing of tools and of how arguments are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final


class Unset(Enum):
    """What stands for no default, since None is a default like any other; one object in every process."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


UNSET: Final = Unset.UNSET
"""No default was declared."""


class ValueKind(StrEnum):
    """What one value of a parameter is."""

    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    JSON_OBJECT = "json_object"
    JSON_ARRAY = "json_array"
    TIMESTAMP = "timestamp"
    URI = "uri"
    ENUM_TOKEN = "enum_token"  # noqa: S105  a kind of value, not a password
    ATTACHMENT_REFERENCE = "attachment_reference"


class Cardinality(StrEnum):
    """How many values: one, one or null, a list of them, or an object whose values they are."""

    SINGLE = "single"
    OPTIONAL = "optional"
    LIST = "list"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class EnumConstraint:
    """The values that may stand; unless `case_sensitive`, another case takes the listed spelling."""

    allowed: tuple[Any, ...]
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """One declared parameter. `schema` is the JSON Schema it was read from, which then decides the
    details.
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
        """This parameter as a JSON Schema; `x-case-sensitive` carries what JSON Schema cannot say."""
        return dict(self.schema) if self.schema is not None else _written_schema(self)


def read_parameter(name: str, schema: Any, required: bool) -> ToolParameter:
    details = schema if isinstance(schema, Mapping) else {}
    inner, cardinality = _cardinality(details)
    listed = inner.get("enum")
    constraint = (
        EnumConstraint(tuple(v for v in listed if v is not None), bool(inner.get("x-case-sensitive")))
        if isinstance(listed, list)
        else None
    )
    examples = details.get("examples")
    return ToolParameter(
        name=name,
        kind=_kind(inner),
        cardinality=cardinality,
        required=required,
        description=str(details.get("description") or ""),
        enum=constraint,
        example=examples[0] if isinstance(examples, list) and examples else details.get("example"),
        default=details.get("default", UNSET),
        schema=schema if isinstance(schema, Mapping) else {"not": {}} if schema is False else {},
    )


def _cardinality(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], Cardinality]:
    """The schema of one value, and how many of it there are."""
    types = type_names(schema)
    items, extra = schema.get("items"), schema.get("additionalProperties")
    if types == ["array"] and isinstance(items, Mapping):
        return items, Cardinality.LIST
    if types == ["object"] and isinstance(extra, Mapping) and not schema.get("properties"):
        return extra, Cardinality.MAP
    if "null" in types or schema.get("nullable") is True:
        return schema, Cardinality.OPTIONAL
    return schema, Cardinality.SINGLE


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """The names under `type`, in lower case (Gemini writes `STRING`) and in the words of JSON Schema.

    `any` is no name: it allows what a schema without a type allows.
    """
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    lowered = (name.lower() for name in names if isinstance(name, str))
    return [TYPE_NAMES.get(name, name) for name in lowered if name not in _ANY]


KINDS_BY_TYPE: Mapping[str, ValueKind] = {
    "string": ValueKind.STRING, "boolean": ValueKind.BOOLEAN, "integer": ValueKind.INTEGER,
    "number": ValueKind.NUMBER, "object": ValueKind.JSON_OBJECT, "array": ValueKind.JSON_ARRAY,
}  # fmt: skip
TYPE_NAMES: Mapping[str, str] = {
    "str": "string", "bool": "boolean", "int": "integer", "float": "number", "double": "number",
    "dict": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Names from programming languages that people write for those of JSON Schema."""
_ANY = frozenset({"any", "type_unspecified"})
KINDS_BY_FORMAT: Mapping[str, ValueKind] = {
    "date-time": ValueKind.TIMESTAMP,
    "uri": ValueKind.URI,
    "url": ValueKind.URI,
    "attachment-reference": ValueKind.ATTACHMENT_REFERENCE,
}


def _kind(schema: Mapping[str, Any]) -> ValueKind:
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


def _written_schema(parameter: ToolParameter) -> dict[str, Any]:
    value: dict[str, Any] = dict(_WRITTEN[parameter.kind])
    if parameter.enum is not None:
        value["enum"] = [_listed(allowed, parameter.kind) for allowed in parameter.enum.allowed]
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
        value["default"] = parameter.default
    if parameter.example is not None:
        value["examples"] = [parameter.example]
    return value


def _listed(value: Any, kind: ValueKind) -> Any:
    """A listed value in the kind of its parameter: a number may be listed as text."""
    if kind not in (ValueKind.INTEGER, ValueKind.NUMBER) or not isinstance(value, str):
        return value
    try:
        return int(value) if kind is ValueKind.INTEGER else float(value)
    except ValueError:
        return value
