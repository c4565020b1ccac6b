"""OpenAI's Chat Completions, and the many servers that speak it.

Format: https://platform.openai.com/docs/api-reference/chat and …/chat-streaming. Allowed for, as servers
differ: tool calls without `index` (told apart by their id), arguments sent as an object, a stream that ends
without `[DONE]` after its finish reason, counts in the last choice instead of after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from callgauge.gateway.wires.messages import (
    Call,
    CallSource,
    ChatMessage,
    ChatRequest,
    FinishReason,
    Reply,
    Tokens,
)
from callgauge.gateway.wires.wire import (
    ANSWER_NAME,
    BrokenReplyError,
    CachedTokens,
    ErrorInReplyError,
    Wire,
    WireRequest,
    bearer_headers,
    decode,
    merge_body,
    write_object,
)


class _ChatFunction(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class _ChatToolCall(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _ChatFunction | None = None


class _ChatSaid(msgspec.Struct):
    content: Any = None
    refusal: str | None = None
    tool_calls: list[_ChatToolCall] | None = None


class _ChatChoice(msgspec.Struct):
    delta: _ChatSaid | None = None
    message: _ChatSaid | None = None
    finish_reason: str | None = None


class _ChatUsage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: CachedTokens | None = None


class _ChatCompletion(msgspec.Struct):
    model: str | None = None
    choices: list[_ChatChoice] | None = None
    usage: _ChatUsage | None = None
    error: Any = None


_STOPS = {
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "stop": FinishReason.END_TURN,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.REFUSAL,
}


def _write(request: ChatRequest) -> WireRequest:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_write_message(message) for message in request.messages],
        **request.sampling,
    }
    if request.streams:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.tools:
        tools = [tool.to_openai(strict=request.is_strict) for tool in request.tools]
        body |= {"tools": tools, "tool_choice": "auto"}
        if request.is_serial:
            body["parallel_tool_calls"] = False
    if request.answer_schema is not None:
        schema = {"name": ANSWER_NAME, "strict": True, "schema": dict(request.answer_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return WireRequest("/chat/completions", merge_body(body, request.extra_body))


def _write_message(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    written: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        written["content"] = message.text or None
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in message.calls
        ]
    return written


class _ChatGathered:
    """The parts of a reply as they come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[list[str]] = []  # id, name, arguments
        self.sources: list[CallSource] = []
        self._places: dict[int, int] = {}
        self.stop_word: str | None = None
        self.usage = _ChatUsage()
        self.model = ""
        self.refused_by_model = False

    def take(self, part: _ChatCompletion) -> None:
        if part.error is not None:
            raise ErrorInReplyError(write_object(part.error))
        self.model = part.model or self.model
        self.usage = part.usage or self.usage
        for choice in (part.choices or ())[:1]:
            said = choice.delta or choice.message or _ChatSaid()
            self.texts.append(_join_content(said.content))
            if said.refusal:
                self.texts.append(said.refusal)
                self.refused_by_model = True
            for call in said.tool_calls or ():
                self._take_call(call)
            self.stop_word = choice.finish_reason or self.stop_word

    def _take_call(self, call: _ChatToolCall) -> None:
        function = call.function or _ChatFunction()
        at = self._place_of(call)
        kept = self.calls[at]
        kept[0] = kept[0] or call.id or ""
        kept[1] = kept[1] or function.name or ""
        if isinstance(function.arguments, str):
            kept[2] += function.arguments
        elif function.arguments is not None:
            kept[2] += write_object(function.arguments)
            self.sources[at] = CallSource.RESERIALISED

    def _place_of(self, call: _ChatToolCall) -> int:
        """Return the place of the call that this part belongs to, a new one where it begins a call."""
        if call.index is not None and call.index in self._places:
            return self._places[call.index]
        continues = call.index is None and self.calls and call.id in (None, "", self.calls[-1][0])
        if not continues:
            self.calls.append(["", "", ""])
            self.sources.append(CallSource.RAW)
        at = len(self.calls) - 1
        if call.index is not None:
            self._places[call.index] = at
        return at

    def finish(self) -> Reply:
        details = self.usage.prompt_tokens_details
        stop = _STOPS.get(self.stop_word or "", FinishReason.OTHER)
        return Reply(
            text="".join(self.texts),
            calls=tuple(
                Call(call_id, name, raw, source)
                for (call_id, name, raw), source in zip(self.calls, self.sources, strict=True)
            ),
            stop=FinishReason.REFUSAL if self.refused_by_model else stop,
            stop_word=self.stop_word or "",
            tokens=Tokens(
                self.usage.prompt_tokens,
                self.usage.completion_tokens,
                details.cached_tokens if details else None,
            ),
            model=self.model,
        )


def _join_content(content: Any) -> str:
    """Return the text of a content: a string, or the text parts of a list (Mistral)."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _read_events(events: Iterable[str]) -> Reply:
    gathered, is_done = _ChatGathered(), False
    for data in events:
        if data.strip() == "[DONE]":
            is_done = True
            break
        gathered.take(decode(data, _ChatCompletion))
    if not is_done and gathered.stop_word is None:
        raise BrokenReplyError("The stream ended before the reply did.")
    return gathered.finish()


def _read_body(body: bytes) -> Reply:
    completion = decode(body, _ChatCompletion)
    gathered = _ChatGathered()
    gathered.take(completion)
    if not completion.choices:
        raise BrokenReplyError("The answer has no choices.")
    return gathered.finish()


OPENAI_CHAT = Wire("openai-chat", _write, bearer_headers, _read_events, _read_body, knows_seed=True)
