"""Reads the content of one message in any API's format: its text, calls and results.

The arguments of a call stay as logged: the text that the model sent, or an object. Reasoning, images and
other parts are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.formats.provider_messages.chat_messages import join_result
from ingest.formats.provider_messages.embedded_json import open_json, to_text, unquote


class MessageCall(msgspec.Struct, frozen=True):
    """A tool call in a message.

    `refused` is the reason why the agent could not parse the arguments. `marks` is True when the message
    states for every call whether its arguments could be parsed.
    """

    name: str | None = None
    id: str | None = None
    arguments: Any = None
    refused: str | None = None
    marks: bool = False

    def with_changes(self, **changes: Any) -> MessageCall:
        return msgspec.structs.replace(self, **changes)


class MessageResult(msgspec.Struct, frozen=True):
    """A tool result in a message. `failed` is None when the message has no error flag."""

    id: str | None = None
    name: str | None = None
    content: str | None = None
    failed: bool | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation.

    `role` is system, user, assistant or tool. `finish` is the reason why the model stopped, or None when the
    log has no reason.
    """

    role: str
    text: str | None = None
    calls: tuple[MessageCall, ...] = ()
    results: tuple[MessageResult, ...] = ()
    finish: str | None = None

    def with_finish(self, finish: str) -> Message:
        return msgspec.structs.replace(self, finish=finish)


_CALLS = frozenset(
    {
        "tool_call",
        "tool_use",
        "tool-call",
        "function_call",
        "functionCall",
        "custom_tool_call",
        "server_tool_use",
    }
)
_RESULTS = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "function_call_output", "custom_tool_call_output"}
)
_TEXTS = frozenset({"text", "output_text", "input_text", "refusal"})
_CALL_KEYS = ("function_call", "functionCall", "toolUse", "tool_call")
_RESULT_KEYS = ("function_response", "functionResponse", "toolResult")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_CONTENTS = ("response", "result", "content", "output")
_OF_MCP = {"content", "isError", "is_error", "structuredContent", "_meta"}
_OF_GEMINI = {"id", "name", "response"}
_DEEPEST = 6  # maximum number of nested parts


def part_kind(part: Mapping[str, Any]) -> str | None:
    """Return `call`, `result` or `text` for a part of a message's content. Return None for any other part."""
    kind = part.get("type")
    if isinstance(kind, str):
        if kind in _CALLS or (kind == "function" and "arguments" in read_object(part.get("function"))):
            return "call"
        if kind in _RESULTS:
            return "result"
        if kind in _TEXTS:
            return "text"
        return None
    if any(isinstance(part.get(key), dict) for key in _CALL_KEYS):
        return "call"
    if any(isinstance(part.get(key), dict) for key in _RESULT_KEYS):
        return "result"
    return "text" if isinstance(part.get("text"), str) and part.get("thought") is not True else None


class MessageParts:
    """Collects the texts, calls and results in the content of one message."""

    def __init__(self) -> None:
        self.calls: list[MessageCall] = []
        self.results: list[MessageResult] = []
        self._texts: list[str] = []

    @property
    def join_words(self) -> str | None:
        return "\n".join(self._texts) if self._texts else None

    def to_result(self, body: Mapping[str, Any]) -> MessageResult:
        """Return the whole message `body` as one tool result, with its name, id and error flag.

        If `body` has no content, the text collected so far becomes the result's content.
        """
        content, failed = read_result(body.get("content", body.get("response")))
        content = content if content is not None else self.join_words
        by_status = {"error": True, "success": False}.get(str(body.get("status")), failed)
        flagged = body.get("is_error") if isinstance(body.get("is_error"), bool) else by_status
        named = read_text(body.get("name")) or read_text(body.get("tool_name"))
        return MessageResult(
            read_text(body.get("tool_call_id")) or read_text(body.get("id")), named, content, flagged
        )

    def take(self, content: Any, depth: int = 0) -> None:
        """Add the texts, tool calls and results in a string, a part, or a list of parts.

        A string that is a JSON list of tool calls is added as tool calls.
        """
        if isinstance(content, str):
            if not self._take_calls_as_text(content):
                self._texts.append(content)
        elif isinstance(content, dict):
            self._take_part(content, depth)
        elif isinstance(content, list) and depth < _DEEPEST:
            for part in content:
                self.take(part, depth + 1)

    def _take_part(self, part: dict[str, Any], depth: int) -> None:
        kind = part_kind(part)
        if kind == "call":
            self.calls.append(read_call(part))
        elif kind == "result":
            self.results.append(read_tool_result(part))
        elif kind == "text":
            texts = (read_text(part.get(key)) for key in ("text", "content", "refusal"))
            self._texts.append(next((words for words in texts if words), ""))
        elif isinstance(inner := part.get("message_content"), dict):
            self.take(inner, depth + 1)

    def _take_calls_as_text(self, content: str) -> bool:
        """Add the tool calls in a string that is a JSON list of calls. Return False for any other string.

        Koog's exporter writes the tool calls of a reply as JSON in place of the text.
        """
        if not content.startswith('[{"'):
            return False
        listed = open_json(content, 1)
        calls = [call for call in read_objects(listed) if "arguments" in read_object(call.get("function"))]
        if not calls or len(calls) != len(listed):
            return False
        self.calls.extend(read_call(call) for call in calls)
        return True


