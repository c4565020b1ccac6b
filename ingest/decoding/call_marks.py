"""Finds signs of tool calls in a decoded record. A sign is a key or a type that marks a tool call in some
known format.

Tool definitions, arguments of calls and results of tools are not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ingest.decoding.fields import read_object, read_text

_TYPES = frozenset(
    {"tool_use", "tool_call", "tool-call", "toolCall", "function_call", "functionCall", "custom_tool_call",
     "tool-invocation", "dynamic-tool"}
)  # fmt: skip
_KEYS = (
    "tool_calls", "toolCalls", "tool_uses", "toolUses", "function_call", "functionCall", "tool_call",
    "toolCall", "toolUse", "toolInvocation",
)  # fmt: skip
_PART = "tool-"  # the AI SDK writes `tool-NAME`, with a toolCallId
_RESULTS = frozenset(
    {"tool_result", "tool-result", "toolResult", "function_call_output", "custom_tool_call_output",
     "tool_call_response"}
)  # fmt: skip
_NOT_BELOW = frozenset(
    {"tools", "functions", "tool_definitions", "toolConfig", "functionDeclarations", "function_declarations",
     "input_schema", "inputSchema", "parameters", "toolResult", "toolUseResult", "functionResponse",
     "function_response", "tool_result", "metadata"}
)  # fmt: skip
_NAMES = ("name", "toolName", "tool_name", "function")
_IDS = ("call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id", "callId", "id")
_ARGUMENTS = ("arguments", "args", "input")
# Searches for rare words first. To try all signs of calls at each quote takes twice as long.
_TOOL_MARK = re.compile(
    rb'tool(?:(?<="tool)(?:-|(?:_uses?|_calls?|Calls?|Uses?|Invocation)")'
    rb'|(?<="custom_tool)_call"|(?<="dynamic-tool)")'
)
_FUNCTION_MARK = re.compile(rb'"function(?:_c|C)all"')


class CallMark(NamedTuple):
    """A sign of a tool call: the key or type that was found, and the facts about the call."""

    word: str
    id: str | None
    name: str | None
    arguments: Any


def may_hold_marks(data: bytes) -> bool:
    """Return False when a record with these bytes cannot contain a tool call.

    This check is much faster than decoding the record.
    """
    return _TOOL_MARK.search(data) is not None or _FUNCTION_MARK.search(data) is not None


def find_marks(value: Any) -> Iterator[CallMark]:
    """Yield the signs of tool calls in a decoded record, in any order."""
    left = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, list):
            left.extend(inner)
        elif isinstance(inner, dict):
            kind = inner.get("type")
            if isinstance(kind, str) and kind in _RESULTS:
                continue
            if isinstance(kind, str) and _is_call_type(kind, inner):
                yield _make_mark(kind, inner)
                continue
            calls_by_key = {key: list(_named_calls(inner[key])) for key in _KEYS if key in inner}
            for key, calls in calls_by_key.items():
                yield from (_make_mark(key, call) for call in calls)
            left.extend(
                part for key, part in inner.items() if not calls_by_key.get(key) and key not in _NOT_BELOW
            )


def _is_call_type(kind: str, inner: Mapping[str, Any]) -> bool:
    if kind.startswith(_PART) and "toolCallId" in inner:
        return True
    return kind in _TYPES and _find_name(inner) is not None


def _named_calls(calls: Any) -> Iterator[Mapping[str, Any]]:
    for call in calls if isinstance(calls, list) else [calls]:
        if isinstance(call, dict) and _find_name(call) is not None:
            yield call


def _find_name(call: Mapping[str, Any]) -> str | None:
    for part in (call, read_object(call.get("function"))):
        for key in _NAMES:
            if name := read_text(part.get(key)):
                return name
    return None


def _make_mark(word: str, call: Mapping[str, Any]) -> CallMark:
    inner = read_object(call.get("function")) or call
    call_id = next((text for key in _IDS if (text := read_text(call.get(key)))), None)
    arguments = next((inner[key] for key in _ARGUMENTS if key in inner), None)
    return CallMark(word, call_id, _find_name(call) or word.removeprefix(_PART), arguments)
