"""Bedrock's model invocation log: each record is one request to a model and its reply.

**Files.** Objects in S3, `…/BedrockModelInvocationLogs/<region>/<yyyy>/<mm>/<dd>/<hh>/<name>.json.gz`, one
record per line; or a CloudWatch log group, exported with `aws logs filter-log-events`. These notes are based
on one record without a call and on the documentation
(https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html).

**Fields.** `{schemaType: "ModelInvocationLog", timestamp, requestId, operation, modelId, identity.arn,
input.inputBodyJson, output.outputBodyJson, errorCode}`. For Converse and ConverseStream the bodies have
Converse's format. For InvokeModel they have the format of the model's provider (Anthropic, OpenAI's chat …);
InvokeModelWithResponseStream logs a list of chunks. CloudWatch stores the records as text in
`events[].message` or `@message`.

**Rules.**
- Each request repeats the whole conversation, and no field names the session. Requests are joined into
  sessions as in `request_log`, by the repeated messages and by call ids.
- Bedrock replaces a body over 100 KB by the path of an S3 object (`…BodyS3Path`). If the reply is not in the
  record, the record is rejected. If only the request is missing, the reply begins a new session.
- A failed request has `errorCode` and no output, so it is not a step.
- The model is `modelId`. If `modelId` is an ARN, the model is the part after the last slash.

**Not in the log.** The model's own argument text (known only for InvokeModelWithResponseStream) and how long
a tool ran. Whether a tool failed is known only if the client sends a `status`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.call_marks import find_marks
from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import SNIPPET_READ, make_snippet
from ingest.events import Event, Rejected
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.exchange import Exchange
from ingest.formats.provider_messages.http_bodies import decode_body
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="bedrock_invocations",
    title="Bedrock model invocation log",
    raw_arguments="partly: where InvokeModel streamed the reply",
    argument_failures="partly: what the definitions in the request show; raw text only where it was streamed",
    error_flag="partly: toolResult's status or is_error, where the client states it",
    definitions="yes: in every request that offers tools",
    system_prompt="yes: in every request",
    model="yes: per step",
    turn_end="yes: stopReason, without a verdict",
    cannot_tell="Sessions are joined from requests that repeat each other. "
    "Replies over 100 KB are kept elsewhere and are not read.",
)

_KIND = "ModelInvocationLog"
_WRAPPED = ("message", "@message")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(True for value in head for _ in _list_invocations(value))


def _list_invocations(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the invocation records in an object.

    The object is itself a record, or a CloudWatch export that contains records as JSON text.
    """
    if value.get("schemaType") == _KIND:
        yield value
        return
    for holder in (value, *read_objects(value.get("events"))):
        for key in _WRAPPED:
            if isinstance(text := holder.get(key), str) and _KIND in text:
                inner = open_json(text, 1)
                if isinstance(inner, dict) and inner.get("schemaType") == _KIND:
                    yield inner


def translator(about: About) -> Translator:
    return _Invocations(about)


class _Invocations:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        for value in _list_invocations(record.value):
            exchange = _make_exchange(value, record)
            if isinstance(exchange, Rejected):
                yield exchange
            elif exchange is not None:
                yield from self._traffic.take(exchange)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _make_exchange(value: Mapping[str, Any], record: Record) -> Exchange | Rejected | None:
    """Return the request and the reply of a record.

    Return None for a record that is not a conversation, such as embeddings.
    """
    sent, came = read_object(value.get("input")), read_object(value.get("output"))
    failed = read_text(value.get("errorCode"))
    reply_path = read_text(came.get("outputBodyS3Path"))
    if reply_path is not None and "outputBodyJson" not in came:
        reason = f"the reply is kept elsewhere, as {reply_path[:SNIPPET_READ]}, and is not read"
        return Rejected(record.where, "missing_field", reason, make_snippet(record.data))
    response = decode_body(came.get("outputBodyJson"))
    exchange = make_exchange(
        decode_body(sent.get("inputBodyJson")),
        response,
        status=None,
        where=record.where,
        ts=read_time(value.get("timestamp")),
        latency_ms=next(filter(None, map(_read_latency, response.objects)), None),
    )
    if exchange is None:
        if not any(True for body in response.objects for _ in find_marks(body)):
            return None
        reason = "the reply contains tool calls in an unsupported form"
        return Rejected(record.where, "unread_calls", reason, make_snippet(record.data))
    exchange.provider = "aws"
    model = (read_text(value.get("modelId")) or "").rsplit("/", 1)[-1] or None
    if exchange.request is not None:
        exchange.request.model = model
        exchange.request.user = exchange.request.user or read_text(
            read_object(value.get("identity")).get("arn")
        )
    for reply in exchange.replies:
        reply.model = model
        reply.id = reply.id or read_text(value.get("requestId"))
        reply.output_tokens = reply.output_tokens or read_count(came.get("outputTokenCount"))
    if failed is not None and not exchange.replies:
        exchange.failure = failed
    return exchange


def _read_latency(body: Mapping[str, Any]) -> float | None:
    return read_number(read_object(body.get("metrics")).get("latencyMs"))
