"""Converts an OTLP/HTTP request to one line of JSON in the log format `otlp`.

Source: the OTLP specification 1.9 (opentelemetry.io/docs/specs/otlp). A request is a POST of an
ExportTraceServiceRequest in protobuf or JSON, optionally compressed. In JSON, trace and span ids are
hexadecimal.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import orjson

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_BYTES = 64 << 20
"""The maximum size of a request, both before and after decompression."""
_IDS = ("traceId", "spanId", "parentSpanId")
# These are window sizes for zlib. With 47, zlib itself detects the formats zlib and gzip.
_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 47}


class TraceRequestError(Exception):
    """Raised for a request that cannot be stored. `status` is the HTTP status of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_traces(body: bytes, media_type: str, coding: str) -> bytes:
    """Return the log line for the body of a request. Return b"" if the request contains no span.

    `media_type` is the Content-Type of the request. `coding` is the Content-Encoding, or "" if there is none.
    Raises TraceRequestError.
    """
    plain = _unpack(body, coding.strip().lower())
    kind = media_type.partition(";")[0].strip().lower()
    if kind == PROTOBUF:
        request = _read_protobuf(plain)
    elif kind == JSON:
        request = _read_json(plain)
    else:
        raise TraceRequestError(
            415, f"Send {PROTOBUF} or {JSON}, not {kind[:60] or 'a body without a type'}."
        )
    if not any(True for _ in _list_spans(request)):
        return b""
    return orjson.dumps(request, option=orjson.OPT_APPEND_NEWLINE)


def _unpack(body: bytes, coding: str) -> bytes:
    if coding in ("", "identity"):
        return body
    if coding not in _WINDOW:
        raise TraceRequestError(415, f"The coding {coding[:20]!r} is not read; send gzip, or none.")
    inflate = zlib.decompressobj(_WINDOW[coding])
    try:
        plain = inflate.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise TraceRequestError(400, f"The body is not {coding}: {error}.") from None
    if len(plain) > MOST_BYTES:
        raise TraceRequestError(413, f"A request may hold {MOST_BYTES >> 20} MB.")
    if not inflate.eof:
        raise TraceRequestError(400, f"The {coding} body is cut off.")
    return plain


def _read_protobuf(body: bytes) -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    message = ExportTraceServiceRequest()
    try:
        message.ParseFromString(body)
    except DecodeError:
        raise TraceRequestError(400, "The body is not an ExportTraceServiceRequest in protobuf.") from None
    request: dict[str, Any] = MessageToDict(message, use_integers_for_enums=True)
    scopes = (scope for resource in message.resource_spans for scope in resource.scope_spans)
    sent = (span for scope in scopes for span in scope.spans)
    for written, span in zip(_list_spans(request), sent, strict=True):
        # The JSON writer has encoded the ids in Base64, like all bytes, so write them again as hexadecimal.
        for target, source in ((written, span), *zip(written.get("links", ()), span.links, strict=True)):
            ids = source.trace_id, source.span_id, getattr(source, "parent_span_id", b"")
            target.update({name: id_.hex() for name, id_ in zip(_IDS, ids, strict=True) if id_})
    return request


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise TraceRequestError(400, f"The body is not JSON: {error}.") from None
    if not isinstance(request, dict) or not isinstance(request.get("resourceSpans", []), list):
        raise TraceRequestError(400, "The body has no list of resourceSpans.")
    return request


def _list_spans(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in _list_objects(request.get("resourceSpans")):
        for scope in _list_objects(resource.get("scopeSpans")):
            yield from _list_objects(scope.get("spans"))


def _list_objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
