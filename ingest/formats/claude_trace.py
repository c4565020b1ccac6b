"""Claude Code's API traffic as claude-trace records it: one request and its response per line.

**Files.** claude-trace (badlogic/lemmy, apps/claude-trace) hooks into Claude Code's `fetch` and writes
`.claude-trace/log-<date>.jsonl`.

**Fields.** `request.{timestamp, method, url, headers, body}`, `response.{timestamp, status_code, headers,
body | body_raw}`, `logged_at` in local time without an offset. Times are seconds since 1970. Nearly all
replies are streamed: `body_raw` contains the text of the stream's events. Arguments are the model's own text,
which Claude Code's transcripts do not have.

**Rules.**
- Each request repeats the whole conversation.
- Claude Code also sends small requests without tools: to make a title, to detect a new topic, to list the
  files that a command touches. Each of them is a separate conversation.
- Requests for one token only check the quota and are skipped.
- Text next to tool results is a reminder, not a user's message.
- `is_error` covers denials by the user and shell exit codes; the text distinguishes them, as in
  `claude_code`. A result without `is_error` succeeded.
- `response: null` means that the request was never answered.

**Limits.** At most 50,000 conversations are remembered.

**Not in the log.** Which conversations belong to one session of Claude Code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_number, read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, FlagSource, Rejected, ResultStatus
from ingest.formats.claude_code.user_lines import find_fault
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange
from ingest.formats.provider_messages.exchange import RequestResult, parse_instant
from ingest.formats.provider_messages.http_bodies import decode_body
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="claude_trace",
    title="claude-trace (Claude Code's API traffic)",
    raw_arguments="yes: as streamed; decoded only where a reply was not streamed",
    argument_failures="yes: parsed here, from the raw text and the definitions",
    error_flag="yes: is_error; the stage is derived from the text",
    definitions="yes: in every request",
    system_prompt="yes: in every request",
    model="yes: per step, as the reply names it; the provider from the host",
    turn_end="yes: stop_reason, without a verdict",
    cannot_tell="Whether a turn did what the user wanted, and which conversations belong to one session.",
)

_AGENT = compile_regex(r"claude-cli/([0-9.]+)")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(is_pair(record) for record in head)


def is_pair(record: Mapping[str, Any]) -> bool:
    """Return True for a request and response in the form that only claude-trace writes."""
    request = read_object(record.get("request"))
    return "logged_at" in record and {"timestamp", "url", "body"} <= request.keys() and "response" in record


def translator(about: About) -> Translator:
    return _TraceTranslator(about)


class _TraceTranslator:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity, judge_as_claude_code)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        request, response = (
            read_object(record.value.get("request")),
            read_object(record.value.get("response")),
        )
        came = decode_body(response.get("body_raw") or response.get("body"))
        began, ended = read_number(request.get("timestamp")), read_number(response.get("timestamp"))
        client = _AGENT.match(_read_header(request, "user-agent") or "")
        exchange = make_exchange(
            decode_body(request.get("body")),
            came,
            url=read_text(request.get("url")),
            status=read_count(response.get("status_code")),
            where=record.where,
            ts=parse_instant(began),
            latency_ms=(ended - began) * 1000 if began and ended and ended >= began else None,
            harness="claude_code" if client else None,
            harness_version=client[1] if client else None,
        )
        if exchange is not None and came.problem is not None:
            reason = f"the reply cannot be read: {came.problem}"
            yield Rejected(record.where, "wrong_type", reason, make_snippet(record.data))
        elif exchange is not None:
            yield from self._traffic.take(exchange)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _read_header(message: Mapping[str, Any], name: str) -> str | None:
    headers = read_object(message.get("headers"))
    return next((read_text(value) for key, value in headers.items() if key.lower() == name), None)


def judge_as_claude_code(result: RequestResult) -> RequestResult:
    """Return the tool result with a status according to Claude Code's rules.

    A result without an error flag succeeded. The text of a failed result shows the failure stage.
    """
    if result.status is not ResultStatus.ERROR:
        return result._replace(status=ResultStatus.OK, flag_source=FlagSource.EXPLICIT)
    fault = find_fault(result.content or "")
    return result._replace(status=fault.status, flag_source=fault.flag_source, fault_layer=fault.layer)
