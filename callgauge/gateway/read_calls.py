"""Read the tool calls of a reply, native or written as text, and add them to the history.

The history is always valid for the API: arguments are JSON objects, ids are unique, and every call has a
result. If invalid JSON were sent back as arguments, llama-server would answer every later request with status
500 (llama.cpp#25510), and Anthropic and Gemini accept only objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from callgauge.gateway.apis.messages import Call, CallSource, ChatMessage, Reply
from callgauge.gateway.sentences import say_unread
from callgauge.gateway.tools.executor import ToolResult
from callgauge.gateway.tools.toolbox import make_safe_name
from lenient import (
    TextCall,
    ToolCallRequest,
    ToolCatalog,
    extract_tool_calls,
    leaked_tool_calls,
    parse_arguments,
)

_ATTEMPTS = {
    "a tool's name in JSON": re.compile(r'"(?:tool|tool_name|tool_call|function)"\s*:\s*["{]'),
    "a token of calls": re.compile(
        r"<tool_call|<function|\[TOOL_CALLS\]|<\|python_tag\|>|tool▁call|<\|tool_call|functools\["
    ),
    "a block of unreadable JSON": re.compile(r"```(?:json|tool|tool_call)\s*\n?\s*[\[{]", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A tool call of a reply, and the arguments that the parser read.

    `is_cut` is True when the text ended within the call.
    """

    call: Call
    request: ToolCallRequest
    is_cut: bool = False

    @property
    def is_readable(self) -> bool:
        return self.request.arguments is not None


def read_native_calls(
    reply: Reply, catalog: ToolCatalog, *, id_pattern: str | None, new_id: Callable[[int], str]
) -> tuple[ReadCall, ...]:
    """Return the native calls of a reply, in order.

    An id that is missing, repeated, or does not match `id_pattern` is replaced by `new_id(place)`. `id_sent`
    keeps the original id.
    """
    read: list[ReadCall] = []
    seen: set[str] = set()
    for place, call in enumerate(reply.calls):
        is_usable = bool(call.id) and call.id not in seen
        if id_pattern is not None:
            is_usable = is_usable and re.fullmatch(id_pattern, call.id) is not None
        call_with_id = call if is_usable else replace(call, id=new_id(place), id_sent=call.id)
        seen.add(call_with_id.id)
        request = parse_arguments(call.raw, catalog, tool_name=call.name, tool_call_id=call_with_id.id)
        read.append(ReadCall(call_with_id, request))
    return tuple(read)


def read_text_calls(text: str, catalog: ToolCatalog, *, new_id: Callable[[int], str]) -> tuple[ReadCall, ...]:
    """Return the calls that a text contains, in any syntax that the parser knows."""
    calls = extract_tool_calls(text, catalog)
    return tuple(_read_text_call(call, new_id(place)) for place, call in enumerate(calls))


def _read_text_call(text_call: TextCall, call_id: str) -> ReadCall:
    raw = text_call.request.raw_arguments
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    request = text_call.request._replace(tool_call_id=call_id)
    return ReadCall(Call(call_id, text_call.name, text), request, is_cut=not text_call.complete)


def find_attempt(text: str, catalog: ToolCatalog) -> str | None:
    """Return the evidence that an unreadable text was meant as a tool call, or None if it is an answer."""
    for name, pattern in _ATTEMPTS.items():
        if pattern.search(text) is not None:
            return name
    leaked = leaked_tool_calls(text, catalog)
    return f"a call of {leaked[0].name}" if leaked else None


