"""Turns the records of one Claude Code conversation into events: turns, steps, calls and results.

The log splits one model message into several records, one content block each, with tool results in between.
The message is kept until it is complete: its last record has the token counts, and only the whole message
shows whether a call was lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from ingest.decoding.fields import name_project, read_number, read_time
from ingest.events import (
    MESSAGE_READ,
    Event,
    LogLine,
    SessionSeen,
    StepMade,
    TurnEnded,
    TurnStarted,
    TurnStatus,
)
from ingest.formats.claude_code.records import (
    count_input,
    make_call,
    make_lost_call,
    make_result,
    names_one_call,
)
from ingest.formats.claude_code.transcript_entries import (
    ContentBlock,
    MessageBody,
    ToolReport,
    TranscriptEntry,
    Usage,
    join_part_texts,
)
from ingest.formats.claude_code.user_lines import (
    UserLineKind,
    classify_user_line,
    find_leaked_call,
    is_malformed_notice,
)

_REMEMBERED = 50_000  # maximum number of earlier records that are remembered to find repeated records
_KEY_SIZE = 150  # approximate bytes that the key of one record needs in memory
SYNTHETIC = "<synthetic>"  # the model name in messages that Claude Code wrote itself
_NOTHING = MessageBody()
_NO_USAGE = Usage()


class OpenMessage(msgspec.Struct, gc=False):
    """One model message, including all records of this message so far.

    `after` contains the tool calls and results of all records but the first, in order.
    """

    key: str | None
    where: LogLine
    ts: datetime | None
    model: str | None
    texts: list[str] = []
    stop_reason: str | None = None
    usage: Usage | None = None
    usage_is_final: bool = False
    calls: int = 0
    after: list[Event] = []

    def hear(self, usage: Usage | None, stop_reason: str | None) -> None:
        """Add the token counts and the stop reason of a further record of the message.

        The counts are final if the record has a stop reason, or if it has more output tokens than the
        previous record.
        """
        if usage is not None and usage != _NO_USAGE:
            before, self.usage = self.output_tokens, usage
            if before is not None and (now := self.output_tokens) is not None and now > before:
                self.usage_is_final = True
        if stop_reason is not None:
            self.usage_is_final = True
            self.stop_reason = stop_reason or self.stop_reason

    @property
    def output_tokens(self) -> int | None:
        count = self.usage.output_tokens if self.usage is not None else None
        return count if count is not None and count >= 0 else None


class TranscriptPrompt(msgspec.Struct, gc=False):
    where: LogLine
    ts: datetime | None
    text: str
    key: str | None
    kind: UserLineKind


class TranscriptTurn(msgspec.Struct, gc=False):
    """The open turn. `answer` is None while the model's last message contains a tool call."""

    where: LogLine
    ts: datetime | None
    status: str | None = None
    answer: str | None = None
    latency_ms: float | None = None


