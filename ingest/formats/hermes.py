"""Hermes Agent sessions: the database `~/.hermes/state.db`, or one JSON document per session.

**Files.** `~/.hermes/state.db`, for a profile `~/.hermes/profiles/<name>/state.db`. Older versions wrote
`~/.hermes/sessions/session_<id>.json`. Sources: NousResearch/hermes-agent; samples of
jazzyalex/agent-sessions (2026-04) and fayzan123/rungraph (2026-08, modelled on the real tables).

**Fields.**
- Database: `sessions(id, source, model, parent_session_id, started_at, ended_at)`, `messages(id, session_id,
  role, content, tool_call_id, tool_calls, tool_name, timestamp)`. Newer versions add `active`, `compacted`,
  `display_kind`.
- Document: `{session_id, model, platform, session_start, last_updated, system_prompt?, tools?, messages}`.

Messages have the format of OpenAI's Chat Completions. `arguments` is the model's own text.

**Rules.**
- Rows with `active` 0 and `compacted` 0 were withdrawn by the user and are left out, as Hermes does.
- Rows with `compacted` 1 were summarised for the model but happened, so they are read. Later rows repeat what
  the summary keeps. A row that repeats a compacted row is left out, so that each call counts once.
- Hermes itself writes user rows with a `display_kind` (`auto_continue`, `model_switch`, `hidden`) and
  summaries (`[CONTEXT COMPACTION …`). They are not prompts.
- Messages of documents have no time, so calls get the session's start time.
- A result is JSON text: `exit_code` and `error` for commands, `success` and `error` for other tools. Without
  these fields the status is unknown.

**Limits.** `--max-line` limits the size of a document or a database row.

**Not in the log.** Token counts of steps, and the outcome of calls whose result has none of these fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ingest.decoding.fields import read_objects, read_text, read_time
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    PromptSeen,
    Rejected,
    ResultStatus,
    SessionSeen,
    ToolsOffered,
)
from ingest.formats.conversations.database_rows import (
    find_unread,
    is_database,
    read_json_column,
    read_unix_time,
    row_kind,
)
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import (
    ChatConversation,
    ResultFlag,
    join_content,
    list_calls,
)
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="hermes",
    title="Hermes Agent sessions",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="partly: exit codes, success and error in the result's text",
    definitions="partly: where a document lists its tools",
    system_prompt="partly: where a document has it",
    model="yes: per session",
    turn_end="no: concluded from the last message",
    cannot_tell="Results without an exit code, success or error stay unknown.",
)

_SUMMARY = "[CONTEXT COMPACTION"
_DENIED = compile_regex(r"BLOCKED: |.{0,100}denied by user", re.IGNORECASE | re.DOTALL)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "hermes") or any(
        {"session_id", "platform", "session_start"} <= record.keys()
        and isinstance(record.get("messages"), list)
        for record in head[:1]
    )


def translator(about: About) -> Translator:
    return _HermesSessions(about.identity)


class _HermesSessions:
    """Translator of one file: a database, or documents that each contain one session."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._rows: _SessionRows | None = None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind = row_kind(record)
        if kind is not None:
            yield from self._take_row(record, kind)
        elif "messages" in record.value:
            yield from self._take_document(record)

    def _take_document(self, record: Record) -> Iterator[Event]:
        value = record.value
        session, ts = (
            read_text(value.get("session_id")) or self._identity,
            read_time(value.get("session_start")),
        )
        place: dict[str, Any] = {"session_id": session, "where": record.where, "ts": ts}
        yield SessionSeen(**place, harness="hermes", model=read_text(value.get("model")))
        definitions, prompt = read_objects(value.get("tools")), read_text(value.get("system_prompt"))
        if definitions:
            yield ToolsOffered(**place, definitions=tuple(definitions))
        if prompt:
            yield PromptSeen(**place, text=prompt)
        conversation = ChatConversation(session, flag=_read_flag)
        where: LogLine = record.where
        for message in read_objects(value.get("messages")):
            for ident in (*(call["id"] for call in list_calls(message)), message.get("tool_call_id")):
                where = record.find_line(f'"{ident}"') if isinstance(ident, str) else where
            yield from conversation.take(message, where, ts)
        yield from conversation.end(where, ts)
        if ended := read_time(value.get("last_updated")):
            yield SessionSeen(session_id=session, where=record.where, ts=ended)

    def _take_row(self, record: Record, kind: str) -> Iterator[Event | Rejected]:
        if (unread := find_unread(record)) is not None:
            yield unread
            return
        session = read_text(record.value.get("id" if kind == "session" else "session_id")) or self._identity
        if self._rows is None or self._rows.session_id != session:
            yield from self.finish()
            self._rows = _SessionRows(session, record.where)
        if kind == "session":
            yield from self._rows.take_session(record)
        elif kind == "message":
            yield from self._rows.take_message(record)

    def finish(self) -> Iterator[Event]:
        rows, self._rows = self._rows, None
        if rows is not None:
            yield from rows.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


