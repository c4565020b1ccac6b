"""Reads bodies of Google's generateContent API.

A request (https://ai.google.dev/api/generate-content) has `systemInstruction`, `contents[].{role, parts}`,
`tools[].functionDeclarations`; a response has `candidates[].{content, finishReason}`, `usageMetadata`,
`modelVersion`. Calls are `functionCall.{name, args}` parts with decoded arguments and rarely an id. Results
are `functionResponse` parts. Field names are in camelCase or snake_case. `MALFORMED_FUNCTION_CALL` means a
call that Google could not parse. The model's text of the call is missing, except for a piece in
`finishMessage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FaultLayer
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    ItemKind,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
    StopReason,
    join_texts,
    parse_instant,
    read_stop_reason,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark

_LOST = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    contents = body.get("contents")
    return ModelRequest(
        parts=[contents] if isinstance(contents, dict) else list(read_objects(contents)),
        read=read_items,
        prompt=join_words(read_objects(read_object(read_field(body, "systemInstruction")).get("parts"))),
        tools=[
            declaration
            for tool in read_objects(body.get("tools"))
            for declaration in read_objects(read_field(tool, "functionDeclarations"))
        ],
        model=read_text(body.get("model")),
        max_tokens=read_count(
            read_field(read_object(read_field(body, "generationConfig")), "maxOutputTokens")
        ),
        result=read_result,
    )


def read_replies(body: Mapping[str, Any]) -> Iterator[ModelReply]:
    usage = read_object(read_field(body, "usageMetadata"))
    for number, candidate in enumerate(read_objects(body.get("candidates"))):
        parts = read_objects(read_object(candidate.get("content")).get("parts"))
        word = read_text(read_field(candidate, "finishReason"))
        calls = [read_call(call) for part in parts if (call := read_object(read_field(part, "functionCall")))]
        if word in _LOST:
            message = read_text(read_field(candidate, "finishMessage")) or word
            calls.append(
                ModelCall(None, None, {"args_source": ArgsSource.MISSING}, message, FaultLayer.EMISSION)
            )
        yield ModelReply(
            id=read_text(read_field(body, "responseId")),
            model=read_text(read_field(body, "modelVersion")),
            ts=parse_instant(read_field(body, "createTime")),
            text=join_model_words(parts),
            calls=calls,
            word=word,
            end=StopReason.CALLS if calls and word == "STOP" else read_stop_reason(word),
            **(count_input(usage) if number == 0 else {}),
            output_tokens=count_output_tokens(usage) if number == 0 else None,
            marks=part_marks(parts),
        )


def read_field(body: Mapping[str, Any], name: str) -> Any:
    """Return the field `name` (camelCase) or the same field in snake_case, as Google's Python library writes
    it.

    Return None when the body has neither field.
    """
    if name in body:
        return body[name]
    return body.get("".join("_" + c.lower() if c.isupper() else c for c in name))


def count_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    return count_whole_input(
        read_field(usage, "promptTokenCount"), read_field(usage, "cachedContentTokenCount")
    )


def count_output_tokens(usage: Mapping[str, Any]) -> int | None:
    names = ("candidatesTokenCount", "thoughtsTokenCount")
    return sum(read_count(read_field(usage, name)) or 0 for name in names) or None


def read_items(content: Mapping[str, Any]) -> Iterator[ConversationItem]:
    parts = read_objects(content.get("parts"))
    if content.get("role") == "model":
        calls = [call for part in parts if (call := read_object(read_field(part, "functionCall")))]
        yield ConversationItem(
            ItemKind.MODEL, part_marks(parts), tuple(read_text(call.get("id")) for call in calls)
        )
        return
    answers = [answer for part in parts if (answer := read_object(read_field(part, "functionResponse")))]
    for answer in answers:
        yield ConversationItem(ItemKind.RESULT, ids=(read_text(answer.get("id")),), body=answer)
    if not answers:
        words = join_words(parts)
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)


def read_call(call: Mapping[str, Any]) -> ModelCall:
    arguments = {"arguments": call.get("args") or {}, "args_source": ArgsSource.RESERIALISED}
    return ModelCall.from_api(call.get("name"), call.get("id"), arguments)


def part_marks(parts: list[dict[str, Any]]) -> tuple[str, ...]:
    calls = [call for part in parts if (call := read_object(read_field(part, "functionCall")))]
    marks = tuple(call_mark(call.get("name"), call.get("id"), call.get("args") or {}) for call in calls)
    return marks or words_mark(join_model_words(parts))


def join_model_words(parts: list[dict[str, Any]]) -> str | None:
    """Join the model's texts except thoughts, without a separator. Return None when there is no text."""
    words = (read_text(part.get("text")) for part in parts if part.get("thought") is not True)
    return "".join(piece for piece in words if piece) or None


def join_words(parts: list[dict[str, Any]]) -> str | None:
    return join_texts(read_text(part.get("text")) for part in parts)


def read_result(answer: Mapping[str, Any]) -> RequestResult:
    response = answer.get("response")
    output = read_object(response).get("output", read_object(response).get("result", response))
    return RequestResult(read_text(output) or json_or_none(output), read_text(answer.get("name")))


def json_or_none(value: Any) -> str | None:
    try:
        return None if value is None else orjson.dumps(value).decode()
    except TypeError:
        return str(value)
