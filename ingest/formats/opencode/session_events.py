"""Translates the messages of an OpenCode session into events: turns, steps, calls and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from ingest.decoding.fields import (
    count_input_parts,
    name_project,
    read_count,
    read_epoch_ms,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import (
    ArgsSource,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    SessionSeen,
    Strategy,
    TurnStatus,
    Visibility,
)
from ingest.formats.conversations.agent_session import AgentSession, decoded_argument_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.log_format import Record
from lenient.regex import compile_regex

_BY_PEOPLE = "MessageAbortedError"
_MASKED = "REDACTED"  # A program mistook some ids for secrets and replaced them with this text.


Find = Callable[[Any], LogLine]
"""Function that returns the line of the message, message part or call with this id."""
REFUSED_CALL = "invalid"  # the tool name of a call that the AI SDK could not pass to its tool
# The AI SDK quotes unreadable or invalid arguments after these texts; `_QUOTE_ENDS` follows the quotation.
_NOT_JSON, _NOT_VALID = "JSON parsing failed: Text: ", "Type validation failed: Value: "
_QUOTE_ENDS = ".\nError message: "

_TEXTS: Texts = (
    (
        FaultLayer.SCHEMA,
        compile_regex(r"The \S{1,200} tool was called with invalid arguments|MCP error -32602"),
    ),
    (
        FaultLayer.REFUSED,
        compile_regex(
            r"The user (?:rejected permission|has specified a rule|dismissed this question)"
            r"|Tool execution aborted|Permission denied|Rule prevents tool usage"
        ),
    ),
)
_TIMEOUT = compile_regex(r"<(?:bash|shell)_metadata>[^<]{0,400}(terminated command after|User aborted)")
_TAIL = 600  # The reason why a command was stopped is within this many characters at the end of its output.


def translate_session(record: Record, identity: str) -> Iterator[Event]:
    """Yield all events of an exported session.

    If the export contains no session id, the id is `identity`.
    """
    info = read_object(record.value.get("info"))
    session = OpenCodeSession(read_text(info.get("id")) or identity)
    yield session.begin(info, record.where)
    for message in read_objects(record.value.get("messages")):
        yield from session.take_message(message, partial(_find_place, record))
    yield from session.finish()


class OpenCodeSession:
    """Translates the messages of one session, one after another."""

    def __init__(self, session_id: str) -> None:
        self._dialogue = AgentSession(session_id)

    @property
    def session_id(self) -> str:
        return self._dialogue.session_id

    def begin(self, info: Mapping[str, Any], where: LogLine) -> SessionSeen:
        return SessionSeen(
            session_id=self.session_id,
            where=where,
            ts=read_epoch_ms(read_object(info.get("time")).get("created")),
            harness="opencode",
            harness_version=read_text(info.get("version")),
            parent_session_id=read_text(info.get("parentID")),
            project=name_project(info.get("directory")),
        )

    def take_message(self, message: Mapping[str, Any], find: Find) -> Iterator[Event]:
        """Yield the events of one message `{info, parts}`."""
        role = read_object(message.get("info")).get("role")
        if role == "assistant":
            yield from _AnswerMessage(find, self._dialogue, message).events()
        elif role == "user":
            self._ask(message, find)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def _ask(self, message: Mapping[str, Any], find: Find) -> None:
        info = read_object(message.get("info"))
        words = [
            read_text(part.get("text")) or ""
            for part in read_objects(message.get("parts"))
            if part.get("type") == "text" and part.get("synthetic") is not True
        ]
        if words:
            ts, key = read_epoch_ms(read_object(info.get("time")).get("created")), _world_key(info.get("id"))
            self._dialogue.ask(find(info.get("id")), ts, "\n".join(words), key)


class _AnswerMessage:
    """One message of the model.

    The message is a single step, or has one step for each `step-finish` part.
    """

    def __init__(self, find: Find, dialogue: AgentSession, message: Mapping[str, Any]) -> None:
        self._find = find
        self._dialogue = dialogue
        self._info = read_object(message.get("info"))
        self._parts = read_objects(message.get("parts"))
        self._where = find(self._info.get("id"))
        self._ts = read_epoch_ms(read_object(self._info.get("time")).get("created"))

    def events(self) -> Iterator[Event]:
        if self._info.get("summary") is True:
            return  # OpenCode asked for this summary of the conversation.
        waiting: list[Mapping[str, Any]] = []
        steps = 0
        for part in self._parts:
            if part.get("type") in ("text", "tool"):
                waiting.append(part)
            elif part.get("type") == "step-finish":
                yield from self._take_step(waiting, part)
                waiting, steps = [], steps + 1
        if waiting or not steps:
            yield from self._take_step(waiting, self._info)
        self._note_end()

    def _take_step(self, parts: list[Mapping[str, Any]], step_end: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of one step from its message parts.

        `step_end` contains the token counts and the finish reason: a `step-finish` part or the message
        itself.
        """
        tokens = read_object(step_end.get("tokens"))
        cache = read_object(tokens.get("cache"))
        words = [read_text(part.get("text")) or "" for part in parts if part.get("type") == "text"]
        calls = [part for part in parts if part.get("type") == "tool"]
        yield from self._dialogue.add_step(
            self._where,
            self._ts,
            "\n".join(words),
            provider=read_text(self._info.get("providerID")),
            model=read_text(self._info.get("modelID")),
            **count_input_parts(tokens.get("input"), cache.get("read"), cache.get("write")),
            output_tokens=_sum_counts(tokens.get("output"), tokens.get("reasoning")),
            answers=step_end.get("reason", step_end.get("finish")) == "stop" and not calls,
        )
        for part in calls:
            yield from self._take_call(part)

    def _take_call(self, part: Mapping[str, Any]) -> Iterator[Event]:
        call_id, time = read_text(part.get("callID")), read_object(read_object(part.get("state")).get("time"))
        where = self._find(part.get("id") if call_id == _MASKED else call_id)
        begun, ended = read_epoch_ms(time.get("start")), read_epoch_ms(time.get("end"))
        yield self._dialogue.add_call(
            where, begun or self._ts, **call_fields(part), key=_world_key(part.get("id"))
        )
        result = result_fields(part)
        if result is not None:
            ran = (ended - begun).total_seconds() * 1000 if begun and ended else None
            yield ResultSeen(
                session_id=self._dialogue.session_id,
                where=where,
                ts=ended or self._ts,
                tool_call_id=call_id,
                latency_ms=ran if ran is not None and ran >= 0 else None,
                **result,
            )

    def _note_end(self) -> None:
        done: datetime | None = read_epoch_ms(read_object(self._info.get("time")).get("completed"))
        error = read_object(self._info.get("error"))
        if error.get("name") == _BY_PEOPLE:
            self._dialogue.note_stop(self._where, done, TurnStatus.CANCELLED.value)
        elif error:
            self._dialogue.note_stop(self._where, done, TurnStatus.ERROR.value, ok=False)
        elif self._info.get("finish") not in (None, "tool-calls"):
            self._dialogue.note_stop(self._where, done, read_text(self._info.get("finish")))


