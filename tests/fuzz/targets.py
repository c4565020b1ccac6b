"""Contains the fuzz targets: one per entry point of the parser, and one for the APIs of the gateway.

Each target makes an input from bytes, executes the code, and checks all rules. A broken rule raises
AssertionError. The exceptions have a note that contains the input.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lenient import ToolCatalog, ToolDefinition, ToolDefinitionError, parse_arguments
from tests.fuzz.choices import Choices
from tests.fuzz.definitions import CATALOG, CHOICES, SCHEMAS
from tests.fuzz.promises import check_again, check_alike, read, read_calls
from tests.fuzz.replies import replies
from tests.fuzz.texts import json_object, json_value, raw_arguments, text_with_calls

Target = Callable[[bytes], None]


def arguments(data: bytes) -> None:
    """Parse raw arguments (a string or bytes) with one of the fixed definitions, or without a definition."""
    choices = Choices(data)
    tool = choices.one_of(CHOICES)
    raw = raw_arguments(choices)
    try:
        request = read(raw, tool)
        check_alike(request, parse_arguments(raw, tool))
        check_again(request, tool)
    except Exception as error:
        error.add_note(f"tool: {tool.name if tool else None}\nraw: {raw[:2000]!r}")
        raise


def calls(data: bytes) -> None:
    """Search a model's reply for tool calls, with or without a list of offered tools."""
    choices = Choices(data)
    catalog = choices.one_of((None, CATALOG))
    text = text_with_calls(choices)
    try:
        read_calls(text, catalog)
    except Exception as error:
        error.add_note(f"catalogue: {catalog is not None}\ntext: {text[:2000]!r}")
        raise


def definitions(data: bytes) -> None:
    """Read any JSON as a tool declaration. If it is valid, use the tools, and write the declaration again."""
    choices = Choices(data)
    declared = _declaration(choices)
    raw = json.dumps(json_object(choices))
    try:
        for tool in _loaded(declared):
            _use(tool, raw)
    except Exception as error:
        error.add_note(f"declared: {json.dumps(declared)[:2000]}\nraw: {raw!r}")
        raise


def _loaded(declared: Any) -> Iterable[ToolDefinition]:
    """Return the tools of a declaration. Return no tools if the declaration is rejected with a message."""
    try:
        return ToolCatalog.load(declared)
    except ToolDefinitionError as refused:
        if not str(refused):
            raise
        return ()


def _use(tool: ToolDefinition, raw: str) -> None:
    check_alike(parse_arguments(raw, tool), parse_arguments(raw, tool))
    for write, read_back in (
        (tool.to_anthropic, ToolDefinition.from_anthropic),
        (tool.to_openai, ToolDefinition.from_openai),
        (tool.to_mcp, ToolDefinition.from_mcp),
    ):
        again = read_back(write(defaults=True))
        assert again.to_json_schema() == tool.to_json_schema(), f"a round trip: {write.__name__}"
        assert (again.name, again.description) == (tool.name, tool.description), "a round trip: the name"


_KEYWORDS = (
    "type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref",
    "$defs", "not", "additionalProperties", "minimum", "maximum", "minLength", "pattern", "format",
    "nullable", "default", "name", "description", "parameters", "input_schema", "inputSchema",
    "function", "tools", "functionDeclarations", "title", "schema", "json", "toolSpec",
    "prefixItems", "uniqueItems", "multipleOf", "examples", "strict", "definitions",
    "patternProperties", "minItems", "exclusiveMaximum", "dependentRequired", "contains", "custom",
)  # fmt: skip
_WORDS: tuple[Any, ...] = (
    "object", "string", "integer", "number", "boolean", "array", "null", "STRING", "function",
    "date-time", "uri", "#/$defs/a", "#", "#/properties/a", "^[a-z]+$", "(a+)+$", "a", "b", True,
    False, None, 0, 1, -1, 1.5, 10**30,
)  # fmt: skip


def _declaration(choices: Choices) -> Any:
    """Return any JSON value, a declaration made of typical keywords, or a valid schema with one replaced
    value.
    """
    kind = choices.below(4)
    if kind == 0:
        return json_value(choices)
    if kind == 1:
        return {"name": "tool", "input_schema": _words(choices, 0)}
    if kind == 2:
        return _words(choices, 0)
    schema = json.loads(json.dumps(SCHEMAS[choices.one_of(tuple(SCHEMAS))]))
    part = schema
    for _ in range(choices.below(6)):
        inner = [value for value in part.values() if isinstance(value, dict) and value]
        part = choices.one_of(inner) if inner else part
    part[choices.one_of(_KEYWORDS)] = _words(choices, 2)
    return {"name": "tool", "parameters": schema}


def _words(choices: Choices, depth: int) -> Any:
    kind = choices.below(4) if depth < 6 else 3
    if kind == 0 or (depth == 0 and kind < 3):
        return {
            choices.one_of((*_KEYWORDS, "a", "b")): _words(choices, depth + 1)
            for _ in range(choices.below(5))
        }
    if kind == 1:
        return [_words(choices, depth + 1) for _ in range(choices.below(4))]
    return choices.one_of(_WORDS)


TARGETS: Mapping[str, Target] = {
    target.__name__: target for target in (arguments, calls, definitions, replies)
}
