"""OpenAI's Responses API, without state on the server (`store: false`).

Format: https://platform.openai.com/docs/api-reference/responses and …/responses-streaming. Reasoning items go
back with their encrypted content, since the server keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from callgauge.gateway.wires.messages import Call, ChatMessage, ChatRequest, FinishReason, Reply, Tokens
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
    input_tokens_details: CachedTokens | None = None


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


def _write(request: ChatRequest) -> WireRequest:
    sampling = dict(request.sampling)
    if "max_tokens" in sampling:
        sampling["max_output_tokens"] = sampling.pop("max_tokens")
    sampling.pop("seed", None)
    body: dict[str, Any] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _write_message(message)],
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
        schema = {"name": ANSWER_NAME, "strict": True, "schema": dict(request.answer_schema)}
        body["text"] = {"format": {"type": "json_schema", **schema}}
    return WireRequest("/responses", merge_body(body, request.extra_body))


def _write_message(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
    written: list[dict[str, Any]] = [dict(item) for item in message.carried]
    if message.text or not (message.calls or written):
        written.append({"role": message.role, "content": message.text})
    written += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.raw}
        for call in message.calls
    ]
    return written


class _ResponsesGathered:
    """The items of a reply by their place; what `output_item.done` holds counts before the pieces."""

    def __init__(self) -> None:
        self.items: dict[int, _ResponsesItem] = {}
        self.pieces: dict[int, list[str]] = {}

    def finish(self, response: _ResponsesResponse) -> Reply:
        for at, item in enumerate(response.output or ()):
            self.items[at] = item
        texts: list[str] = []
        calls: list[Call] = []
        carried: list[dict[str, Any]] = []
        was_refused = False
        for at, item in sorted(self.items.items()):
            pieces = "".join(self.pieces.get(at, ()))
            if item.type == "function_call":
                calls.append(Call(item.call_id or item.id or "", item.name or "", item.arguments or pieces))
            elif item.type == "message":
                whole = "".join(part.text or part.refusal or "" for part in item.content or ())
                was_refused |= any(part.refusal for part in item.content or ())
                texts.append(whole or pieces)
            elif item.type == "reasoning" and item.encrypted_content:
                kept = {"id": item.id, "summary": item.summary, "encrypted_content": item.encrypted_content}
                carried.append({"type": "reasoning", **{k: v for k, v in kept.items() if v is not None}})
        word = (response.incomplete_details.reason if response.incomplete_details else None) or ""
        usage = response.usage or _ResponsesUsage()
        cached = usage.input_tokens_details.cached_tokens if usage.input_tokens_details else None
        return Reply(
            text="".join(texts),
            calls=tuple(calls),
            stop=_read_stop(word, bool(calls), was_refused),
            stop_word=word or response.status or "",
            tokens=Tokens(usage.input_tokens, usage.output_tokens, cached),
            model=response.model or "",
            carried=tuple(carried),
        )


def _read_stop(word: str, has_calls: bool, was_refused: bool) -> FinishReason:
    if word == "max_output_tokens":
        return FinishReason.MAX_TOKENS
    if word == "content_filter" or was_refused:
        return FinishReason.REFUSAL
    if word:
        return FinishReason.OTHER
    return FinishReason.TOOL_USE if has_calls else FinishReason.END_TURN


def _read_events(events: Iterable[str]) -> Reply:
    gathered = _ResponsesGathered()
    for data in events:
        if data.strip() == "[DONE]":
            continue
        event = decode(data, _ResponsesEvent)
        kind, at = event.type, event.output_index
        if kind in ("response.output_item.added", "response.output_item.done") and event.item is not None:
            gathered.items[at] = event.item
        elif kind in ("response.function_call_arguments.delta", "response.output_text.delta"):
            gathered.pieces.setdefault(at, []).append(event.delta or "")
        elif kind in ("response.completed", "response.incomplete"):
            return gathered.finish(event.response or _ResponsesResponse())
        elif kind in ("response.failed", "error"):
            told = event.response.error if event.response else event.error or {"message": event.message}
            raise ErrorInReplyError(write_object(told))
    raise BrokenReplyError("The stream ended before the reply did.")


def _read_body(body: bytes) -> Reply:
    response = decode(body, _ResponsesResponse)
    if response.error is not None:
        raise ErrorInReplyError(write_object(response.error))
    if response.output is None:
        raise BrokenReplyError("The answer has no output.")
    return _ResponsesGathered().finish(response)


OPENAI_RESPONSES = Wire("openai-responses", _write, bearer_headers, _read_events, _read_body)
