"""OpenInference's attributes in (Phoenix, Arize), what they say out.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md. Messages and definitions
have indices in their keys (`llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments`), or are
lists where a store has put them together again. Arguments are JSON text; instrumentors of APIs that hand
objects over (Anthropic, Gemini) write that text themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.fields import table, tables
from ingest.shapes.attributes import Attributes, counted, first, indexed, spread, text
from ingest.shapes.message_parts import Message
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened
from ingest.shapes.requests import definitions_in
from ingest.shapes.spans import Facts, Kind, RawSpan

_KINDS = {"LLM": Kind.INFERENCE, "TOOL": Kind.EXECUTION, "AGENT": Kind.AGENT}


def read(raw: RawSpan, facts: Facts) -> None:
    attributes = raw.attributes
    named = text(attributes, "openinference.span.kind", "span_kind")
    facts.fill(session_id=text(attributes, "session.id"))
    if named is None:
        return
    kind = _KINDS.get(named.upper(), Kind.OTHER)
    facts.fill(kind=kind)
    if kind is Kind.INFERENCE:
        _read_model_call(attributes, facts)
    elif kind is Kind.EXECUTION:
        facts.fill(
            tool=text(attributes, "tool.name", "tool_call.function.name") or raw.name or None,
            call_id=text(attributes, "tool_call.id", "tool.id"),
            arguments=_object(first(attributes, "tool_call.function.arguments", "input.value")),
            result=first(attributes, "output.value"),
        )
    facts.fill_texts(text(attributes, "input.value"), text(attributes, "output.value"))


def _read_model_call(attributes: Attributes, facts: Facts) -> None:
    prompt = first(attributes, "prompt.version", "llm.prompt_template.version")
    facts.fill(
        provider=text(attributes, "llm.provider", "llm.system"),
        model=text(attributes, "llm.model_name"),
        prompt_name=text(attributes, "prompt.name", "prompt.id"),
        prompt_version=None if prompt is None else str(prompt),
        definitions=definitions_in(indexed(attributes, "llm.tools")) or None,
        input=tuple(_messages(attributes, "llm.input_messages", "user")) or None,
        output=tuple(_messages(attributes, "llm.output_messages", "assistant")) or None,
        input_tokens=counted(attributes, "llm.token_count.prompt"),
        output_tokens=counted(attributes, "llm.token_count.completion"),
        finish=text(attributes, "llm.finish_reason"),
    )


def _messages(attributes: Attributes, name: str, role: str) -> Iterator[Message]:
    for item in indexed(attributes, name):
        message = table(table(item).get("message")) or table(item)
        calls = [spread(call) for call in tables(opened(message.get("tool_calls")))]
        older = message.get("function_call_name")
        if not calls and isinstance(older, str):
            calls = [{"name": older, "arguments": message.get("function_call_arguments_json")}]
        yield from messages_in({"content": None, **message, "tool_calls": calls}, role)


def _object(value: Any) -> Any:
    """Arguments as an object; a tool's input may be a text of any kind."""
    inner = opened(value)
    return inner if isinstance(inner, dict) else None