def read_call(part: Mapping[str, Any]) -> MessageCall:
    """Return the tool call in a part of any API.

    The fields may be at the top level or inside an object such as `function`.
    """
    inner = next((part[key] for key in ("function", *_CALL_KEYS) if isinstance(part.get(key), dict)), part)
    # OpenInference stores the call in `tool_call.function`.
    if isinstance(deeper := inner.get("function"), dict):
        part, inner = inner, deeper
    sent = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    return MessageCall(
        name=read_text(inner.get("name")) or read_text(inner.get("toolName")),
        id=part_id(part) or part_id(inner),
        arguments=sent,
    )


def read_invalid_call(call: Mapping[str, Any]) -> MessageCall:
    """Return a tool call from LangChain's `invalid_tool_calls`, with the sent arguments and parse error."""
    invalid_call = read_call(call)
    return invalid_call.with_changes(
        refused=read_text(call.get("error")) or "the arguments are not JSON", marks=True
    )


def read_tool_result(part: Mapping[str, Any]) -> MessageResult:
    inner = next((part[key] for key in _RESULT_KEYS if isinstance(part.get(key), dict)), part)
    contents = next((inner[key] for key in _CONTENTS if inner.get(key) is not None), None)
    content, failed = read_result(contents)
    if inner is not part and isinstance(contents, dict) and contents.get("error"):
        failed = True  # Gemini's responses contain the message of a failure in "error".
    for key in ("is_error", "isError"):
        failed = inner[key] if isinstance(inner.get(key), bool) else failed
    failed = {"error": True, "success": False}.get(str(inner.get("status")), failed)
    return MessageResult(
        part_id(inner), read_text(inner.get("name")) or read_text(inner.get("toolName")), content, failed
    )


def read_result(value: Any) -> tuple[str | None, bool | None]:
    """Return (text, failed) of a tool result. `failed` is None when the result has no error flag.

    An MCP result has `content` and `isError`. An AI SDK output has `type` and `value`.
    """
    inner = open_json(value)
    if isinstance(inner, str):
        return unquote(inner), None
    if isinstance(inner, dict):
        if isinstance(kind := inner.get("type"), str) and "value" in inner and len(inner) <= 3:
            return to_text(inner["value"]), kind.startswith("error") or None
        if "response" in inner and inner.keys() <= _OF_GEMINI:
            answer = read_tool_result({"function_response": inner})
            return answer.content, answer.failed
        if inner.get("type") == "tool" and "tool_call_id" in inner:
            answer = MessageParts().to_result(inner)
            return answer.content, answer.failed
        flags = [inner[key] for key in ("isError", "is_error") if isinstance(inner.get(key), bool)]
        failed = flags[0] if flags else None
        if "content" in inner and inner.keys() <= _OF_MCP:
            return join_texts(inner["content"]), failed
    texts = [part for part in read_objects(inner) if part_kind(part) == "text"]
    if texts and len(texts) == len(inner):
        return join_texts(texts), None
    if isinstance(inner, list) and not texts and (images := join_result(inner)):
        return images, None
    return to_text(value), None


def join_texts(content: Any) -> str | None:
    parts = MessageParts()
    parts.take(content)
    return parts.join_words if parts.join_words is not None else to_text(content)


def part_id(part: Mapping[str, Any]) -> str | None:
    keys = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "id")
    return next((ident for key in keys if (ident := read_text(part.get(key)))), None)
