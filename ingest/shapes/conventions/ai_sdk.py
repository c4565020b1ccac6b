"""The Vercel AI SDK's attributes (`ai.…`) in, what they say out.

https://ai-sdk.dev/docs/ai-sdk-core/telemetry. `ai.generateText` and `ai.streamText` stand around their
`….doGenerate` and `….doStream`, one a model call; `ai.toolCall` is the run of a tool. `ai.response.toolCalls`
is JSON with the arguments as the provider gave them: the model's text, or the SDK's own where the API has
objects. Version 5 says `input` where version 4 said `args`.
"""

from __future__ import annotations

from typing import Any

from ingest.fields import tables
from ingest.shapes.attributes import Attributes, counted, first, text
from ingest.shapes.message_parts import Message, call_said
from ingest.shapes.nested import opened
from ingest.shapes.requests import definitions_in, request_in
from ingest.shapes.spans import Facts, Kind, RawSpan

_META = "ai.telemetry.metadata."
_SESSION = tuple(_META + name for name in ("sessionId", "session_id", "threadId", "thread_id", "chatId"))
_SAID = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")


def read(raw: RawSpan, facts: Facts) -> None:
    attributes = raw.attributes
    operation = text(attributes, "ai.operationId", "operation.name")
    if operation is None or not operation.startswith("ai."):
        return
    if operation.startswith("ai.toolCall"):
        facts.fill(
            kind=Kind.EXECUTION,
            tool=text(attributes, "ai.toolCall.name"),
            call_id=text(attributes, "ai.toolCall.id"),
            arguments=first(attributes, "ai.toolCall.args", "ai.toolCall.input"),
            result=first(attributes, "ai.toolCall.result", "ai.toolCall.output"),
        )
    elif operation.startswith(("ai.generate", "ai.stream")):
        _read_model_call(attributes, facts)
    else:
        facts.fill(kind=Kind.OTHER)
    facts.fill(session_id=text(attributes, *_SESSION))


def _read_model_call(attributes: Attributes, facts: Facts) -> None:
    request = request_in(first(attributes, "ai.prompt.messages", "ai.prompt"))
    name, version = first(attributes, _META + "promptName"), first(attributes, _META + "promptVersion")
    provider = text(attributes, "ai.model.provider", "gen_ai.system")
    facts.fill(
        kind=Kind.INFERENCE,
        provider=provider.partition(".")[0] if provider else None,  # openai.chat, openai.responses
        model=text(attributes, "ai.response.model", "gen_ai.response.model", "ai.model.id"),
        prompt_name=name if isinstance(name, str) else None,
        prompt_version=None if version is None else str(version),
        system=request.system if request else None,
        definitions=definitions_in(attributes.get("ai.prompt.tools")) or None,
        input=request.messages if request and request.messages else None,
        output=_output(attributes),
        input_tokens=counted(
            attributes, "gen_ai.usage.input_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"
        ),
        output_tokens=counted(
            attributes, "gen_ai.usage.output_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"
        ),
        finish=text(attributes, "ai.response.finishReason"),
    )


def _output(attributes: Attributes) -> tuple[Message, ...] | None:
    """What the model said; None where outputs are not recorded."""
    listed: Any = opened(first(attributes, *_CALLS))
    calls = tuple(call_said(call) for call in tables(listed))
    said = next((attributes[key] for key in _SAID if isinstance(attributes.get(key), str)), None)
    return (Message(role="assistant", text=said, calls=calls),) if calls or said is not None else None
