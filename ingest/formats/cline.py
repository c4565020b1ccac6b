"""Cline sessions: one JSON document, as the Cline SDK and CLI keep them (`<session>.messages.json`).

Sources: cline/cline, `sdk/packages/core/fixtures` (2026-04 to 2026-07).

**Shape.** `{version, updated_at, agent, sessionId, messages, system_prompt}`. A message has `role` and
Anthropic's content blocks, of the model also `ts`, `modelInfo.{id, provider}` and `metrics.{inputTokens,
outputTokens}`.

**Turns.** A user's message with words, once the model answers it. The last message without a call ends it.

**Traps.**
- A compaction replaces what came before by a summary: a user message with `metadata.kind`
  compaction_summary, which is no prompt. What it replaced is not in the file.
- Only the model's messages have a time.
- A built-in tool answers with a list of `{query, result, success}`, and `error` where one failed: then there
  is no `is_error`. One failed query fails the call; its text comes first.
- The conversation of the VS Code extension (`api_conversation_history.json`) is another shape: an array of
  messages that name no session, older ones with calls as XML in their text. It is not read.

**Bounds.** A document is held whole, so `--max-line` bounds it.

**Cannot tell.** Tool definitions, the model's own text of arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_epoch_ms, read_object, read_objects, read_text
from ingest.decoding.token_counts import count_whole_input
from ingest.events import Event, FaultLayer, LogLine, PromptSeen, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks, result_fields
from ingest.formats.conversations.result_layers import Texts
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Source, Translator
from ingest.record import Record

SOURCE = Source(
    name="cline",
    title="Cline sessions",
    raw_arguments="no: the decoded object",
    argument_failures="no: how refused arguments are worded is not known well enough",
    error_flag="yes: is_error, or success of each query",
    definitions="no: supply them with --tools",
    system_prompt="yes",
    model="yes: per step, with its provider",
    turn_end="no: concluded from the last message",
    cannot_tell="Clean and mended arguments cannot be told apart. What a compaction replaced is gone.",
)

_TEXTS: Texts = (
    (FaultLayer.REFUSED, re.compile(r"The user denied this operation|Tool execution was (?:denied|aborted)")),
    (
        FaultLayer.SCHEMA,
        re.compile(r"Missing value for required parameter|Invalid (?:input|arguments) for tool"),
    ),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        {"version", "sessionId", "agent"} <= record.keys() and isinstance(record.get("messages"), list)
        for record in head[:1]
    )


def translator(about: About) -> Translator:
    return _ClineSessions(about.identity)


class _ClineSessions:
    """Translator of one file; each document in the file is one session."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    def take(self, record: Record) -> Iterator[Event]:
        dialogue = AgentSession(read_text(record.value.get("sessionId")) or self._identity)
        here: dict[str, Any] = {"session_id": dialogue.session_id, "where": record.where}
        yield SessionSeen(**here, harness="cline")
        prompt = read_text(record.value.get("system_prompt"))
        if prompt:
            yield PromptSeen(**here, text=prompt)
        for message in read_objects(record.value.get("messages")):
            yield from _make_events(message, record, dialogue)
        yield from dialogue.close_turn()

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Do nothing: no file or other resource is open."""


def _make_events(message: Mapping[str, Any], record: Record, dialogue: AgentSession) -> Iterator[Event]:
    ident, ts = read_text(message.get("id")), read_epoch_ms(message.get("ts"))
    where = _find_place(record, ident)
    blocks = list_blocks(message.get("content"))
    if message.get("role") == "assistant":
        model, metrics = read_object(message.get("modelInfo")), read_object(message.get("metrics"))
        yield from dialogue.add_step(
            where,
            ts,
            join_text(blocks),
            provider=read_text(model.get("provider")),
            model=read_text(model.get("id")),
            **count_whole_input(*map(metrics.get, ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))),
            output_tokens=read_count(metrics.get("outputTokens")) or None,
        )
        for call in call_fields(blocks):
            yield dialogue.add_call(_find_place(record, call["tool_call_id"]), ts, **call)
    elif message.get("role") == "user":
        for result in result_fields([_join_queries(block) for block in blocks], _TEXTS):
            place = _find_place(record, result["tool_call_id"])
            yield ResultSeen(session_id=dialogue.session_id, where=place, ts=ts, **result)
        words = join_text(blocks)
        if words is not None and read_object(message.get("metadata")).get("kind") != "compaction_summary":
            dialogue.ask(where, ts, words, unique_id(ident))


def _join_queries(block: dict[str, Any]) -> dict[str, Any]:
    """Return a tool_result block whose list of query results is one text, and one flag for all of them.

    Other blocks come back unchanged. One failed query makes the call a failed one.
    """
    queries = read_objects(block.get("content"))
    flags = [one.get("success") for one in queries]
    if block.get("type") != "tool_result" or not flags or not all(isinstance(flag, bool) for flag in flags):
        return block
    words = [_query_text(one) for one in sorted(queries, key=lambda one: one["success"])]
    return {**block, "content": "\n".join(words), "is_error": not all(flags)}


def _query_text(query: Mapping[str, Any]) -> str:
    told = query.get("error") if query.get("error") is not None else query.get("result")
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def _find_place(record: Record, ident: str | None) -> LogLine:
    return record.find_line(f'"{ident}"') if ident is not None else record.where
