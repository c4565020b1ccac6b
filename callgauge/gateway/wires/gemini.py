"""Gemini's generateContent.

Format: https://ai.google.dev/api/generate-content. The wire sends arguments as an object, never the model's
text; what could not be read ends with `MALFORMED_FUNCTION_CALL`, and `finishMessage` may quote it. A call's
`thoughtSignature` goes back with it, as the API asks.
"""

from __future__ import annotations

import re
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


def _write(request: ChatRequest) -> WireRequest:
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
    method = "streamGenerateContent?alt=sse" if request.streams else "generateContent"
    return WireRequest(f"/models/{request.model}:{method}", merge_body(body, request.extra_body))


def _write_contents(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        parts = _write_parts(message)
        if written and written[-1]["role"] == role:
            written[-1]["parts"] += parts
        elif parts:
            written.append({"role": role, "parts": parts})
    return written


def _write_parts(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        told = {"error" if message.is_error else "result": message.text}
        return [{"functionResponse": {"name": message.name, "response": told}}]
    parts: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
    for call in message.calls:
        part: dict[str, Any] = {"functionCall": {"name": call.name, "args": decode_object(call.raw)}}
        if call.signature is not None:
            part["thoughtSignature"] = call.signature
        parts.append(part)
    return parts


class _GeminiGathered:
    """The parts of a reply as they come; each event is an answer of its own with the next parts."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[Call] = []
        self.usage = _GeminiUsage()
        self.model = ""
        self.stop_word: str | None = None
        self.stop_message: str | None = None

    def take(self, answer: _GeminiAnswer) -> None:
        if answer.error is not None:
            raise ErrorInReplyError(write_object(answer.error))
        self.usage = answer.usage_metadata or self.usage
        self.model = answer.model_version or self.model
        if answer.prompt_feedback is not None and answer.prompt_feedback.block_reason:
            self.stop_word = self.stop_word or "SAFETY"
        for candidate in (answer.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content else None) or ():
                self._take_part(part)
            self.stop_word = candidate.finish_reason or self.stop_word
            self.stop_message = candidate.finish_message or self.stop_message

    def _take_part(self, part: _GeminiPart) -> None:
        if part.function_call is not None:
            call = part.function_call
            self.calls.append(
                Call(
                    call.id or "",
                    call.name,
                    write_object(call.args),
                    CallSource.RESERIALISED,
                    signature=part.thought_signature,
                )
            )
        elif part.text and not part.thought:
            self.texts.append(part.text)

    def finish(self) -> Reply:
        if self.stop_word is None:
            raise BrokenReplyError("The stream ended before the reply did.")
        word, usage = self.stop_word, self.usage
        written = (usage.candidates_token_count, usage.thoughts_token_count)
        refused = (self.stop_message or word) if word in _UNREADABLE_CALL else None
        return Reply(
            text="".join(self.texts),
            calls=tuple(self.calls),
            stop=_read_stop(word, bool(self.calls)),
            stop_word=word,
            tokens=Tokens(
                usage.prompt_token_count,
                None if usage.candidates_token_count is None else sum(count or 0 for count in written),
                usage.cached_content_token_count,
            ),
            model=self.model,
            refused=refused,
            refused_call=None if refused is None else _read_refused_call(refused),
        )


def _read_stop(word: str, has_calls: bool) -> FinishReason:
    if word == "STOP":
        return FinishReason.TOOL_USE if has_calls else FinishReason.END_TURN
    if word == "MAX_TOKENS":
        return FinishReason.MAX_TOKENS
    return FinishReason.REFUSAL if word in _REFUSALS else FinishReason.OTHER


def _read_refused_call(told: str) -> Call | None:
    quoted = _QUOTED_CALL.search(told)
    return None if quoted is None else Call("", quoted[1], quoted[2].removeprefix("(").removesuffix(")"))


def _read_events(events: Iterable[str]) -> Reply:
    gathered = _GeminiGathered()
    for data in events:
        gathered.take(decode(data, _GeminiAnswer))
    return gathered.finish()


def _read_body(body: bytes) -> Reply:
    return _read_events([body.decode("utf-8", "replace")])


def _headers(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


GEMINI = Wire("gemini", _write, _headers, _read_events, _read_body, knows_seed=True, knows_strict=False)
