"""Kiro CLI and Amazon Q CLI: the database of conversations, or one conversation saved with `/save`.

**Files.** `data.sqlite3` in `~/.local/share/kiro-cli/` or `~/.local/share/amazon-q/`. The table
`conversations(key, value)` has one conversation per folder; newer versions use `conversations_v2(key,
conversation_id, value)`. A saved file has the same JSON as `value`. Sources: aws/amazon-q-developer-cli;
samples of kenn-io/agentsview (2026-05), modelled on real ones. No database was available.

**Fields.** `{conversation_id, history, model_info.model_id}`. An entry of `history` is `{user, assistant,
request_metadata}`. The user's `content` is `Prompt.prompt`, `ToolUseResults.tool_use_results[].{tool_use_id,
status, content}`, or `CancelledToolUses` with a prompt and results. The assistant is `Response.content`, or
`ToolUse.{content, tool_uses[].{id, name, args}}`.

**Turns.** A turn begins with a prompt and ends with a `Response`.

**Rules.**
- A conversation that is in both tables is read from the newer table.
- If the CLI changed a call, `orig_name` and `orig_args` are what the model sent.
- A command with a non-zero exit code has the status Success; its `exit_status` shows the failure.

**Limits.** `--max-line` limits the size of a conversation.

**Not in the log.** The model's own argument text, tool definitions and the system prompt. Old versions do not
name the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_epoch_ms, read_object, read_objects, read_text, read_time
from ingest.events import Event, FaultLayer, FlagSource, Rejected, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.database_rows import find_unread, is_database, read_json_column, row_kind
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="kiro",
    title="Kiro and Amazon Q CLI conversations",
    raw_arguments="no: the decoded object",
    argument_failures="no: the wording for invalid arguments is not known",
    error_flag="yes: status, and the exit status of commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: in newer versions",
    turn_end="no: concluded from the last message",
    cannot_tell="Clean and repaired arguments cannot be distinguished.",
)

_PASSED_EXITS = (None, 0, "0")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "kiro") or any(
        "conversation_id" in record and _is_history(record.get("history")) for record in head[:1]
    )


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(
        {"user", "assistant"} <= entry.keys() for entry in read_objects(value)
    )


def translator(about: About) -> Translator:
    return _KiroConversations(about.identity)


class _KiroConversations:
    """Translator of one file: a database, or one saved conversation."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._seen: set[str] = set()

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if row_kind(record) is None:
            if "tables" not in record.value:
                yield from self._take_conversation(record, record.value)
            return
        value = read_json_column(record, "value")
        bad = find_unread(record) or (value if isinstance(value, Rejected) else None)
        if bad is not None:
            yield bad
        else:
            yield from self._take_conversation(record, read_object(value))

    def _take_conversation(self, record: Record, value: Mapping[str, Any]) -> Iterator[Event]:
        ident = read_text(value.get("conversation_id")) or read_text(record.value.get("conversation_id"))
        session_id = ident or self._identity
        if session_id in self._seen:
            return  # The conversation was already read from the newer table, which comes first.
        self._seen.add(session_id)
        model = read_text(read_object(value.get("model_info")).get("model_id"))
        yield SessionSeen(session_id=session_id, where=record.where, harness="kiro", model=model)
        conversation = _Conversation(AgentSession(session_id), record, model)
        for entry in read_objects(value.get("history")):
            yield from conversation.take(entry)
        yield from conversation.finish()

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Do nothing: no file is open."""


class _Conversation:
    def __init__(self, dialogue: AgentSession, record: Record, model: str | None) -> None:
        self._dialogue = dialogue
        self._record = record
        self._where = record.where
        self._model = model

    def take(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._take_user(read_object(entry.get("user")))
        metadata = read_object(entry.get("request_metadata"))
        yield from self._take_assistant(read_object(entry.get("assistant")), metadata)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def _take_user(self, user: Mapping[str, Any]) -> Iterator[Event]:
        content, ts = read_object(user.get("content")), read_time(user.get("timestamp"))
        cancelled = read_object(content.get("CancelledToolUses"))
        tool_results = read_object(content.get("ToolUseResults")) or cancelled
        for result in read_objects(tool_results.get("tool_use_results")):
            ident = read_text(result.get("tool_use_id"))
            self._find(ident)
            yield ResultSeen(
                session_id=self._dialogue.session_id,
                where=self._where,
                ts=ts,
                tool_call_id=ident,
                **_result_fields(result, cancelled=bool(cancelled)),
            )
        prompt = read_text((read_object(content.get("Prompt")) or cancelled).get("prompt"))
        if prompt is not None:
            self._dialogue.ask(self._where, ts, prompt)

    def _take_assistant(self, assistant: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Event]:
        reply = read_object(assistant.get("ToolUse")) or read_object(assistant.get("Response"))
        if not reply:
            return
        self._find(read_text(reply.get("message_id")))
        ts = read_epoch_ms(metadata.get("stream_end_timestamp_ms"))
        model = read_text(metadata.get("model_id")) or self._model
        yield from self._dialogue.add_step(self._where, ts, read_text(reply.get("content")), model=model)
        for call in read_objects(reply.get("tool_uses")):
            ident = read_text(call.get("id"))
            self._find(ident)
            yield self._dialogue.add_call(
                self._where,
                ts,
                **decoded_argument_fields(_first_value(call, "orig_args", "args")),
                tool=read_text(_first_value(call, "orig_name", "name")),
                **native_call_fields(ident),
            )

    def _find(self, ident: str | None) -> None:
        self._where = self._record.find_line(f'"{ident}"', past=True) if ident else self._where


def _first_value(call: Mapping[str, Any], *names: str) -> Any:
    return next((call[name] for name in names if call.get(name) is not None), None)


def _result_fields(result: Mapping[str, Any], *, cancelled: bool) -> dict[str, Any]:
    parts = read_objects(result.get("content"))
    content = "\n".join(filter(None, map(_part_text, parts))) or None
    exits = [read_object(part.get("Json")).get("exit_status") for part in parts]
    if cancelled:
        flag = failed_flag(content or "", FaultLayer.REFUSED)
    elif result.get("status") == "Error":
        flag = failed_flag(content or "")
    elif any(code not in _PASSED_EXITS for code in exits):
        flag = failed_flag(content or "", source=FlagSource.DERIVED_EXIT_CODE)
    else:
        flag = PASSED if result.get("status") == "Success" else ResultFlag()
    return {"content": content, **flag.fields}


def _part_text(part: Mapping[str, Any]) -> str | None:
    text = read_text(part.get("Text"))
    if text is None and part.get("Json") is not None:
        return json.dumps(part["Json"], ensure_ascii=False, separators=(",", ":"))
    return text
