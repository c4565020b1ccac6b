"""Jaeger's own JSON: a trace from its user interface or API, or spans from its storage.

**Files.** `{"data": [trace, …]}` from `/api/traces` or the button "JSON" of a trace; one trace; or the spans
of the Elasticsearch storage, one per line, each with its `process`. (Jaeger's newer API returns OTLP, see
`otlp`.)

**Fields.** `{traceID, spans[{traceID, spanID, operationName, references[{refType, spanID}], startTime,
duration, tags[{key, type, value}], logs[{timestamp, fields[]}], processID}], processes{id: {serviceName,
tags}}}`. Times are microseconds. Tags are single values: lists are JSON text, and whole numbers are often
text. An error is the tag `error` or `otel.status_code`.

Turns, rules, limits and missing facts are the same as in `otlp`, because the spans and attributes are the
same. In real files, a span of Google's ADK (`call_llm`) contains OpenLLMetry's span `openai.chat`. Both
describe the same call, which counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.spans.span import RawSpan
from ingest.formats.spans.span_attributes import parse_count
from ingest.formats.traces.trace_translator import SPAN_CONTENTS, Found, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(name="jaeger", title="Jaeger traces", **SPAN_CONTENTS)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_trace(trace) or _is_span(trace) for record in head for trace in _list_traces(record))


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _list_traces(record: dict[str, Any]) -> list[dict[str, Any]]:
    return read_objects(record.get("data")) or [read_object(record.get("_source")) or record]


def _is_trace(trace: dict[str, Any]) -> bool:
    spans = read_objects(trace.get("spans"))
    return bool(spans) and all("spanID" in span and "operationName" in span for span in spans)


def _is_span(span: dict[str, Any]) -> bool:
    return {"traceID", "spanID", "operationName", "process"} <= span.keys()


def _find_spans(record: Record) -> Iterator[Found]:
    for trace in _list_traces(record.value):
        processes = read_object(trace.get("processes"))
        for span in [trace] if _is_span(trace) else read_objects(trace.get("spans")):
            process = read_object(span.get("process")) or read_object(
                processes.get(read_text(span.get("processID")) or "")
            )
            yield _read_span(span, process, read_text(trace.get("traceID")), record)


def _read_span(
    span: dict[str, Any], process: dict[str, Any], trace_id: str | None, record: Record
) -> RawSpan | Rejected:
    trace_id, span_id = read_text(span.get("traceID")) or trace_id, read_text(span.get("spanID"))
    if not trace_id or not span_id:
        missing = "traceID" if not trace_id else "spanID"
        return Rejected(record.where, "missing_field", f"a span has no {missing}", make_snippet(record.data))
    record.find_line('"spanID"')
    where = record.find_line(span_id)
    record.find_line('"duration"')  # Continue the search after the references, which contain the parent's id.
    tags = _read_tags(span.get("tags"))
    start, duration = parse_count(span.get("startTime")), parse_count(span.get("duration"))
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=where,
        name=read_text(span.get("operationName")) or "",
        parent_id=_parent_session(span),
        start=start * 1000 if start else None,
        end=(start + duration) * 1000 if start and duration is not None else None,
        attributes=tags,
        events=tuple(_read_log(entry) for entry in read_objects(span.get("logs"))),
        resource={"service.name": process.get("serviceName"), **_read_tags(process.get("tags"))},
        scope=read_text(tags.get("otel.scope.name")) or read_text(tags.get("otel.library.name")),
        failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
        error=read_text(tags.get("otel.status_description")),
    )


def _read_tags(tags: Any) -> dict[str, Any]:
    return {tag["key"]: tag.get("value") for tag in read_objects(tags) if isinstance(tag.get("key"), str)}


def _parent_session(span: dict[str, Any]) -> str | None:
    parents = [
        read_text(link.get("spanID"))
        for link in read_objects(span.get("references"))
        if link.get("refType") != "FOLLOWS_FROM"
    ]
    return next((parent for parent in parents if parent), None) or read_text(span.get("parentSpanID")) or None


def _read_log(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    fields = _read_tags(entry.get("fields"))
    return read_text(fields.get("event")) or read_text(fields.get("name")) or "", fields