def native_history(
    reply: Reply, read: Sequence[ReadCall], results: Sequence[ToolResult], *, is_serial: bool
) -> list[ChatMessage]:
    """Return the messages of a native step: the model's text, its calls, and the result of every call.

    With `is_serial`, each call and its result form a separate message, for servers that accept one call per
    message. Unreadable calls and their results become plain text.
    """
    lost = [
        (read_call, result)
        for read_call, result in zip(read, results, strict=True)
        if not read_call.is_readable
    ]
    readable = [
        (read_call, result) for read_call, result in zip(read, results, strict=True) if read_call.is_readable
    ]
    texts = [
        reply.text,
        *(say_unread(read_call.call.raw, read_call.request.parse_error) for read_call, _ in lost),
    ]
    reply_text = "\n".join(text for text in texts if text)
    answers = [
        ChatMessage(
            "tool",
            result.text,
            (),
            read_call.call.id,
            history_name(read_call),
            is_error=result.status != "success",
            parts=result.parts,
        )
        for read_call, result in readable
    ]
    calls = tuple(
        replace(read_call.call, name=history_name(read_call), raw=history_arguments(read_call))
        for read_call, _ in readable
    )
    if is_serial and len(readable) > 1:
        messages: list[ChatMessage] = []
        for place, (call, answer) in enumerate(zip(calls, answers, strict=True)):
            carried = reply.carried if place == 0 else ()
            messages += [
                ChatMessage("assistant", reply_text if place == 0 else "", (call,), carried=carried),
                answer,
            ]
    else:
        messages = [ChatMessage("assistant", reply_text, calls, carried=reply.carried), *answers]
    if lost:
        messages.append(ChatMessage("user", "\n\n".join(result.text for _, result in lost)))
    return messages


def history_arguments(read: ReadCall) -> str:
    """Return the arguments for the history: the model's text if it is a JSON object, else the parsed ones."""
    try:
        if isinstance(orjson.loads(read.call.raw), dict):
            return read.call.raw
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    arguments = read.request.arguments
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(arguments, ensure_ascii=False)


def history_name(read: ReadCall) -> str:
    """Return the tool's name for the history. Characters that no API accepts become `_`."""
    if read.request.tool is not None:
        return read.request.tool.name
    return make_safe_name(read.call.name) or "unknown_tool"


def text_history(reply: Reply, read: Sequence[ReadCall], results: Sequence[ToolResult]) -> list[ChatMessage]:
    """Return the messages of a step with calls written as text: the text, and a message with all results."""
    result_texts = (
        f"[{result.status}] {read_call.call.name}: {result.text}"
        for read_call, result in zip(read, results, strict=True)
    )
    parts = tuple(part for result in results for part in result.parts)
    return [ChatMessage("assistant", reply.text), ChatMessage("user", "\n\n".join(result_texts), parts=parts)]


def read_unparsed_call(call: Call | None, catalog: ToolCatalog) -> ReadCall | None:
    """Return the call that a server could not parse, or None if the server does not quote it.

    The quoted text may be the arguments, or a whole call in the model's own syntax.
    """
    if call is None or call.source is CallSource.LOST or not call.raw:
        return None
    if not call.name:
        for text_call in extract_tool_calls(call.raw, catalog):
            if catalog.get(text_call.name) is not None:
                return _read_text_call(text_call, call.id)
    offered, name = (catalog, call.name) if call.name else (None, None)
    return ReadCall(call, parse_arguments(call.raw, offered, tool_name=name, tool_call_id=call.id))


def read_past_messages(messages: Sequence[Mapping[str, Any]], catalog: ToolCatalog) -> list[ChatMessage]:
    """Convert messages in OpenAI's chat format (from test cases and logs) to a history for every API.

    A call whose arguments are not a JSON object becomes text. A call without a result gets an empty result.
    """
    past: list[ChatMessage] = []
    for place, message in enumerate(messages):
        role, text = message.get("role"), message.get("content") or ""
        if role == "assistant":
            past += _read_assistant(message, messages[place + 1 :], catalog)
        elif role in ("system", "user"):
            past.append(ChatMessage(role, text))
    return past


def _read_assistant(
    message: Mapping[str, Any], after: Sequence[Mapping[str, Any]], catalog: ToolCatalog
) -> list[ChatMessage]:
    calls = tuple(
        Call(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    reply = Reply(message.get("content") or "", calls)
    if not calls:
        return [ChatMessage("assistant", reply.text)]
    answers = {
        later["tool_call_id"]: later.get("content") or "" for later in after if later.get("role") == "tool"
    }
    read = read_native_calls(reply, catalog, id_pattern=None, new_id=lambda number: f"call_past_{number}")
    results = [ToolResult("success", answers.get(call.id, "")) for call in calls]
    return native_history(reply, read, results, is_serial=False)
