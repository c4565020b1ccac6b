"""The records of one Claude Code conversation in, turns, steps, calls and results out; knows no files.

A model's message comes as several records, one content block each, with tool results in between. It is held
until it is complete, because its last record has the token counts and only the whole message shows whether
a call was lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import (
    Event,
    SessionSeen,
    StepMade,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.fields import moment, number, table, text, whole
from ingest.formats.claude_code.pieces import Message, Prompt, Turn
from ingest.formats.claude_code.records import (
    MESSAGE,
    blocks_of,
    call_made,
    input_tokens,
    lost_call,
    result_seen,
    text_of,
)
from ingest.formats.claude_code.texts import Said, is_malformed_notice, leaked_call, said_by_user

_REMEMBERED = 50_000  # records a conversation is compared with to find repeats; bounds the memory
_KEY_SIZE = 150  # bytes in memory of one of their keys
SYNTHETIC = "<synthetic>"  # the model name of records that the harness wrote itself


class Conversation:
    """One session or sub-agent run, record by record in file order."""

    def __init__(self, session_id: str, parent_session_id: str | None) -> None:
        self._waiting = 0
        self._session_id = session_id
        self._parent = parent_session_id
        self._version: str | None = None
        self._seen: dict[str, None] = {}
        self._message: Message | None = None
        self._prompt: Prompt | None = None
        self._turn: Turn | None = None

    @property
    def held(self) -> int:
        """The size of the lines that wait here, and of the keys by which repeats are found, in bytes."""
        return self._waiting + _KEY_SIZE * len(self._seen)

    def take(self, record: Mapping[str, Any], where: Where, size: int) -> Iterator[Event]:
        """The events that are complete after this record of `size` bytes. One seen before gives none."""
        if self._repeated(text(record.get("uuid"))):
            return
        yield from self._session(record, where)
        if record.get("type") == "assistant":
            yield from self._assistant(record, where)
        elif record.get("type") == "user":
            yield from self._user(record, where)
        elif self._turn is not None and record.get("subtype") == "turn_duration":
            self._turn.latency_ms = (self._turn.latency_ms or 0.0) + (number(record.get("durationMs")) or 0.0)
        self._waiting += size

    def finish(self, *, status: str | None = None, answer: str | None = None) -> Iterator[Event]:
        """Close what is open. Without a status or an answer, a turn whose last word is a call stays open."""
        yield from self._close_message()
        turn, self._turn = self._turn, None
        if turn is None:
            return
        turn.status = status or turn.status
        turn.answer = answer if answer is not None else turn.answer
        if turn.status is not None or turn.answer is not None:
            yield self._ended(turn)

    # --- records -----------------------------------------------------------------------------

    def _repeated(self, key: str | None) -> bool:
        if key is None:
            return False
        if key in self._seen:
            return True
        self._seen[key] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return False

    def _session(self, record: Mapping[str, Any], where: Where) -> Iterator[Event]:
        version = text(record.get("version"))
        if self._version is not None and version in (None, self._version):
            return
        self._version = version or ""
        yield SessionSeen(
            session_id=self._session_id,
            where=where,
            ts=moment(record.get("timestamp")),
            harness="claude_code",
            harness_version=version,
            parent_session_id=self._parent,
        )

    def _assistant(self, record: Mapping[str, Any], where: Where) -> Iterator[Event]:
        body, ts = table(record.get("message")), moment(record.get("timestamp"))
        blocks = blocks_of(body.get("content"))
        if body.get("model") == SYNTHETIC:
            yield from self._synthetic(record, blocks, where)
            return
        key = text(body.get("id"))
        if self._message is None or key is None or self._message.key != key:
            fresh = [block for block in blocks if not self._copied(block)]
            if blocks and not fresh:
                return
            yield from self._open_message(key, text(body.get("model")), where, ts)
            blocks = fresh
        message = self._message
        if message is None:
            return
        message.hear(table(body.get("usage")), text(body.get("stop_reason")))
        for block in blocks:
            self._block(message, block, where, ts)

    def _copied(self, block: Mapping[str, Any]) -> bool:
        return block.get("type") == "tool_use" and _key("call", block.get("id")) in self._seen

    def _block(self, message: Message, block: Mapping[str, Any], where: Where, ts: datetime | None) -> None:
        if block.get("type") == "text":
            message.texts.append(text(block.get("text")) or "")
        elif block.get("type") == "tool_use" and not self._repeated(_key("call", block.get("id"))):
            message.calls += 1
            message.after.append(call_made(self._session_id, block, where, ts))

    def _synthetic(
        self, record: Mapping[str, Any], blocks: list[Mapping[str, Any]], where: Where
    ) -> Iterator[Event]:
        said = text_of(blocks)
        ts = moment(record.get("timestamp"))
        if is_malformed_notice(said):
            yield from self._lost_call(said, where, ts)
        elif record.get("isApiErrorMessage") is True:
            yield from self._close_message()
            yield from self._enter_turn(where, ts)
            if self._turn is not None:
                self._turn.status, self._turn.answer = "api_error", ""

    def _user(self, record: Mapping[str, Any], where: Where) -> Iterator[Event]:
        content, ts = table(record.get("message")).get("content"), moment(record.get("timestamp"))
        blocks = blocks_of(content)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result(record, block, where, ts)
        said = said_by_user(text_of(blocks))
        if said is Said.MALFORMED_CALL:
            yield from self._lost_call(text_of(blocks), where, ts)
        elif said is Said.INTERRUPTED and self._prompt is not None:
            self._prompt = None  # taken back before the model said a word
        elif said is Said.INTERRUPTED:
            yield from self.finish(status="cancelled", answer="")
        elif said is Said.COMMAND_OUTPUT and self._prompt is not None and self._prompt.said is Said.COMMAND:
            self._prompt = None
        elif not results and not record.get("isMeta") and not record.get("isCompactSummary"):
            self._hear(said, record, text_of(blocks), where, bool(blocks))

    def _hear(
        self, said: Said, record: Mapping[str, Any], words: str, where: Where, has_content: bool
    ) -> None:
        # An empty text beside other blocks is a pasted image.
        if said in (Said.PROMPT, Said.COMMAND) or (not words and has_content):
            ts = moment(record.get("timestamp"))
            self._prompt = Prompt(where, ts, words, text(record.get("uuid")), said)

    def _result(
        self, record: Mapping[str, Any], block: Mapping[str, Any], where: Where, ts: datetime | None
    ) -> Iterator[Event]:
        if self._repeated(_key("result", block.get("tool_use_id"))):
            return
        event = result_seen(self._session_id, record, block, where, ts)
        if self._message is None:
            yield event
        else:
            self._message.after.append(event)

    # --- turns and messages ------------------------------------------------------------------

    def _enter_turn(self, where: Where, ts: datetime | None) -> Iterator[Event]:
        """Begin the turn that the waiting prompt asks for; only an answered prompt is a turn."""
        prompt, self._prompt = self._prompt, None
        if prompt is None and self._turn is not None:
            return
        if self._turn is not None:
            self._turn.answer = self._turn.answer or ""
            yield from self.finish()
        if prompt is not None:
            yield TurnStarted(
                session_id=self._session_id,
                where=prompt.where,
                ts=prompt.ts,
                text=prompt.text,
                key=prompt.key,
            )
        else:
            yield TurnStarted(session_id=self._session_id, where=where, ts=ts)
        self._turn = Turn(where, ts)

    def _open_message(
        self, key: str | None, model: str | None, where: Where, ts: datetime | None
    ) -> Iterator[Event]:
        yield from self._close_message()
        yield from self._enter_turn(where, ts)
        self._message = Message(key, where, ts, model)

    def _close_message(self) -> Iterator[Event]:
        message, self._message = self._message, None
        self._waiting = 0
        if message is None:
            return
        said = "\n".join(filter(None, message.texts))
        lost = self._lost_in(message, said)
        if self._turn is not None:
            last = message.after[-1] if message.after else message
            self._turn.where, self._turn.ts = last.where, last.ts
            self._turn.status = message.stop_reason if message.stop_reason != "tool_use" else None
            self._turn.answer = None if message.calls or lost else said
        yield self._step(message, said)
        yield from lost
        yield from message.after

    def _step(self, message: Message, said: str) -> StepMade:
        return StepMade(
            session_id=self._session_id,
            where=message.where,
            ts=message.ts,
            text=said or None,
            model=message.model,
            input_tokens=input_tokens(message.usage),
            output_tokens=whole(message.usage.get("output_tokens")) if message.usage_is_final else None,
            answers=message.stop_reason == "end_turn",
        )

    def _lost_in(self, message: Message, said: str) -> list[Event]:
        """The call that a whole message shows to be lost: written as text, or announced and not there."""
        leak = leaked_call(said) if not message.calls else None
        if leak is not None:
            return [
                lost_call(self._session_id, message.where, message.ts, "the call was written as text", *leak)
            ]
        if message.stop_reason == "tool_use" and not message.calls:
            reason = "stop_reason is tool_use, but the message has no tool call"
            return [lost_call(self._session_id, message.where, message.ts, reason)]
        return []

    def _lost_call(self, notice: str, where: Where, ts: datetime | None) -> Iterator[Event]:
        """A call whose markup could not be read; the harness says so after a message without any call."""
        message = self._message
        if message is None or message.calls:
            # The model's message with the broken call is not in the log at all.
            yield from self._open_message(None, message.model if message else None, where, ts)
            message = self._message
        if (
            message is not None
            and message.stop_reason != "tool_use"
            and not leaked_call("\n".join(message.texts))
        ):
            message.after.append(lost_call(self._session_id, where, ts, notice.strip()[:MESSAGE]))
            message.calls += 1

    def _ended(self, turn: Turn) -> TurnEnded:
        return TurnEnded(
            session_id=self._session_id,
            where=turn.where,
            ts=turn.ts,
            status=turn.status,
            answer=turn.answer,
            latency_ms=turn.latency_ms,
        )


def _key(kind: str, value: Any) -> str | None:
    return f"{kind}:{value}" if isinstance(value, str) else None
