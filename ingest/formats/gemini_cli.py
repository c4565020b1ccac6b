"""Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-*`, one document or one record per line.

**Files.** Until 2026-04 a session was one JSON document (`.json`); since then it is a log of records
(`.jsonl`). Sources: google-gemini/gemini-cli, `packages/core/src/services/chatRecording*.ts`; documents of
2026-04.

**Fields.** `{sessionId, projectHash, startTime, kind, messages}`. A log begins with the same fields except
`messages`, then has one message per line. A message has `id, timestamp, type` (user, gemini, info, warning,
error) and `content` (text or parts). The model's messages also have `model`, `tokens`, `toolCalls[].{id,
name, args, status, result}`.

**Turns.** A user's message begins a turn when the model answers it. The `info` message "Request cancelled."
ends the turn (status `cancelled`); a message of type `error` also ends the turn (status `error`).

**Rules.**
- A log writes a message again whenever the message changes. The last record with an id counts. The last 200
  messages (at most 8 MB) are therefore kept back. A later change of an older message is skipped.
- `{"$rewindTo": id}`: the user withdrew this message and all later ones. The model's calls still count, in
  turns that end as `cancelled`.
- `{"$set": {"messages": […]}}` and `$patch` rewrite the history for the model (compression, masked outputs).
  These records are skipped, unless a log begins with such a record.
- `status` is explicit: success, error or cancelled (the user declined or interrupted a valid call). A shell
  command with a non-zero exit code has the status success; the code is in its output (`Exit Code: 1`).
- An error has only a text. The text distinguishes schema errors, unknown tools and policy denials.

**Limits.** `--max-line` limits the size of a document.

**Side files.** `logs.json` (typed prompts) and `shell_history` in the folder above `chats` contain no calls.

**Not in the log.** The system prompt, tool definitions and malformed calls: the API returns only decoded
objects to the CLI.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    count_whole_input,
    read_count,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    SessionSeen,
    TurnStatus,
    Visibility,
)
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.gemini_parts import join_answers
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="gemini_cli",
    title="Gemini CLI sessions",
    raw_arguments="no: the decoded object",
    argument_failures="partly: arguments that the CLI rejected; malformed calls leave no trace",
    error_flag="yes: status, and the exit code of shell commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step",
    turn_end="partly: the answer, cancellations and errors, without a verdict",
    cannot_tell="Calls that the model malformed are not in the log at all.",
)
_SIDE_FILE = compile_regex(r"(?:.*[/!])?tmp/[0-9a-f]{64}/(?:logs\.json|shell_history)")
_MAX_WAITING = 200  # maximum number of messages that are kept back because they may still change
_MAX_WAITING_BYTES = 8 * 1024 * 1024  # maximum total size in bytes of the messages that are kept back
_REMEMBERED = 50_000  # maximum number of remembered ids of translated messages
_CANCELLED = "Request cancelled"
_SHELL = "run_shell_command"
_EXIT = compile_regex(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_TAIL = 600  # The exit code is within this many characters at the end of a shell result.
_TEXTS: Texts = (
    (
        FaultLayer.SCHEMA,
        compile_regex(
            r"params(?:/\S{1,200})? must |(?:Error: )?Invalid parameters provided"
            r'|Tool "[^"\n]{1,200}" not found'
        ),
    ),
    (
        FaultLayer.REFUSED,
        compile_regex(r"\[Operation Cancelled\]|Tool execution denied by policy|User denied"),
    ),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)
        for record in head[:5]
    )


def side_file(about: About) -> str | None:
    """Describe a file that Gemini CLI keeps next to its sessions. Return None for other files."""
    return "a side file of Gemini CLI" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return GeminiRecording(about.identity)


class GeminiRecording:
    """Translator of one file, which contains one session."""

    def __init__(self, identity: str) -> None:
        self._conversation = GeminiConversation(identity)
        # message id → (line, message, size), in the order of arrival
        self._waiting: dict[str, tuple[LogLine, Mapping[str, Any], int]] = {}
        self._bytes = 0
        self._gone: dict[str, None] = {}

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        rewound_to = read_text(value.get("$rewindTo"))
        if rewound_to is not None:
            yield from self._rewind(rewound_to)
        elif isinstance(value.get("sessionId"), str) and "projectHash" in value:
            yield self._make_session(value, record.where)
            yield from self._take_document(record, value)
        elif isinstance(value.get("$set"), dict):
            if not self._waiting and not self._gone:
                yield from self._take_document(record, value["$set"])
        elif isinstance(value.get("type"), str):
            self._hold(value, record.where, len(record.data))
            yield from self._release_oldest()

    def finish(self) -> Iterator[Event]:
        yield from self._release_oldest(all_of_them=True)
        yield from self._conversation.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _make_session(self, header: Mapping[str, Any], where: LogLine) -> Event:
        self._conversation.session_id = str(header["sessionId"])
        return SessionSeen(
            session_id=self._conversation.session_id,
            where=where,
            ts=read_time(header.get("startTime")),
            harness="gemini_cli",
        )

    def _take_document(self, record: Record, holder: Mapping[str, Any]) -> Iterator[Event]:
        for message in read_objects(holder.get("messages")):
            ident = read_text(message.get("id"))
            where = record.where if ident is None else record.find_line(f'"{ident}"')
            yield from self._conversation.take(message, where, record)
            self._forget(ident or "")

    def _hold(self, message: Mapping[str, Any], where: LogLine, size: int) -> None:
        ident = read_text(message.get("id")) or f":{where.line}"
        if ident in self._gone:
            return
        self._bytes += size - (self._waiting[ident][2] if ident in self._waiting else 0)
        self._waiting[ident] = (where, message, size)

    def _release_oldest(self, *, all_of_them: bool = False) -> Iterator[Event]:
        """Translate the oldest waiting messages until the memory limits are met.

        If `all_of_them` is set, every waiting message is translated.
        """
        while self._waiting and (
            all_of_them
            or len(self._waiting) > _MAX_WAITING
            or (self._bytes > _MAX_WAITING_BYTES and len(self._waiting) > 1)
        ):
            yield from self._pass_message_on(next(iter(self._waiting)))

    def _pass_message_on(self, ident: str) -> Iterable[Event]:
        where, message, size = self._waiting.pop(ident)
        self._bytes -= size
        self._forget(ident)
        return self._conversation.take(message, where)

    def _forget(self, ident: str) -> None:
        self._gone[ident] = None
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _rewind(self, ident: str) -> Iterator[Event]:
        """Translate all waiting messages after the user withdrew message `ident` and all later messages.

        The turns of withdrawn messages end as cancelled. If `ident` is unknown, all waiting turns end as
        cancelled.
        """
        taken_back = ident not in self._waiting
        for each in list(self._waiting):
            taken_back = taken_back or each == ident
            if taken_back and read_object(self._waiting[each][1]).get("type") == "user":
                yield from self._conversation.take_back()
            yield from self._pass_message_on(each)
            if taken_back:
                self._conversation.is_taken_back = True
        yield from self._conversation.take_back()


class GeminiConversation(AgentSession):
    """The turns of one Gemini CLI session.

    `is_taken_back` is True when the user withdrew the current turn.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.is_taken_back = False
        self._may_call = False  # whether the last message is the model's and has no calls
        self._last = LogLine(1, 0)
        self._last_ts: datetime | None = None

    def take(
        self, message: Mapping[str, Any], where: LogLine, document: Record | None = None
    ) -> Iterable[Event]:
        """Return the events of one message.

        `document` is the record that contains the message, or None if the record has only one line.
        """
        kind, ts = message.get("type"), read_time(message.get("timestamp"))
        self._last, self._last_ts = where, ts
        if kind in ("gemini", "model"):
            return self._take_words(message, where, ts, document)
        words = _join_words(message)
        if kind == "user" and words is not None:
            self._may_call = False
            self.ask(where, ts, words, unique_id(read_text(message.get("id"))))
        elif kind == "info" and (words or "").startswith(_CANCELLED):
            self.note_stop(where, ts, TurnStatus.CANCELLED.value)
        elif kind == "error":
            self.note_stop(where, ts, TurnStatus.ERROR.value, ok=False)
        return ()

    def take_back(self) -> Iterator[Event]:
        """If the user withdrew the open turn, yield the end of this turn as cancelled."""
        if self.is_taken_back:
            self.note_stop(self._last, self._last_ts, TurnStatus.CANCELLED.value)
            yield from self.close_turn()
        self.is_taken_back = False

    def _take_words(
        self, message: Mapping[str, Any], where: LogLine, ts: datetime | None, document: Record | None
    ) -> Iterator[Event]:
        words, calls = _join_words(message), read_objects(message.get("toolCalls"))
        tokens = read_object(message.get("tokens"))
        if not (self._may_call and calls and not words and not tokens):
            yield from self.add_step(
                where,
                ts,
                words,
                model=read_text(message.get("model")),
                **count_whole_input(tokens.get("input"), tokens.get("cached")),
                output_tokens=_sum_counts(tokens.get("output"), tokens.get("thoughts")),
            )
        self._may_call = not calls
        for call in calls:
            call_id, called_at = read_text(call.get("id")), read_time(call.get("timestamp")) or ts
            place = document.find_line(f'"{call_id}"') if document and call_id else where
            yield self.add_call(
                place,
                called_at,
                tool=read_text(call.get("name")),
                **native_call_fields(call_id),
                schema_seen=Visibility.FAILURES,
                **decoded_argument_fields(call.get("args")),
            )
            yield from self._take_result(call, place, called_at)

    def _take_result(self, call: Mapping[str, Any], where: LogLine, ts: datetime | None) -> Iterator[Event]:
        content = join_answers(call.get("result"))
        flag = read_flag(call, content or "")
        if flag is not None:
            yield ResultSeen(
                session_id=self.session_id,
                where=where,
                ts=ts,
                tool_call_id=read_text(call.get("id")),
                content=content,
                **flag.fields,
            )


def read_flag(call: Mapping[str, Any], content: str) -> ResultFlag | None:
    """Return the status of a tool call. Return None while the call has no result."""
    status = call.get("status")
    if status == "cancelled":
        return failed_flag(content, FaultLayer.REFUSED)
    if status == "error":
        return failed_flag(content, find_layer(content, _TEXTS) or FaultLayer.EXECUTION)
    if status != "success":
        return None
    codes = _EXIT.findall(content[-_TAIL:]) if call.get("name") == _SHELL else []
    return failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE) if codes and int(codes[-1]) else PASSED


def _join_words(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message.

    Return None when the message has no text, as in user messages that contain tool results.
    """
    return join_content(message.get("content", message.get("parts")))


def _sum_counts(*counts: Any) -> int | None:
    """Return the sum of the token counts.

    Return None when the sum is zero, because zeros mean missing counts.
    """
    return sum(read_count(count) or 0 for count in counts) or None