def _find_place(record: Record, token: Any) -> LogLine:
    return record.find_line(f'"{token}"') if isinstance(token, str) else record.where


def _world_key(ident: Any) -> str | None:
    """Return the id of a message or part.

    Return None for a masked id, which is not unique.
    """
    return ident if isinstance(ident, str) and ident.startswith(("msg_", "prt_")) else None


def _sum_counts(*counts: Any) -> int | None:
    """Return the sum of the token counts.

    Return None when the sum is zero, because zeros mean missing counts.
    """
    return sum(read_count(count) or 0 for count in counts) or None


def call_fields(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `CallMade` for a message part with a tool call."""
    inputs = read_object(part.get("state")).get("input")
    facts: dict[str, Any] = {
        "tool": read_text(part.get("tool")),
        "tool_call_id": read_text(part.get("callID")),
        "strategy": Strategy.TOOL_USE,
        "syntax_seen": Visibility.FAILURES,
        "schema_seen": Visibility.FAILURES,
        **decoded_argument_fields(inputs),
    }
    error = _refusal_reason(part)
    if error is None:
        return facts
    return {
        **facts,
        "tool": read_text(read_object(inputs).get("tool")),
        "arguments": None,
        **_refused_arguments(error),
    }


def _refusal_reason(part: Mapping[str, Any]) -> str | None:
    """Return the reason why the AI SDK did not pass the tool call to a tool. Return None for other calls."""
    inputs = read_object(read_object(part.get("state")).get("input"))
    return read_text(inputs.get("error")) if part.get("tool") == REFUSED_CALL else None


def _refused_arguments(error: str) -> dict[str, Any]:
    """Return the fields of a rejected tool call: failure stage, reason, and the arguments that the reason
    quotes.
    """
    refusal: dict[str, Any] = {"refused_by_harness": _find_layer(error), "harness_message": error}
    raw = _quoted_text(error, _NOT_JSON)
    if raw is not None:
        return {**refusal, "raw_arguments": raw, "args_source": ArgsSource.RAW}
    value = _quoted_text(error, _NOT_VALID)
    try:
        return {**refusal, **decoded_argument_fields(None if value is None else orjson.loads(value))}
    except json.JSONDecodeError:
        return {**refusal, "args_source": ArgsSource.MISSING}


def _quoted_text(error: str, words: str) -> str | None:
    """Return the text that an error quotes after `words`. Return None when the error quotes nothing.

    The quotation extends to the last closing mark, because it may itself contain this mark.
    """
    begins, ends = error.find(words), error.rfind(_QUOTE_ENDS)
    return error[begins + len(words) : ends] if 0 <= begins < ends else None


def _find_layer(error: str) -> FaultLayer:
    return FaultLayer.SYNTAX if _NOT_JSON in error else FaultLayer.SCHEMA


def result_fields(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of `ResultSeen` for a message part with a tool call.

    Return None when the call has no result yet.
    """
    state = read_object(part.get("state"))
    content = read_text(state.get("output")) or read_text(state.get("error"))
    error = _refusal_reason(part)
    if error is not None:
        flag = failed_flag(error, _find_layer(error), FlagSource.DERIVED_TEXT)
    elif state.get("status") == "error":
        flag = failed_flag(content or "", find_layer(content or "", _TEXTS) or FaultLayer.EXECUTION)
    elif state.get("status") == "completed":
        flag = _completed_flag(read_object(state.get("metadata")).get("exit"), content or "")
    else:
        return None
    return {"status": flag.status, "flag_source": flag.source, "content": content, **flag.facts}


def _completed_flag(code: Any, content: str) -> ResultFlag:
    if isinstance(code, int) and code:
        return failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE)
    stopped = _TIMEOUT.search(content[-_TAIL:])
    if stopped is None:
        return PASSED
    by_user = stopped.group(1) == "User aborted"
    layer = FaultLayer.REFUSED if by_user else FaultLayer.EXECUTION
    return failed_flag(content[-_TAIL:], layer, FlagSource.DERIVED_TEXT)
