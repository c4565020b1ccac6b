"""Reads the system prompt, definitions and messages from a request body in any API's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ingest.decoding.fields import read_object, read_objects
from ingest.formats.provider_messages.embedded_json import open_json, unquote
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message, MessageParts

_SYSTEM = ("system", "system_instruction", "systemInstruction", "instructions", "system_prompt")
_TOOLS = ("tools", "functions", "tool_definitions", "toolConfig", "function_tools")
_DECLARED = ("function_declarations", "functionDeclarations", "tools", "functions")
_NAMED_IN = ("function", "toolSpec", "custom", "definition")
_SCHEMAS = (
    "parameters", "input_schema", "inputSchema", "parameters_json_schema", "parametersJsonSchema",
    "json_schema", "jsonSchema", "schema",
)  # fmt: skip
_DEEPEST = 6  # maximum number of nested lists of definitions


Definitions = tuple[Mapping[str, Any], ...]


class RequestBody(msgspec.Struct, frozen=True):
    """The content of a request to a model. `definitions` is None when the body has no tool definitions."""

    messages: tuple[Message, ...] = ()
    system: str | None = None
    definitions: Definitions | None = None


def read_request(body: Any) -> RequestBody | None:
    """Return the content of a request body.

    A string is read as one user message. Return None when the body is neither a string nor an object nor a
    list.
    """
    body = open_json(body)
    if isinstance(body, str):
        return RequestBody((Message(role="user", text=body),))
    if not isinstance(body, dict | list):
        return None
    messages = tuple(read_messages(body, "user"))
    fields = body if isinstance(body, dict) else {}
    config = read_object(fields.get("config"))
    prompts = (prompt_text(part.get(key)) for key in _SYSTEM for part in (fields, config))
    system = next((words for words in prompts if words), None)
    listed = [part[key] for key in _TOOLS for part in (fields, config) if part.get(key)]
    if isinstance(body, list):
        listed = [item.get("content") for item in read_objects(body) if item.get("role") == "tool"]
    return RequestBody(messages, system, find_definitions(listed) or None)


def find_definitions(value: Any) -> Definitions:
    """Return the tool definitions in a value, which may be nested or JSON text.

    The result is empty when no definition has a schema. Definitions without a name (tools that the provider
    runs) are left out.
    """
    return find_repeated(value) if isinstance(value, str) else find_all(value)


@lru_cache(maxsize=16)  # Cached, because every span of an agent repeats this text.
def find_repeated(value: str) -> Definitions:
    return find_all(value)


def find_all(value: Any) -> Definitions:
    definitions = tuple(walk_definitions(value, 0))
    return definitions if any(_has_schema(definition) for definition in definitions) else ()


def are_same_definitions(first: Definitions | None, other: Definitions | None) -> bool:
    """Return True when two lists of definitions are equal.

    Lists that are nested too deeply to be compared count as different.
    """
    try:
        return first is other or first == other
    except RecursionError:
        return False


def walk_definitions(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    value = open_json(value)
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from walk_definitions(item, depth + 1)
    elif isinstance(value, dict):
        declared = next((value[key] for key in _DECLARED if isinstance(value.get(key), list)), None)
        if declared is not None and "name" not in value:
            yield from walk_definitions(declared, depth + 1)
        # OpenInference stores the schema in `llm.tools.N.tool.json_schema`.
        elif isinstance(tool := value.get("tool"), dict):
            yield from walk_definitions(tool.get("json_schema"), depth + 1)
        elif is_named(value):
            yield value


def is_named(definition: Mapping[str, Any]) -> bool:
    inner = (definition, *(read_object(definition.get(key)) for key in _NAMED_IN))
    return any(isinstance(part.get("name"), str) and part["name"] for part in inner)


def _has_schema(definition: Mapping[str, Any]) -> bool:
    inner = (definition, *(read_object(definition.get(key)) for key in _NAMED_IN))
    return any(part.get(key) for part in inner for key in _SCHEMAS)


def prompt_text(value: Any) -> str | None:
    """Return the text of a system prompt. Return None when there is no text.

    The prompt may be a string, a list of parts, or an object with `parts`, `content` or `text`. Each of these
    may be JSON text.
    """
    inner = open_json(value)
    if isinstance(inner, str):
        return unquote(inner) or None
    if isinstance(inner, dict):
        inner = inner.get("parts", inner.get("content", inner.get("text")))
    parts = MessageParts()
    parts.take(inner)
    return parts.join_words or None
