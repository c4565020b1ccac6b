"""Tool definitions: what a tool is called and which parameters it takes, declared by hand or read from any
shape.

A definition made from a JSON Schema keeps that schema; one declared by hand writes its own. Knows nothing
of how arguments are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from lenient import schemas, signatures
from lenient.schemas import Declared, ToolDefinitionError

UNSET: Final = object()
"""No default was declared; None is a default like any other."""


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


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool's name, description and parameters.

    `schema` is the JSON Schema of the whole arguments object, where there is one. `compiled` is filled on
    first use by `lenient.compiled`; it is no part of what the definition says.
    """

    name: str
    description: str = ""
    parameters: tuple[ToolParameter, ...] = ()
    schema: Mapping[str, Any] | None = None
    compiled: Any = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def from_json_schema(
        cls, *, name: str, schema: Mapping[str, Any], description: str = ""
    ) -> ToolDefinition:
        """From the JSON Schema of the arguments. Raises ToolDefinitionError when it is not an object."""
        if not isinstance(schema, Mapping):
            raise ToolDefinitionError(f"The JSON Schema of {name!r} is not an object.")
        return _defined(Declared(name, description or str(schema.get("description") or ""), schema))

    @classmethod
    def from_anthropic(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """From `{name, description, input_schema}`. Raises ToolDefinitionError."""
        return _defined(schemas.declaration(tool))

    @classmethod
    def from_openai(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """From a chat or a Responses function tool, strict or not. Raises ToolDefinitionError."""
        return _defined(schemas.declaration(tool))

    @classmethod
    def from_mcp(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """From `{name, description, inputSchema}`. Raises ToolDefinitionError."""
        return _defined(schemas.declaration(tool))

    @classmethod
    def from_gemini(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """From one function declaration. Raises ToolDefinitionError."""
        return _defined(schemas.declaration(tool))

    @classmethod
    def from_function(cls, function: Callable[..., Any]) -> ToolDefinition:
        """From a Python function or method: signature, type hints, defaults and docstring."""
        return _defined(signatures.declared(function))

    def to_json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments object."""
        if self.schema is not None:
            return dict(self.schema)
        written: dict[str, Any] = {
            "type": "object",
            "properties": {parameter.name: parameter.to_json_schema() for parameter in self.parameters},
        }
        if required := [parameter.name for parameter in self.parameters if parameter.required]:
            written["required"] = required
        return written

    def to_anthropic(self) -> dict[str, Any]:
        """This definition in the shape of the Anthropic Messages API."""
        return schemas.to_anthropic(self.name, self.description, self.to_json_schema())

    def to_openai(self) -> dict[str, Any]:
        """This definition in the shape of OpenAI chat completions."""
        return schemas.to_openai(self.name, self.description, self.to_json_schema())

    def to_mcp(self) -> dict[str, Any]:
        """This definition in the shape of the Model Context Protocol."""
        return schemas.to_mcp(self.name, self.description, self.to_json_schema())


@dataclass(frozen=True, slots=True)
class ToolCatalog:
    """Tool definitions by name; of two with one name the later counts."""

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)

    def overlaid(self, other: ToolCatalog) -> ToolCatalog:
        """Both catalogs; of two definitions with one name, the other's counts."""
        return ToolCatalog({**self.tools, **other.tools})

    @classmethod
    def of(cls, definitions: Iterable[ToolDefinition]) -> ToolCatalog:
        return cls({definition.name: definition for definition in definitions})

    @classmethod
    def load(cls, source: str | Path | Mapping[str, Any] | list[Any]) -> ToolCatalog:
        """From a file, the text of one, or decoded declarations, in any shape that `lenient.schemas` reads.

        Raises ToolDefinitionError with one sentence that names the file.
        """
        if not isinstance(source, (str, Path)):
            return cls.of(map(_defined, schemas.declarations(source)))
        if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", ""):
            value = schemas.decode(source.lstrip("\ufeff"))
            return cls.of(map(_defined, schemas.declarations(value, "tool")))
        return cls._load_file(Path(source))

    @classmethod
    def _load_file(cls, path: Path) -> ToolCatalog:
        try:
            value = schemas.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
            return cls.of(map(_defined, schemas.declarations(value, path.stem)))
        except (OSError, ValueError) as error:
            reason = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
            raise ToolDefinitionError(f"{path}: {reason}") from None

    def get(self, name: str | None) -> ToolDefinition | None:
        """The definition of that name, or None."""
        return self.tools.get(name) if name is not None else None

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)


def _defined(declared: Declared) -> ToolDefinition:
    schema = declared.schema
    if schema is None:
        return ToolDefinition(declared.name, declared.description, (), {})
    properties, required = schema.get("properties"), schema.get("required")
    wanted = (
        set(required) if isinstance(required, list) and all(isinstance(n, str) for n in required) else set()
    )
    parameters = tuple(
        _read_parameter(str(name), entry, str(name) in wanted)
        for name, entry in (properties.items() if isinstance(properties, Mapping) else ())
    )
    return ToolDefinition(declared.name, declared.description, parameters, schema)


def _read_parameter(name: str, schema: Any, required: bool) -> ToolParameter:
    details = schema if isinstance(schema, Mapping) else {}
    inner, cardinality = _cardinality(details)
    listed = inner.get("enum")
    constraint = (
        EnumConstraint(tuple(listed), bool(inner.get("x-case-sensitive")))
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
    """The names under `type`, in lower case (Gemini writes `STRING`)."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    return [name.lower() for name in names if isinstance(name, str)]


_KINDS_BY_TYPE = {
    "string": ValueKind.STRING, "boolean": ValueKind.BOOLEAN, "integer": ValueKind.INTEGER,
    "number": ValueKind.NUMBER, "object": ValueKind.JSON_OBJECT, "array": ValueKind.JSON_ARRAY,
}  # fmt: skip
KINDS_BY_FORMAT: Mapping[str, ValueKind] = {
    "date-time": ValueKind.TIMESTAMP,
    "uri": ValueKind.URI,
    "url": ValueKind.URI,
    "attachment-reference": ValueKind.ATTACHMENT_REFERENCE,
}


def _kind(schema: Mapping[str, Any]) -> ValueKind:
    types = [name for name in type_names(schema) if name != "null"]
    kind = _KINDS_BY_TYPE.get(types[0], ValueKind.STRING) if types else ValueKind.STRING
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
        value["enum"] = list(parameter.enum.allowed)
        if parameter.enum.case_sensitive:
            value["x-case-sensitive"] = True
    if parameter.cardinality is Cardinality.LIST:
        value = {"type": "array", "items": value}
    elif parameter.cardinality is Cardinality.MAP:
        value = {"type": "object", "additionalProperties": value}
    elif parameter.cardinality is Cardinality.OPTIONAL:
        value["type"] = [value["type"], "null"]
    extras = {"description": parameter.description or None, "default": parameter.default}
    value |= {key: extra for key, extra in extras.items() if extra is not None and extra is not UNSET}
    if parameter.example is not None:
        value["examples"] = [parameter.example]
    return value
