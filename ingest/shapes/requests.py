"""The body of a request to a model, in any API's spelling, in: system prompt, definitions, messages out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ingest.fields import table, tables
from ingest.shapes.message_parts import Message, Parts
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened, unquoted

_SYSTEM = ("system", "system_instruction", "systemInstruction", "instructions", "system_prompt")
_TOOLS = ("tools", "functions", "tool_definitions", "toolConfig", "function_tools")
_DECLARED = ("function_declarations", "functionDeclarations", "tools", "functions")
_NAMED_IN = ("function", "toolSpec", "custom", "definition")
_SCHEMAS = (
    "parameters", "input_schema", "inputSchema", "parameters_json_schema", "parametersJsonSchema",
    "json_schema", "jsonSchema", "schema",
)  # fmt: skip
_DEEPEST = 6  # lists of definitions in lists


Definitions = tuple[Mapping[str, Any], ...]


class Request(msgspec.Struct, frozen=True):
    """What was sent. `definitions` None = the body tells nothing of them."""

    messages: tuple[Message, ...] = ()
    system: str | None = None
    definitions: Definitions | None = None


def request_in(body: Any) -> Request | None:
    """The request that a body is; None where there is none."""
    body = opened(body)
    if isinstance(body, str):
        return Request((Message(role="user", text=body),))
    if not isinstance(body, dict | list):
        return None
    messages = tuple(messages_in(body, "user"))
    fields = body if isinstance(body, dict) else {}
    config = table(fields.get("config"))
    told = (worded(part.get(key)) for key in _SYSTEM for part in (fields, config))
    system = next((words for words in told if words), None)
    listed = [part[key] for key in _TOOLS for part in (fields, config) if part.get(key)]
    if isinstance(body, list):
        listed = [item.get("content") for item in tables(body) if item.get("role") == "tool"]
    return Request(messages, system, definitions_in(listed) or None)


def definitions_in(value: Any) -> Definitions:
    """Tool definitions in any nesting, JSON text included; none when no one of them has a schema.

    A list of mere names says nothing of the arguments, and held against it every call would look right. What
    has no name (a tool that the provider runs itself) is passed over.
    """
    return _repeated(value) if isinstance(value, str) else _all_in(value)


@lru_cache(maxsize=16)  # every span of an agent repeats the same text
def _repeated(value: str) -> Definitions:
    return _all_in(value)


def _all_in(value: Any) -> Definitions:
    found = tuple(_definitions(value, 0))
    return found if any(_has_schema(definition) for definition in found) else ()


def same_definitions(one: Definitions | None, other: Definitions | None) -> bool:
    """True when two lists of definitions are equal; what is nested too deep to compare is not."""
    try:
        return one is other or one == other
    except RecursionError:
        return False


def _definitions(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    value = opened(value)
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _definitions(item, depth + 1)
    elif isinstance(value, dict):
        declared = next((value[key] for key in _DECLARED if isinstance(value.get(key), list)), None)
        if declared is not None and "name" not in value:
            yield from _definitions(declared, depth + 1)
        elif isinstance(tool := value.get("tool"), dict):  # OpenInference: llm.tools.N.tool.json_schema
            yield from _definitions(tool.get("json_schema"), depth + 1)
        elif _named(value):
            yield value


def _named(definition: Mapping[str, Any]) -> bool:
    inner = (definition, *(table(definition.get(key)) for key in _NAMED_IN))
    return any(isinstance(part.get("name"), str) and part["name"] for part in inner)


def _has_schema(definition: Mapping[str, Any]) -> bool:
    inner = (definition, *(table(definition.get(key)) for key in _NAMED_IN))
    return any(part.get(key) for part in inner for key in _SCHEMAS)


def worded(value: Any) -> str | None:
    """The text of a system prompt: text, parts, or an object that holds them; JSON text of either, too."""
    inner = opened(value)
    if isinstance(inner, str):
        return unquoted(inner) or None
    if isinstance(inner, dict):
        inner = inner.get("parts", inner.get("content", inner.get("text")))
    parts = Parts()
    parts.take(inner)
    return parts.words or None
