"""A raw span in, what it says out, by every convention in which instrumentations write attributes.

Each module reads one convention and fills what those before it did not find. Texts that the model sent come
first, bodies that an exporter decoded and wrote again come later. Spans often speak several at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ingest.shapes.attributes import text
from ingest.shapes.conventions import ai_sdk, frameworks, gen_ai, openinference, openllmetry
from ingest.shapes.conventions.gen_ai_events import read_events
from ingest.shapes.spans import Facts, Kind, RawSpan, Span

# Each reader with the first words of the keys that it looks at: most spans of a file have none of them.
READERS: tuple[tuple[frozenset[str], Callable[[RawSpan, Facts], None]], ...] = (
    (frozenset({"ai", "operation"}), ai_sdk.read),
    (frozenset({"openinference", "session", "llm"}), openinference.read),
    (frozenset({"gen_ai", "llm", "traceloop"}), openllmetry.read),
    (frozenset({"gen_ai"}), gen_ai.read),
    (frozenset({"gcp"}), frameworks.read_adk),
    (frozenset({"events", "model_request_parameters", "tool_arguments"}), frameworks.read_pydantic_ai),
    (frozenset({"langsmith"}), frameworks.read_langsmith),
    (frozenset({"langfuse"}), frameworks.read_langfuse),
    (frozenset({"codex"}), frameworks.read_codex),
)


def facts_of(raw: RawSpan) -> Facts:
    """What all conventions together find in the attributes and events of a span."""
    facts = Facts()
    words = {key.partition(".")[0] for key in raw.attributes}
    for wanted, read in READERS:
        if not wanted.isdisjoint(words):
            read(raw, facts)
    if raw.events:
        read_events(raw.events, facts)
    return facts


def span_of(raw: RawSpan, facts: Facts) -> Span:
    """The span with what was found in it, its attributes let go. Google names models by their path."""
    facts.provider = facts.provider.lower() if facts.provider is not None else None
    if facts.model is not None and "models/" in facts.model:
        facts.model = facts.model.rpartition("models/")[2]
    return Span(
        trace_id=raw.trace_id,
        span_id=raw.span_id,
        where=raw.where,
        facts=facts,
        kind=facts.kind or _kind(facts),
        name=raw.name,
        parent_id=raw.parent_id,
        start=raw.start,
        end=raw.end,
        error=_error(raw),
        harness=_harness(raw),
        harness_version=text(raw.resource, "service.version"),
        scope=raw.scope,
    )


def _kind(facts: Facts) -> Kind:
    if facts.tool is not None:
        return Kind.EXECUTION
    if facts.output is not None or (facts.model is not None and facts.input_tokens is not None):
        return Kind.INFERENCE
    return Kind.OTHER


def _error(raw: RawSpan) -> str | None:
    """What went wrong, in the words of the status, of attributes or of an exception that was recorded.

    An exception alone is no error: the code may have gone on. `error.type` is set only where a span failed.
    """
    kind = text(raw.attributes, "error.type")
    if not raw.failed and kind is None:
        return None
    message = raw.error or text(raw.attributes, "error.message", "exception.message")
    for name, attributes in raw.events:
        if name == "exception":
            kind = kind or text(attributes, "exception.type")
            message = message or text(attributes, "exception.message")
    kind = None if kind == "_OTHER" or (message and kind and kind in message) else kind
    return ": ".join(part for part in (kind, message) if part) or "error"


def _harness(raw: RawSpan) -> str | None:
    """The service that was traced; the instrumentation where the service has no name of its own."""
    service = text(raw.resource, "service.name")
    return raw.scope if service is None or service.startswith("unknown_service") else service
