"""OpenTelemetry's GenAI attributes in (semantic conventions 1.28 and later), what they say out.

https://github.com/open-telemetry/semantic-conventions-genai. Content is opt-in: `gen_ai.input.messages`,
`gen_ai.output.messages`, `gen_ai.system_instructions`, `gen_ai.tool.definitions`, `gen_ai.tool.call.*`. The
arguments of a call must be an object there, so the model's own text is mostly gone; some exporters keep it.
"""

from __future__ import annotations

from typing import Any

from ingest.shapes.attributes import Attributes, counted, first, text
from ingest.shapes.message_parts import Message
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened
from ingest.shapes.requests import definitions_in, worded
from ingest.shapes.spans import Facts, Kind, RawSpan

_KINDS = {
    "chat": Kind.INFERENCE, "text_completion": Kind.INFERENCE, "generate_content": Kind.INFERENCE,
    "llm_call": Kind.INFERENCE, "execute_tool": Kind.EXECUTION, "tool_call": Kind.EXECUTION,
    "invoke_agent": Kind.AGENT, "agent_call": Kind.AGENT, "create_agent": Kind.OTHER,
    "embeddings": Kind.OTHER, "retrieval": Kind.OTHER, "chain": Kind.OTHER,
}  # fmt: skip


def read(raw: RawSpan, facts: Facts) -> None:
    attributes = raw.attributes
    facts.fill(
        kind=_KINDS.get(text(attributes, "gen_ai.operation.name") or ""),
        session_id=conversation(attributes),
        user=text(attributes, "user.id", "enduser.id"),
        provider=text(attributes, "gen_ai.provider.name", "gen_ai.system"),
        model=text(attributes, "gen_ai.response.model", "gen_ai.request.model"),
        system=worded(first(attributes, "gen_ai.system_instructions")),
        definitions=definitions_in(first(attributes, "gen_ai.tool.definitions")) or None,
        input_tokens=counted(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        output_tokens=counted(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        finish=finish_in(first(attributes, "gen_ai.response.finish_reasons")),
        tool=text(attributes, "gen_ai.tool.name"),
        call_id=text(attributes, "gen_ai.tool.call.id"),
        arguments=first(attributes, "gen_ai.tool.call.arguments", "gen_ai.tool.arguments"),
        result=first(attributes, "gen_ai.tool.call.result", "gen_ai.tool.result"),
    )
    name = text(attributes, "gen_ai.prompt.name")
    if name is not None and "########" not in name:  # Gemini CLI: the id of one prompt of a user
        version = first(attributes, "gen_ai.prompt.version")
        facts.fill(prompt_name=name, prompt_version=None if version is None else str(version))
    read_messages(attributes, facts)


def read_messages(attributes: Attributes, facts: Facts) -> None:
    """The messages, which an event of the span may carry instead of the span itself."""
    for role, name in (("user", "input"), ("assistant", "output")):
        found = _messages(first(attributes, f"gen_ai.{name}.messages"), role)
        if found is None:
            facts.fill(
                problem=f"gen_ai.{name}.messages is not JSON; a limit on the length of attributes cuts it"
            )
        elif found:
            facts.fill(**{name: found})


def _messages(value: Any, role: str) -> tuple[Message, ...] | None:
    """None for JSON that was cut."""
    body = opened(value)
    if isinstance(body, str):
        cut = body.lstrip().startswith(("[{", '{"'))
        return None if cut else (Message(role=role, text=body),)
    return tuple(messages_in(body, role))


def conversation(attributes: Attributes) -> str | None:
    """The id of the conversation; that of an earlier response (`resp_…`) is another one for every call."""
    found = text(attributes, "gen_ai.conversation.id")
    return None if found is None or found.startswith("resp_") else found


def finish_in(value: Any) -> str | None:
    """The first finish reason of a list, of JSON text, or the one that stands alone."""
    reasons = opened(value)
    if isinstance(reasons, list):
        reasons = next((reason for reason in reasons if isinstance(reason, str)), None)
    return reasons if isinstance(reasons, str) else None
