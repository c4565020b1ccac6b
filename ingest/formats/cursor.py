"""Cursor: its database of chats, and the transcripts of its agents.

**Files.** `User/globalStorage/state.vscdb` (SQLite, the table `cursorDiskKV`), and
`~/.cursor/projects/<folder>/agent-transcripts/<id>/<id>.jsonl` with sub-agents in `subagents/`. Sources: test
files of xmartlabs/gnomon, S2thend/cursor-history and jonathan-kellerai/cross_agent_session_resumer, modelled
on real ones.

**Fields.**
- Database: `composerData:<id>` lists the messages ("bubbles") of a chat in order and names the model
  (`modelConfig.modelName`). `bubbleId:<composer>:<bubble>` contains one message: `type` 1 user, 2 assistant,
  `text`, `toolFormerData.{name, status, params, rawArgs, result}`, `tokenCount`.
- Transcript: `{role, message: {content}}` with Anthropic's blocks `text` and `tool_use`, `{type: turn_ended,
  status}`, `{type: error, error}`.

**Turns.** A user's message begins a turn when the model answers it. In a transcript, `turn_ended` and `error`
lines end the turn and state its outcome. In the database, the next user's message ends it.

**Rules.**
- The same chat may be in the database and in a transcript. Both use the composer's id, so calls count once.
- A bubble that the composer does not list was removed by an edit, so it is not read.
- `rawArgs` is the model's own text. If it is missing, the decoded `params` are used.
- The user's text is in `<user_query>`, after attached files.
- Calls in a transcript have no id, no result and no time. When the transcript continues after a call, the
  call gets a result of unknown status.
- Old versions kept the whole chat in `composerData` (`conversation`). This is read, but no such file was
  available.

**Not in the log.** Tool definitions and the system prompt. Transcripts do not name the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_count, read_object, read_objects, read_text, read_time
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    TurnStatus,
)
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks
from ingest.formats.conversations.database_rows import (
    find_unread,
    is_database,
    read_json_column,
    read_unix_time,
    row_kind,
)
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields
from ingest.formats.provider_messages.embedded_json import decode_json
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="cursor",
    title="Cursor chats",
    raw_arguments="partly: in the database, where rawArgs is kept",
    argument_failures="no: the wording for invalid arguments is not known",
    error_flag="partly: status in the database; none in transcripts",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: in the database, for the whole chat; not in transcripts",
    turn_end="partly: turn_ended in transcripts",
    cannot_tell="A transcript does not record the result of a call.",
)
_USER, _MODEL = 1, 2
_UNNAMED = ("", "default")  # Cursor writes these names when it chooses the model itself.
_ID = compile_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OTHERS = {"type", "uuid", "sessionId", "created", "content", "timestamp", "id"}
_QUERY = compile_regex(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "cursor") or any(_is_transcript_line(record) for record in head)


def translator(about: About) -> Translator:
    return _CursorLog(about)


class _CursorLog:
    """Translator of one file: a database with many chats, or the transcript of one chat."""

    def __init__(self, about: About) -> None:
        self._rows = CursorRows(about.identity)
        self._transcript = CursorTranscript(about)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind = row_kind(record)
        if kind is not None:
            yield from self._rows.take(record, kind)
        elif "tables" not in record.value:
            yield from self._transcript.take(record)

    def finish(self) -> Iterator[Event]:
        yield from self._rows.finish()
        yield from self._transcript.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


class CursorRows:
    """Translates the rows of a database, one after another."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._dialogue: AgentSession | None = None
        self._model: str | None = None
        self._model_call: str | None = None  # the field `modelCallId` of the latest step

    def take(self, record: Record, kind: str) -> Iterator[Event | Rejected]:
        data = read_json_column(record, "value")
        bad = find_unread(record) or (data if isinstance(data, Rejected) else None)
        if bad is not None:
            yield bad
        elif kind == "composer":
            yield from self._begin_chat(record, read_object(data))
        elif kind == "bubble":
            yield from self._take_bubble(record.where, read_object(data))

    def finish(self) -> Iterator[Event]:
        dialogue, self._dialogue = self._dialogue, None
        if dialogue is not None:
            yield from dialogue.close_turn()

    def _begin_chat(self, record: Record, composer: Mapping[str, Any]) -> Iterator[Event]:
        yield from self.finish()
        key = read_text(record.value.get("key")) or ""
        self._dialogue = AgentSession(key.partition(":")[2] or self._identity)
        self._model = _read_model(read_object(composer.get("modelConfig")).get("modelName"))
        self._model_call = None
        yield SessionSeen(
            session_id=self._dialogue.session_id,
            where=record.where,
            ts=_read_any_time(composer.get("createdAt")),
            harness="cursor",
            model=self._model,
        )
        for bubble in read_objects(composer.get("conversation")):
            yield from self._take_bubble(record.where, bubble)

    def _take_bubble(self, where: LogLine, bubble: Mapping[str, Any]) -> Iterator[Event]:
        if self._dialogue is None:
            self._dialogue = AgentSession(self._identity)
        dialogue = self._dialogue
        ts = _read_any_time(bubble.get("createdAt")) or _read_any_time(bubble.get("timestamp"))
        if bubble.get("type") == _USER:
            self._model_call = None
            dialogue.ask(where, ts, _read_query(read_text(bubble.get("text")) or ""))
        elif bubble.get("type") == _MODEL:
            yield from self._take_answer(dialogue, where, ts, bubble)

    def _take_answer(
        self, dialogue: AgentSession, where: LogLine, ts: datetime | None, bubble: Mapping[str, Any]
    ) -> Iterator[Event]:
        text, call = read_text(bubble.get("text")), read_object(bubble.get("toolFormerData"))
        model_call = read_text(call.get("modelCallId")) or None
        if text or model_call is None or model_call != self._model_call:
            tokens = read_object(bubble.get("tokenCount"))
            named = read_object(bubble.get("modelInfo")).get("modelName") or bubble.get("modelType")
            yield from dialogue.add_step(
                where,
                ts,
                text,
                model=_read_model(named) or self._model,
                input_tokens=read_count(tokens.get("inputTokens")) or None,
                output_tokens=read_count(tokens.get("outputTokens")) or None,
            )
        self._model_call = model_call
        if call:
            yield dialogue.add_call(where, ts, **_call_fields(call))
            result = _result_fields(call)
            if result is not None:
                yield ResultSeen(session_id=dialogue.session_id, where=where, ts=ts, **result)


