"""Jaeger's own JSON: a trace as its interface downloads it, its API's answer, or spans out of its storage.

**On disk.** `{"data": [trace, …]}` from `/api/traces` or the button "JSON" of a trace; one trace; or the
spans of the Elasticsearch storage, one a line, each with its `process`. (Jaeger's newer API answers in OTLP,
see `otlp`.)

**Shape.** `{traceID, spans[{traceID, spanID, operationName, references[{refType, spanID}], startTime,
duration, tags[{key, type, value}], logs[{timestamp, fields[]}], processID}], processes{id: {serviceName,
tags}}}`. Times are microseconds. Tags have one type each: lists are JSON text, whole numbers often text. An
error is the tag `error` or `otel.status_code`.

**Meaning, traps, bounds, what it cannot tell**: as in `otlp`; the same spans with the same attributes. In
the real files Google's ADK (`call_llm`, its request and response as JSON) stands around OpenLLMetry's
`openai.chat` (the model's own arguments): one call, counted once. ADK's finish reason says `stop` even where
the model called a tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.events import Rejected
from ingest.fields import table, tables, text
from ingest.formats import About, Source, Translator
from ingest.lines import snippet_of
from ingest.records import Record
from ingest.shapes.attributes import count
from ingest.shapes.spans import RawSpan
from ingest.shapes.traces import TOLD_BY_SPANS, Found, Traces

SOURCE = Source(name="jaeger", title="Jaeger traces", **TOLD_BY_SPANS)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_trace(trace) or _is_span(trace) for record in head for trace in _traces(record))


def translator(_about: About) -> Translator:
    return Traces(_found)


def _traces(record: dict[str, Any]) -> list[dict[str, Any]]:
    return tables(record.get("data")) or [table(record.get("_source")) or record]


def _is_trace(trace: dict[str, Any]) -> bool:
    spans = tables(trace.get("spans"))
    return bool(spans) and all("spanID" in span and "operationName" in span for span in spans)


def _is_span(span: dict[str, Any]) -> bool:
    return {"traceID", "spanID", "operationName", "process"} <= span.keys()


def _found(record: Record) -> Iterator[Found]:
    for trace in _traces(record.value):
        processes = table(trace.get("processes"))
        for span in [trace] if _is_span(trace) else tables(trace.get("spans")):
            process = table(span.get("process")) or table(processes.get(text(span.get("processID")) or ""))
            yield _span(span, process, text(trace.get("traceID")), record)


def _span(
    span: dict[str, Any], process: dict[str, Any], trace_id: str | None, record: Record
) -> RawSpan | Rejected:
    trace_id, span_id = text(span.get("traceID")) or trace_id, text(span.get("spanID"))
    if not trace_id or not span_id:
        missing = "traceID" if not trace_id else "spanID"
        return Rejected(record.where, "missing_field", f"a span has no {missing}", snippet_of(record.data))
    record.place('"spanID"')
    where = record.place(span_id)
    record.place('"duration"')  # past the references, where the parent's id stands
    tags = _pairs(span.get("tags"))
    start, duration = count(span.get("startTime")), count(span.get("duration"))
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=where,
        name=text(span.get("operationName")) or "",
        parent_id=_parent(span),
        start=start * 1000 if start else None,
        end=(start + duration) * 1000 if start and duration is not None else None,
        attributes=tags,
        events=tuple(_logged(entry) for entry in tables(span.get("logs"))),
        resource={"service.name": process.get("serviceName"), **_pairs(process.get("tags"))},
        scope=text(tags.get("otel.scope.name")) or text(tags.get("otel.library.name")),
        failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
        error=text(tags.get("otel.status_description")),
    )


def _pairs(tags: Any) -> dict[str, Any]:
    return {tag["key"]: tag.get("value") for tag in tables(tags) if isinstance(tag.get("key"), str)}


def _parent(span: dict[str, Any]) -> str | None:
    parents = [
        text(link.get("spanID"))
        for link in tables(span.get("references"))
        if link.get("refType") != "FOLLOWS_FROM"
    ]
    return next((parent for parent in parents if parent), None) or text(span.get("parentSpanID")) or None


def _logged(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    fields = _pairs(entry.get("fields"))
    return text(fields.get("event")) or text(fields.get("name")) or "", fields
