"""Adapter for Anthropic's Messages API.

Format: https://docs.claude.com/en/api/messages and …/messages-streaming. Only a stream contains arguments as
the model wrote them, and only for tools with `eager_input_streaming` (fine-grained tool streaming). Otherwise
the API buffers and validates the arguments first. The API requires that thinking blocks are sent back
unchanged.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callgauge.gateway.apis.adapter import (
    BrokenReplyError,
    ErrorInReplyError,
    ReplyParts,
    Wire,
    add_to_turn,
    decode_object,
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

DEFAULT_MAX_TOKENS = 4096  # The API requires a number.


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


def _write_body(request: ChatRequest) -> dict[str, Any]:
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
    return body


def _split_system(messages: tuple[ChatMessage, ...]) -> tuple[str, tuple[ChatMessage, ...]]:
    """Return the text of the system messages at the beginning, and all messages after them."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return "\n\n".join(message.text for message in messages[:at] if message.text), messages[at:]


def _write_messages(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        add_to_turn(written, role, "content", _write_blocks(message))
    return written


def _write_blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [
            {
                "type": "tool_result",
                "tool_use_id": message.call_id,
                "content": _write_result(message),
                "is_error": message.is_error,
            }
        ]
    blocks = [dict(item) for item in message.carried]
    if message.text.strip():  # The API rejects text blocks that contain only white space.
        blocks.append({"type": "text", "text": message.text})
    blocks += [dict(part) for part in message.parts]
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": decode_object(call.raw)}
        for call in message.calls
    ]


def _write_result(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Return the content of a tool result: a string, or a list if the result contains images or files."""
    if not message.parts:
        return message.text
    texts = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return [*texts, *(dict(part) for part in message.parts)]


class _AnthropicParts(ReplyParts):
    """Collects the blocks of a reply, and the pieces of the blocks' arguments, by the index of the block."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[int, _AnthropicBlock] = {}
        self.pieces: dict[int, list[str]] = {}
        self.usage = _AnthropicUsage()

    def add_event(self, event: _AnthropicEvent) -> bool:
        if event.type == "message_start" and event.message is not None:
            self.usage, self.model = event.message.usage or self.usage, event.message.model or ""
        elif event.type == "content_block_start" and event.content_block is not None:
            self.blocks[event.index] = event.content_block
            if event.content_block.type == "text":
                self.show_text(event.content_block.text or "")
        elif event.type == "content_block_delta" and event.delta is not None:
            self._add_delta(event.index, event.delta)
        elif event.type == "message_delta":
            self.stop_word = (event.delta.stop_reason if event.delta else None) or self.stop_word
            if event.usage is not None:  # These counts are totals, so they replace the earlier counts.
                self.usage = msgspec.structs.replace(
                    self.usage, **select_known(msgspec.structs.asdict(event.usage))
                )
        elif event.type == "error":
            raise ErrorInReplyError(write_object(event.error))
        return event.type == "message_stop"

    def _add_delta(self, index: int, delta: _AnthropicDelta) -> None:
        block = self.blocks.setdefault(index, _AnthropicBlock("text", text=""))
        if delta.type == "input_json_delta":
            self.pieces.setdefault(index, []).append(delta.partial_json or "")
        elif delta.type == "text_delta":
            block.text = (block.text or "") + (delta.text or "")
            if block.type == "text":
                self.show_text(delta.text or "")
        elif delta.type == "thinking_delta":
            block.thinking = (block.thinking or "") + (delta.thinking or "")
        elif delta.type == "signature_delta":
            block.signature = (block.signature or "") + (delta.signature or "")

    def add_body(self, body: _AnthropicAnswer) -> None:
        if body.content is None:
            raise BrokenReplyError("The answer has no content.")
        self.blocks = dict(enumerate(body.content))
        self.stop_word, self.model = body.stop_reason, body.model or ""
        self.usage = body.usage or self.usage

    def complete(self) -> Reply:
        for index, block in sorted(self.blocks.items()):
            if block.type == "tool_use":
                if index in self.pieces:
                    raw, source = "".join(self.pieces[index]), CallSource.RAW
                else:
                    raw, source = write_object(block.input), CallSource.RESERIALISED
                self.calls.append(Call(block.id or "", block.name or "", raw, source))
            elif block.type in ("thinking", "redacted_thinking"):
                fields = {"thinking": block.thinking, "signature": block.signature, "data": block.data}
                self.carried.append({"type": block.type, **select_known(fields)})
            elif block.type == "text":
                self.texts.append(block.text or "")
        return super().complete()

    def read_stop(self) -> FinishReason:
        return _STOPS.get(self.stop_word or "", FinishReason.OTHER)

    def count_tokens(self) -> Tokens:
        usage = self.usage
        read = (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
        return Tokens(
            None if usage.input_tokens is None else sum(count or 0 for count in read),
            usage.output_tokens,
            usage.cache_read_input_tokens,
        )


def _write_headers(key: str) -> dict[str, str]:
    return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})


ANTHROPIC = Wire(
    "anthropic",
    lambda _: "/messages",
    _write_body,
    _write_headers,
    _AnthropicEvent,
    _AnthropicAnswer,
    _AnthropicParts,
)
