"""Reads the rows of Cursor's database: a composer, then the bubbles of its chat in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_count, read_object, read_objects, read_text, read_time
from ingest.events import Event, FaultLayer, LogLine, Rejected, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.database_rows import find_unread, read_json_column, read_unix_time
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.cursor.user_text import read_query
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields
from ingest.formats.provider_messages.embedded_json import decode_json
from ingest.log_format import Record

_USER, _MODEL = 1, 2
_UNNAMED = ("", "default")  # Cursor chooses, and does not say what


class CursorRows:
    """The rows of a database, one after another."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._dialogue: AgentSession | None = None
        self._model: str | None = None
        self._model_call: str | None = None  # of the step that was read last

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
            dialogue.ask(where, ts, read_query(read_text(bubble.get("text")) or ""))
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
    """Return the fields of `ResultSeen`; None for a call that is still going on."""
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
