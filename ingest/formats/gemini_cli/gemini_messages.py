"""Translates the messages of one Gemini CLI session, in the order they were said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
from ingest.events import Event, FaultLayer, FlagSource, LogLine, ResultSeen, TurnStatus, Visibility
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.gemini_parts import join_answers
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import Record

_CANCELLED = "Request cancelled"
_SHELL = "run_shell_command"
_EXIT = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_TAIL = 600  # characters at the end of a shell result in which its exit code stands
_TEXTS: Texts = (
    (
        FaultLayer.SCHEMA,
        re.compile(
            r"params(?:/\S{1,200})? must |(?:Error: )?Invalid parameters provided"
            r'|Tool "[^"\n]{1,200}" not found'
        ),
    ),
    (FaultLayer.REFUSED, re.compile(r"\[Operation Cancelled\]|Tool execution denied by policy|User denied")),
)


class GeminiConversation(AgentSession):
    """The turns of one Gemini CLI session. `is_taken_back`: the user rewound the current turn."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.is_taken_back = False
        self._may_call = False  # the message made last is the model's and made no call
        self._last = LogLine(1, 0)
        self._last_ts: datetime | None = None

    def take(
        self, message: Mapping[str, Any], where: LogLine, document: Record | None = None
    ) -> Iterable[Event]:
        """Return the events of one message.

        `document` is the record that contains the message when it has more than one line; else None.
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
        """Yield the end of the open turn, as cancelled, when the user took it back; else nothing."""
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
        flag = _read_flag(call, content or "")
        if flag is not None:
            yield ResultSeen(
                session_id=self.session_id,
                where=where,
                ts=ts,
                tool_call_id=read_text(call.get("id")),
                content=content,
                **flag.fields,
            )


def _read_flag(call: Mapping[str, Any], content: str) -> ResultFlag | None:
    """Return the status of a call; None while the call has no result."""
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
    """Return the text of a message; None when it has none.

    Newer logs also keep tools' answers as user messages; these have no text.
    """
    return join_content(message.get("content", message.get("parts")))


def _sum_counts(*counts: Any) -> int | None:
    """Return the sum of the token counts; None when it is zero, as zeros stand for unmeasured counts."""
    return sum(read_count(count) or 0 for count in counts) or None
