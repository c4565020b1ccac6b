"""A span as an SDK or a store writes it into plain JSON in, a raw span out; attributes in any shape.

Spellings seen: OpenTelemetry's Python SDK (`span.to_json()`: `context.{trace_id, span_id}` with `0x`,
`parent_id`, ISO times), its JavaScript SDK (`spanContext.{traceId, spanId}`, times as `[seconds,
nanoseconds]`), Phoenix (`context`, `span_kind`, `status_code`) and its data frames (`context.span_id`,
`attributes.llm.model_name`, times as milliseconds).
"""

from __future__ import annotations

from typing import Any

from ingest.events import Where
from ingest.fields import moment, table, tables, text
from ingest.shapes.attributes import Attributes, count, first, flat
from ingest.shapes.attributes import text as text_of
from ingest.shapes.nested import opened
from ingest.shapes.spans import RawSpan, nanoseconds

_PARENT = ("parent_id", "parentId", "parentSpanId", "parent_span_id")


def span_ids(span: Attributes) -> tuple[str | None, str | None]:
    """(trace id, span id) of a span in any of these spellings."""
    context = table(span.get("context")) or table(span.get("spanContext")) or span
    trace_id = text_of(context, "trace_id", "traceId") or text_of(
        span, "context.trace_id", "trace_id", "traceId"
    )
    span_id = text_of(context, "span_id", "spanId") or text_of(span, "context.span_id", "span_id", "spanId")
    return _hex(trace_id), _hex(span_id)


def raw_span(span: Attributes, where: Where, trace_id: str, span_id: str) -> RawSpan:
    """The span with its attributes flat. Fields of another type count as absent."""
    status = table(span.get("status"))
    code = first(status, "status_code", "code") or first(span, "status_code", "statusCode")
    parent = text_of(table(span.get("parentSpanContext")), "spanId") or text_of(span, *_PARENT)
    resource, scope = table(span.get("resource")), _scope(span)
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=where,
        name=text_of(span, "name", "spanName", "span_name") or "",
        parent_id=_hex(parent),
        start=time_of(first(span, "start_time", "startTime", "startTimeUnixNano")),
        end=time_of(first(span, "end_time", "endTime", "endTimeUnixNano")),
        attributes=attributes_of(span),
        events=tuple(
            (text(event.get("name")) or "", flat(opened(event.get("attributes"))))
            for event in tables(opened(span.get("events")))
        ),
        resource=flat(table(resource.get("attributes")) or table(resource.get("_attributes"))),
        scope=scope,
        failed=str(code).upper() in ("2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"),
        error=text_of(status, "description", "message") or text_of(span, "status_message", "statusMessage"),
    )


def attributes_of(span: Attributes) -> dict[str, Any]:
    """Attributes under `attributes` (as JSON text, too), or under keys that begin with it; Phoenix's kind."""
    found = flat(opened(span.get("attributes")))
    for key, value in span.items():
        if key.startswith("attributes.") and value is not None:
            name = key.removeprefix("attributes.")
            found[name] = value
            found.update({f"{name}.{inner}": part for inner, part in flat(value).items()})
    if isinstance(span.get("span_kind"), str):
        found.setdefault("openinference.span.kind", span["span_kind"])
    return found


def time_of(value: Any) -> int | None:
    """Nanoseconds since 1970 of an ISO text, of `[seconds, nanoseconds]`, or of a count in any unit."""
    if isinstance(value, list) and len(value) == 2:
        seconds, rest = count(value[0]), count(value[1])
        return None if seconds is None or rest is None else seconds * 1_000_000_000 + rest
    if isinstance(value, str) and not value.isdecimal():
        return nanoseconds(moment(value))
    number = count(value)
    if not number:
        return None
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):  # nano-, micro-, milliseconds, seconds
        if number * unit > 1_000_000_000 * 100_000_000:  # after 1973
            return number * unit if number * unit < 1 << 63 else None
    return None


def _hex(identity: str | None) -> str | None:
    return identity.removeprefix("0x") or None if identity is not None else None


def _scope(span: Attributes) -> str | None:
    found = first(span, "instrumentationScope", "instrumentationLibrary", "instrumentation_info", "scope")
    return text_of(span, "scopeName", "scope_name") or text(table(found).get("name"))
