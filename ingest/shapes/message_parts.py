"""The content of one message in: text, or parts in any API's spelling; its words, calls and results out.

A call's arguments stay what they are in the log: text as the model sent it, or an object. Reasoning, images
and what else stands in a content are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ingest.fields import table, tables, text
from ingest.shapes.nested import opened, shown, unquoted


class CallSaid(msgspec.Struct, frozen=True):
    """A call as a message has it. `refused` is the harness's word on arguments that it could not read.

    `marks`: the message says of every call whether its arguments could be read.
    """

    name: str | None = None
    id: str | None = None
    arguments: Any = None
    refused: str | None = None
    marks: bool = False

    def but(self, **changes: Any) -> CallSaid:
        return msgspec.structs.replace(self, **changes)


class ResultSaid(msgspec.Struct, frozen=True):
    """A result as a message has it; `failed` None = there is no flag."""

    id: str | None = None
    name: str | None = None
    content: str | None = None
    failed: bool | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. `role` is system, user, assistant or tool; `finish` why the model stopped, where told."""

    role: str
    text: str | None = None
    calls: tuple[CallSaid, ...] = ()
    results: tuple[ResultSaid, ...] = ()
    finish: str | None = None

    def because(self, finish: str) -> Message:
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
_DEEPEST = 6  # parts in parts


def kind_of_part(part: Mapping[str, Any]) -> str | None:
    """call, result or text; None for everything else."""
    kind = part.get("type")
    if isinstance(kind, str):
        if kind in _CALLS or (kind == "function" and "arguments" in table(part.get("function"))):
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


class Parts:
    """What has been found in the content of a message so far."""

    def __init__(self) -> None:
        self.calls: list[CallSaid] = []
        self.results: list[ResultSaid] = []
        self._texts: list[str] = []

    @property
    def words(self) -> str | None:
        return "\n".join(self._texts) if self._texts else None

    def as_result(self, body: Mapping[str, Any]) -> ResultSaid:
        """The whole message as the result that its fields name."""
        content, failed = read_result(body.get("content", body.get("response")))
        content = content if content is not None else self.words
        told = {"error": True, "success": False}.get(str(body.get("status")), failed)
        flagged = body.get("is_error") if isinstance(body.get("is_error"), bool) else told
        named = text(body.get("name")) or text(body.get("tool_name"))
        return ResultSaid(text(body.get("tool_call_id")) or text(body.get("id")), named, content, flagged)

    def take(self, content: Any, depth: int = 0) -> None:
        """Text, a part, or a list of them. A text that holds nothing but calls (as JSON) is those calls."""
        if isinstance(content, str):
            if not self._take_calls_as_text(content):
                self._texts.append(content)
        elif isinstance(content, dict):
            self._take_part(content, depth)
        elif isinstance(content, list) and depth < _DEEPEST:
            for part in content:
                self.take(part, depth + 1)

    def _take_part(self, part: dict[str, Any], depth: int) -> None:
        kind = kind_of_part(part)
        if kind == "call":
            self.calls.append(call_said(part))
        elif kind == "result":
            self.results.append(result_said(part))
        elif kind == "text":
            said = (text(part.get(key)) for key in ("text", "content", "refusal"))
            self._texts.append(next((words for words in said if words), ""))
        elif isinstance(inner := part.get("message_content"), dict):
            self.take(inner, depth + 1)

    def _take_calls_as_text(self, content: str) -> bool:
        """Koog's exporter writes the calls of a reply as JSON where its text is due."""
        if not content.startswith('[{"'):
            return False
        listed = opened(content, 1)
        calls = [call for call in tables(listed) if "arguments" in table(call.get("function"))]
        if not calls or len(calls) != len(listed):
            return False
        self.calls.extend(call_said(call) for call in calls)
        return True


def call_said(part: Mapping[str, Any]) -> CallSaid:
    """A call in any spelling: nested in `function` or the like, or flat."""
    inner = next((part[key] for key in ("function", *_CALL_KEYS) if isinstance(part.get(key), dict)), part)
    if isinstance(deeper := inner.get("function"), dict):  # OpenInference: tool_call.function
        part, inner = inner, deeper
    sent = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    return CallSaid(
        name=text(inner.get("name")) or text(inner.get("toolName")),
        id=_id(part) or _id(inner),
        arguments=sent,
    )


def invalid_call(call: Mapping[str, Any]) -> CallSaid:
    """LangChain's `invalid_tool_calls`: the arguments as sent, and why they could not be read."""
    said = call_said(call)
    return said.but(refused=text(call.get("error")) or "the arguments are not JSON", marks=True)


def result_said(part: Mapping[str, Any]) -> ResultSaid:
    inner = next((part[key] for key in _RESULT_KEYS if isinstance(part.get(key), dict)), part)
    given = next((inner[key] for key in _CONTENTS if inner.get(key) is not None), None)
    content, failed = read_result(given)
    if inner is not part and isinstance(given, dict) and given.get("error"):
        failed = True  # Gemini: "error" is the key for what went wrong
    for key in ("is_error", "isError"):
        failed = inner[key] if isinstance(inner.get(key), bool) else failed
    failed = {"error": True, "success": False}.get(str(inner.get("status")), failed)
    return ResultSaid(_id(inner), text(inner.get("name")) or text(inner.get("toolName")), content, failed)


def read_result(value: Any) -> tuple[str | None, bool | None]:
    """(the text of a result, whether the tool itself says that it failed).

    MCP's result has `content` and `isError`, the AI SDK's output a `type` and a `value`.
    """
    inner = opened(value)
    if isinstance(inner, str):
        return unquoted(inner), None
    if isinstance(inner, dict):
        if isinstance(kind := inner.get("type"), str) and "value" in inner and len(inner) <= 3:
            return shown(inner["value"]), kind.startswith("error") or None
        if "response" in inner and inner.keys() <= _OF_GEMINI:
            answer = result_said({"function_response": inner})
            return answer.content, answer.failed
        if inner.get("type") == "tool" and "tool_call_id" in inner:
            answer = Parts().as_result(inner)
            return answer.content, answer.failed
        flags = [inner[key] for key in ("isError", "is_error") if isinstance(inner.get(key), bool)]
        failed = flags[0] if flags else None
        if "content" in inner and inner.keys() <= _OF_MCP:
            return _words(inner["content"]), failed
    texts = [part for part in tables(inner) if kind_of_part(part) == "text"]
    if texts and len(texts) == len(inner):
        return _words(texts), None
    return shown(value), None


def _words(content: Any) -> str | None:
    parts = Parts()
    parts.take(content)
    return parts.words if parts.words is not None else shown(content)


def _id(part: Mapping[str, Any]) -> str | None:
    keys = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "id")
    return next((found for key in keys if (found := text(part.get(key)))), None)
