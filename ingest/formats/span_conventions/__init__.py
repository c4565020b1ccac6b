"""Interprets a raw span by all conventions in which instrumentations write attributes.

Each module reads one convention and fills the facts that the modules before it did not find. Conventions that
keep the model's own text come first. Conventions whose texts an exporter decoded and wrote again come later.
A span often follows several conventions at the same time.
"""

from __future__ import annotations

from collections.abc import Callable

from ingest.formats.span_conventions import ai_sdk, frameworks, gen_ai, openllmetry
from ingest.formats.span_conventions import openinference_attributes as openinference
from ingest.formats.span_conventions.gen_ai_events import read_events
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind, UnderstoodSpan
from ingest.formats.spans.span_attributes import first_text

# A reader is called only for a span that has keys with the reader's prefixes.
READERS: tuple[tuple[frozenset[str], Callable[[RawSpan, SpanFacts], None]], ...] = (
    (frozenset({"ai", "operation"}), ai_sdk.read),
    (frozenset({"openinference", "session", "llm"}), openinference.read),
    (frozenset({"gen_ai", "llm", "traceloop"}), openllmetry.read),
    (frozenset({"gen_ai"}), gen_ai.read),
    (frozenset({"gcp"}), frameworks.read_adk),
    (frozenset({"events", "model_request_parameters", "tool_arguments"}), frameworks.read_pydantic_ai),
    (frozenset({"langsmith"}), frameworks.read_langsmith),
    (frozenset({"langfuse"}), frameworks.read_langfuse),
    (frozenset({"mlflow"}), frameworks.read_mlflow),
    (frozenset({"codex"}), frameworks.read_codex),
    (frozenset({"target"}), frameworks.read_beeai),
)
_ENVIRONMENT = ("deployment.environment.name", "deployment.environment")


def collect_facts(raw: RawSpan) -> SpanFacts:
    """Return the facts that the known conventions find in the attributes and events of a span."""
    facts = SpanFacts()
    words = {key.partition(".")[0] for key in raw.attributes}
    for wanted, read in READERS:
        if not wanted.isdisjoint(words):
            read(raw, facts)
    if raw.events:
        read_events(raw.events, facts)
    return facts


def make_span(raw: RawSpan, facts: SpanFacts) -> UnderstoodSpan:
    """Return an `UnderstoodSpan` made from a raw span and the facts found in the span.

    The provider becomes lower case. Everything up to `models/` is removed from the model's name.
    """
    facts.provider = facts.provider.lower() if facts.provider is not None else None
    facts.environment = facts.environment or first_text(raw.resource, *_ENVIRONMENT)
    if facts.model is not None and "models/" in facts.model:
        facts.model = facts.model.rpartition("models/")[2]
    return UnderstoodSpan(
        trace_id=raw.trace_id,
        span_id=raw.span_id,
        where=raw.where,
        facts=facts,
        kind=facts.kind or span_kind(facts),
        name=raw.name,
        parent_id=raw.parent_id,
        start=raw.start,
        end=raw.end,
        error=span_error(raw),
        harness=harness_name(raw),
        harness_version=first_text(raw.resource, "service.version"),
        scope=raw.scope,
    )


def span_kind(facts: SpanFacts) -> SpanKind:
    if facts.tool is not None:
        return SpanKind.EXECUTION
    if facts.output is not None or (facts.model is not None and facts.input_tokens is not None):
        return SpanKind.INFERENCE
    return SpanKind.OTHER


def span_error(raw: RawSpan) -> str | None:
    """Return the error text of a span from its status, attributes or exception.

    Return None when the span did not fail. An exception alone does not mean that the span failed.
    """
    kind = first_text(raw.attributes, "error.type")
    if not raw.failed and kind is None:
        return None
    message = raw.error or first_text(raw.attributes, "error.message", "exception.message")
    for name, attributes in raw.events:
        if name == "exception":
            kind = kind or first_text(attributes, "exception.type")
            message = message or first_text(attributes, "exception.message")
    kind = None if kind == "_OTHER" or (message and kind and kind in message) else kind
    return ": ".join(part for part in (kind, message) if part) or "error"


def harness_name(raw: RawSpan) -> str | None:
    """Return the name of the traced service or, if it is missing, the name of the instrumentation."""
    service = first_text(raw.resource, "service.name")
    return raw.scope if service is None or service.startswith("unknown_service") else service
