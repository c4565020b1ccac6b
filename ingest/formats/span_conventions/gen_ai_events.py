"""Reads the messages in a span's events: GenAI conventions 1.27 to 1.36, which some programs still use.

- Version 1.27: `gen_ai.content.prompt` and `gen_ai.content.completion`.
- Version 1.28: one event per message (`gen_ai.user.message`, `gen_ai.choice`, …) with the message as its
  body, on the span or as log records. Azure's SDK writes the body as JSON into `gen_ai.event.content`,
  Strands into `content` and `message`.
- Since version 1.37: `gen_ai.client.inference.operation.details` with the attributes that `gen_ai` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message, part_kind
from ingest.formats.span_conventions.gen_ai import first_finish_reason, read_message_attributes
from ingest.formats.spans.span import SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import Attributes, first_value

_ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
_DETAILS = "gen_ai.client.inference.operation.details"
NAMES = frozenset({*_ROLES, "gen_ai.choice", "gen_ai.content.prompt", "gen_ai.content.completion", _DETAILS})

Events = Iterable[tuple[str, Attributes]]


def read_events(events: Events, facts: SpanFacts) -> None:
    """Fill `facts` with the messages in the events of a span.

    In the span of a tool, the messages are the tool's arguments and result.
    """
    inputs: list[Message] = []
    outputs: list[Message] = []
    for name, body in events:
        if name == _DETAILS:
            read_message_attributes(body, facts)
        elif name in _ROLES:
            inputs.extend(event_messages(body, _ROLES[name]))
        elif name == "gen_ai.choice":
            outputs.extend(choice_messages(body))
        elif name == "gen_ai.content.prompt":
            inputs.extend(read_messages(body.get("gen_ai.prompt"), "user"))
        elif name == "gen_ai.content.completion":
            outputs.extend(read_messages(body.get("gen_ai.completion"), "assistant"))
    if (
        facts.kind is SpanKind.EXECUTION
    ):  # Strands writes the arguments as the tool's message, and the result as a choice.
        words = [result.content for message in inputs for result in message.results]
        facts.fill(
            arguments=next(iter(words), None), result=next((message.text for message in outputs), None)
        )
        return
    facts.fill(input=tuple(inputs) or None, output=tuple(outputs) or None)


def event_messages(body: Attributes, role: str) -> Iterator[Message]:
    inner = {**body, **read_object(open_json(first_value(body, "gen_ai.event.content", "body")))}
    content = open_parts(inner.get("content"))
    yield from read_messages({"role": role, **inner, "content": content}, role)


def open_parts(content: Any) -> Any:
    """Return the decoded parts of a content that is JSON text. Return any other content unchanged."""
    parts = open_json(content)
    recognised = [part for part in read_objects(parts) if part_kind(part)]
    return parts if recognised and len(recognised) == len(parts) else content


def choice_messages(body: Attributes) -> Iterator[Message]:
    inner = {**body, **read_object(open_json(first_value(body, "gen_ai.event.content", "body")))}
    message = open_parts(open_json(inner.get("message")))
    if not isinstance(message, dict):
        message = {"content": message}
    finish = first_finish_reason(inner.get("finish_reason"))
    beside: dict[str, Any] = {key: inner[key] for key in ("tool_calls", "content") if key in inner}
    for choice_message in read_messages({"role": "assistant", **beside, **message}, "assistant"):
        yield (
            choice_message if finish is None or choice_message.finish else choice_message.with_finish(finish)
        )
