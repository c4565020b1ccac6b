"""Adapter for Gemini's generateContent.

Format: https://ai.google.dev/api/generate-content. The API sends arguments as an object, never the model's
own text. If the API could not parse a call, the reply ends with `MALFORMED_FUNCTION_CALL`, and
`finishMessage` may quote the call. The API requires that the `thoughtSignature` of a call is sent back with
the call.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec

from callgauge.gateway.apis.adapter import (
    ENDED_EARLY,
    BrokenReplyError,
    ReplyParts,
    Wire,
    add_to_turn,
    check_error,
    decode_object,
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


class _GeminiFunctionCall(msgspec.Struct):
    name: str = ""
    args: Any = None
    id: str | None = None


class _GeminiPart(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: _GeminiFunctionCall | None = None
    thought_signature: str | None = None


class _GeminiContent(msgspec.Struct):
    parts: list[_GeminiPart] | None = None


class _GeminiCandidate(msgspec.Struct, rename="camel"):
    content: _GeminiContent | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _GeminiUsage(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _GeminiFeedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _GeminiAnswer(msgspec.Struct, rename="camel"):
    candidates: list[_GeminiCandidate] | None = None
    usage_metadata: _GeminiUsage | None = None
    model_version: str | None = None
    prompt_feedback: _GeminiFeedback | None = None
    error: Any = None


_SAMPLING = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens", "seed": "seed"}
_REFUSALS = frozenset(
    ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY")
)
_UNREADABLE_CALL = frozenset(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"))
_QUOTED_CALL = re.compile(
    r"function call:?\s*(?:default_api\.)?([\w.-]+)\s*(\(.*\)|\{.*\})\s*$", re.DOTALL | re.IGNORECASE
)


def _write_path(request: ChatRequest) -> str:
    method = "streamGenerateContent?alt=sse" if request.streams else "generateContent"
    return f"/models/{request.model}:{method}"


def _write_body(request: ChatRequest) -> dict[str, Any]:
    messages = request.messages
    system = [message.text for message in messages if message.role == "system"]
    body: dict[str, Any] = {"contents": _write_contents(messages)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
    config: dict[str, Any] = {_SAMPLING[name]: value for name, value in request.sampling.items()}
    if request.answer_schema is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": dict(request.answer_schema)}
    if config:
        body["generationConfig"] = config
    if request.tools:
        body["tools"] = [{"functionDeclarations": [tool.to_gemini() for tool in request.tools]}]
    return body


def _write_contents(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role != "system":
            role = "model" if message.role == "assistant" else "user"
            add_to_turn(written, role, "parts", _write_parts(message))
    return written


def _write_parts(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        response = {"error" if message.is_error else "result": message.text}
        answer: dict[str, Any] = {"name": message.name, "response": response}
        if message.parts:
            answer["parts"] = [dict(part) for part in message.parts]
        return [{"functionResponse": answer}]
    parts: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
    parts += [dict(part) for part in message.parts]
    for call in message.calls:
        part: dict[str, Any] = {"functionCall": {"name": call.name, "args": decode_object(call.raw)}}
        if call.signature is not None:
            part["thoughtSignature"] = call.signature
        parts.append(part)
    return parts


class _GeminiParts(ReplyParts):
    """Collects the content of a reply. Each event of a stream has the format of a whole response, with the
    next content.
    """

    def __init__(self) -> None:
        super().__init__()
        self.usage = _GeminiUsage()
        self.stop_message: str | None = None

    @property
    def may_end(self) -> bool:
        return self.stop_word is not None

    def add_event(self, event: _GeminiAnswer) -> bool:
        check_error(event.error)
        self.usage = event.usage_metadata or self.usage
        self.model = event.model_version or self.model
        if event.prompt_feedback is not None and event.prompt_feedback.block_reason:
            self.stop_word = self.stop_word or "SAFETY"
        for candidate in (event.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content else None) or ():
                self._add_part(part)
            self.stop_word = candidate.finish_reason or self.stop_word
            self.stop_message = candidate.finish_message or self.stop_message
        return False

    def _add_part(self, part: _GeminiPart) -> None:
        call = part.function_call
        if call is not None:
            raw, signature = write_object(call.args), part.thought_signature
            self.calls.append(
                Call(call.id or "", call.name, raw, CallSource.RESERIALISED, signature=signature)
            )
        elif part.text and not part.thought:
            self.add_text(part.text)

    def add_body(self, body: _GeminiAnswer) -> None:
        self.add_event(body)
        if not self.may_end:
            raise BrokenReplyError(ENDED_EARLY)

    def complete(self) -> Reply:
        reply = super().complete()
        if self.stop_word not in _UNREADABLE_CALL:
            return reply
        refused = self.stop_message or self.stop_word
        return replace(reply, refused=refused, refused_call=_read_refused_call(refused))

    def read_stop(self) -> FinishReason:
        if self.stop_word == "STOP":
            return FinishReason.TOOL_USE if self.calls else FinishReason.END_TURN
        if self.stop_word == "MAX_TOKENS":
            return FinishReason.MAX_TOKENS
        return FinishReason.REFUSAL if self.stop_word in _REFUSALS else FinishReason.OTHER

    def count_tokens(self) -> Tokens:
        usage = self.usage
        written = (usage.candidates_token_count, usage.thoughts_token_count)
        return Tokens(
            usage.prompt_token_count,
            None if usage.candidates_token_count is None else sum(count or 0 for count in written),
            usage.cached_content_token_count,
        )


def _read_refused_call(message: str) -> Call | None:
    quoted = _QUOTED_CALL.search(message)
    return None if quoted is None else Call("", quoted[1], quoted[2].removeprefix("(").removesuffix(")"))


GEMINI = Wire(
    "gemini",
    _write_path,
    _write_body,
    lambda key: {"x-goog-api-key": key} if key else {},
    _GeminiAnswer,
    _GeminiAnswer,
    _GeminiParts,
    knows_seed=True,
    knows_strict=False,
)
