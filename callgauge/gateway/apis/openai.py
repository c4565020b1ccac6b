"""Adapters for OpenAI's two APIs: Chat Completions, which many servers support, and Responses.

Chat Completions: https://platform.openai.com/docs/api-reference/chat and …/chat-streaming. Servers differ.
Tool calls may lack an `index`; then their ids are compared. Arguments may be an object. A stream may end
after the finish reason without `[DONE]`. Token counts may be in the last choice or after it.

Responses: https://platform.openai.com/docs/api-reference/responses and …/responses-streaming. The server
stores nothing (`store: false`), so requests contain the earlier reasoning items with their encrypted content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgauge.gateway.apis.adapter import (
    BrokenReplyError,
    ErrorInReplyError,
    ReplyParts,
    Wire,
    check_error,
    select_known,
    write_object,
)
from callgauge.gateway.apis.messages import (
    Call,
    CallSource,
    ChatMessage,
    ChatRequest,
    FinishReason,
    Reply,
    Tokens,
)


class _CachedTokens(msgspec.Struct):
    """The number of input tokens that came from a cache."""

    cached_tokens: int | None = None


def _write_headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _name_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer with a name, which both APIs require."""
    return {"name": "answer", "strict": True, "schema": dict(schema)}


# --- Chat Completions ------------------------------------------------------------------------------