class _SessionRows:
    """The rows of one session in a database."""

    def __init__(self, session_id: str, where: LogLine) -> None:
        self.session_id = session_id
        self._conversation = ChatConversation(session_id, flag=_read_flag)
        self._compacted: set[bytes] = set()  # hashes of messages that a summary replaced
        self._where = where

    def take_session(self, record: Record) -> Iterator[Event]:
        value = record.value
        yield SessionSeen(
            session_id=self.session_id,
            where=record.where,
            ts=read_unix_time(value.get("started_at")),
            harness="hermes",
            parent_session_id=read_text(value.get("parent_session_id")),
            model=read_text(value.get("model")),
        )
        if ended := read_unix_time(value.get("ended_at")):
            yield SessionSeen(session_id=self.session_id, where=record.where, ts=ended)

    def take_message(self, record: Record) -> Iterator[Event | Rejected]:
        value = record.value
        calls = read_json_column(record, "tool_calls")
        if isinstance(calls, Rejected):
            yield calls
        elif not self._is_left_out(value):
            self._where = record.where
            message = {**value, "tool_calls": calls, "name": value.get("tool_name")}
            yield from self._conversation.take(message, record.where, read_unix_time(value.get("timestamp")))

    def _is_left_out(self, value: Mapping[str, Any]) -> bool:
        fields = [value.get(key) for key in ("role", "content", "tool_calls", "tool_call_id")]
        mark = blake2b(repr(fields).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if value.get("compacted") == 1:
            repeats = mark in self._compacted
            self._compacted.add(mark)
            return repeats or _is_of_the_harness(value)
        return value.get("active") == 0 or mark in self._compacted or _is_of_the_harness(value)

    def finish(self) -> Iterator[Event]:
        return self._conversation.end(self._where)


def _is_of_the_harness(value: Mapping[str, Any]) -> bool:
    is_summary = (read_text(value.get("content")) or "").startswith(_SUMMARY)
    return value.get("role") == "user" and (is_summary or bool(value.get("display_kind")))


def _read_flag(message: Mapping[str, Any]) -> ResultFlag:
    """Return the error flag in the JSON at the beginning of a tool result."""
    content = join_content(message.get("content")) or ""
    try:
        output, _ = json.JSONDecoder().raw_decode(content) if content.startswith("{") else ({}, 0)
    except (ValueError, RecursionError):
        return ResultFlag()
    error, code, success = read_text(output.get("error")), output.get("exit_code"), output.get("success")
    if error and _DENIED.match(error):
        return failed_flag(error, FaultLayer.REFUSED, FlagSource.DERIVED_TEXT)
    if isinstance(success, bool):
        return PASSED if success else failed_flag(error or content)
    if isinstance(code, int) and not isinstance(code, bool):
        if code:
            return failed_flag(error or content, source=FlagSource.DERIVED_EXIT_CODE)
        return ResultFlag(ResultStatus.OK, FlagSource.DERIVED_EXIT_CODE)
    return failed_flag(error, source=FlagSource.DERIVED_TEXT) if error else ResultFlag()
