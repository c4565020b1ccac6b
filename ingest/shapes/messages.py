"""A request's or a reply's messages in the spelling of any API or framework in, one neutral shape out.

Trace stores keep the bodies as the instrumented library had them. Known here: OpenAI Chat Completions and
Responses, Anthropic, Gemini (camelCase and snake_case), Bedrock Converse, OpenTelemetry's `parts`, LangChain
(plain and as `lc` constructors), the Vercel AI SDK and OpenInference. `message_parts` reads what is inside of
one message. What cannot be read as a message is passed over: a body may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.fields import table, tables, text
from ingest.shapes.message_parts import CallSaid, Message, Parts, call_said, invalid_call, kind_of_part
from ingest.shapes.nested import opened

_ROLES = {
    "user": "user", "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "AIMessage": "assistant",
    "AIMessageChunk": "assistant", "bot": "assistant",
    "system": "system", "developer": "system", "SystemMessage": "system",
    "tool": "tool", "function": "tool", "ToolMessage": "tool", "FunctionMessage": "tool",
}  # fmt: skip
# Where the messages are in a body, in the order of precedence.
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
_SAID = {"content", "parts", "tool_calls", "toolCalls", "additional_kwargs", "function_call", "contents"}
_MESSAGES_WITHOUT_ROLE = (
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "constructor",
)  # fmt: skip
_DEEPEST = 8  # bodies in bodies


def messages_in(body: Any, role: str | None = None, depth: int = 0) -> Iterator[Message]:
    """The messages of a body in order. `role` is that of messages which do not name their own."""
    body = opened(body)
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        parts = [item for item in tables(body) if "role" not in item and kind_of_part(item)]
        if parts and len(parts) == len(body):
            yield from _of_one({"content": parts}, role)
            return
        for item in body:
            yield from messages_in(item, role, depth + 1)
    elif isinstance(body, dict):
        yield from _of_object(body, role, depth)


def reply_in(body: Any) -> tuple[Message, ...] | None:
    """What a model said, text or messages; None where there is nothing."""
    body = opened(body)
    if isinstance(body, str):
        return (Message(role="assistant", text=body),)
    return tuple(messages_in(body, "assistant")) or None


def _of_object(body: dict[str, Any], role: str | None, depth: int) -> Iterator[Message]:
    if _is_message(body):
        yield from _of_one(body, role)
        return
    role = _role(body) or role
    finish = text(body.get("finish_reason")) or text(body.get("finishReason"))
    for key in _LISTS:
        inner = opened(body.get(key))
        if isinstance(inner, list) and inner:
            yield from messages_in(inner, role, depth + 1)
            return
    for key in _INSIDE:
        inner = opened(body.get(key))
        if isinstance(inner, dict):
            for message in messages_in(inner, role, depth + 1):
                yield message if finish is None or message.finish else message.because(finish)
            return
    keys = _WORDS if role == "user" else (*_WORDS, "content")
    words = next((said for key in keys if (said := text(body.get(key))) is not None), None)
    if role is not None and words is not None:
        yield Message(role=role, text=words, finish=finish)


def _is_message(body: Mapping[str, Any]) -> bool:
    if body.get("type") in _MESSAGES_WITHOUT_ROLE or isinstance(body.get("parts"), list):
        return True
    if isinstance(body.get("content"), dict) and "role" not in body:
        return False  # Gemini's candidate, not its content
    return _role(body) is not None and not _SAID.isdisjoint(body)


def _role(body: Mapping[str, Any]) -> str | None:
    for key in ("role", "type"):
        if isinstance(found := body.get(key), str) and found in _ROLES:
            return _ROLES[found]
    return None


def _of_one(body: Mapping[str, Any], role: str | None) -> Iterator[Message]:
    """The message that an object is; none where it says nothing."""
    if body.get("type") == "constructor":
        path = body.get("id")
        named = path[-1] if isinstance(path, list) and path else None
        body = {**table(body.get("kwargs")), "type": named}
    role = _role(body) or role
    parts = Parts()
    parts.take(body if body.get("type") in _MESSAGES_WITHOUT_ROLE else body.get("content"))
    parts.take(body.get("parts"))
    parts.take(body.get("contents"))
    calls = _together(list(_calls_beside(body)), parts.calls)
    results = parts.results
    if role == "tool" and not calls and not results and not _is_definition(body.get("content")):
        results = [parts.as_result(body)]
    role = "assistant" if calls else "tool" if results else role
    if role is None or not (calls or results or parts.words is not None or role == "assistant"):
        return
    finish = text(body.get("finish_reason")) or text(body.get("stop_reason")) or _langchain_finish(body)
    words = None if role == "tool" else parts.words
    yield Message(role=role, text=words, calls=tuple(calls), results=tuple(results), finish=finish)


def _together(beside: list[CallSaid], within: list[CallSaid]) -> list[CallSaid]:
    """The calls beside the content and those within it: LangChain keeps Anthropic's in both places."""
    known = {call.id for call in beside}
    further = [call for call in within if not beside or (call.id is not None and call.id not in known)]
    return [*beside, *further]


def _calls_beside(body: Mapping[str, Any]) -> Iterator[CallSaid]:
    """The calls that stand beside the content. LangChain's are objects; their text may be kept elsewhere."""
    extra = table(body.get("additional_kwargs"))
    sent = _sent(body, extra)
    listed = opened(body.get("tool_calls", body.get("toolCalls")))
    calls = [call_said(call) for call in tables(listed)]
    if not calls:
        calls = list(sent.values())
    if not calls and isinstance(function := body.get("function_call", extra.get("function_call")), dict):
        calls = [call_said(function)]
    marks = "invalid_tool_calls" in body
    for call in calls:
        kept = sent.get(call.id or "")
        as_sent = kept.arguments if kept is not None and isinstance(kept.arguments, str) else call.arguments
        yield call.but(arguments=as_sent, marks=marks)
    yield from (invalid_call(call) for call in tables(body.get("invalid_tool_calls")))


def _sent(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, CallSaid]:
    """LangChain's copies of the calls as the model sent them, by id (by place where there is none)."""
    kept = tables(opened(extra.get("tool_calls"))) or tables(body.get("tool_call_chunks"))
    invalid = {text(call.get("id")) for call in tables(body.get("invalid_tool_calls"))} - {None}
    said = [call_said(call) for call in kept]
    return {call.id or f"#{place}": call for place, call in enumerate(said) if call.id not in invalid}


def _langchain_finish(body: Mapping[str, Any]) -> str | None:
    told = table(body.get("response_metadata"))
    return text(told.get("finish_reason")) or text(told.get("stop_reason"))


def _is_definition(content: Any) -> bool:
    """LangGraph's tracer lists the offered tools as messages of the role tool."""
    return isinstance(content, dict) and content.get("type") == "function" and "function" in content