class _ChatFunction(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class _ChatToolCall(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _ChatFunction | None = None


class _ChatMessage(msgspec.Struct):
    content: Any = None
    refusal: str | None = None
    tool_calls: list[_ChatToolCall] | None = None


class _ChatChoice(msgspec.Struct):
    delta: _ChatMessage | None = None
    message: _ChatMessage | None = None
    finish_reason: str | None = None


class _ChatUsage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None


class _ChatCompletion(msgspec.Struct):
    model: str | None = None
    choices: list[_ChatChoice] | None = None
    usage: _ChatUsage | None = None
    error: Any = None


_CHAT_STOPS = {
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "stop": FinishReason.END_TURN,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.REFUSAL,
}


def _write_chat_body(request: ChatRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_write_chat_message(message) for message in request.messages],
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
        body["response_format"] = {"type": "json_schema", "json_schema": _name_schema(request.answer_schema)}
    return body


def _write_chat_message(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        content = _write_content(message, "text")
        return {"role": "tool", "tool_call_id": message.call_id, "content": content}
    written: dict[str, Any] = {"role": message.role, "content": _write_content(message, "text")}
    if message.calls:
        written["content"] = message.text or None
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in message.calls
        ]
    return written


def _write_content(message: ChatMessage, text_type: str) -> str | list[dict[str, Any]]:
    """Return the content of a message: a string, or a list if the message contains images or files."""
    if not message.parts:
        return message.text
    texts = [{"type": text_type, "text": message.text}] if message.text else []
    return [*texts, *(dict(part) for part in message.parts)]


class _ChatParts(ReplyParts):
    def __init__(self) -> None:
        super().__init__()
        self._places: dict[int, int] = {}
        self.usage = _ChatUsage()
        self.is_refused = False

    @property
    def may_end(self) -> bool:
        return self.is_done or self.stop_word is not None

    def add_event(self, event: _ChatCompletion) -> bool:
        check_error(event.error)
        self.model = event.model or self.model
        self.usage = event.usage or self.usage
        for choice in (event.choices or ())[:1]:
            message = choice.delta or choice.message or _ChatMessage()
            self.add_text(_join_content(message.content))
            if message.refusal:
                self.add_text(message.refusal)
                self.is_refused = True
            for call in message.tool_calls or ():
                self._add_call(call)
            self.stop_word = choice.finish_reason or self.stop_word
        return False

    def _add_call(self, part: _ChatToolCall) -> None:
        function = part.function or _ChatFunction()
        place = self._place_of(part)
        call = self.calls[place]
        if isinstance(function.arguments, str) or function.arguments is None:
            arguments, source = function.arguments or "", call.source
        else:
            arguments, source = write_object(function.arguments), CallSource.RESERIALISED
        self.calls[place] = Call(
            call.id or part.id or "", call.name or function.name or "", call.raw + arguments, source
        )

    def _place_of(self, part: _ChatToolCall) -> int:
        """Return the index of the tool call that a stream's piece belongs to, or a new index if the piece
        begins a call.
        """
        if part.index is not None and part.index in self._places:
            return self._places[part.index]
        continues = part.index is None and self.calls and part.id in (None, "", self.calls[-1].id)
        if not continues:
            self.calls.append(Call("", "", ""))
        place = len(self.calls) - 1
        if part.index is not None:
            self._places[part.index] = place
        return place

    def add_body(self, body: _ChatCompletion) -> None:
        self.add_event(body)
        if not body.choices:
            raise BrokenReplyError("The answer has no choices.")

    def read_stop(self) -> FinishReason:
        if self.is_refused:
            return FinishReason.REFUSAL
        return _CHAT_STOPS.get(self.stop_word or "", FinishReason.OTHER)

    def count_tokens(self) -> Tokens:
        details = self.usage.prompt_tokens_details
        cached = details.cached_tokens if details else None
        return Tokens(self.usage.prompt_tokens, self.usage.completion_tokens, cached)


def _join_content(content: Any) -> str:
    """Return the content as one string. Mistral sends a list, whose text parts are joined."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


OPENAI_CHAT = Wire(
    "openai-chat",
    lambda _: "/chat/completions",
    _write_chat_body,
    _write_headers,
    _ChatCompletion,
    _ChatCompletion,
    _ChatParts,
    knows_seed=True,
)


# --- Responses -------------------------------------------------------------------------------------


class _ResponsesPart(msgspec.Struct):
    text: str | None = None
    refusal: str | None = None


class _ResponsesItem(msgspec.Struct):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_ResponsesPart] | None = None
    summary: Any = None
    encrypted_content: str | None = None


class _ResponsesIncomplete(msgspec.Struct):
    reason: str | None = None


class _ResponsesUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _CachedTokens | None = None


class _ResponsesResponse(msgspec.Struct):
    model: str | None = None
    status: str | None = None
    output: list[_ResponsesItem] | None = None
    incomplete_details: _ResponsesIncomplete | None = None
    usage: _ResponsesUsage | None = None
    error: Any = None


class _ResponsesEvent(msgspec.Struct):
    type: str = ""
    output_index: int = 0
    item: _ResponsesItem | None = None
    delta: str | None = None
    response: _ResponsesResponse | None = None
    message: str | None = None
    error: Any = None


def _write_responses_body(request: ChatRequest) -> dict[str, Any]:
    sampling = dict(request.sampling)
    if "max_tokens" in sampling:
        sampling["max_output_tokens"] = sampling.pop("max_tokens")
    sampling.pop("seed", None)
    body: dict[str, Any] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _write_items(message)],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        **sampling,
    }
    if request.streams:
        body["stream"] = True
    if request.tools:
        body["tools"] = [tool.to_openai_responses(strict=request.is_strict) for tool in request.tools]
        if request.is_serial:
            body["parallel_tool_calls"] = False
    if request.answer_schema is not None:
        body["text"] = {"format": {"type": "json_schema", **_name_schema(request.answer_schema)}}
    return body


def _write_items(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        output = _write_content(message, "input_text")
        return [{"type": "function_call_output", "call_id": message.call_id, "output": output}]
    written: list[dict[str, Any]] = [dict(item) for item in message.carried]
    if message.text or message.parts or not (message.calls or written):
        written.append({"role": message.role, "content": _write_content(message, "input_text")})
    written += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.raw}
        for call in message.calls
    ]
    return written


class _ResponsesParts(ReplyParts):
    """Collects the items of a reply by their index. The event `output_item.done` overrides the streamed
    pieces.
    """

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[int, _ResponsesItem] = {}
        self.pieces: dict[int, list[str]] = {}
        self.response = _ResponsesResponse()
        self.is_refused = False

    def add_event(self, event: _ResponsesEvent) -> bool:
        kind, place = event.type, event.output_index
        if kind in ("response.output_item.added", "response.output_item.done") and event.item is not None:
            self.items[place] = event.item
        elif kind in ("response.function_call_arguments.delta", "response.output_text.delta"):
            self.pieces.setdefault(place, []).append(event.delta or "")
            if kind == "response.output_text.delta":
                self.show_text(event.delta or "")
        elif kind in ("response.completed", "response.incomplete"):
            self._add_response(event.response or self.response)
            return True
        elif kind in ("response.failed", "error"):
            error = event.response.error if event.response else event.error or {"message": event.message}
            raise ErrorInReplyError(write_object(error))
        return False

    def add_body(self, body: _ResponsesResponse) -> None:
        if body.output is None:
            raise BrokenReplyError("The answer has no output.")
        self._add_response(body)

    def _add_response(self, response: _ResponsesResponse) -> None:
        self.response = response
        self.items.update(enumerate(response.output or ()))
        self.model = response.model or ""

    def complete(self) -> Reply:
        for place, item in sorted(self.items.items()):
            pieces = "".join(self.pieces.get(place, ()))
            if item.type == "function_call":
                call_id = item.call_id or item.id or ""
                self.calls.append(Call(call_id, item.name or "", item.arguments or pieces))
            elif item.type == "message":
                whole = "".join(part.text or part.refusal or "" for part in item.content or ())
                self.is_refused |= any(part.refusal for part in item.content or ())
                self.texts.append(whole or pieces)
            elif item.type == "reasoning" and item.encrypted_content:
                fields = {"id": item.id, "summary": item.summary, "encrypted_content": item.encrypted_content}
                self.carried.append({"type": "reasoning", **select_known(fields)})
        self.stop_word = self._read_reason() or self.response.status
        return super().complete()

    def _read_reason(self) -> str:
        details = self.response.incomplete_details
        return (details.reason if details else None) or ""

    def read_stop(self) -> FinishReason:
        reason = self._read_reason()
        if reason == "max_output_tokens":
            return FinishReason.MAX_TOKENS
        if reason == "content_filter" or self.is_refused:
            return FinishReason.REFUSAL
        if reason:
            return FinishReason.OTHER
        return FinishReason.TOOL_USE if self.calls else FinishReason.END_TURN

    def count_tokens(self) -> Tokens:
        usage = self.response.usage or _ResponsesUsage()
        details = usage.input_tokens_details
        return Tokens(usage.input_tokens, usage.output_tokens, details.cached_tokens if details else None)


OPENAI_RESPONSES = Wire(
    "openai-responses",
    lambda _: "/responses",
    _write_responses_body,
    _write_headers,
    _ResponsesEvent,
    _ResponsesResponse,
    _ResponsesParts,
)
