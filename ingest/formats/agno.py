"""Agno's sessions in SQLite (`SqliteDb`): one row per session, in a table that the user names.

**Files.** Sources: agno-agi/agno, `libs/agno/agno/db/sqlite`, and a database of
Paraschamoli/deep-knowledge-agent (2026-01, version 2.3, two runs without calls). Calls and results are read
according to the source code, because no database with calls was available.

**Fields.** The table has `session_id`, `session_type` and `runs`. `runs` is JSON, often encoded twice:
`[{run_id, model, model_provider, status, metrics, messages, tools}]`. Messages are like OpenAI's; the model's
own argument text is in `tool_calls[].function.arguments`. `tools` has `{tool_call_id, tool_call_error,
result}`.

**Turns.** Each run is a turn. The turn's text is the last user message before the answer. The run's `status`
ends the turn.

**Rules.**
- Messages with `from_history` are copies from an earlier run and are left out.
- A run may have several system messages; together they are the system prompt.
- Runs of team members have a `parent_run_id`. They are in the same list, and each is a turn.

**Limits.** `--max-line` limits the size of a session.

**Not in the log.** Tool definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_object, read_objects, read_text
from ingest.decoding.lines import SNIPPET_READ
from ingest.events import Event, LogLine, PromptSeen, Rejected, ResultSeen, SessionSeen, TurnStatus
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.database_rows import (
    find_unread,
    is_database,
    read_json_column,
    read_unix_time,
    row_kind,
)
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import (
    ResultFlag,
    argument_fields,
    join_content,
    list_calls,
)
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="agno",
    title="Agno sessions",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="yes: tool_call_error",
    definitions="no: supply them with --tools",
    system_prompt="yes",
    model="yes: per run, with its provider",
    turn_end="yes: the run's status; whether it did what the user wanted is not recorded",
    cannot_tell="What the tools offered were.",
)

_STATUS = {"ERROR": TurnStatus.ERROR.value, "CANCELLED": TurnStatus.CANCELLED.value}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "agno")


def translator(about: About) -> Translator:
    return _AgnoSessions(about.identity)


class _AgnoSessions:
    """Translator of one database."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if row_kind(record) is None:
            return
        runs = _decode_twice(record)
        bad = find_unread(record) or (runs if isinstance(runs, Rejected) else None)
        if bad is not None:
            yield bad
            return
        row = record.value
        session = _AgnoSession(read_text(row.get("session_id")) or self._identity, record.where)
        yield SessionSeen(
            session_id=session.session_id,
            where=record.where,
            ts=read_unix_time(row.get("created_at")),
            harness="agno",
            user=read_text(row.get("user_id")),
        )
        for run in read_objects(runs):
            yield from session.take_run(run)

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _decode_twice(record: Record) -> Any:
    value = open_json(read_json_column(record, "runs"))
    if not isinstance(value, str):
        return value
    return Rejected(record.where, "not_json", "the text in the column runs is not JSON", value[:SNIPPET_READ])


class _AgnoSession:
    def __init__(self, session_id: str, where: LogLine) -> None:
        self.session_id = session_id
        self._where = where
        self._prompt: str | None = None

    def take_run(self, run: Mapping[str, Any]) -> Iterator[Event]:
        messages = [
            message
            for message in read_objects(run.get("messages"))
            if message.get("from_history") is not True
        ]
        ts = read_unix_time(run.get("created_at"))
        yield from self._note_prompt(messages)
        dialogue = AgentSession(self.session_id)
        ran = {read_text(tool.get("tool_call_id")): tool for tool in read_objects(run.get("tools"))}
        for message in messages:
            at = read_unix_time(message.get("created_at")) or ts
            role = message.get("role")
            if role == "user":
                key = unique_id(read_text(message.get("id")))
                dialogue.ask(self._where, at, join_content(message.get("content")), key)
            elif role == "assistant":
                yield from self._take_answer(dialogue, message, run, at)
            elif role == "tool":
                call_id = read_text(message.get("tool_call_id"))
                flag = _read_flag(message, ran.get(call_id, {}))
                yield ResultSeen(
                    session_id=self.session_id,
                    where=self._where,
                    ts=at,
                    tool_call_id=call_id,
                    tool=read_text(message.get("tool_name")),
                    content=join_content(message.get("content")),
                    **flag.fields,
                )
        status = read_text(run.get("status"))
        if status in ("COMPLETED", *_STATUS):
            word = _STATUS.get(status, TurnStatus.COMPLETED.value)
            dialogue.note_stop(self._where, ts, word, ok=False if status == "ERROR" else None)
        yield from dialogue.close_turn()

    def _note_prompt(self, messages: list[dict[str, Any]]) -> Iterator[Event]:
        system = [message for message in messages if message.get("role") in ("system", "developer")]
        texts = [join_content(message.get("content")) or "" for message in system]
        prompt = "\n\n".join(texts)
        if prompt and prompt != self._prompt:
            self._prompt = prompt
            yield PromptSeen(session_id=self.session_id, where=self._where, text=prompt)

    def _take_answer(
        self, dialogue: AgentSession, message: Mapping[str, Any], run: Mapping[str, Any], at: Any
    ) -> Iterator[Event]:
        metrics = read_object(message.get("metrics"))
        yield from dialogue.add_step(
            self._where,
            at,
            join_content(message.get("content")),
            provider=read_text(run.get("model_provider")),
            model=read_text(run.get("model")),
            input_tokens=read_count(metrics.get("input_tokens")) or None,
            output_tokens=read_count(metrics.get("output_tokens")) or None,
        )
        for call in list_calls(message):
            ident = read_text(call["id"])
            yield dialogue.add_call(
                self._where,
                at,
                tool=read_text(call["name"]),
                tool_call_id=ident,
                key=unique_id(ident),
                **argument_fields(call["arguments"]),
            )


def _read_flag(message: Mapping[str, Any], tool: Mapping[str, Any]) -> ResultFlag:
    failed = message.get("tool_call_error")
    if not isinstance(failed, bool):
        failed = tool.get("tool_call_error")
    if failed is True:
        return failed_flag(join_content(message.get("content")) or "")
    return PASSED if failed is False else ResultFlag()
