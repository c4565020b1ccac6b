"""Reads OpenLLMetry's attributes, which Traceloop and other programs write.

Messages have indices in their keys: `gen_ai.prompt.2.tool_calls.0.arguments`, `gen_ai.completion.0.content`.
Arguments are text; it is the model's own text if the API has text. With `TRACELOOP_TRACE_CONTENT=false` only
roles and finish reasons are recorded. `traceloop.span.kind` marks functions with a decorator as tools or
agents.
"""

from __future__ import annotations

from typing import Any

from ingest.decoding.fields import read_object
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.provider_messages.model_requests import find_definitions
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import (
    Attributes,
    collect_indexed,
    first_text,
    first_value,
    parse_count,
)

_KINDS = {
    "tool": SpanKind.EXECUTION,
    "agent": SpanKind.AGENT,
    "workflow": SpanKind.OTHER,
    "task": SpanKind.OTHER,
}
_SESSION = tuple(
    f"traceloop.association.properties.{name}"
    for name in ("session_id", "thread_id", "conversation_id", "chat_id", "session.id")
)


def read(raw: RawSpan, facts: SpanFacts) -> None:
    attributes = raw.attributes
    kind = _KINDS.get(first_text(attributes, "traceloop.span.kind") or "")
    if first_text(attributes, "llm.request.type") in ("chat", "completion"):
        kind = SpanKind.INFERENCE
    version = first_value(attributes, "traceloop.prompt.version", "traceloop.prompt.version_name")
    facts.fill(
        kind=kind,
        session_id=first_text(attributes, *_SESSION),
        prompt_name=first_text(attributes, "traceloop.prompt.key"),
        prompt_version=None if version is None else str(version),
        definitions=find_definitions(collect_indexed(attributes, "llm.request.functions")) or None,
        input=indexed_messages(attributes, "gen_ai.prompt", "user")
        or indexed_messages(attributes, "llm.prompts", "user"),
        output=indexed_messages(attributes, "gen_ai.completion", "assistant")
        or indexed_messages(attributes, "llm.completions", "assistant"),
        input_tokens=parse_count(first_value(attributes, "llm.usage.prompt_tokens")),
        output_tokens=parse_count(first_value(attributes, "llm.usage.completion_tokens")),
    )
    if kind is SpanKind.EXECUTION:
        facts.fill(
            tool=first_text(attributes, "gen_ai.tool.name", "traceloop.entity.name"),
            arguments=unwrap_arguments(open_json(attributes.get("traceloop.entity.input"))),
            result=first_value(attributes, "traceloop.entity.output"),
        )
    elif kind is not None:
        facts.fill_texts(
            first_text(attributes, "traceloop.entity.input"),
            first_text(attributes, "traceloop.entity.output"),
        )


def indexed_messages(attributes: Attributes, name: str, role: str) -> tuple[Message, ...] | None:
    """Return the messages under the keys `name.0…`, `name.1…`. Return None when there are no such keys.

    A key `name` without an index is ignored.
    """
    listed = collect_indexed(attributes, name) if name not in attributes else []
    return tuple(read_messages(listed, role)) or None


def unwrap_arguments(arguments: Any) -> Any:
    """Return the arguments in the input of a decorated function or of a LangChain tool.

    Return None when the input is not an object or has no named arguments.
    """
    for key in ("kwargs", "inputs"):
        if inner := read_object(read_object(arguments).get(key)):
            return inner
    args = read_object(arguments).get("args")
    return None if args or not isinstance(arguments, dict) or "args" in arguments else arguments
