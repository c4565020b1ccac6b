"""Reads the messages of a request or a reply, in the format of any API or framework, as `Message` objects.

Trace stores keep the bodies in the format of the traced library. Known formats: OpenAI Chat Completions and
Responses, Anthropic, Gemini (camelCase and snake_case), Bedrock Converse, OpenTelemetry's `parts`, LangChain
(plain and as `lc` constructors), the Vercel AI SDK and OpenInference. `message_parts` reads the content of
one message. A value that cannot be read as a message is skipped, because a body may contain anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_parts import (
    Message,
    MessageCall,
    MessageParts,
    part_kind,
    read_call,
    read_invalid_call,
)

_ROLES = {
    "user": "user", "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "AIMessage": "assistant",
    "AIMessageChunk": "assistant", "bot": "assistant",
    "system": "system", "developer": "system", "SystemMessage": "system",
    "tool": "tool", "function": "tool", "ToolMessage": "tool", "FunctionMessage": "tool",
}  # fmt: skip
# Keys of a body that may contain the messages; earlier keys have precedence.
_LISTS = (
    "messages",
    "choices",
    "candidates",
    "generations",
    "contents",
    "output",
    "input",
    "prompt",
    "content",
)
_INSIDE = ("message", "content", "data", "kwargs", "delta", "response", "body", "result")
_WORDS = ("text", "contents", "prompt", "input", "query")
_CONTENT_FIELDS = {
    "content",
    "parts",
    "tool_calls",
    "toolCalls",
    "additional_kwargs",
    "function_call",
    "contents",
}
_MESSAGES_WITHOUT_ROLE = (
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "constructor",
)  # fmt: skip
_DEEPEST = 8  # maximum number of nested bodies


def read_messages(body: Any, role: str | None = None, depth: int = 0) -> Iterator[Message]:
    """Yield the messages of a body in order.

    Messages that do not state their role get the role `role`.
    """
    body = open_json(body)
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        parts = [item for item in read_objects(body) if "role" not in item and part_kind(item)]
        if parts and len(parts) == len(body):
            yield from read_message({"content": parts}, role)
            return
        for item in body:
            yield from read_messages(item, role, depth + 1)
    elif isinstance(body, dict):
        yield from read_object_messages(body, role, depth)


def read_reply(body: Any) -> tuple[Message, ...] | None:
    """Return the messages of a model's reply. Return None when the reply has no messages.

    A string becomes one assistant message.
    """
    body = open_json(body)
    if isinstance(body, str):
        return (Message(role="assistant", text=body),)
    return tuple(read_messages(body, "assistant")) or None


def read_object_messages(body: dict[str, Any], role: str | None, depth: int) -> Iterator[Message]:
    if _is_message(body):
        yield from read_message(body, role)
        return
    role = message_role(body) or role
    finish = read_text(body.get("finish_reason")) or read_text(body.get("finishReason"))
    for key in _LISTS:
        inner = open_json(body.get(key))
        if isinstance(inner, list) and inner:
            yield from read_messages(inner, role, depth + 1)
            return
    for key in _INSIDE:
        inner = open_json(body.get(key))
        if isinstance(inner, dict):
            for message in read_messages(inner, role, depth + 1):
                yield message if finish is None or message.finish else message.with_finish(finish)
            return
    keys = _WORDS if role == "user" else (*_WORDS, "content")
    words = next((text for key in keys if (text := read_text(body.get(key))) is not None), None)
    if role is not None and words is not None:
        yield Message(role=role, text=words, finish=finish)


def _is_message(body: Mapping[str, Any]) -> bool:
    if body.get("type") in _MESSAGES_WITHOUT_ROLE or isinstance(body.get("parts"), list):
        return True
    if isinstance(body.get("content"), dict) and "role" not in body:
        return False  # This is a Gemini candidate, which contains the message in `content`.
    return message_role(body) is not None and not _CONTENT_FIELDS.isdisjoint(body)


def message_role(body: Mapping[str, Any]) -> str | None:
    for key in ("role", "type"):
        if isinstance(role := body.get(key), str) and role in _ROLES:
            return _ROLES[role]
    return None


def read_message(body: Mapping[str, Any], role: str | None) -> Iterator[Message]:
    """Yield an object as one `Message`. Yield nothing when the object has no role or no content.

    `role` is the default role. An assistant message may be empty.
    """
    if body.get("type") == "constructor":
        path = body.get("id")
        named = path[-1] if isinstance(path, list) and path else None
        body = {**read_object(body.get("kwargs")), "type": named}
    role = message_role(body) or role
    parts = MessageParts()
    parts.take(body if body.get("type") in _MESSAGES_WITHOUT_ROLE else body.get("content"))
    parts.take(body.get("parts"))
    parts.take(body.get("contents"))
    calls = merge_calls(list(read_calls_beside_content(body)), parts.calls)
    results = parts.results
    if role == "tool" and not calls and not results and not _is_definition(body.get("content")):
        results = [parts.to_result(body)]
    role = "assistant" if calls else "tool" if results else role
    if role is None or not (calls or results or parts.join_words is not None or role == "assistant"):
        return
    finish = (
        read_text(body.get("finish_reason")) or read_text(body.get("stop_reason")) or _langchain_finish(body)
    )
    words = None if role == "tool" else parts.join_words
    yield Message(role=role, text=words, calls=tuple(calls), results=tuple(results), finish=finish)


def merge_calls(beside: list[MessageCall], within: list[MessageCall]) -> list[MessageCall]:
    """Merge the tool calls beside a message's content with those inside the content.

    LangChain stores Anthropic's tool calls in both places.
    """
    call_ids = {call.id for call in beside}
    further = [call for call in within if not beside or (call.id is not None and call.id not in call_ids)]
    return [*beside, *further]


def read_calls_beside_content(body: Mapping[str, Any]) -> Iterator[MessageCall]:
    """Yield the tool calls that a message keeps outside its content, for example in `tool_calls`.

    If a message of LangChain contains decoded arguments and the model's own text, the text is used.
    """
    extra = read_object(body.get("additional_kwargs"))
    sent = read_sent_copies(body, extra)
    listed = open_json(body.get("tool_calls", body.get("toolCalls")))
    calls = [read_call(call) for call in read_objects(listed)]
    if not calls:
        calls = list(sent.values())
    if not calls and isinstance(function := body.get("function_call", extra.get("function_call")), dict):
        calls = [read_call(function)]
    marks = "invalid_tool_calls" in body
    for call in calls:
        sent_copy = sent.get(call.id or "")
        as_sent = (
            sent_copy.arguments
            if sent_copy is not None and isinstance(sent_copy.arguments, str)
            else call.arguments
        )
        yield call.with_changes(arguments=as_sent, marks=marks)
    yield from (read_invalid_call(call) for call in read_objects(body.get("invalid_tool_calls")))


def read_sent_copies(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, MessageCall]:
    """Return the model's own argument text by call id, from LangChain's copies of the tool calls.

    For a call without an id, the key is `#` and the call's index in the list. Calls with invalid arguments
    are left out.
    """
    copies = read_objects(open_json(extra.get("tool_calls"))) or read_objects(body.get("tool_call_chunks"))
    invalid = {read_text(call.get("id")) for call in read_objects(body.get("invalid_tool_calls"))} - {None}
    calls = [read_call(call) for call in copies]
    return {call.id or f"#{place}": call for place, call in enumerate(calls) if call.id not in invalid}


def _langchain_finish(body: Mapping[str, Any]) -> str | None:
    metadata = read_object(body.get("response_metadata"))
    return read_text(metadata.get("finish_reason")) or read_text(metadata.get("stop_reason"))


def _is_definition(content: Any) -> bool:
    """Return True when the content of a tool message is a tool definition.

    LangGraph's tracer writes a tool message for each offered tool.
    """
    return isinstance(content, dict) and content.get("type") == "function" and "function" in content
