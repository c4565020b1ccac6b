"""Reads prompts and messages of the Vercel AI SDK.

A message (https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message) has `role` system | user | assistant |
tool, and `content`: text or parts. A call is a part `{type: "tool-call", toolCallId, toolName, input}`
(before 5.0 `args`). A result is `{type: "tool-result", toolCallId, toolName, output: {type, value}}` (before
5.0 `result`, `isError`). An output has the type `text`, `json` or `content`. If the tool raised an error, the
type is `error-text`, `error-json` or `execution-denied`. Calls with `providerExecuted` ran at the provider
and are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_count, read_objects, read_text
from ingest.events import FaultLayer, FlagSource, ResultStatus
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    ItemKind,
    ModelRequest,
    RequestResult,
    join_texts,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark
from ingest.formats.provider_messages.message_parts import read_tool_result

_RETURNED = ("text", "json", "content")


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    prompt = read_objects(body.get("prompt"))
    return ModelRequest(
        parts=[message for message in prompt if message.get("role") != "system"],
        read=read_items,
        prompt=join_texts(join_words(message) for message in prompt if message.get("role") == "system"),
        tools=[tool for tool in read_objects(body.get("tools")) if "inputSchema" in tool],
        max_tokens=read_count(body.get("maxOutputTokens")),
        result=read_result,
    )


def read_items(message: Mapping[str, Any]) -> Iterator[ConversationItem]:
    """Yield the content of a message: the user's text, the model's message or the tool results."""
    role = message.get("role")
    if role == "assistant":
        calls = list_calls(message)
        marks = tuple(
            call_mark(call.get("toolName"), call.get("toolCallId"), call.get("input")) for call in calls
        )
        ids = tuple(read_text(call.get("toolCallId")) for call in calls)
        yield ConversationItem(ItemKind.MODEL, marks or words_mark(join_words(message)), ids)
    elif role == "user":
        words = join_words(message)
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)
    for part in read_objects(message.get("content")):
        if role == "tool" and part.get("type") == "tool-result":
            yield ConversationItem(ItemKind.RESULT, ids=(read_text(part.get("toolCallId")),), body=part)


def list_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls in a message, except calls of tools that the provider runs."""
    return [
        part
        for part in read_objects(message.get("content"))
        if part.get("type") == "tool-call" and part.get("providerExecuted") is not True
    ]


def join_words(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if isinstance(content, str):
        return content or None
    return join_texts(
        read_text(part.get("text")) for part in read_objects(content) if part.get("type") == "text"
    )


def output_status(part: Mapping[str, Any]) -> ResultStatus:
    """Return the status of a tool result. Return UNKNOWN when the result has no error flag.

    Versions before 5.0 often leave out the flag.
    """
    output = part.get("output")
    kind = output.get("type") if isinstance(output, dict) else None
    if kind == "execution-denied":
        return ResultStatus.DENIED
    if part.get("isError") is True or (isinstance(kind, str) and kind.startswith("error")):
        return ResultStatus.ERROR
    return ResultStatus.OK if kind in _RETURNED or part.get("isError") is False else ResultStatus.UNKNOWN


_LAYERS = {ResultStatus.ERROR: FaultLayer.EXECUTION, ResultStatus.DENIED: FaultLayer.REFUSED}


def read_result(part: Mapping[str, Any]) -> RequestResult:
    result, status = read_tool_result(part), output_status(part)
    return RequestResult(
        result.content,
        result.name,
        status,
        FlagSource.ABSENT if status is ResultStatus.UNKNOWN else FlagSource.EXPLICIT,
        _LAYERS.get(status),
    )
