"""OpenTelemetry spans as plain JSON from SDKs and MLflow, with `gen_ai.…` or similar `attributes`.

**Files.**
- Output of the Python SDK's console exporter (`span.to_json()`), one document after another.
- A `ReadableSpan` of the JavaScript SDK, as tests and exporters store it (an array with `spanContext`, and
  `startTime` as `[seconds, nanoseconds]`).
- Arrays of `{trace_id, span_id, parent_span_id, attributes, span_events}` (Strands evals).
- Single spans `{scopeName, spanName, attributes}`, or only the attributes.
- MLflow's traces (`trace.to_json()`, the files `traces.json` of its artifacts): `{info, data: {spans}}`, with
  `mlflow.{spanType, spanInputs, spanOutputs, chat.tools, chat.tokenUsage}` as JSON text in `attributes`. The
  session is in `info`.

Turns, conventions, limits and missing facts are the same as in `otlp`.

**Rules.**
- A span without ids belongs to its conversation. If it names no conversation, all such spans of the file form
  one trace, in the order of the file.
- In test data, the outer and the inner span of one model call (`ai.generateText`,
  `ai.generateText.doGenerate`) may be in different traces. Then both become turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.formats.span_conventions import collect_facts
from ingest.formats.spans.dumped_spans import read_span, span_ids
from ingest.formats.spans.span import RawSpan
from ingest.formats.spans.span_attributes import Attributes
from ingest.formats.traces.trace_translator import SPAN_CONTENTS, Found, KnownSpan, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="genai_span_json", title="Spans printed by an OpenTelemetry SDK, MLflow traces", **SPAN_CONTENTS
)

_PREFIXES = ("gen_ai.", "ai.", "llm.", "openinference.", "traceloop.", "codex.", "gcp.vertex.agent.",
             "mlflow.")  # fmt: skip
_OF_SPANS = ("spanContext", "context", "spanName", "scopeName", "parent_id", "parentSpanId",
             "parent_span_id")  # fmt: skip


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_span(span) for record in head for span in _list_spans(record))


def translator(about: About) -> Translator:
    return TraceTranslator(partial(_find_spans, about.identity))


def _list_spans(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the spans of a document. A record without a list of spans is itself one span."""
    within = read_objects(record.get("spans")) or read_objects(read_object(record.get("data")).get("spans"))
    return within or [record]


def _is_span(span: dict[str, Any]) -> bool:
    if "span_kind" in span or "operationName" in span:  # Phoenix and Jaeger have their own formats.
        return False
    attributes = span.get("attributes")
    if isinstance(attributes, dict) and any(key in span for key in _OF_SPANS):
        return _has_model_attributes(attributes)
    return "attributes" not in span and sum(key.startswith("gen_ai.") for key in span) >= _CERTAIN


_CERTAIN = 2  # A record with this many `gen_ai.` keys or more contains the attributes of a span.


def _has_model_attributes(attributes: Attributes) -> bool:
    return any(key.startswith(_PREFIXES) for key in attributes)


def _find_spans(identity: str, record: Record) -> Iterator[Found]:
    info = read_object(record.value.get("info"))
    metadata = read_object(info.get("trace_metadata")) or read_object(info.get("request_metadata"))
    named = {"session_id": metadata.get("mlflow.trace.session"), "user": metadata.get("mlflow.trace.user")}
    for number, span in enumerate(_list_spans(record.value)):
        trace_id, span_id = span_ids(span)
        record.find_line('"spanId"' if "spanContext" in span else '"span_id"')
        where = record.find_line(span_id) if span_id else record.where
        raw = read_span(span, where, trace_id or "", span_id or f"{where.line}.{where.offset}.{number}")
        if "attributes" not in span:
            raw.attributes = span
        yield _place_in_trace(raw, identity, named if any(named.values()) else None)


def _place_in_trace(raw: RawSpan, identity: str, named: dict[str, Any] | None) -> Found:
    if raw.trace_id and named is None:
        return raw
    facts = collect_facts(raw)
    facts.fill(**(named or {}))
    if raw.trace_id:
        return KnownSpan(raw, facts)
    raw.trace_id = facts.session_id or identity or "spans"
    return KnownSpan(raw, facts)