class ClaudeConversation:
    """The open state of one session or sub-agent. Records must arrive in file order.

    The methods append each event to the list `out` when the event is complete.
    """

    def __init__(self, session_id: str, parent_session_id: str | None, kind: str | None = None) -> None:
        self._waiting = 0
        self._kind = kind  # the kind of the sub-agent; None for the main agent
        self._session_id = session_id
        self._parent = parent_session_id
        self._version: str | None = None
        self._seen: dict[str, None] = {}
        self._message: OpenMessage | None = None
        self._prompt: TranscriptPrompt | None = None
        self._turn: TranscriptTurn | None = None

    @property
    def weight(self) -> int:
        """Return the approximate size in memory of the incomplete messages and the keys of known records, in
        bytes.
        """
        return self._waiting + _KEY_SIZE * len(self._seen)

    def take(self, entry: TranscriptEntry, where: LogLine, size: int, out: list[Event]) -> None:
        """Append to `out` the events that are complete after this record.

        `size` is the length of the record's line in bytes. A record with a known uuid adds nothing.
        """
        if entry.uuid is not None and self._is_repeated(entry.uuid):
            return
        ts = read_time(entry.timestamp)
        version, kind = entry.version, entry.type
        if self._version is None or (version != self._version and version is not None):
            self._take_session(entry, where, ts, out)
        if kind == "assistant":
            self._take_assistant(entry, where, ts, out)
        elif kind == "user":
            self._take_user(entry, where, ts, out)
        elif self._turn is not None and entry.subtype == "turn_duration":
            self._turn.latency_ms = (self._turn.latency_ms or 0.0) + (read_number(entry.duration_ms) or 0.0)
        self._waiting += size

    def finish(
        self,
        out: list[Event],
        *,
        status: str | None = None,
        answer: str | None = None,
        latency_ms: float | None = None,
        **verdict: Any,
    ) -> None:
        """Close the open message and the open turn.

        `status`, `answer` and `latency_ms` replace the turn's own values. `verdict` contains further fields
        of `TurnEnded`. The turn gets no end event if its last message made a tool call and `status` is None.
        """
        self._close_message(out)
        turn, self._turn = self._turn, None
        if turn is None:
            return
        turn.status = status or turn.status
        turn.answer = answer if answer is not None else turn.answer
        turn.latency_ms = latency_ms if latency_ms is not None else turn.latency_ms
        if turn.status is not None or turn.answer is not None:
            out.append(self._make_end(turn, verdict))

    # --- records -----------------------------------------------------------------------------

    def _is_repeated(self, key: str) -> bool:
        seen = self._seen
        if key in seen:
            return True
        seen[key] = None
        if len(seen) > _REMEMBERED:
            del seen[next(iter(seen))]
        return False

    def _take_session(
        self, entry: TranscriptEntry, where: LogLine, ts: datetime | None, out: list[Event]
    ) -> None:
        is_first, self._version = self._version is None, entry.version or ""
        out.append(
            SessionSeen(
                session_id=self._session_id,
                where=where,
                ts=ts,
                harness="claude_code",
                harness_version=entry.version,
                parent_session_id=self._parent,
                # Commands may change the working directory. The first directory determines the session's
                # project.
                project=name_project(entry.cwd) if is_first else None,
                branch=entry.git_branch if is_first else None,
                sub_agent=self._kind,
            )
        )

    def _take_assistant(
        self, entry: TranscriptEntry, where: LogLine, ts: datetime | None, out: list[Event]
    ) -> None:
        body = entry.message or _NOTHING
        blocks = body.blocks
        if body.model == SYNTHETIC:
            self._take_synthetic(entry, blocks, where, ts, out)
            return
        message = self._message
        if message is None or body.id is None or message.key != body.id:
            if blocks and all(map(self._is_copy, blocks)):
                return
            message = self._open_message(body.id, body.model, where, ts, out)
        message.hear(body.usage, body.stop_reason)
        for block in blocks:
            kind = block.type
            if kind == "text":
                message.texts.append(block.text or "")
            elif kind == "tool_use" and not self._is_repeated_call(block, message.key):
                message.calls += 1
                message.after.append(make_call(self._session_id, block, where, ts))

    def _is_repeated_call(self, block: ContentBlock, message: str | None) -> bool:
        """Return True for a tool call that was seen before.

        If the call's id may also belong to other calls, only calls in the same message are compared.
        """
        if block.id is None or (message is None and not names_one_call(block.id)):
            return False
        return self._is_repeated(
            f"call:{block.id}" if names_one_call(block.id) else f"call:{message}:{block.id}"
        )

    def _is_copy(self, block: ContentBlock) -> bool:
        return block.type == "tool_use" and names_one_call(block.id) and f"call:{block.id}" in self._seen

    def _take_synthetic(
        self,
        entry: TranscriptEntry,
        blocks: list[ContentBlock],
        where: LogLine,
        ts: datetime | None,
        out: list[Event],
    ) -> None:
        text = join_part_texts(blocks)
        if is_malformed_notice(text):
            self._take_lost_call(text, where, ts, out)
        elif entry.is_api_error_message:
            self._close_message(out)
            self._enter_turn(where, ts, out)
            if self._turn is not None:
                self._turn.status, self._turn.answer = "api_error", ""

    def _take_user(
        self, entry: TranscriptEntry, where: LogLine, ts: datetime | None, out: list[Event]
    ) -> None:
        blocks = (entry.message or _NOTHING).blocks
        has_results = False
        for block in blocks:
            if block.type == "tool_result":
                has_results = True
                self._take_result(entry, block, where, ts, out)
        words = join_part_texts(blocks)
        if has_results and not words:
            return
        kind = classify_user_line(words)
        if kind is UserLineKind.MALFORMED_CALL:
            self._take_lost_call(words, where, ts, out)
        elif kind is UserLineKind.INTERRUPTED and self._prompt is not None:
            self._prompt = None  # The prompt was withdrawn before the model answered it.
        elif kind is UserLineKind.INTERRUPTED:
            self.finish(out, status=TurnStatus.CANCELLED.value, answer="")
        elif (
            kind is UserLineKind.COMMAND_OUTPUT
            and self._prompt is not None
            and self._prompt.kind is UserLineKind.COMMAND
        ):
            self._prompt = None
        elif not has_results and not entry.is_meta and not entry.is_compact_summary:
            self._take_user_words(kind, TranscriptPrompt(where, ts, words, entry.uuid, kind), bool(blocks))

    def _take_user_words(self, kind: UserLineKind, prompt: TranscriptPrompt, has_content: bool) -> None:
        # A prompt without text but with other blocks is a pasted image.
        if kind in (UserLineKind.PROMPT, UserLineKind.COMMAND) or (not prompt.text and has_content):
            self._prompt = prompt

    def _take_result(
        self,
        entry: TranscriptEntry,
        block: ContentBlock,
        where: LogLine,
        ts: datetime | None,
        out: list[Event],
    ) -> None:
        if block.tool_use_id is not None:
            timestamp = "" if names_one_call(block.tool_use_id) else entry.timestamp
            if self._is_repeated(f"result:{timestamp}:{block.tool_use_id}"):
                return
        report = entry.tool_use_result
        event = make_result(
            self._session_id, report if isinstance(report, ToolReport) else None, block, where, ts
        )
        (out if self._message is None else self._message.after).append(event)

    # --- turns and messages ------------------------------------------------------------------

    def _enter_turn(self, where: LogLine, ts: datetime | None, out: list[Event]) -> None:
        """If a prompt is waiting, end the open turn and begin the turn of this prompt.

        If no prompt is waiting and no turn is open, begin a turn without text.
        """
        prompt, self._prompt = self._prompt, None
        if prompt is None and self._turn is not None:
            return
        if self._turn is not None:
            self._turn.answer = self._turn.answer or ""
            self.finish(out)
        if prompt is not None:
            started = TurnStarted(
                session_id=self._session_id,
                where=prompt.where,
                ts=prompt.ts,
                text=prompt.text,
                key=prompt.key,
            )
        else:
            started = TurnStarted(session_id=self._session_id, where=where, ts=ts)
        out.append(started)
        self._turn = TranscriptTurn(where, ts)

    def _open_message(
        self, key: str | None, model: str | None, where: LogLine, ts: datetime | None, out: list[Event]
    ) -> OpenMessage:
        self._close_message(out)
        self._enter_turn(where, ts, out)
        self._message = OpenMessage(key, where, ts, model)
        return self._message

    def _close_message(self, out: list[Event]) -> None:
        message, self._message = self._message, None
        self._waiting = 0
        if message is None:
            return
        text = "\n".join(filter(None, message.texts)) if message.texts else ""
        lost = [] if message.calls else self._find_lost_call(message, text)
        if self._turn is not None:
            last = message.after[-1] if message.after else message
            self._turn.where, self._turn.ts = last.where, last.ts
            self._turn.status = message.stop_reason if message.stop_reason != "tool_use" else None
            self._turn.answer = None if message.calls or lost else text
        out += (self._make_step(message, text), *lost, *message.after)

    def _make_step(self, message: OpenMessage, text: str) -> StepMade:
        return StepMade(
            session_id=self._session_id,
            where=message.where,
            ts=message.ts,
            text=text or None,
            model=message.model,
            **count_input(message.usage),
            output_tokens=message.output_tokens if message.usage_is_final else None,
            answers=message.stop_reason == "end_turn",
        )

    def _find_lost_call(self, message: OpenMessage, text: str) -> list[Event]:
        """Return the lost tool call of a complete message without calls, as a list of at most one event.

        A call is lost when the model wrote it as text, or when the stop reason is `tool_use` but the message
        contains no call.
        """
        leak = find_leaked_call(text)
        if leak is not None:
            return [
                make_lost_call(
                    self._session_id, message.where, message.ts, "the call was written as text", *leak
                )
            ]
        if message.stop_reason == "tool_use":
            reason = "stop_reason is tool_use, but the message has no tool call"
            return [make_lost_call(self._session_id, message.where, message.ts, reason)]
        return []

    def _take_lost_call(self, notice: str, where: LogLine, ts: datetime | None, out: list[Event]) -> None:
        """Add the tool call that Claude Code's notice reports as unreadable.

        The call belongs to the message before the notice. If that message has calls, a new message is added.
        Nothing is added when `_find_lost_call` finds the call in the message.
        """
        message = self._message
        if message is None or message.calls:
            # The model's message with the broken call is not in the log.
            message = self._open_message(None, message.model if message else None, where, ts, out)
        if message.stop_reason != "tool_use" and not find_leaked_call("\n".join(message.texts)):
            message.after.append(make_lost_call(self._session_id, where, ts, notice.strip()[:MESSAGE_READ]))
            message.calls += 1

    def _make_end(self, turn: TranscriptTurn, verdict: Mapping[str, Any]) -> TurnEnded:
        return TurnEnded(
            session_id=self._session_id,
            where=turn.where,
            ts=turn.ts,
            status=turn.status,
            answer=turn.answer,
            latency_ms=turn.latency_ms,
            **verdict,
        )
