"""Reads OpenTelemetry's GenAI attributes (semantic conventions 1.28 and later).

Source: https://github.com/open-telemetry/semantic-conventions-genai. Content is recorded only if it is
switched on: `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions`,
`gen_ai.tool.definitions`, `gen_ai.tool.call.*`. The convention requires the arguments of a call as an object,
so the model's own text is mostly missing; some exporters keep it.
"""

from __future__ import annotations

from typing import Any

from ingest.decoding.fields import count_whole_input
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.provider_messages.model_requests import find_definitions, prompt_text
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import Attributes, first_count, first_text, first_value

_KINDS = {
    "chat": SpanKind.INFERENCE, "text_completion": SpanKind.INFERENCE, "generate_content": SpanKind.INFERENCE,
    "llm_call": SpanKind.INFERENCE, "execute_tool": SpanKind.EXECUTION, "tool_call": SpanKind.EXECUTION,
    "invoke_agent": SpanKind.AGENT, "agent_call": SpanKind.AGENT, "create_agent": SpanKind.OTHER,
    "embeddings": SpanKind.OTHER, "retrieval": SpanKind.OTHER, "chain": SpanKind.OTHER,
}  # fmt: skip


def read(raw: RawSpan, facts: SpanFacts) -> None:
    attributes = raw.attributes
    facts.fill(
        kind=_KINDS.get(first_text(attributes, "gen_ai.operation.name") or ""),
        session_id=conversation_id(attributes),
        user=first_text(attributes, "user.id", "enduser.id"),
        provider=first_text(attributes, "gen_ai.provider.name", "gen_ai.system"),
        model=first_text(attributes, "gen_ai.response.model", "gen_ai.request.model"),
        system=prompt_text(first_value(attributes, "gen_ai.system_instructions")),
        definitions=find_definitions(first_value(attributes, "gen_ai.tool.definitions")) or None,
        **count_whole_input(
            first_count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            first_count(
                attributes, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"
            ),
            first_count(
                attributes,
                "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens",
            ),
        ),
        output_tokens=first_count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        finish=first_finish_reason(first_value(attributes, "gen_ai.response.finish_reasons")),
        tool=first_text(attributes, "gen_ai.tool.name"),
        call_id=first_text(attributes, "gen_ai.tool.call.id"),
        arguments=first_value(attributes, "gen_ai.tool.call.arguments", "gen_ai.tool.arguments"),
        result=first_value(attributes, "gen_ai.tool.call.result", "gen_ai.tool.result"),
    )
    name = first_text(attributes, "gen_ai.prompt.name")
    # Gemini CLI's value with "########" is the id of one prompt, not of a conversation.
    if name is not None and "########" not in name:
        version = first_value(attributes, "gen_ai.prompt.version")
        facts.fill(prompt_name=name, prompt_version=None if version is None else str(version))
    read_message_attributes(attributes, facts)


def read_message_attributes(attributes: Attributes, facts: SpanFacts) -> None:
    """Fill `facts` with the messages in the attributes of a span or of a span event.

    `facts.problem` is set if a length limit for attributes cut off the JSON.
    """
    for role, name in (("user", "input"), ("assistant", "output")):
        messages = parse_messages(first_value(attributes, f"gen_ai.{name}.messages"), role)
        if messages is None:
            facts.fill(
                problem=f"gen_ai.{name}.messages is not JSON; a limit on the length of attributes cuts it"
            )
        elif messages:
            facts.fill(**{name: messages})


def parse_messages(value: Any, role: str) -> tuple[Message, ...] | None:
    """Return the messages in an attribute's value. Return None when the value is JSON that was cut off.

    A string, and a message that does not state its role, get the role `role`.
    """
    body = open_json(value)
    if isinstance(body, str):
        cut = body.lstrip().startswith(("[{", '{"'))
        return None if cut else (Message(role=role, text=body),)
    return tuple(read_messages(body, role))


def conversation_id(attributes: Attributes) -> str | None:
    """Return the id of the conversation. Return None when there is no such id.

    The id of an earlier response (`resp_…`) is not a conversation id.
    """
    ident = first_text(attributes, "gen_ai.conversation.id")
    return None if ident is None or ident.startswith("resp_") else ident


def first_finish_reason(value: Any) -> str | None:
    """Return the first finish reason. Return None when there is no finish reason.

    The value may be one reason, a list of reasons, or a list as JSON text.
    """
    reasons = open_json(value)
    if isinstance(reasons, list):
        reasons = next((reason for reason in reasons if isinstance(reason, str)), None)
    return reasons if isinstance(reasons, str) else None
