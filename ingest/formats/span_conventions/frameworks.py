"""Reads the attributes of ADK, Pydantic AI, LangSmith, Langfuse, MLflow, Codex and BeeAI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import count_input_parts, count_whole_input, read_object, read_objects
from ingest.formats.provider_messages.embedded_json import open_json, unquote
from ingest.formats.provider_messages.message_lists import read_messages, read_reply
from ingest.formats.provider_messages.model_requests import find_definitions, read_request
from ingest.formats.span_conventions.gen_ai_events import read_events
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind
from ingest.formats.spans.span_attributes import first_count, first_text, first_value

_MLFLOW = {
    "CHAT_MODEL": SpanKind.INFERENCE, "LLM": SpanKind.INFERENCE, "TOOL": SpanKind.EXECUTION,
    "AGENT": SpanKind.AGENT,
}  # fmt: skip
_LANGFUSE = {"generation": SpanKind.INFERENCE, "tool": SpanKind.EXECUTION, "agent": SpanKind.AGENT}


def read_adk(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from the attributes of Google's Agent Development Kit (ADK).

    A `call_llm` span contains its request and response as JSON.
    """
    attributes = raw.attributes
    facts.fill(session_id=first_text(attributes, "gcp.vertex.agent.session_id"))
    if facts.kind is SpanKind.EXECUTION or "gcp.vertex.agent.tool_call_args" in attributes:
        facts.fill(
            arguments=first_value(attributes, "gcp.vertex.agent.tool_call_args"),
            result=first_value(attributes, "gcp.vertex.agent.tool_response"),
        )
        return
    request = read_request(read_object(open_json(attributes.get("gcp.vertex.agent.llm_request"))) or None)
    if request is None:
        return
    facts.fill(
        kind=SpanKind.INFERENCE,
        system=request.system,
        definitions=request.definitions,
        input=request.messages or None,
        output=tuple(read_messages(attributes.get("gcp.vertex.agent.llm_response"), "assistant")) or None,
    )


def read_pydantic_ai(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from the attributes of Pydantic AI and Logfire.

    All events are in one JSON attribute. The tool definitions are in the request's parameters.
    """
    attributes = raw.attributes
    listed = read_objects(open_json(attributes.get("events")))
    read_events([(str(event.get("event.name")), event) for event in listed], facts)
    parameters = read_object(open_json(attributes.get("model_request_parameters")))
    facts.fill(
        definitions=find_definitions(parameters.get("function_tools")) or None,
        arguments=first_value(attributes, "tool_arguments"),
        result=first_value(attributes, "tool_response"),
    )


def read_langsmith(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from the attributes of LangSmith's OpenTelemetry exporter. Inputs and outputs are JSON."""
    attributes = raw.attributes
    kind = {"llm": SpanKind.INFERENCE, "tool": SpanKind.EXECUTION}.get(
        first_text(attributes, "langsmith.span.kind") or ""
    )
    meta = "langsmith.metadata."
    facts.fill(
        kind=kind,
        session_id=first_text(attributes, meta + "session_id", meta + "thread_id", meta + "conversation_id"),
        model=first_text(attributes, meta + "ls_model_name"),
        provider=first_text(attributes, meta + "ls_provider"),
    )
    if kind is SpanKind.EXECUTION:
        inputs = open_json(attributes.get("gen_ai.prompt"))
        facts.fill(
            tool=raw.name or None,
            arguments=read_object(inputs).get("input", inputs),
            result=first_value(attributes, "gen_ai.completion"),
        )
    elif kind is SpanKind.INFERENCE:
        request = read_request(first_value(attributes, "gen_ai.prompt"))
        if request is not None:
            facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)
        facts.fill(
            output=tuple(read_messages(first_value(attributes, "gen_ai.completion"), "assistant")) or None
        )


