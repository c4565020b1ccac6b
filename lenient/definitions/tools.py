"""Tool definitions: the name and parameters of a tool, declared in Python or read from a provider's format.

A definition read from a JSON Schema keeps that schema. For a definition declared in Python, the schema is
made from the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lenient.definitions import declarations, exports, signatures
from lenient.definitions.declarations import Declaration, ToolDefinitionError
from lenient.definitions.parameters import ToolParameter, read_parameter


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool's name, description and parameters.

    `schema` is the JSON Schema of the whole arguments object, or None for a definition declared in Python.
    `compiled` is a cache, which comparisons ignore.
    """

    name: str
    description: str = ""
    parameters: tuple[ToolParameter, ...] = ()
    schema: Mapping[str, Any] | None = None
    compiled: Any = field(default=None, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the data from which pickle and copy rebuild the definition.

        `compiled` is left out because it contains generated code.
        """
        return ToolDefinition, (self.name, self.description, self.parameters, self.schema)

    @classmethod
    def from_json_schema(
        cls, *, name: str, schema: Mapping[str, Any], description: str = ""
    ) -> ToolDefinition:
        """Return the definition of a tool whose arguments have the JSON Schema `schema`.

        If `description` is empty, the schema's description is used. Raises ToolDefinitionError when `schema`
        is not an object.
        """
        if not isinstance(schema, Mapping):
            raise ToolDefinitionError(f"The JSON Schema of {name!r} is not an object.")
        return _define_tool(Declaration(name, description or str(schema.get("description") or ""), schema))

    @classmethod
    def from_anthropic(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """Read `{name, description, input_schema}`. Raises ToolDefinitionError for an unusable `tool`."""
        return _define_tool(declarations.read_declaration(tool))

    @classmethod
    def from_openai(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """Read a function tool of OpenAI's chat or Responses API.

        Raises ToolDefinitionError for an unusable `tool`.
        """
        return _define_tool(declarations.read_declaration(tool))

    @classmethod
    def from_mcp(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """Read `{name, description, inputSchema}`. Raises ToolDefinitionError for an unusable `tool`."""
        return _define_tool(declarations.read_declaration(tool))

    @classmethod
    def from_gemini(cls, tool: Mapping[str, Any]) -> ToolDefinition:
        """Read one function declaration of Gemini. Raises ToolDefinitionError for an unusable `tool`."""
        return _define_tool(declarations.read_declaration(tool))

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        without: Collection[str] = (),
    ) -> ToolDefinition:
        """Read a Python function or method: its signature, type hints, defaults and docstring.

        `name` and `description` replace those of the function. `without` contains the names of parameters
        that the definition leaves out, because the caller fills them in. Raises ToolDefinitionError for an
        object without a signature.
        """
        declared = signatures.read_function(function, without)
        return _define_tool(
            Declaration(name or declared.name, description or declared.description, declared.schema)
        )

    def to_json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments object."""
        if self.schema is not None:
            return dict(self.schema)
        written: dict[str, Any] = {
            "type": "object",
            "properties": {parameter.name: parameter.to_json_schema() for parameter in self.parameters},
        }
        if required := [parameter.name for parameter in self.parameters if parameter.required]:
            written["required"] = required
        return written

    def to_anthropic(self, *, defaults: bool = False) -> dict[str, Any]:
        """Write this definition in the format of the Anthropic Messages API.

        The output contains declared defaults only if `defaults` is True. `ToolCallRequest.with_defaults` of
        the complete definition can add defaults after the tool call.
        """
        return exports.to_anthropic(self.name, self.description, self._write_schema(defaults))

    def to_openai(self, *, strict: bool = False, defaults: bool = False) -> dict[str, Any]:
        """Write this definition in the format of OpenAI chat completions.

        `strict` closes every object, requires every field, makes the optional fields nullable and allows no
        defaults. ToolDefinitionError is raised when strict mode cannot express this definition. `defaults` is
        explained in `to_anthropic`.
        """
        return exports.to_openai(self.name, self.description, self._write_schema(defaults), strict=strict)

    def to_openai_responses(self, *, strict: bool = False, defaults: bool = False) -> dict[str, Any]:
        """Write this definition in the format of OpenAI's Responses API.

        The options are those of `to_openai`.
        """
        schema = self._write_schema(defaults)
        return exports.to_openai_responses(self.name, self.description, schema, strict=strict)

    def to_mcp(self, *, defaults: bool = False) -> dict[str, Any]:
        """Write this definition for the Model Context Protocol. `defaults` is explained in `to_anthropic`."""
        return exports.to_mcp(self.name, self.description, self._write_schema(defaults))

    def to_gemini(self, *, defaults: bool = False) -> dict[str, Any]:
        """Write this definition as a Gemini function declaration.

        `defaults` is explained in `to_anthropic`.
        """
        return exports.to_gemini(self.name, self.description, self._write_schema(defaults))

    def _write_schema(self, defaults: bool) -> dict[str, Any]:
        schema = self.to_json_schema()
        return schema if defaults else exports.write_for_models(schema)

    def to_markdown(self, *, defaults: bool = False) -> str:
        """Write this definition for prompts: a heading, the description and a table of parameters.

        `defaults` is explained in `to_anthropic`.
        """
        return exports.write_markdown(self.name, self.description, self._write_schema(defaults))


@dataclass(frozen=True, slots=True)
class ToolCatalog:
    """Tool definitions by name.

    If several definitions have the same name, only the last definition is kept, and `repeated` lists the
    name.
    """

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()

    def overlay(self, other: ToolCatalog) -> ToolCatalog:
        """Return a catalog with the definitions of both catalogs.

        If both catalogs contain a name, the definition in `other` is kept.
        """
        return ToolCatalog({**self.tools, **other.tools})

    @classmethod
    def from_definitions(cls, definitions: Iterable[ToolDefinition]) -> ToolCatalog:
        tools: dict[str, ToolDefinition] = {}
        repeated: dict[str, None] = {}
        for definition in definitions:
            if definition.name in tools:
                repeated[definition.name] = None
            tools[definition.name] = definition
        return cls(tools, tuple(repeated))

    @classmethod
    def load(cls, source: str | Path | Mapping[str, Any] | list[Any]) -> ToolCatalog:
        """Return the catalog in a file, in a JSON string, or in decoded declarations of any provider.

        A string that is empty or begins with `{` or `[` is JSON. Any other string is a file path. Raises
        ToolDefinitionError with a message of one sentence. For a file, the message contains the file name.
        """
        if not isinstance(source, (str, Path)):
            return cls.from_definitions(map(_define_tool, declarations.read_declarations(source)))
        if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", ""):
            value = declarations.decode_declarations(source.lstrip("\ufeff"))
            return cls.from_definitions(map(_define_tool, declarations.read_declarations(value, "tool")))
        return cls._load_file(Path(source))

    @classmethod
    def _load_file(cls, path: Path) -> ToolCatalog:
        try:
            value = declarations.decode_declarations(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
            return cls.from_definitions(map(_define_tool, declarations.read_declarations(value, path.stem)))
        except (OSError, ValueError) as error:
            reason = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
            raise ToolDefinitionError(f"{path}: {reason}") from None

    def get(self, name: str | None) -> ToolDefinition | None:
        """Return the definition of the tool `name`, or None when the catalog has no such tool."""
        return self.tools.get(name) if name is not None else None

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)


def _define_tool(declared: Declaration) -> ToolDefinition:
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
