"""Qwen Code sessions: one record per line, `~/.qwen/projects/<project>/chats/<session>.jsonl`.

**Files.** Qwen Code is a fork of Gemini CLI with a different log. Sources: QwenLM/qwen-code,
`packages/core/src/services/chatRecordingService.ts`; samples of jazzyalex/agent-sessions (0.21, 2026-08).

**Fields.** `{uuid, parentUuid, sessionId, timestamp, type, cwd, version}`. `type` is user, assistant
(`model`, `usageMetadata`), tool_result (`toolCallResult.{status, errorType}`) or system (`subtype`).
`message.parts` are Gemini's parts. Claude Code's records look similar, but have `isSidechain`.

**Turns.** An answered user message begins a turn. A message of subtype `mid_turn_user_message` belongs to the
turn that it interrupts.

**Rules.**
- A message may be split into several records with the same `uuid`, thoughts first.
- A `system` record of subtype `rewind` returns to an earlier record. The replies after that record still
  count; the current turn ends as `cancelled`.

**Not in the log.** The system prompt, tool definitions and the model's own argument text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    count_whole_input,
    name_project,
    read_count,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import Event, FaultLayer, LogLine, ResultSeen, SessionSeen, TurnStatus, Visibility
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.gemini_parts import call_fields, join_answers, join_visible_texts
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="qwen_code",
    title="Qwen Code sessions",
    raw_arguments="no: the decoded object",
    argument_failures="yes: errorType; text that is not JSON is repaired silently",
    error_flag="yes: status and errorType",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step",
    turn_end="no: concluded from the last message",
    cannot_tell="Clean and repaired arguments cannot be distinguished without the model's own text.",
)

_MAX_RECORDS = 1_000  # maximum number of records of one message
_TYPES = ("user", "assistant", "tool_result", "system")
_LAYERS: Mapping[str, FaultLayer] = {
    "invalid_tool_params": FaultLayer.SCHEMA,
    "tool_not_registered": FaultLayer.SCHEMA,
    "execution_denied": FaultLayer.REFUSED,
    "execution_failed": FaultLayer.EXECUTION,
    "unhandled_exception": FaultLayer.EXECUTION,
}
_REJECTED = ("edit_", "file_", "path_", "read_", "attempt_", "search_path_", "glob_", "ls_")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        record.get("type") in _TYPES
        and {"uuid", "parentUuid", "sessionId", "cwd"} <= record.keys()
        and "isSidechain" not in record
        and ("systemPayload" in record or isinstance(read_object(record.get("message")).get("parts"), list))
        for record in head
    )


def translator(about: About) -> Translator:
    return _QwenSession(about.identity)


class _QwenSession:
    """Translator of one file, which contains one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._version: str | None = None
        self._message: list[tuple[Mapping[str, Any], LogLine]] = []  # the records of the current message

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        kind, ident = value.get("type"), read_text(value.get("uuid"))
        if kind not in _TYPES:
            return
        goes_on = kind == "assistant" and len(self._message) < _MAX_RECORDS
        if self._message and not (goes_on and ident == self._message[0][0].get("uuid")):
            yield from self._close_message()
        ts = read_time(value.get("timestamp"))
        yield from self._take_session(value, record.where, ts)
        if kind == "assistant":
            self._message.append((value, record.where))
        elif kind == "tool_result":
            yield from self._take_results(value, record.where, ts)
        elif kind == "user":
            words = join_visible_texts(read_object(value.get("message")).get("parts"))
            steers = value.get("subtype") == "mid_turn_user_message" and self._dialogue.is_open
            if words is not None and not steers:
                self._dialogue.ask(record.where, ts, words, unique_id(ident))
        elif value.get("subtype") == "rewind":
            self._dialogue.note_stop(record.where, ts, TurnStatus.CANCELLED.value)
            yield from self._dialogue.close_turn()

    def finish(self) -> Iterator[Event]:
        yield from self._close_message()
        yield from self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_session(self, value: Mapping[str, Any], where: LogLine, ts: datetime | None) -> Iterator[Event]:
        version = read_text(value.get("version")) or ""
        if version != self._version:
            self._version = version
            self._dialogue.session_id = read_text(value.get("sessionId")) or self._dialogue.session_id
            yield SessionSeen(
                session_id=self._dialogue.session_id,
                where=where,
                ts=ts,
                harness="qwen_code",
                harness_version=version or None,
                project=name_project(value.get("cwd")),
                branch=read_text(value.get("gitBranch")),
            )

    def _close_message(self) -> Iterator[Event]:
        records, self._message = self._message, []
        if not records:
            return
        (first, where), last = records[0], records[-1][0]
        ts = read_time(first.get("timestamp"))
        words = [join_visible_texts(read_object(each.get("message")).get("parts")) for each, _ in records]
        usage = read_object(last.get("usageMetadata"))
        yield from self._dialogue.add_step(
            where,
            ts,
            "\n".join(filter(None, words)),
            model=read_text(last.get("model")),
            **count_whole_input(usage.get("promptTokenCount"), usage.get("cachedContentTokenCount")),
            output_tokens=_sum_counts(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
        )
        for each, place in records:
            for call in call_fields(read_object(each.get("message")).get("parts")):
                yield self._dialogue.add_call(place, ts, **call, schema_seen=Visibility.FAILURES)

    def _take_results(self, value: Mapping[str, Any], where: LogLine, ts: datetime | None) -> Iterable[Event]:
        parts = read_object(value.get("message")).get("parts")
        for part in read_objects(parts):
            response = read_object(part.get("functionResponse"))
            if response:
                content = join_answers([part])
                flag = _read_flag(read_object(value.get("toolCallResult")), content or "")
                yield ResultSeen(
                    session_id=self._dialogue.session_id,
                    where=where,
                    ts=ts,
                    tool_call_id=read_text(response.get("id")),
                    content=content,
                    **flag.fields,
                )


def _read_flag(tool_result: Mapping[str, Any], content: str) -> ResultFlag:
    status, error = tool_result.get("status"), read_text(tool_result.get("errorType"))
    if status == "cancelled":
        return failed_flag(content, FaultLayer.REFUSED)
    if status == "error" or error:
        rejected = FaultLayer.TOOL_REJECTED if (error or "").startswith(_REJECTED) else FaultLayer.EXECUTION
        return failed_flag(content, _LAYERS.get(error or "", rejected))
    return PASSED if status == "success" else ResultFlag()


def _sum_counts(*counts: Any) -> int | None:
    """Return the sum of the token counts.

    Return None when the sum is zero, because zeros mean missing counts.
    """
    return sum(read_count(count) or 0 for count in counts) or None
