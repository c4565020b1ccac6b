"""Tool definitions: what a tool is called and which parameters it takes, declared by hand or read from any
shape.

A definition made from a JSON Schema keeps that schema; one declared by hand writes its own. Knows nothing
of how arguments are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lenient import exports, markdown, schemas, signatures
from lenient.parameters import ToolParameter, read_parameter
from lenient.schemas import Declared, ToolDefinitionError


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

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle` and `copy`: what the definition says; its checks, which are code, are made anew."""
        return ToolDefinition, (self.name, self.description, self.parameters, self.schema)

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
        return exports.to_anthropic(self.name, self.description, self.to_json_schema())

    def to_openai(self, *, strict: bool = False) -> dict[str, Any]:
        """This definition in the shape of OpenAI chat completions.

        `strict` closes every object, requires every field and makes the optional ones nullable; raises
        ToolDefinitionError when strict mode cannot say all that this definition says.
        """
        return exports.to_openai(self.name, self.description, self.to_json_schema(), strict=strict)

    def to_openai_responses(self, *, strict: bool = False) -> dict[str, Any]:
        """This definition in the shape of OpenAI's Responses API; `strict` as for `to_openai`."""
        return exports.to_openai_responses(self.name, self.description, self.to_json_schema(), strict=strict)

    def to_mcp(self) -> dict[str, Any]:
        """This definition in the shape of the Model Context Protocol."""
        return exports.to_mcp(self.name, self.description, self.to_json_schema())

    def to_gemini(self) -> dict[str, Any]:
        """This definition as a Gemini function declaration."""
        return exports.to_gemini(self.name, self.description, self.to_json_schema())

    def to_markdown(self) -> str:
        """This definition for people and prompts: a heading, a sentence, a table of its parameters."""
        return markdown.written(self.name, self.description, self.to_json_schema())


@dataclass(frozen=True, slots=True)
class ToolCatalog:
    """Tool definitions by name; of two with one name the later counts, and `repeated` keeps the name."""

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()

    def overlaid(self, other: ToolCatalog) -> ToolCatalog:
        """Both catalogs; of two definitions with one name, the other's counts."""
        return ToolCatalog({**self.tools, **other.tools})

    @classmethod
    def of(cls, definitions: Iterable[ToolDefinition]) -> ToolCatalog:
        tools: dict[str, ToolDefinition] = {}
        repeated: dict[str, None] = {}
        for definition in definitions:
            if definition.name in tools:
                repeated[definition.name] = None
            tools[definition.name] = definition
        return cls(tools, tuple(repeated))

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
        read_parameter(str(name), entry, str(name) in wanted)
        for name, entry in (properties.items() if isinstance(properties, Mapping) else ())
    )
    return ToolDefinition(declared.name, declared.description, parameters, schema)
