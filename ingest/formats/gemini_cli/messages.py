"""The messages of one Gemini CLI session in, in the order they were said, its turns, steps and calls out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import Event, FaultLayer, FlagSource, ResultSeen, Seen, Where
from ingest.fields import moment, table, tables, text, whole
from ingest.records import Record
from ingest.shapes.chat import Flag, content_text
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue, decoded, native
from ingest.shapes.marks import unique_id
from ingest.shapes.parts import answered
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in

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
    (
        FaultLayer.TOOL_REJECTED,
        re.compile(r"Failed to edit|Error: Failed to edit|(?:Error: )?File not found|File path must be "),
    ),
)


class Conversation(Dialogue):
    """A session's turns as Gemini CLI records them. `is_taken_back`: the turn at hand was rewound."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.is_taken_back = False
        self._may_call = False  # the message made last is the model's and made no call
        self._last = Where(1, 0)
        self._last_ts: datetime | None = None

    def take(
        self, message: Mapping[str, Any], where: Where, document: Record | None = None
    ) -> Iterable[Event]:
        """The events of one message. `document`: what it stands in, when that has more than one line."""
        kind, ts = message.get("type"), moment(message.get("timestamp"))
        self._last, self._last_ts = where, ts
        if kind in ("gemini", "model"):
            return self._said(message, where, ts, document)
        words = _words(message)
        if kind == "user" and words is not None:
            self._may_call = False
            self.ask(where, ts, words, unique_id(text(message.get("id"))))
        elif kind == "info" and (words or "").startswith(_CANCELLED):
            self.stopped(where, ts, CANCELLED)
        elif kind == "error":
            self.stopped(where, ts, ERROR, ok=False)
        return ()

    def take_back(self) -> Iterator[Event]:
        """End the open turn as one that the user took back."""
        if self.is_taken_back:
            self.stopped(self._last, self._last_ts, CANCELLED)
            yield from self.end()
        self.is_taken_back = False

    def _said(
        self, message: Mapping[str, Any], where: Where, ts: datetime | None, document: Record | None
    ) -> Iterator[Event]:
        words, calls = _words(message), tables(message.get("toolCalls"))
        tokens = table(message.get("tokens"))
        if not (self._may_call and calls and not words and not tokens):
            yield from self.step(
                where,
                ts,
                words,
                model=text(message.get("model")),
                input_tokens=whole(tokens.get("input")) or None,
                output_tokens=_sum(tokens.get("output"), tokens.get("thoughts")),
            )
        self._may_call = not calls
        for call in calls:
            call_id, called_at = text(call.get("id")), moment(call.get("timestamp")) or ts
            place = document.place(f'"{call_id}"') if document and call_id else where
            yield self.call(
                place,
                called_at,
                tool=text(call.get("name")),
                **native(call_id),
                schema_seen=Seen.FAILURES,
                **decoded(call.get("args")),
            )
            yield from self._result(call, place, called_at)

    def _result(self, call: Mapping[str, Any], where: Where, ts: datetime | None) -> Iterator[Event]:
        content = answered(call.get("result"))
        flag = _flag(call, content or "")
        if flag is not None:
            yield ResultSeen(
                session_id=self.session_id,
                where=where,
                ts=ts,
                tool_call_id=text(call.get("id")),
                content=content,
                **flag.fields,
            )


def _flag(call: Mapping[str, Any], content: str) -> Flag | None:
    """What became of a call; None while it has no result."""
    status = call.get("status")
    if status == "cancelled":
        return failed(content, FaultLayer.REFUSED)
    if status == "error":
        return failed(content, layer_in(content, _TEXTS) or FaultLayer.EXECUTION)
    if status != "success":
        return None
    codes = _EXIT.findall(content[-_TAIL:]) if call.get("name") == _SHELL else []
    return failed(content, source=FlagSource.DERIVED_EXIT_CODE) if codes and int(codes[-1]) else PASSED


def _words(message: Mapping[str, Any]) -> str | None:
    """The text of a message. Newer logs also keep what tools answered as a user's message: it has none."""
    return content_text(message.get("content", message.get("parts")))


def _sum(*counts: Any) -> int | None:
    """The sum of token counts; zeros are no measurement."""
    return sum(whole(count) or 0 for count in counts) or None
