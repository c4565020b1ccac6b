"""The events of a span in, the messages they carry out: GenAI conventions 1.27 to 1.36, and who stayed there.

Of 1.28: one event a message (`gen_ai.user.message`, `gen_ai.choice`, …) with the message as its body, on the
span or as log records. Azure's SDK puts the body as JSON into `gen_ai.event.content`, Strands into `content`
and `message`. Of 1.27: `gen_ai.content.prompt` and `gen_ai.content.completion`. Since 1.37:
`gen_ai.client.inference.operation.details` with the attributes of `gen_ai`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ingest.fields import table, tables
from ingest.shapes.attributes import Attributes, first
from ingest.shapes.conventions.gen_ai import finish_in, read_messages
from ingest.shapes.message_parts import Message, kind_of_part
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened
from ingest.shapes.spans import Facts, Kind

_ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
_DETAILS = "gen_ai.client.inference.operation.details"
NAMES = frozenset({*_ROLES, "gen_ai.choice", "gen_ai.content.prompt", "gen_ai.content.completion", _DETAILS})

Events = Iterable[tuple[str, Attributes]]


def read_events(events: Events, facts: Facts) -> None:
    """Fill in what the events say; of a tool's span they are its arguments and its result."""
    given: list[Message] = []
    said: list[Message] = []
    for name, body in events:
        if name == _DETAILS:
            read_messages(body, facts)
        elif name in _ROLES:
            given.extend(_messages(body, _ROLES[name]))
        elif name == "gen_ai.choice":
            said.extend(_choice(body))
        elif name == "gen_ai.content.prompt":
            given.extend(messages_in(body.get("gen_ai.prompt"), "user"))
        elif name == "gen_ai.content.completion":
            said.extend(messages_in(body.get("gen_ai.completion"), "assistant"))
    if facts.kind is Kind.EXECUTION:  # Strands: the arguments as the tool's message, the result as a choice
        words = [result.content for message in given for result in message.results]
        facts.fill(arguments=next(iter(words), None), result=next((one.text for one in said), None))
        return
    facts.fill(input=tuple(given) or None, output=tuple(said) or None)


def _messages(body: Attributes, role: str) -> Iterator[Message]:
    inner = {**body, **table(opened(first(body, "gen_ai.event.content", "body")))}
    content = _parts_in(inner.get("content"))
    yield from messages_in({"role": role, **inner, "content": content}, role)


def _parts_in(content: Any) -> Any:
    """A content whose parts are JSON text; any other as it is."""
    parts = opened(content)
    known = [part for part in tables(parts) if kind_of_part(part)]
    return parts if known and len(known) == len(parts) else content


def _choice(body: Attributes) -> Iterator[Message]:
    inner = {**body, **table(opened(first(body, "gen_ai.event.content", "body")))}
    message = _parts_in(opened(inner.get("message")))
    if not isinstance(message, dict):
        message = {"content": message}
    finish = finish_in(inner.get("finish_reason"))
    beside: dict[str, Any] = {key: inner[key] for key in ("tool_calls", "content") if key in inner}
    for said in messages_in({"role": "assistant", **beside, **message}, "assistant"):
        yield said if finish is None or said.finish else said.because(finish)
