"""Goose sessions: the database `sessions.db`, one message per line, or an export as JSON.

**Files.** Since 2025-10 `~/.local/share/goose/sessions/sessions.db`, before that `<id>.jsonl` in the same
folder. `goose session export --format json` writes one session as a document. Sources: block/goose,
`crates/goose/src/conversation`; a sample of teck968/goose-session-analysis. The database is read according to
the source code, because no database was available.

**Fields.** The first line describes the session (`working_dir`, `description`, sometimes `tools`). Messages
`{role, created, content}` follow; an export has them in `conversation`. Content items are text,
`toolRequest.toolCall` and `toolResponse.toolResult`; the last two are `{status: success, value}` or `{status:
error, error}`. The database has the same content in the tables `sessions(id, provider_name,
model_config_json)` and `messages(session_id, role, content_json, created_timestamp, metadata_json)`.

**Rules.**
- A `toolCall` with status error is a call that goose could not read: its arguments were not JSON (`Could not
  interpret tool use parameters`) or its name was invalid. Goose keeps neither name nor text.
- A result's `value` is a list of content; in newer versions an object with `content` and `isError`.
- Messages that goose itself wrote for the model (`metadata.userVisible` false, such as summaries) are not
  prompts.

**Not in the log.** The system prompt and the model's own argument text. Only exports and databases name the
model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    name_project,
    read_epoch_ms,
    read_number,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import (
    Event,
    FaultLayer,
    LogLine,
    Rejected,
    ResultSeen,
    SessionSeen,
    ToolsOffered,
    Visibility,
)
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.database_rows import (
    find_unread,
    is_database,
    read_json_column,
    read_unix_time,
    row_kind,
)
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="goose",
    title="Goose sessions",
    raw_arguments="no: the decoded object; nothing of calls that were not JSON",
    argument_failures="yes: calls that goose could not read are marked",
    error_flag="yes: status of the result",
    definitions="partly: where the first line lists the tools",
    system_prompt="no",
    model="partly: in exports and databases, for the whole session",
    turn_end="no: concluded from the last message",
    cannot_tell="Session files name no model.",
)

_TEXTS: Texts = (
    (
        FaultLayer.SYNTAX,
        compile_regex(r"(?:-32602: |Invalid parameters: )?Could not interpret tool use parameters"),
    ),
    (
        FaultLayer.SCHEMA,
        compile_regex(
            r"(?:-32602: |Invalid parameters: |MCP error -32602)|(?:-32601: )?(?:Tool '?\S{1,200}'? not found"
            r"|Tool not found|The provided function name)|(?:Error: )?failed to deserialize parameters"
        ),
    ),
    (FaultLayer.REFUSED, compile_regex(r"The user has (?:declined|denied)|Permission denied by user")),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "goose") or any(_is_message(record) or _is_export(record) for record in head[:5])


def _is_message(record: Mapping[str, Any]) -> bool:
    return (
        record.get("role") in ("user", "assistant")
        and read_number(record.get("created")) is not None
        and isinstance(record.get("content"), list)
    )


def _is_export(record: Mapping[str, Any]) -> bool:
    return "working_dir" in record and isinstance(record.get("conversation"), list)


def translator(about: About) -> Translator:
    return _GooseSession(about.identity)


class _GooseSession:
    """Translator of a file with one session, or of a database with many sessions."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._begun = False

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind = row_kind(record)
        if kind is not None:
            yield from self._take_row(record, kind)
        elif "tables" not in record.value:
            yield from self._take_record(record)

    def _take_row(self, record: Record, kind: str) -> Iterator[Event | Rejected]:
        """Yield the events of a database row: a session, or a message of the latest session row."""
        columns = ("model_config_json",) if kind == "session" else ("content_json", "metadata_json")
        decoded = [read_json_column(record, column) for column in columns]
        bad = find_unread(record) or next(
            (rejected for rejected in decoded if isinstance(rejected, Rejected)), None
        )
        if bad is not None:
            yield bad
            return
        row = record.value
        if kind == "session":
            yield from self.finish()
            self._dialogue = AgentSession(read_text(row.get("id")) or self._dialogue.session_id)
            yield from self._read_facts({**row, "model_config": decoded[0]}, record.where)
        else:
            message = {"role": row.get("role"), "content": decoded[0], "metadata": decoded[1]}
            yield from self._take_message(message, record.where, read_unix_time(row.get("created_timestamp")))

    def _take_record(self, record: Record) -> Iterator[Event]:
        value = record.value
        if not self._begun:
            self._begun = True
            yield from self._read_facts(value, record.where)
        messages = read_objects(value.get("conversation")) if _is_export(value) else [value]
        for message in messages:
            ident = read_text(message.get("id"))
            where = record.find_line(f'"{ident}"') if ident is not None else record.where
            yield from self._take_message(message, where, _parse_seconds(message.get("created")))

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _read_facts(self, header: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        if "role" not in header:
            self._dialogue.session_id = read_text(header.get("id")) or self._dialogue.session_id
        place: dict[str, Any] = {"session_id": self._dialogue.session_id, "where": where}
        yield SessionSeen(
            **place,
            harness="goose",
            project=name_project(header.get("working_dir")),
            provider=read_text(header.get("provider_name")),
            model=read_text(read_object(header.get("model_config")).get("model_name")),
        )
        definitions = read_objects(header.get("tools"))
        if definitions:
            yield ToolsOffered(**place, definitions=tuple(definitions))

    def _take_message(
        self, message: Mapping[str, Any], where: LogLine, ts: datetime | None
    ) -> Iterator[Event]:
        items = read_objects(message.get("content"))
        words = [read_text(item.get("text")) or "" for item in items if item.get("type") == "text"]
        if message.get("role") == "assistant":
            yield from self._dialogue.add_step(where, ts, "\n".join(words))
            for item in items:
                if item.get("type") == "toolRequest":
                    yield self._dialogue.add_call(where, ts, **_read_call(item))
        elif message.get("role") == "user":
            for item in items:
                if item.get("type") == "toolResponse":
                    yield ResultSeen(
                        session_id=self._dialogue.session_id, where=where, ts=ts, **_make_result(item)
                    )
            if words and read_object(message.get("metadata")).get("userVisible") is not False:
                self._dialogue.ask(where, ts, "\n".join(words))


def _read_call(item: Mapping[str, Any]) -> dict[str, Any]:
    call_id, sent = read_text(item.get("id")), read_object(item.get("toolCall"))
    request = read_object(sent.get("value"))
    facts = {
        **decoded_argument_fields(request.get("arguments")),
        "tool": read_text(request.get("name")),
        **native_call_fields(call_id),
        "syntax_seen": Visibility.FAILURES,
        "schema_seen": Visibility.FAILURES,
    }
    if sent.get("status") != "error":
        return facts
    reason = _failure_reason(sent.get("error"))
    layer = find_layer(reason, _TEXTS)
    refused = layer if layer in (FaultLayer.SYNTAX, FaultLayer.SCHEMA) else FaultLayer.SYNTAX
    return {**facts, "refused_by_harness": refused, "harness_message": reason}


def _make_result(item: Mapping[str, Any]) -> dict[str, Any]:
    tool_result = read_object(item.get("toolResult"))
    value = tool_result.get("value")
    if tool_result.get("status") == "error":
        content: str | None = _failure_reason(tool_result.get("error"))
        flag = failed_flag(content or "", find_layer(content or "", _TEXTS) or FaultLayer.EXECUTION)
    else:
        content = join_content(value.get("content") if isinstance(value, dict) else value)
        is_error = isinstance(value, dict) and value.get("isError") is True
        flag = (
            failed_flag(content or "")
            if is_error
            else PASSED
            if tool_result.get("status") == "success"
            else ResultFlag()
        )
    return {
        "tool_call_id": read_text(item.get("id")),
        "status": flag.status,
        "flag_source": flag.source,
        "content": content,
        **flag.facts,
    }


def _failure_reason(error: Any) -> str:
    return read_text(error) or read_text(read_object(error).get("message")) or ""


def _parse_seconds(value: Any) -> datetime | None:
    seconds = read_number(value)
    return read_epoch_ms(seconds * 1000) if seconds is not None else None
