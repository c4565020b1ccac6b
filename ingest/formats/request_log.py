"""Request-response logs of a gateway, proxy or client: one request to a model and its reply per line.

**Fields.** No standard exists, but only a few names are common. The two bodies are `request` and `response`
(Portkey, Cloudflare, Gemini's batches and most home-made loggers), `input` and `output` (OpenPipe),
`request_body` and `response_body` (Helicone), `requestBody`/`responseBody`, `req`/`res`, or
`modelInput`/`modelOutput` (Bedrock's batches). The request's fields may also be at the top level next to
`response`. A body is an object, JSON text, the text of a stream, or a list of chunks. It may be inside an
HTTP message: `url`, `headers`, `status`, `body`. Results of batch jobs contain only replies: OpenAI's
`custom_id` and `response.body`, Anthropic's `custom_id` and `result.message`.

Supported APIs: Chat Completions and compatible APIs, Responses, Anthropic Messages, Google, Converse.

**Rules.**
- Each request repeats the whole conversation. A request is joined to the conversation with the same history
  (by hash), with the same unique call ids if the client changed the history, or by `previous_response_id`.
  Each call counts once, and its result is read from the next request.
- A failed request (4xx, 5xx, no reply) is not a step. Sending it again is not a retry by the model. Groq's
  `tool_use_failed` is a step: the model made a call that the server could not read.
- `n` > 1: each additional choice is a separate session.
- If a reply was cut off at the token limit, its last call is lost (emission failure).
- Calls in a history are not counted if their reply is not in the log.
- Requests for embeddings, moderations and similar endpoints, and requests for one token, are skipped.

**Limits.** At most 50,000 conversations are remembered. A conversation that continues after it was dropped
becomes a second session.

**Not in the log.** Whether a tool failed (only Anthropic has a flag) and how long tools ran. Two requests
without a common history belong to one session only if the log says so (`session_id`, `conversation_id` …).

`callgauge record` writes such lines. The bodies are text. `metadata` contains what the request's headers
named (`session_id`, `prompt_name`, `prompt_version`, `task`). `cut` is the full size of a body that was too
large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ingest.decoding.fields import read_count, read_number, read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.claude_trace import is_pair
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import is_error, is_reply, is_request, make_exchange
from ingest.formats.provider_messages.exchange import Exchange, parse_instant
from ingest.formats.provider_messages.http_bodies import HttpBody, decode_body
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="request_log",
    title="Request–response logs",
    raw_arguments="partly: OpenAI and the like yes; Anthropic where the reply was streamed; Google never",
    argument_failures="yes: parsed here, from the raw text and the definitions in the request",
    error_flag="partly: Anthropic's is_error; no other API has one",
    definitions="yes: in every request that offers tools; not in result files of batch jobs",
    system_prompt="yes: in every request; not in result files of batch jobs",
    model="yes: per step, as the reply names it; the provider where the log has a URL",
    turn_end="yes: finish_reason or stop_reason, without a verdict",
    cannot_tell="Whether a tool failed, unless its client reported it to Anthropic. "
    "Calls in a history whose reply is not in the log are not counted.",
)

_PAIRS = (
    ("request", "response"),
    ("request_body", "response_body"),
    ("requestBody", "responseBody"),
    ("input", "output"),
    ("req", "res"),
    ("raw_request", "raw_response"),
    ("modelInput", "modelOutput"),
)
_ENVELOPE = frozenset({"url", "uri", "method", "headers", "status", "status_code", "statusCode"})
_BODIES = ("body_raw", "body", "json", "content", "data")
_TIMES = ("timestamp", "ts", "time", "request_created_at", "started_at", "start_time", "startTime",
          "created_at", "createdAt", "logged_at")  # fmt: skip
_LATENCIES = ("latency_ms", "duration_ms", "latencyMs", "durationMs", "elapsed_ms", "delay_ms")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId")
_URLS = ("url", "uri", "endpoint", "base_url", "api_base")
_STATUSES = ("status_code", "statusCode", "response_status", "response_status_code", "status")
# Bodies with one of these keys were written by other programs, which have their own formats.
_OTHERS = frozenset({"call_type", "data_index", "run_type", "traceId", "spanContext", "spanId", "parentUuid"})
_OTHER_APIS = frozenset(
    {"list", "embedding", "text_completion.chunk", "image", "moderation", "file", "batch"}
)


class _RequestPair(NamedTuple):
    """The request body and the response body of a line, with the request's URL and HTTP status."""

    request: HttpBody
    response: HttpBody
    url: str | None
    status: int | None


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(_is_ours, head))


def _is_ours(record: Mapping[str, Any]) -> bool:
    if _OTHERS & record.keys() or is_pair(record):
        return False
    pair = _find_pair(record)
    if pair is None or not any(is_reply(body) for body in pair.response.objects):
        return False
    return _is_batch_result(record) or any(is_request(body) for body in pair.request.objects)


