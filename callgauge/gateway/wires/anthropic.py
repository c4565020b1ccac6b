"""Anthropic's Messages API.

Format: https://docs.claude.com/en/api/messages and …/messages-streaming. The model's own text of a call comes
only in a stream, and only from tools with `eager_input_streaming` (fine-grained tool streaming): otherwise
the API has buffered and validated it. Thinking blocks go back unchanged, as the API asks.
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
    BrokenReplyError,
    ErrorInReplyError,
    Wire,
    WireRequest,
    decode,
    decode_object,
    merge_body,
    write_object,
)

DEFAULT_MAX_TOKENS = 4096  # the API wants a number


class _AnthropicBlock(msgspec.Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None


class _AnthropicUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _AnthropicAnswer(msgspec.Struct):
    model: str | None = None
    content: list[_AnthropicBlock] | None = None
    stop_reason: str | None = None
    usage: _AnthropicUsage | None = None
    error: Any = None


class _AnthropicDelta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class _AnthropicEvent(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: _AnthropicAnswer | None = None
    content_block: _AnthropicBlock | None = None
    delta: _AnthropicDelta | None = None
    usage: _AnthropicUsage | None = None
    error: Any = None


_STOPS = {
    "tool_use": FinishReason.TOOL_USE,
    "end_turn": FinishReason.END_TURN,
    "stop_sequence": FinishReason.END_TURN,
    "max_tokens": FinishReason.MAX_TOKENS,
    "refusal": FinishReason.REFUSAL,
}


def _write(request: ChatRequest) -> WireRequest:
    sampling = {name: value for name, value in request.sampling.items() if name != "seed"}
    system, rest = _split_system(request.messages)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": DEFAULT_MAX_TOKENS,
        "messages": _write_messages(rest),
        **sampling,
    }
    if system:
        body["system"] = system
    if request.streams:
        body["stream"] = True
    if request.tools:
        body["tools"] = [
            tool.to_anthropic()
            | ({"eager_input_streaming": True} if request.streams else {})
            | ({"strict": True} if request.is_strict else {})
            for tool in request.tools
        ]
        body["tool_choice"] = {"type": "auto"} | (
            {"disable_parallel_tool_use": True} if request.is_serial else {}
        )
    if request.answer_schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.answer_schema)}}
    return WireRequest("/messages", merge_body(body, request.extra_body))


def _split_system(messages: tuple[ChatMessage, ...]) -> tuple[str, tuple[ChatMessage, ...]]:
    """Return the text of the system messages at the beginning, and the messages after them."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return "\n\n".join(message.text for message in messages[:at] if message.text), messages[at:]


def _write_messages(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    """Return the messages with neighbours of one role joined: results and words of a user are one message."""
    written: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _write_blocks(message)
        if not blocks:
            continue
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    return written


def _write_blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [
            {
                "type": "tool_result",
                "tool_use_id": message.call_id,
                "content": message.text,
                "is_error": message.is_error,
            }
        ]
    blocks = [dict(item) for item in message.carried]
    if message.text.strip():  # the API refuses blocks of white space
        blocks.append({"type": "text", "text": message.text})
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": decode_object(call.raw)}
        for call in message.calls
    ]


def _read_events(events: Iterable[str]) -> Reply:
    blocks: dict[int, _AnthropicBlock] = {}
    pieces: dict[int, list[str]] = {}
    usage, model, word = _AnthropicUsage(), "", ""
    for data in events:
        event = decode(data, _AnthropicEvent)
        if event.type == "message_start" and event.message is not None:
            usage, model = event.message.usage or usage, event.message.model or ""
        elif event.type == "content_block_start" and event.content_block is not None:
            blocks[event.index] = event.content_block
        elif event.type == "content_block_delta" and event.delta is not None:
            _take_delta(event.index, event.delta, blocks, pieces)
        elif event.type == "message_delta":
            word = (event.delta.stop_reason if event.delta else None) or word
            if event.usage is not None:
                usage = _add_usage(usage, event.usage)
        elif event.type == "error":
            raise ErrorInReplyError(write_object(event.error))
        elif event.type == "message_stop":
            raw_texts = {at: "".join(texts) for at, texts in pieces.items()}
            return _finish(blocks, raw_texts, word, usage, model)
    raise BrokenReplyError("The stream ended before the reply did.")


def _take_delta(
    at: int, delta: _AnthropicDelta, blocks: dict[int, _AnthropicBlock], pieces: dict[int, list[str]]
) -> None:
    block = blocks.setdefault(at, _AnthropicBlock("text", text=""))
    if delta.type == "input_json_delta":
        pieces.setdefault(at, []).append(delta.partial_json or "")
    elif delta.type == "text_delta":
        block.text = (block.text or "") + (delta.text or "")
    elif delta.type == "thinking_delta":
        block.thinking = (block.thinking or "") + (delta.thinking or "")
    elif delta.type == "signature_delta":
        block.signature = (block.signature or "") + (delta.signature or "")


def _add_usage(before: _AnthropicUsage, told: _AnthropicUsage) -> _AnthropicUsage:
    """Return the counts with those of `message_delta`, which are sums, in place of the earlier ones."""
    named = {
        name: value
        for name in _AnthropicUsage.__struct_fields__
        if (value := getattr(told, name)) is not None
    }
    return msgspec.structs.replace(before, **named)


def _read_body(body: bytes) -> Reply:
    answer = decode(body, _AnthropicAnswer)
    if answer.error is not None:
        raise ErrorInReplyError(write_object(answer.error))
    if answer.content is None:
        raise BrokenReplyError("The answer has no content.")
    usage = answer.usage or _AnthropicUsage()
    return _finish(dict(enumerate(answer.content)), {}, answer.stop_reason or "", usage, answer.model or "")


def _finish(
    blocks: dict[int, _AnthropicBlock],
    raw_texts: dict[int, str],
    word: str,
    usage: _AnthropicUsage,
    model: str,
) -> Reply:
    """Return the reply; `raw_texts` holds the arguments that came in pieces, by the place of their block."""
    calls: list[Call] = []
    carried: list[dict[str, Any]] = []
    for at, block in sorted(blocks.items()):
        if block.type == "tool_use":
            raw = raw_texts.get(at)
            source = CallSource.RESERIALISED if raw is None else CallSource.RAW
            text = write_object(block.input) if raw is None else raw
            calls.append(Call(block.id or "", block.name or "", text, source))
        elif block.type in ("thinking", "redacted_thinking"):
            kept = {"thinking": block.thinking, "signature": block.signature, "data": block.data}
            carried.append({"type": block.type, **{k: v for k, v in kept.items() if v is not None}})
    read = (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    return Reply(
        text="".join(block.text or "" for _, block in sorted(blocks.items()) if block.type == "text"),
        calls=tuple(calls),
        stop=_STOPS.get(word, FinishReason.OTHER),
        stop_word=word,
        tokens=Tokens(
            None if usage.input_tokens is None else sum(count or 0 for count in read),
            usage.output_tokens,
            usage.cache_read_input_tokens,
        ),
        model=model,
        carried=tuple(carried),
    )


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})


ANTHROPIC = Wire("anthropic", _write, _headers, _read_events, _read_body)
