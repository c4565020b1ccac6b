"""Reads a span that an SDK or a store wrote as plain JSON.

Known formats:
- OpenTelemetry's Python SDK (`span.to_json()`): `context.{trace_id, span_id}` with `0x`, `parent_id`, ISO
  times.
- OpenTelemetry's JavaScript SDK: `spanContext.{traceId, spanId}`, times as `[seconds, nanoseconds]`.
- Phoenix: `context`, `span_kind`, `status_code`.
- Phoenix' data frames: `context.span_id`, `attributes.llm.model_name`, times as milliseconds.
"""

from __future__ import annotations

from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import LogLine
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.spans.span import RawSpan, to_nanoseconds
from ingest.formats.spans.span_attributes import Attributes, first_value, flatten, parse_count
from ingest.formats.spans.span_attributes import first_text as text_of

_PARENT = ("parent_id", "parentId", "parentSpanId", "parent_span_id")


def span_ids(span: Attributes) -> tuple[str | None, str | None]:
    """Return (trace id, span id) of a span in any known format. A missing id is None."""
    context = read_object(span.get("context")) or read_object(span.get("spanContext")) or span
    trace_id = text_of(context, "trace_id", "traceId") or text_of(
        span, "context.trace_id", "trace_id", "traceId"
    )
    span_id = text_of(context, "span_id", "spanId") or text_of(span, "context.span_id", "span_id", "spanId")
    return normalise_hex(trace_id), normalise_hex(span_id)


def read_span(span: Attributes, where: LogLine, trace_id: str, span_id: str) -> RawSpan:
    """Return the span as a `RawSpan` with flat attributes. Fields of an unexpected type count as absent."""
    status = read_object(span.get("status"))
    code = first_value(status, "status_code", "code") or first_value(span, "status_code", "statusCode")
    parent = text_of(read_object(span.get("parentSpanContext")), "spanId") or text_of(span, *_PARENT)
    resource, scope = read_object(span.get("resource")), scope_name(span)
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=where,
        name=text_of(span, "name", "spanName", "span_name") or "",
        parent_id=normalise_hex(parent),
        start=parse_time(
            first_value(span, "start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano")
        ),
        end=parse_time(first_value(span, "end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano")),
        attributes=read_attributes(span),
        events=tuple(
            (read_text(event.get("name")) or "", flatten(open_json(event.get("attributes"))))
            for event in read_objects(open_json(first_value(span, "events", "span_events")))
        ),
        resource=flatten(read_object(resource.get("attributes")) or read_object(resource.get("_attributes"))),
        scope=scope,
        failed=str(code).upper() in ("2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"),
        error=text_of(status, "description", "message") or text_of(span, "status_message", "statusMessage"),
    )


def read_attributes(span: Attributes) -> dict[str, Any]:
    """Return the attributes under `attributes`, or under keys that begin with `attributes.` (Phoenix).

    `attributes` may also contain JSON text.
    """
    attributes = flatten(open_json(span.get("attributes")))
    for key, value in span.items():
        if key.startswith("attributes.") and value is not None:
            name = key.removeprefix("attributes.")
            attributes[name] = value
            attributes.update({f"{name}.{inner}": part for inner, part in flatten(value).items()})
    if isinstance(span.get("span_kind"), str):
        attributes.setdefault("openinference.span.kind", span["span_kind"])
    return attributes


def parse_time(value: Any) -> int | None:
    """Return a time as nanoseconds since 1970. Return None when the value is not a time after 1973.

    The value may be ISO 8601 text, `[seconds, nanoseconds]`, or a number of seconds, milliseconds,
    microseconds or nanoseconds.
    """
    if isinstance(value, list) and len(value) == 2:
        seconds, rest = parse_count(value[0]), parse_count(value[1])
        return None if seconds is None or rest is None else seconds * 1_000_000_000 + rest
    if isinstance(value, str) and not value.isdecimal():
        return to_nanoseconds(read_time(value))
    number = parse_count(value)
    if not number:
        return None
    # The number may be in nanoseconds, microseconds, milliseconds or seconds.
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if number * unit > 1_000_000_000 * 100_000_000:  # The result must be a time after 1973.
            return number * unit if number * unit < 1 << 63 else None
    return None


def normalise_hex(identity: str | None) -> str | None:
    return identity.removeprefix("0x") or None if identity is not None else None


def scope_name(span: Attributes) -> str | None:
    scope = first_value(
        span, "instrumentationScope", "instrumentationLibrary", "instrumentation_info", "scope"
    )
    return text_of(span, "scopeName", "scope_name") or read_text(read_object(scope).get("name"))
