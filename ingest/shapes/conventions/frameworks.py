"""Attributes of one framework in, what they say out: ADK, Pydantic AI, LangSmith, Langfuse, Codex."""

from __future__ import annotations

from ingest.fields import table, tables
from ingest.shapes.attributes import counted, first, text
from ingest.shapes.conventions.gen_ai_events import read_events
from ingest.shapes.messages import messages_in, reply_in
from ingest.shapes.nested import opened
from ingest.shapes.requests import definitions_in, request_in
from ingest.shapes.spans import Facts, Kind, RawSpan

_LANGFUSE = {"generation": Kind.INFERENCE, "tool": Kind.EXECUTION, "agent": Kind.AGENT}


def read_adk(raw: RawSpan, facts: Facts) -> None:
    """Google's Agent Development Kit: request and response of `call_llm` as JSON; a tool's span has `{}`."""
    attributes = raw.attributes
    facts.fill(session_id=text(attributes, "gcp.vertex.agent.session_id"))
    if facts.kind is Kind.EXECUTION or "gcp.vertex.agent.tool_call_args" in attributes:
        facts.fill(
            arguments=first(attributes, "gcp.vertex.agent.tool_call_args"),
            result=first(attributes, "gcp.vertex.agent.tool_response"),
        )
        return
    request = request_in(table(opened(attributes.get("gcp.vertex.agent.llm_request"))) or None)
    if request is None:
        return
    facts.fill(
        kind=Kind.INFERENCE,
        system=request.system,
        definitions=request.definitions,
        input=request.messages or None,
        output=tuple(messages_in(attributes.get("gcp.vertex.agent.llm_response"), "assistant")) or None,
    )


def read_pydantic_ai(raw: RawSpan, facts: Facts) -> None:
    """Pydantic AI, Logfire: events as one JSON attribute, definitions among the request's parameters."""
    attributes = raw.attributes
    listed = tables(opened(attributes.get("events")))
    read_events([(str(event.get("event.name")), event) for event in listed], facts)
    parameters = table(opened(attributes.get("model_request_parameters")))
    facts.fill(
        definitions=definitions_in(parameters.get("function_tools")) or None,
        arguments=first(attributes, "tool_arguments"),
        result=first(attributes, "tool_response"),
    )


def read_langsmith(raw: RawSpan, facts: Facts) -> None:
    """LangSmith's OpenTelemetry exporter: inputs and outputs of a run as JSON."""
    attributes = raw.attributes
    kind = {"llm": Kind.INFERENCE, "tool": Kind.EXECUTION}.get(text(attributes, "langsmith.span.kind") or "")
    meta = "langsmith.metadata."
    facts.fill(
        kind=kind,
        session_id=text(attributes, meta + "session_id", meta + "thread_id", meta + "conversation_id"),
        model=text(attributes, meta + "ls_model_name"),
        provider=text(attributes, meta + "ls_provider"),
    )
    if kind is Kind.EXECUTION:
        given = opened(attributes.get("gen_ai.prompt"))
        facts.fill(
            tool=raw.name or None,
            arguments=table(given).get("input", given),
            result=first(attributes, "gen_ai.completion"),
        )
    elif kind is Kind.INFERENCE:
        request = request_in(first(attributes, "gen_ai.prompt"))
        if request is not None:
            facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)
        facts.fill(output=tuple(messages_in(first(attributes, "gen_ai.completion"), "assistant")) or None)


def read_langfuse(raw: RawSpan, facts: Facts) -> None:
    """Langfuse's SDK (version 3 and later) writes OpenTelemetry spans with attributes of its own."""
    attributes = raw.attributes
    start = "langfuse.observation."
    kind = _LANGFUSE.get(text(attributes, start + "type") or "")
    version = first(attributes, start + "prompt.version")
    facts.fill(
        kind=kind,
        session_id=text(attributes, "langfuse.session.id"),
        user=text(attributes, "langfuse.user.id"),
        task=text(attributes, "langfuse.experiment.item.id"),
        prompt_name=text(attributes, start + "prompt.name"),
        prompt_version=None if version is None else str(version),
    )
    if kind is Kind.EXECUTION:
        facts.fill(
            tool=raw.name or None,
            arguments=first(attributes, start + "input"),
            result=first(attributes, start + "output"),
        )
    elif kind is Kind.INFERENCE:
        request = request_in(first(attributes, start + "input"))
        usage = table(opened(first(attributes, start + "usage_details")))
        facts.fill(
            model=text(attributes, start + "model.name"),
            input=request.messages or None if request else None,
            system=request.system if request else None,
            definitions=request.definitions if request else None,
            output=reply_in(first(attributes, start + "output")),
            input_tokens=counted(usage, "input"),
            output_tokens=counted(usage, "output"),
        )


def read_codex(raw: RawSpan, facts: Facts) -> None:
    """Codex: a turn without its model calls. `thread.id` is the operating system's in any other span."""
    attributes = raw.attributes
    if counted(attributes, "codex.turn.token_usage.total_tokens") is None:
        return
    facts.fill(
        kind=Kind.AGENT,
        session_id=text(attributes, "thread.id"),
        provider="openai",
        model=text(attributes, "model"),
    )
