"""OpenTelemetry traces as OTLP JSON with `gen_ai.…` attributes, from the Collector or trace stores.

**Files.** The Collector's `file` exporter writes one `ExportTraceServiceRequest` per line (`{"resourceSpans":
[…]}`). Jaeger's newer API and Grafana Tempo return the same as one document (`{"result": {"resourceSpans":
…}}`, `{"batches": […]}`). Log records (`resourceLogs`) may be in the same file.

**Fields.** `resourceSpans[].scopeSpans[].spans[].{traceId, spanId, parentSpanId, name, startTimeUnixNano,
endTimeUnixNano, attributes[{key, value: {stringValue|intValue|arrayValue|kvlistValue|…}}], events, status}`.

**Conventions** (`ingest.formats.span_conventions`): GenAI messages as attributes, as span events and as log
records; OpenLLMetry's indexed keys; OpenInference; the Vercel AI SDK; Google ADK; Pydantic AI; LangSmith.

**Sessions and turns.** The session is the conversation's id (`gen_ai.conversation.id`, `session.id` …). If
there is no such id, the session is the trace. A turn begins with a new user message. Model calls inside of a
tool form a separate session. The item of a Langfuse experiment (`langfuse.experiment.item.id`) is the task.

**Rules.**
- Calls are read from the model's replies, not from tool spans, because a call that failed before it ran has
  no tool span.
- Copilot in Visual Studio (`service.name` vs-copilot) writes `invoke_agent` and `execute_tool` spans but none
  for model calls. There, each run of a tool is read as a call of the agent's model. Text, tokens and rejected
  calls are unknown.
- Several instrumentations may describe one model call in nested spans. Only the innermost span counts.
- Every request repeats the conversation. A call in the history is not counted again if the span with its
  reply is in the file.
- By the convention arguments must be objects, so arguments that were not JSON are missing. Argument text
  counts as the model's own, with two exceptions: APIs that return objects (Anthropic, Gemini, Bedrock,
  Cohere), and text in Python's JSON style from an instrumentation of LangChain.
- A model call that failed without a reply is not a step, because clients send it again. A model call that is
  never answered ends its turn.
- If a reply reached the token limit inside its last call, this is an emission failure.
- Content is recorded only if it is switched on. If content was not recorded, the tools that ran after a reply
  are the reply's calls. Their arguments are those that the tools received, if the trace contains them. Long
  attributes may be cut; then the span is reported and its content is lost.
- A call and its tool's run may be in different traces or files, for example after an approval. They are
  joined by call id and conversation id. A turn that continues in another file becomes two turns.

**Limits.** All traces of a file wait for the end of the file. The traces inactive for longest are moved to a
temporary file.

**Not in the log.** Silent repairs of arguments, and whether a turn did what the user wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.span_conventions.gen_ai_events import NAMES
from ingest.formats.spans.span import RawSpan
from ingest.formats.spans.span_attributes import parse_count, read_any_value, read_otlp
from ingest.formats.traces.trace_translator import SPAN_CONTENTS, Found, SpanEvent, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(name="otlp", title="OpenTelemetry traces (OTLP JSON)", **SPAN_CONTENTS)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_request(part) for record in head for part in _unwrap_text(record) if part)


def _is_request(part: dict[str, Any]) -> bool:
    if isinstance(part.get("resourceSpans"), list) or isinstance(part.get("resourceLogs"), list):
        return True
    return any("resource" in batch and _list_scopes(batch) for batch in read_objects(part.get("batches")))


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _unwrap_text(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that may be the OTLP request: the record, and the objects inside the record."""
    return [record, *(read_object(record.get(key)) for key in ("result", "trace", "data"))]


def _list_scopes(resource: dict[str, Any]) -> list[dict[str, Any]]:
    return read_objects(resource.get("scopeSpans")) or read_objects(
        resource.get("instrumentationLibrarySpans")
    )


def _find_spans(record: Record) -> Iterator[Found]:
    for request in _unwrap_text(record.value):
        for resource in (*read_objects(request.get("resourceSpans")), *read_objects(request.get("batches"))):
            about = read_otlp(read_object(resource.get("resource")).get("attributes"))
            for scope in _list_scopes(resource):
                named = read_object(scope.get("scope")) or read_object(scope.get("instrumentationLibrary"))
                for span in read_objects(scope.get("spans")):
                    yield _read_span(span, about, read_text(named.get("name")), record)
        for resource in read_objects(request.get("resourceLogs")):
            for scope in read_objects(resource.get("scopeLogs")):
                for entry in read_objects(scope.get("logRecords")):
                    yield from _log_record(entry, record)


def _read_span(
    span: dict[str, Any], resource: dict[str, Any], scope: str | None, record: Record
) -> RawSpan | Rejected:
    trace_id, span_id = read_text(span.get("traceId")), read_text(span.get("spanId"))
    if not trace_id or not span_id:
        missing = "traceId" if not trace_id else "spanId"
        return Rejected(record.where, "missing_field", f"a span has no {missing}", make_snippet(record.data))
    record.find_line('"spanId"')
    status = read_object(span.get("status"))
    failed = status.get("code") in (2, "2", "STATUS_CODE_ERROR")
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=record.find_line(span_id),
        name=read_text(span.get("name")) or "",
        parent_id=read_text(span.get("parentSpanId")) or None,
        start=parse_count(span.get("startTimeUnixNano")),
        end=parse_count(span.get("endTimeUnixNano")),
        attributes=read_otlp(span.get("attributes")),
        events=tuple(
            (read_text(event.get("name")) or "", read_otlp(event.get("attributes")))
            for event in read_objects(span.get("events"))
        ),
        resource=resource,
        scope=scope,
        error=(read_text(status.get("message")) or None) if failed else None,
        failed=failed,
    )


def _log_record(entry: dict[str, Any], record: Record) -> Iterator[SpanEvent]:
    """Yield a log record as a span event if it is a GenAI event. Yield nothing for any other log record."""
    attributes = read_otlp(entry.get("attributes"))
    name = read_text(entry.get("eventName")) or read_text(attributes.get("event.name")) or ""
    trace_id, span_id = read_text(entry.get("traceId")), read_text(entry.get("spanId"))
    if name not in NAMES or not trace_id or not span_id:
        return
    body = read_any_value(entry.get("body"))
    yield SpanEvent(
        trace_id=trace_id,
        span_id=span_id,
        where=record.where,
        name=name,
        body={**attributes, **(body if isinstance(body, dict) else {"body": body})},
        time=parse_count(entry.get("timeUnixNano")) or parse_count(entry.get("observedTimeUnixNano")),
    )
