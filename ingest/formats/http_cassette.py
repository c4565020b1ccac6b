"""HTTP recordings of calls to a model's API: VCR cassettes (YAML or JSON), nock recordings, HAR archives.

**Fields.**
- VCR and similar libraries (vcrpy, go-vcr, betamax, Ruby's VCR): one document with `interactions` or
  `http_interactions`, each with `request.{method, uri | url, body}` and `response.{status, headers, body}`.
  pydantic's recordings have `parsed_body`. LangChain's have two lists, `requests` and `responses`.
- nock: an array of `{scope, method, path, status, response}`, often without the request.
- HAR: `log.entries[].{request.postData, response.content}`, as browsers and Polly.js write it.

**API.** The body shows which API was called: Chat Completions and compatible APIs, Responses, Anthropic
Messages, Google's generateContent or Bedrock's Converse. Bodies may be whole or streamed (Converse only
whole), and compressed with gzip, deflate or zstd, or in base64. The host name shows the provider.

**Rules.**
- Each request repeats the whole conversation. Requests are joined by their content, so that each call counts
  once. Results are read from the next request.
- Calls in a first request were written by the author of the test and are not counted.
- Copies of a recording in other cassettes are recognised by the same reply ids.
- A prompt without native tools may ask for calls in ReAct's format (CrewAI). Then `Action Input:` in a reply
  is a call, and `Observation:` in the next request is its result.
- Requests to other services (telemetry, object stores) and requests for one token are skipped. A reply of an
  unknown API is rejected if it contains tool calls.
- A request without a reply (429, overloaded, a broken stream) is not a step. If it is sent again, both count
  as one request.

**Limits.** A whole document is kept in memory. A body may have at most 64 MB after decompression. Replies
compressed with Brotli are rejected, because Brotli cannot be read.

**Not in the log.** Whether a tool failed (only Anthropic has a flag) and how long tools ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.call_marks import find_marks
from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, LogLine, Rejected
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange
from ingest.formats.provider_messages.exchange import parse_instant
from ingest.formats.provider_messages.http_bodies import HttpBody, decode_body
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="http_cassette",
    title="HTTP recordings (VCR, nock, HAR)",
    raw_arguments="partly: OpenAI and the like always; Anthropic where the reply was streamed; Google never",
    argument_failures="yes: parsed here from the raw text, else only checked against the definition",
    error_flag="partly: Anthropic's is_error; no other API has one",
    definitions="partly: where the request is recorded and offers tools",
    system_prompt="partly: where the request is recorded",
    model="yes: per step, as the reply names it; the provider from the host",
    turn_end="yes: finish_reason or stop_reason, without a verdict",
    cannot_tell="Whether a tool failed, unless its client reported it to Anthropic. "
    "Calls in a history whose reply was not recorded are not counted.",
)

_LISTS = ("interactions", "http_interactions")
_ITEM = compile_regex(rb"^- ", re.MULTILINE)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and any(map(_is_recording, head))


def _is_recording(record: Mapping[str, Any]) -> bool:
    for entries in (record.get("interactions"), record.get("http_interactions"), _har_entries(record)):
        if isinstance(entries, list) and entries and isinstance(entries[0], dict):
            return {"request", "response"} <= entries[0].keys()
    if _pair_lists(record):
        return True
    return {"scope", "method", "path", "response"} <= record.keys()


def _pair_lists(record: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (request, response) pairs from a recording that lists requests and responses separately."""
    sent, came = read_objects(record.get("requests")), read_objects(record.get("responses"))
    if not sent or not came or not {"uri", "url"} & sent[0].keys() or "body" not in came[0]:
        return []
    return list(zip(sent, came, strict=False))


def _har_entries(record: Mapping[str, Any]) -> Any:
    return read_object(record.get("log")).get("entries")


def translator(about: About) -> Translator:
    return _CassetteTranslator(about)


