"""Reads the Vercel AI SDK's attributes (`ai.…`).

Source: https://ai-sdk.dev/docs/ai-sdk-core/telemetry. The spans `ai.generateText` and `ai.streamText` contain
one `….doGenerate` or `….doStream` span per model call. `ai.toolCall` is the run of a tool.
`ai.response.toolCalls` is JSON with the arguments: the model's text or, for APIs that return objects, a text
that the SDK wrote. Version 4 wrote `args` instead of `input`.
"""

from __future__ import annotations

from typing import Any

from ingest.decoding.fields import count_whole_input, read_objects
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_parts import Message, read_call
from ingest.formats.provider_messages.model_requests import find_definitions, read_request
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import Attributes, first_count, first_text, first_value

_META = "ai.telemetry.metadata."
_SESSION = tuple(_META + name for name in ("sessionId", "session_id", "threadId", "thread_id", "chatId"))
_REPLY_TEXTS = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")


def read(raw: RawSpan, facts: SpanFacts) -> None:
    attributes = raw.attributes
    operation = first_text(attributes, "ai.operationId", "operation.name")
    if operation is None or not operation.startswith("ai."):
        return
    if operation.startswith("ai.toolCall"):
        facts.fill(
            kind=SpanKind.EXECUTION,
            tool=first_text(attributes, "ai.toolCall.name"),
            call_id=first_text(attributes, "ai.toolCall.id"),
            arguments=first_value(attributes, "ai.toolCall.args", "ai.toolCall.input"),
            result=first_value(attributes, "ai.toolCall.result", "ai.toolCall.output"),
        )
    elif operation.startswith(("ai.generate", "ai.stream")):
        _read_model_call(attributes, facts)
    else:
        facts.fill(kind=SpanKind.OTHER)
    facts.fill(session_id=first_text(attributes, *_SESSION))


def _read_model_call(attributes: Attributes, facts: SpanFacts) -> None:
    request = read_request(first_value(attributes, "ai.prompt.messages", "ai.prompt"))
    name, version = (
        first_value(attributes, _META + "promptName"),
        first_value(attributes, _META + "promptVersion"),
    )
    provider = first_text(attributes, "ai.model.provider", "gen_ai.system")
    facts.fill(
        kind=SpanKind.INFERENCE,
        # Examples of the full value are openai.chat and openai.responses.
        provider=provider.partition(".")[0] if provider else None,
        model=first_text(attributes, "ai.response.model", "gen_ai.response.model", "ai.model.id"),
        prompt_name=name if isinstance(name, str) else None,
        prompt_version=None if version is None else str(version),
        system=request.system if request else None,
        definitions=find_definitions(attributes.get("ai.prompt.tools")) or None,
        input=request.messages if request and request.messages else None,
        output=read_output(attributes),
        **count_whole_input(
            first_count(
                attributes, "gen_ai.usage.input_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"
            ),
            first_count(attributes, "ai.usage.cachedInputTokens"),
        ),
        output_tokens=first_count(
            attributes, "gen_ai.usage.output_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"
        ),
        finish=first_text(attributes, "ai.response.finishReason"),
    )


def read_output(attributes: Attributes) -> tuple[Message, ...] | None:
    """Return the model's reply as one message. Return None when the reply was not recorded."""
    listed: Any = open_json(first_value(attributes, *_CALLS))
    calls = tuple(read_call(call) for call in read_objects(listed))
    text = next((attributes[key] for key in _REPLY_TEXTS if isinstance(attributes.get(key), str)), None)
    return (Message(role="assistant", text=text, calls=calls),) if calls or text is not None else None
