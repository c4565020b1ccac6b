"""Saved API replies without their requests: one object per line or document, or an array of objects.

**Fields.** The objects that the API sends: `chat.completion` objects (OpenAI and compatible servers, stored
completions, Azure), `response` objects (Responses API), Anthropic `message` objects, Google's generateContent
responses, and Bedrock's Converse responses (which do not name their model).

**Rules.**
- Without requests it is unknown which replies belong to one conversation, so each reply becomes a session
  with one step. Replies that refer to each other are joined: by `previous_response_id` (Responses) or by a
  server-side tool call (Anthropic).
- Two replies with the same id are copies. The second is skipped.

**Not in the log.** The prompt and the results of calls. Only Responses objects list the offered tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages import bedrock_converse
from ingest.formats.provider_messages.api_detection import is_error, is_reply, make_exchange
from ingest.formats.provider_messages.http_bodies import HttpBody
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="api_response",
    title="API replies by themselves",
    raw_arguments="partly: OpenAI and the like yes; Anthropic and Google decoded only",
    argument_failures="partly: what is not JSON; what a definition shows where there is one",
    error_flag="no",
    definitions="partly: Responses repeat them; supply others with --tools",
    system_prompt="partly: Responses repeat the instructions",
    model="yes: per step; not who served it",
    turn_end="yes: finish_reason or stop_reason, without a verdict",
    cannot_tell="What was asked and what came of the calls: the requests are not in the log.",
)

# Objects with one of these keys were written by other loggers, which have their own formats.
_OTHERS = frozenset({"request", "messages", "parentUuid", "sessionId", "parentId", "call_type", "custom_id"})

# Every complete reply has one of these keys.
_ENDS = frozenset({"choices", "output", "stop_reason", "candidates"})


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(_is_ours, head))


def _is_ours(record: Mapping[str, Any]) -> bool:
    if not _ENDS & record.keys():
        return False
    named = isinstance(record.get("model"), str) or isinstance(record.get("modelVersion"), str)
    # A Converse reply does not contain the model's name; only the request's URL does.
    named = named or bedrock_converse.is_reply(record)
    return is_reply(record) and named and not _OTHERS & record.keys()


def translator(about: About) -> Translator:
    return _Replies(about)


class _Replies:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        exchange = make_exchange(HttpBody(), HttpBody((record.value,)), where=record.where)
        if exchange is not None:
            # OpenRouter names the provider that served the model.
            provider = read_text(record.value.get("provider"))
            exchange.provider = provider.lower() if provider else None
            yield from self._traffic.take(exchange)
        elif not is_error(record.value):
            reason = "the object is not a reply of a supported API"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""