def read_langfuse(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from the attributes that Langfuse's SDK writes since version 3."""
    attributes = raw.attributes
    start = "langfuse.observation."
    kind = _LANGFUSE.get(first_text(attributes, start + "type") or "")
    version = first_value(attributes, start + "prompt.version")
    facts.fill(
        kind=kind,
        session_id=first_text(attributes, "langfuse.session.id"),
        user=first_text(attributes, "langfuse.user.id"),
        environment=first_text(attributes, "langfuse.environment"),
        task=first_text(attributes, "langfuse.experiment.item.id"),
        prompt_name=first_text(attributes, start + "prompt.name"),
        prompt_version=None if version is None else str(version),
    )
    if kind is SpanKind.EXECUTION:
        facts.fill(
            tool=raw.name or None,
            arguments=first_value(attributes, start + "input"),
            result=first_value(attributes, start + "output"),
        )
    elif kind is SpanKind.INFERENCE:
        request = read_request(first_value(attributes, start + "input"))
        usage = read_object(open_json(first_value(attributes, start + "usage_details")))
        facts.fill(
            model=first_text(attributes, start + "model.name"),
            input=request.messages or None if request else None,
            system=request.system if request else None,
            definitions=request.definitions if request else None,
            output=read_reply(first_value(attributes, start + "output")),
            **count_usage_input(usage),
            output_tokens=first_count(usage, "output"),
        )


def read_mlflow(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from MLflow's attributes. Each attribute is JSON text, even a single string."""
    values = {
        key.removeprefix("mlflow."): unquote(value) if isinstance(value, str) else value
        for key, value in raw.attributes.items()
        if key.startswith("mlflow.")
    }
    kind = _MLFLOW.get(str(values.get("spanType")))
    inputs, gave = open_json(values.get("spanInputs")), open_json(values.get("spanOutputs"))
    facts.fill(
        kind=kind,
        session_id=first_text(values, "trace.session"),
        user=first_text(values, "trace.user"),
    )
    if kind is SpanKind.EXECUTION:
        facts.fill(tool=raw.name or None, arguments=inputs if isinstance(inputs, dict) else None, result=gave)
    elif kind is SpanKind.INFERENCE:
        request, usage = read_request(inputs), read_object(open_json(values.get("chat.tokenUsage")))
        names = (values.get("llm.model"), read_object(gave).get("model"), read_object(inputs).get("model"))
        facts.fill(
            model=next((name for name in names if isinstance(name, str) and name), None),
            provider=first_text(values, "llm.provider"),
            definitions=find_definitions(values.get("chat.tools")) or None,
            output=read_reply(gave),
            **count_whole_input(
                first_count(usage, "input_tokens"), first_count(usage, "cache_read_input_tokens")
            ),
            output_tokens=first_count(usage, "output_tokens"),
        )
        if request is not None:
            facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)


def count_usage_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of input tokens in Langfuse's usage data.

    Langfuse's `input` excludes cached tokens. Fields of providers, such as `prompt_tokens`, include them.
    """
    cached = first_count(usage, "input_cached_tokens", "input_cache_read", "cache_read_input_tokens")
    written = first_count(usage, "input_cache_creation", "cache_creation_input_tokens")
    fresh = first_count(usage, "input")
    if fresh is not None:
        return count_input_parts(fresh, cached, written)
    return count_whole_input(
        first_count(usage, "prompt_tokens", "promptTokens", "input_tokens"), cached, written
    )


def read_codex(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from the span of a Codex turn. Other spans of Codex are skipped."""
    attributes = raw.attributes
    if first_count(attributes, "codex.turn.token_usage.total_tokens") is None:
        return
    facts.fill(
        kind=SpanKind.AGENT,
        session_id=first_text(attributes, "thread.id"),
        provider="openai",
        model=first_text(attributes, "model"),
    )


def read_beeai(raw: RawSpan, facts: SpanFacts) -> None:
    """Fill `facts` from a span of BeeAI's instrumentation, which describes one event.

    `target` is the event's name, such as `tool.search.wikipedia.start` or `backend.openai.chat.success`.
    """
    operation, _, stage = (first_text(raw.attributes, "target") or "").rpartition(".")
    if stage != first_text(raw.attributes, "name") or not operation.startswith(("tool.", "backend.")):
        return
    facts.stage_of, facts.stage = operation, stage
    if operation.startswith("tool."):
        inputs = open_json(first_value(raw.attributes, "input.value"))
        facts.kind, facts.by_model = SpanKind.EXECUTION, True
        facts.tool = first_text(raw.attributes, "tool.name") or operation.rpartition(".")[2]
        arguments = inputs if isinstance(inputs, dict) else None
        facts.fill(arguments=arguments, result=first_value(raw.attributes, "output.value"))
    else:
        facts.kind = SpanKind.INFERENCE
