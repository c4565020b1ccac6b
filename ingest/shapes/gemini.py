"""Bodies of Google's generateContent API in, `Asked` and `Reply` out.

The shape (https://ai.google.dev/api/generate-content): a request has `systemInstruction`,
`contents[].{role, parts}`, `tools[].functionDeclarations`; a response `candidates[].{content,
finishReason}`, `usageMetadata`, `modelVersion`. Calls are `functionCall.{name, args}` parts with decoded
arguments and seldom an id; results are `functionResponse` parts. Field names come in camelCase and in
snake_case. `MALFORMED_FUNCTION_CALL` is a call that Google could not read; what the model wrote is not
there, but for a piece in `finishMessage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from ingest.events import ArgsSource
from ingest.fields import table, tables, text, whole
from ingest.shapes.exchanges import (
    Asked,
    Call,
    End,
    Item,
    Kind,
    Reply,
    Result,
    call_mark,
    end_of,
    instant,
    joined,
    words_mark,
)

_LOST = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")


def asked(body: Mapping[str, Any]) -> Asked:
    given = body.get("contents")
    contents = [given] if isinstance(given, dict) else list(tables(given))
    return Asked(
        items=[item for content in contents for item in _items(content)],
        prompt=_words(tables(table(_field(body, "systemInstruction")).get("parts"))),
        tools=[
            declaration
            for tool in tables(body.get("tools"))
            for declaration in tables(_field(tool, "functionDeclarations"))
        ],
        model=text(body.get("model")),
        max_tokens=whole(_field(table(_field(body, "generationConfig")), "maxOutputTokens")),
        result=_result,
    )


def replies(body: Mapping[str, Any]) -> Iterator[Reply]:
    usage = table(_field(body, "usageMetadata"))
    for number, candidate in enumerate(tables(body.get("candidates"))):
        parts = tables(table(candidate.get("content")).get("parts"))
        word = text(_field(candidate, "finishReason"))
        calls = [_call(call) for part in parts if (call := table(_field(part, "functionCall")))]
        if word in _LOST:
            said = text(_field(candidate, "finishMessage")) or word
            calls.append(Call(None, None, {"args_source": ArgsSource.MISSING}, said, lost=True))
        yield Reply(
            id=text(_field(body, "responseId")),
            model=text(_field(body, "modelVersion")),
            ts=instant(_field(body, "createTime")),
            text=_said(parts),
            calls=calls,
            word=word,
            end=End.CALLS if calls and word == "STOP" else end_of(word),
            input_tokens=whole(_field(usage, "promptTokenCount")) or None if number == 0 else None,
            output_tokens=_written(usage) if number == 0 else None,
            marks=_marks(parts),
        )


def _field(body: Mapping[str, Any], name: str) -> Any:
    """A field in Google's spelling, or in that of its Python library."""
    if name in body:
        return body[name]
    return body.get("".join("_" + c.lower() if c.isupper() else c for c in name))


def _written(usage: Mapping[str, Any]) -> int | None:
    names = ("candidatesTokenCount", "thoughtsTokenCount")
    return sum(whole(_field(usage, name)) or 0 for name in names) or None


def _items(content: Mapping[str, Any]) -> Iterator[Item]:
    parts = tables(content.get("parts"))
    if content.get("role") == "model":
        calls = [call for part in parts if (call := table(_field(part, "functionCall")))]
        yield Item(Kind.MODEL, _marks(parts), tuple(text(call.get("id")) for call in calls))
        return
    answers = [answer for part in parts if (answer := table(_field(part, "functionResponse")))]
    for answer in answers:
        yield Item(Kind.RESULT, ids=(text(answer.get("id")),), body=answer)
    if not answers:
        words = _words(parts)
        yield Item(Kind.USER, ("user:" + (words or ""),), text=words)


def _call(call: Mapping[str, Any]) -> Call:
    arguments = {"arguments": call.get("args") or {}, "args_source": ArgsSource.RESERIALISED}
    return Call.of(call.get("name"), call.get("id"), arguments)


def _marks(parts: list[dict[str, Any]]) -> tuple[str, ...]:
    calls = [call for part in parts if (call := table(_field(part, "functionCall")))]
    marks = tuple(call_mark(call.get("name"), call.get("id"), call.get("args") or {}) for call in calls)
    return marks or words_mark(_said(parts))


def _said(parts: list[dict[str, Any]]) -> str | None:
    """The model's words: what was streamed in pieces is one text."""
    words = (text(part.get("text")) for part in parts if part.get("thought") is not True)
    return "".join(piece for piece in words if piece) or None


def _words(parts: list[dict[str, Any]]) -> str | None:
    return joined(text(part.get("text")) for part in parts)


def _result(answer: Mapping[str, Any]) -> Result:
    said = answer.get("response")
    output = table(said).get("output", table(said).get("result", said))
    return Result(text(output) or _json(output), text(answer.get("name")))


def _json(value: Any) -> str | None:
    try:
        return None if value is None else orjson.dumps(value).decode()
    except TypeError:
        return str(value)