class _CassetteTranslator:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        pairs = _pair_lists(record.value)
        lines = _find_list_items(record, 2 * len(pairs))
        for number, (request, response) in enumerate(pairs):
            yield from self._take_interaction(
                {"request": request, "response": response},
                record,
                lines[number],
                lines[len(pairs) + number],
            )
        places = _InteractionLines(record)
        for interaction in _list_interactions(record.value):
            yield from self._take_interaction(
                interaction, record, places.line_of("request"), places.line_of("response")
            )

    def _take_interaction(
        self, interaction: Mapping[str, Any], record: Record, where: LogLine, reply_where: LogLine
    ) -> Iterator[Event | Rejected]:
        request, response = read_object(interaction.get("request")), read_object(interaction.get("response"))
        came, headers = _read_body(response), _read_headers(response)
        exchange = make_exchange(
            _read_body(request),
            came,
            url=read_text(request.get("uri")) or read_text(request.get("url")),
            status=_read_status(response),
            where=where,
            reply_where=reply_where,
            ts=parse_instant(interaction.get("startedDateTime"))
            or parse_instant(headers.get("date"))
            or parse_instant(interaction.get("recorded_at")),
            latency_ms=read_number(interaction.get("time")),
        )
        if exchange is not None and came.problem is not None:
            reason = f"a reply cannot be read: {came.problem}"
            yield Rejected(reply_where, "wrong_type", reason, make_snippet(record.data))
        elif exchange is not None:
            yield from self._traffic.take(exchange)
        elif any(True for body in came.objects for _ in find_marks(body)):
            reason = "a reply contains tool calls of an unsupported API"
            yield Rejected(reply_where, "unread_calls", reason, make_snippet(record.data))

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _list_interactions(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in _LISTS:
        yield from read_objects(record.get(name))
    yield from read_objects(_har_entries(record))
    if "scope" in record:
        yield {
            "request": {"url": f"{record['scope']}{record.get('path')}", "body": record.get("body")},
            "response": {
                "status": record.get("status"),
                "headers": record.get("rawHeaders"),
                "body": record.get("response"),
            },
        }


def _read_body(message: Mapping[str, Any]) -> HttpBody:
    raw_body = next(
        (message[name] for name in ("parsed_body", "body", "postData", "content") if name in message), None
    )
    return decode_body(raw_body, _read_headers(message).get("content-encoding"))


def _read_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the first value of each header by lower-case name.

    The headers in the log are an object, an object of lists, or pairs.
    """
    raw_headers = message.get("headers")
    if isinstance(raw_headers, list):
        pairs = [(item.get("name"), item.get("value")) for item in read_objects(raw_headers)]
        pairs += list(zip(raw_headers[::2], raw_headers[1::2], strict=False)) if not pairs else []
    else:
        pairs = list(read_object(raw_headers).items())
    headers: dict[str, str] = {}
    for name, value in pairs:
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(name, str) and isinstance(first, str):
            headers.setdefault(name.lower(), first)
    return headers


def _read_status(response: Mapping[str, Any]) -> int | None:
    status = response.get("status")
    return (
        read_count(status) or read_count(read_object(status).get("code")) or read_count(response.get("code"))
    )


def _find_list_items(record: Record, count: int) -> list[LogLine]:
    """Return the line of each list item in a YAML document, in order.

    If the document does not have `count` items, return the document's first line for each item.
    """
    places: list[LogLine] = []
    line, offset = record.where.line, 0
    for item in _ITEM.finditer(record.data) if count else ():
        line += record.data.count(b"\n", offset, item.start())
        offset = item.start()
        places.append(LogLine(line, record.start + offset))
    return places if len(places) == count else [record.where] * count


class _InteractionLines:
    """Finds the lines of the keys `request` and `response` in a document, in order."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._quote = '"' if record.data.lstrip()[:1] in (b"{", b"[") else ""
        self._last = record.where

    def line_of(self, key: str) -> LogLine:
        """Return the line of the next `key` in the document.

        If there is no further `key`, return the line of the previous one.
        """
        place = self._record.find_line(f"{self._quote}{key}{self._quote}:")
        self._last = self._last if place is self._record.where else place
        return self._last
