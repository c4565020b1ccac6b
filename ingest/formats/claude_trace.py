"""Claude Code's API traffic as claude-trace records it: one request and its response a line.

**On disk.** `.claude-trace/log-<date>.jsonl`, by a hook in Claude Code's `fetch` (badlogic/lemmy,
apps/claude-trace).

**Shape.** `request.{timestamp, method, url, headers, body}`, `response.{timestamp, status_code, headers,
body | body_raw}`, `logged_at` in local time without an offset. Times are seconds since 1970. A reply that
was streamed, nearly all are, is the text of its events in `body_raw`: the arguments of calls are the
model's own text, which Claude Code's transcripts do not have.

**Traps.**
- Each request repeats the whole conversation; `cache_control` moves from message to message in it.
- Between the steps of a conversation stand others: a title, whether the topic is new, what a command
  touches (small models, no tools). Each is a conversation of its own.
- Requests for one token ask for the quota: passed over.
- Text beside tool results are reminders, no user's words. `is_error` covers refusals by the user and
  shell exits: the texts tell them apart, as in `claude_code`; absent means that the call went well.
- A `response` of null is a request that was never answered.

**Bounds.** 50,000 conversations that may go on.

**Cannot tell.** Which conversations belong to one session of Claude Code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.events import Event, FlagSource, Rejected, ResultStatus
from ingest.fields import number, table, text, whole
from ingest.formats import About, Source, Translator
from ingest.formats.claude_code.texts import fault_in
from ingest.lines import snippet_of
from ingest.records import Record
from ingest.shapes.apis import exchange
from ingest.shapes.bodies import decoded
from ingest.shapes.exchanges import Result, instant
from ingest.shapes.traffic import Traffic

SOURCE = Source(
    name="claude_trace",
    title="claude-trace (Claude Code's API traffic)",
    raw_arguments="yes: as streamed; decoded only where a reply was not streamed",
    argument_failures="yes: judged here, on the raw text and the definitions",
    error_flag="yes: is_error, the layer told from the text",
    definitions="yes: in every request",
    system_prompt="yes: in every request",
    model="yes: per step, as the reply names it; the provider from the host",
    turn_end="yes: stop_reason, without a verdict",
    cannot_tell="Whether a turn did what the user wanted, and which conversations belong to one session.",
)

_AGENT = re.compile(r"claude-cli/([0-9.]+)")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(is_pair(record) for record in head)


def is_pair(record: Mapping[str, Any]) -> bool:
    """True for a pair as claude-trace writes it, and no other logger."""
    request = table(record.get("request"))
    return "logged_at" in record and {"timestamp", "url", "body"} <= request.keys() and "response" in record


def translator(about: About) -> Translator:
    return _Trace(about)


class _Trace:
    def __init__(self, about: About) -> None:
        self._traffic = Traffic(about.identity, as_claude_code_means)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        request, response = table(record.value.get("request")), table(record.value.get("response"))
        came = decoded(response.get("body_raw") or response.get("body"))
        began, ended = number(request.get("timestamp")), number(response.get("timestamp"))
        client = _AGENT.match(_header(request, "user-agent") or "")
        found = exchange(
            decoded(request.get("body")),
            came,
            url=text(request.get("url")),
            status=whole(response.get("status_code")),
            where=record.where,
            ts=instant(began),
            latency_ms=(ended - began) * 1000 if began and ended and ended >= began else None,
            harness="claude_code" if client else None,
            harness_version=client[1] if client else None,
        )
        if found is not None and came.problem is not None:
            reason = f"the reply cannot be read: {came.problem}"
            yield Rejected(record.where, "wrong_type", reason, snippet_of(record.data))
        elif found is not None:
            yield from self._traffic.take(found)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Nothing is held."""


def _header(message: Mapping[str, Any], name: str) -> str | None:
    headers = table(message.get("headers"))
    return next((text(value) for key, value in headers.items() if key.lower() == name), None)


def as_claude_code_means(result: Result) -> Result:
    """A result as Claude Code sent it: no flag means success, and the texts of failures tell their layer."""
    if result.status is not ResultStatus.ERROR:
        return result._replace(status=ResultStatus.OK, flag_source=FlagSource.EXPLICIT)
    fault = fault_in(result.content or "")
    return result._replace(status=fault.status, flag_source=fault.flag_source, fault_layer=fault.layer)