def _is_batch_result(record: Mapping[str, Any]) -> bool:
    """Return True for a result line of a batch job, which contains a reply and the id of its request."""
    return "custom_id" in record or (
        "key" in record and record.keys() <= {"key", "response", "error", "metadata"}
    )


def _find_pair(record: Mapping[str, Any]) -> _RequestPair | None:
    """Return the request body and the response body of a line.

    Return None when the line has no known pair of key names for the two bodies.
    """
    result = read_object(record.get("result"))
    if _is_batch_result(record) and (result or isinstance(record.get("response"), dict) or "error" in record):
        failed = {"error": record.get("error")}
        reply = result.get("message") or result.get("error") or record.get("response") or failed
        return _unwrap_pair({}, reply, record)
    for request_key, came in _PAIRS:
        if request_key in record and came in record:
            return _unwrap_pair(record[request_key], record[came], record)
    if "modelInput" in record and "error" in record:
        return _unwrap_pair(record["modelInput"], {"error": record["error"]}, record)
    if is_request(record) and "response" in record:
        return _unwrap_pair(dict(record), record["response"], record)
    return None


def _unwrap_pair(request: Any, response: Any, record: Mapping[str, Any]) -> _RequestPair:
    """Return the request body and the response body, without the HTTP messages that may contain them."""
    holders = (read_object(request), read_object(response), record)
    url = next(filter(None, (_first_text(holder, _URLS) for holder in holders)), None)
    codes = (read_count(holder.get(name)) for holder in holders[1:] for name in _STATUSES)
    status = next((code for code in codes if code is not None), None)
    return _RequestPair(
        decode_body(_unwrap_inner(request)), decode_body(_unwrap_inner(response)), url, status
    )


def _unwrap_inner(body: Any) -> Any:
    """Return the body inside an HTTP message. Return any other `body` unchanged."""
    if not isinstance(body, dict) or is_request(body) or is_reply(body) or not _ENVELOPE & body.keys():
        return body
    return next((body[name] for name in _BODIES if isinstance(body.get(name), dict | list | str)), body)


def translator(about: About) -> Translator:
    return _RequestLog(about)


class _RequestLog:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        pair = _find_pair(record.value)
        exchange = _make_exchange(record, pair) if pair is not None else None
        reason = _find_problem(pair, exchange)
        if reason is not None and (cut := read_object(record.value.get("cut"))):
            reason += f"; the recorder cut {' and '.join(cut)} (callgauge record --most-mb keeps more)"
        if reason is not None:
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
        elif exchange is not None:
            yield from self._traffic.take(exchange)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _make_exchange(record: Record, pair: _RequestPair) -> Exchange | None:
    value = record.value
    labels = read_object(value.get("metadata"))
    exchange = make_exchange(
        pair.request,
        pair.response,
        url=pair.url,
        status=pair.status,
        where=record.where,
        ts=_first_time(value),
        session=_first_text(value, _SESSIONS) or _first_text(labels, _SESSIONS),
        task=read_text(labels.get("task")),
        latency_ms=next(
            (latency for name in _LATENCIES if (latency := read_number(value.get(name))) is not None), None
        ),
    )
    if (
        exchange is not None
        and exchange.request is not None
        and (name := read_text(labels.get("prompt_name")))
    ):
        exchange.request.prompt_name, exchange.request.prompt_version = (
            name,
            read_text(labels.get("prompt_version")),
        )
    if exchange is not None and exchange.provider is None:
        batch = "aws" if "modelOutput" in value else ""
        exchange.provider = (read_text(value.get("provider")) or batch).lower() or None
    return exchange


def _find_problem(pair: _RequestPair | None, exchange: Exchange | None) -> str | None:
    """Return the reason why a line contains no request and reply.

    Return None for a line that contains both. Also return None for embeddings, moderations and similar
    requests, which contain no tool calls.
    """
    if pair is None:
        return "the line has no request and reply in a spelling that is known here"
    if pair.response.problem is not None:
        return f"the reply cannot be read: {pair.response.problem}"
    if exchange is not None or any(is_reply(body) or is_error(body) for body in pair.response.objects):
        return None
    if any("data" in body or read_text(body.get("object")) in _OTHER_APIS for body in pair.response.objects):
        return None
    return "neither the request nor the reply is of an API that is known here"


def _first_text(holder: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := read_text(holder.get(name)))), None)


def _first_time(value: Mapping[str, Any]) -> datetime | None:
    for holder in (value, read_object(value.get("request")), read_object(value.get("response"))):
        for name in _TIMES:
            if (instant := parse_instant(holder.get(name))) is not None:
                return instant
    return None
