"""OpenLLMetry's attributes in (Traceloop, and those who took them over), what they say out.

Messages have indices in their keys: `gen_ai.prompt.2.tool_calls.0.arguments`, `gen_ai.completion.0.content`.
Arguments are text: the model's own where its API has text. `TRACELOOP_TRACE_CONTENT=false` leaves roles and
finish reasons only. Tools and agents are functions that a decorator wraps: `traceloop.span.kind`.
"""

from __future__ import annotations

from typing import Any

from ingest.fields import table
from ingest.shapes.attributes import Attributes, count, first, indexed, text
from ingest.shapes.message_parts import Message
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened
from ingest.shapes.requests import definitions_in
from ingest.shapes.spans import Facts, Kind, RawSpan

_KINDS = {"tool": Kind.EXECUTION, "agent": Kind.AGENT, "workflow": Kind.OTHER, "task": Kind.OTHER}
_SESSION = tuple(
    f"traceloop.association.properties.{name}"
    for name in ("session_id", "thread_id", "conversation_id", "chat_id", "session.id")
)


def read(raw: RawSpan, facts: Facts) -> None:
    attributes = raw.attributes
    kind = _KINDS.get(text(attributes, "traceloop.span.kind") or "")
    if text(attributes, "llm.request.type") in ("chat", "completion"):
        kind = Kind.INFERENCE
    version = first(attributes, "traceloop.prompt.version", "traceloop.prompt.version_name")
    facts.fill(
        kind=kind,
        session_id=text(attributes, *_SESSION),
        prompt_name=text(attributes, "traceloop.prompt.key"),
        prompt_version=None if version is None else str(version),
        definitions=definitions_in(indexed(attributes, "llm.request.functions")) or None,
        input=_messages(attributes, "gen_ai.prompt", "user") or _messages(attributes, "llm.prompts", "user"),
        output=_messages(attributes, "gen_ai.completion", "assistant")
        or _messages(attributes, "llm.completions", "assistant"),
        input_tokens=count(first(attributes, "llm.usage.prompt_tokens")),
        output_tokens=count(first(attributes, "llm.usage.completion_tokens")),
    )
    if kind is Kind.EXECUTION:
        facts.fill(
            tool=text(attributes, "gen_ai.tool.name", "traceloop.entity.name"),
            arguments=_arguments(opened(attributes.get("traceloop.entity.input"))),
            result=first(attributes, "traceloop.entity.output"),
        )
    elif kind is not None:
        facts.fill_texts(
            text(attributes, "traceloop.entity.input"), text(attributes, "traceloop.entity.output")
        )


def _messages(attributes: Attributes, name: str, role: str) -> tuple[Message, ...] | None:
    """None where there are no such keys, or only one key without an index: another convention's."""
    listed = indexed(attributes, name) if name not in attributes else []
    return tuple(messages_in(listed, role)) or None


def _arguments(given: Any) -> Any:
    """The arguments of the function that the decorator wraps, or of LangChain's tool."""
    for key in ("kwargs", "inputs"):
        if inner := table(table(given).get(key)):
            return inner
    args = table(given).get("args")
    return None if args or not isinstance(given, dict) or "args" in given else given
