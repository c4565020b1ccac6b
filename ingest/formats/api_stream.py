"""Streamed API replies: chunks, one JSON object per line or as server-sent events.

**Fields.** `chat.completion.chunk` objects (OpenAI, Mistral, Groq, DeepSeek, xAI …), Anthropic's events from
`message_start` to `message_stop`, the Responses API's `response.*` events (OpenAI, LM Studio), Google's
`candidates`, and the events of Bedrock's Converse. A file may contain several streams in sequence. The chunks
of chat streams may be interleaved.

**Rules.**
- The pieces of a call's arguments are joined by choice and call index, by block, or by output index. The text
  is kept exactly as streamed.
- Anthropic streams nothing for a call without arguments. The arguments of a call that a program made arrive
  decoded.
- A stream that stops in the middle is an incomplete log. The text of its last call is `truncated`, which is
  not the model's fault. If the stream ended at the token limit inside a call, the failure is the model's
  (stage `emission`).

**Limits.** At most 1,000 chat streams may be open at the same time.

**Not in the log.** The prompt and the results of calls. Each reply is a session, unless it refers to a
server-side tool call of another reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.events import Event, LogLine, Rejected
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange
from ingest.formats.provider_messages.http_bodies import HttpBody
from ingest.formats.provider_messages.reply_streams import StreamJoiner, is_chunk
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="api_stream",
    title="Streamed API replies",
    raw_arguments="yes: exactly as streamed; Google's only decoded",
    argument_failures="partly: what is not JSON; what a definition shows where there is one",
    error_flag="no",
    definitions="partly: Responses repeat them; supply others with --tools",
    system_prompt="partly: Responses repeat the instructions",
    model="yes: per step; not who served it",
    turn_end="yes: finish_reason or stop_reason, without a verdict",
    cannot_tell="What was asked and what came of the calls: the requests are not in the log.",
)

_PLACES = 10_000  # maximum number of calls whose line is remembered until their stream ends


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(is_chunk, head))


def translator(about: About) -> Translator:
    return _Streams(about)


class _Streams:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)
        self._joiner = StreamJoiner()
        self._begins: dict[Any, LogLine] = {}  # the first line of each open stream
        self._places: dict[str, LogLine] = {}
        self._last = LogLine(1, 0)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        self._last = record.where
        key = record.value.get("id")
        self._begins.setdefault(key if isinstance(key, str) else None, record.where)
        for body in self._joiner.take(record.value):
            yield from self._take_reply(body)
        if len(self._places) < _PLACES:
            for id_ in _find_call_ids(record.value):
                self._places.setdefault(id_, record.where)

    def finish(self) -> Iterator[Event]:
        for body in self._joiner.finish():
            yield from self._take_reply(body)
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_reply(self, body: dict[str, Any]) -> Iterator[Event]:
        id_ = body.get("id")
        where = self._begins.pop(id_ if isinstance(id_, str) and id_ in self._begins else None, self._last)
        exchange = make_exchange(HttpBody(), HttpBody((body,)), where=where, places=self._places)
        if exchange is not None:
            yield from self._traffic.take(exchange)
            for call in (call for reply in exchange.replies for call in reply.calls):
                self._places.pop(call.id or "", None)


def _find_call_ids(chunk: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the tool calls whose first piece is in this chunk."""
    calls = [read_object(chunk.get("item")).get("call_id"), read_object(chunk.get("content_block")).get("id")]
    for choice in read_objects(chunk.get("choices")):
        calls += [call.get("id") for call in read_objects(read_object(choice.get("delta")).get("tool_calls"))]
    yield from (id_ for id_ in calls if isinstance(id_, str) and id_)