def _call_fields(call: Mapping[str, Any]) -> dict[str, Any]:
    raw, params = read_text(call.get("rawArgs")), call.get("params")
    sent = argument_fields(raw or (decode_json(params) if isinstance(params, str) else params))
    return {
        **sent,
        "tool": read_text(call.get("name")),
        **native_call_fields(read_text(call.get("toolCallId")) or None),
    }


def _result_fields(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the `ResultSeen` fields of a tool call. Return None when the call is still running."""
    content = read_text(call.get("result")) or read_text(call.get("error"))
    status = call.get("status")
    if status == "completed":
        flag: ResultFlag = PASSED
    elif status == "error":
        flag = failed_flag(content or "")
    elif status in ("cancelled", "rejected"):
        flag = failed_flag(content or "", FaultLayer.REFUSED)
    else:
        return None
    return {
        "tool_call_id": read_text(call.get("toolCallId")) or None,
        "tool": read_text(call.get("name")),
        "content": content,
        **flag.fields,
    }


def _read_model(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in _UNNAMED else None


def _read_any_time(value: Any) -> datetime | None:
    return read_time(value) or read_unix_time(value)


def _is_transcript_line(record: Mapping[str, Any]) -> bool:
    """Return True for a line of a Cursor transcript, which has only the fields `role` and `message`."""
    return (
        record.get("role") in ("user", "assistant")
        and isinstance(read_object(record.get("message")).get("content"), list)
        and not _OTHERS & record.keys()
    )


class CursorTranscript:
    """The session in one transcript.

    The file's name is the session id, if it has the form of an id.
    """

    def __init__(self, about: About) -> None:
        name = about.name.removesuffix(".jsonl")
        self._dialogue = AgentSession(name if _ID.fullmatch(name) else about.identity)
        self._begun = False
        self._open: list[tuple[int, str | None]] = []  # (ordinal, tool name) of each call in the last message

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        where, value = record.where, record.value
        if not self._begun:
            self._begun = True
            yield SessionSeen(session_id=self._dialogue.session_id, where=where, harness="cursor")
        yield from self._answer_calls(where)
        kind, role = value.get("type"), value.get("role")
        blocks = list_blocks(read_object(value.get("message")).get("content"))
        if kind == "turn_ended":
            self._end_turn(where, read_text(value.get("status")))
        elif kind == "error":
            self._dialogue.note_stop(where, None, TurnStatus.ERROR.value, ok=False)
        elif role == "user":
            words = join_text(blocks)
            if words is not None:
                self._dialogue.ask(where, None, _read_query(words))
        elif role == "assistant":
            yield from self._dialogue.add_step(where, None, join_text(blocks))
            for ordinal, call in enumerate(call_fields(blocks)):
                self._open.append((ordinal, call["tool"]))
                yield self._dialogue.add_call(where, None, **call)

    def _answer_calls(self, where: LogLine) -> Iterator[Event]:
        """Yield a result with unknown status for each tool call of the last message."""
        for ordinal, tool in self._open:
            yield ResultSeen(
                session_id=self._dialogue.session_id,
                where=where,
                tool=tool,
                ordinal=ordinal,
                status=ResultStatus.UNKNOWN,
                flag_source=FlagSource.ABSENT,
            )
        self._open = []

    def _end_turn(self, where: LogLine, status: str | None) -> None:
        if status in ("aborted", "cancelled"):
            self._dialogue.note_stop(where, None, TurnStatus.CANCELLED.value)
        else:
            ok = {"success": True, "error": False}.get(status or "")
            self._dialogue.note_stop(where, None, status, ok=ok)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()


def _read_query(text: str) -> str:
    """Return the text inside all `<user_query>` tags. Return the whole text when there are no such tags."""
    queries = _QUERY.findall(text)
    return "\n".join(queries) if queries else text
