"""Reads OpenInference's attributes (Phoenix, Arize).

Source: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md. Messages and
definitions have indices in their keys
(`llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments`), or are lists if a store rebuilt
them. Arguments are JSON text. For APIs that return objects (Anthropic, Gemini), the instrumentation wrote
this text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.decoding.fields import count_whole_input, read_object, read_objects
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.provider_messages.model_requests import find_definitions
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import (
    Attributes,
    collect_indexed,
    first_count,
    first_text,
    first_value,
    nest_dotted,
)

_KINDS = {"LLM": SpanKind.INFERENCE, "TOOL": SpanKind.EXECUTION, "AGENT": SpanKind.AGENT}


def read(raw: RawSpan, facts: SpanFacts) -> None:
    attributes = raw.attributes
    named = first_text(attributes, "openinference.span.kind", "span_kind")
    facts.fill(session_id=first_text(attributes, "session.id"))
    if named is None:
        return
    kind = _KINDS.get(named.upper(), SpanKind.OTHER)
    facts.fill(kind=kind)
    if kind is SpanKind.INFERENCE:
        _read_model_call(attributes, facts)
    elif kind is SpanKind.EXECUTION:
        facts.fill(
            tool=first_text(attributes, "tool.name", "tool_call.function.name") or raw.name or None,
            call_id=first_text(attributes, "tool_call.id", "tool.id"),
            arguments=open_arguments(first_value(attributes, "tool_call.function.arguments", "input.value")),
            result=first_value(attributes, "output.value"),
        )
    facts.fill_texts(first_text(attributes, "input.value"), first_text(attributes, "output.value"))


def _read_model_call(attributes: Attributes, facts: SpanFacts) -> None:
    prompt = first_value(attributes, "prompt.version", "llm.prompt_template.version")
    facts.fill(
        provider=first_text(attributes, "llm.provider", "llm.system"),
        model=first_text(attributes, "llm.model_name"),
        prompt_name=first_text(attributes, "prompt.name", "prompt.id"),
        prompt_version=None if prompt is None else str(prompt),
        definitions=find_definitions(collect_indexed(attributes, "llm.tools")) or None,
        input=tuple(indexed_messages(attributes, "llm.input_messages", "user")) or None,
        output=tuple(indexed_messages(attributes, "llm.output_messages", "assistant")) or None,
        **count_whole_input(
            first_count(attributes, "llm.token_count.prompt"),
            first_count(attributes, "llm.token_count.prompt_details.cache_read"),
            first_count(attributes, "llm.token_count.prompt_details.cache_write"),
        ),
        output_tokens=first_count(attributes, "llm.token_count.completion"),
        finish=first_text(attributes, "llm.finish_reason"),
    )


def indexed_messages(attributes: Attributes, name: str, role: str) -> Iterator[Message]:
    for item in collect_indexed(attributes, name):
        message = read_object(read_object(item).get("message")) or read_object(item)
        calls = [nest_dotted(call) for call in read_objects(open_json(message.get("tool_calls")))]
        older = message.get("function_call_name")
        if not calls and isinstance(older, str):
            calls = [{"name": older, "arguments": message.get("function_call_arguments_json")}]
        yield from read_messages({"content": None, **message, "tool_calls": calls}, role)


def open_arguments(value: Any) -> Any:
    """Return arguments that are an object or JSON text of an object. Return None for any other value."""
    inner = open_json(value)
    return inner if isinstance(inner, dict) else None
