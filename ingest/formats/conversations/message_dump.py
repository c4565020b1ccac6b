"""Translates saved lists of messages from an API or a framework into sessions.

A record is one conversation, several conversations, or one message of the file's only conversation. Messages
in any known format are read by `ingest.formats.provider_messages.message_lists`. Turns follow the rules of
`AgentSession`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from ingest.decoding.fields import read_object
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    LogLine,
    PromptSeen,
    Rejected,
    ResultSeen,
    SessionSeen,
    Strategy,
    ToolsOffered,
    Visibility,
)
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message, MessageCall, MessageResult
from ingest.log_format import About, Record


class Conversation(NamedTuple):
    """A conversation in a record. `id` is None when the log contains no id.

    Messages without a time get the time `ts`. `step` contains fields for every `StepMade`. `user` is the
    user's name. `verdict` contains the status and the success (`ok`) of the last turn.
    """

    messages: Iterable[Any]
    id: str | None = None
    system: str | None = None
    definitions: tuple[Mapping[str, Any], ...] = ()
    task: str | None = None
    ts: datetime | None = None
    step: Mapping[str, Any] = {}
    user: str | None = None
    verdict: Mapping[str, Any] | None = None


class MessageDump(ABC):
    """Translates a file of saved messages. A subclass defines which field contains what."""

    harness: ClassVar[str | None] = None
    fault_texts: ClassVar[Texts] = ()  # (failure stage, pattern for the beginning of a failed result's text)

    def __init__(self, about: About) -> None:
        self._identity = about.identity
        self._count = 0
        # the current session, in files whose records are single messages
        self._only: DumpedSession | None = None

    @abstractmethod
    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        """Return the conversations in a record. Return None when the record is a single message."""

    def unwrap(self, message: Mapping[str, Any]) -> Iterable[Any]:
        """Return the messages that a logged message contains. By default, return the message itself."""
        return (message,)

    def step_facts(self, _message: Mapping[str, Any]) -> dict[str, Any]:
        """Return further fields of `StepMade` for a message of the log."""
        return {}

    def read_time(self, _message: Mapping[str, Any]) -> datetime | None:
        return None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        conversations = self.split(record.value)
        if conversations is None:
            yield from self.take_message(self._identity, record)
            return
        for conversation in conversations:
            name = f"{self._identity}/{self._count}" if self._count else self._identity
            self._count += 1
            session = DumpedSession(conversation.id or name, record.where)
            session.ts = conversation.ts
            yield from self._begin(session, conversation)
            for message in conversation.messages:
                yield from self._take_message(session, message, record, conversation.step)
            yield from session.finish(conversation.verdict)

    def take_message(self, session_id: str, record: Record) -> Iterator[Event]:
        """Yield the events of a record that is one message. All messages of a session must be consecutive."""
        if self._only is None or self._only.session_id != session_id:
            yield from self.finish()
            self._only = DumpedSession(session_id, record.where)
            yield from self._begin(self._only, Conversation(()))
        self._only.where = record.where
        yield from self._take_message(self._only, record.value, record, {})

    def _begin(self, session: DumpedSession, conversation: Conversation) -> Iterator[Event]:
        place = session.event_place()
        if self.harness or conversation.task:
            yield SessionSeen(**place, harness=self.harness, task=conversation.task, user=conversation.user)
        if conversation.system:
            yield PromptSeen(**place, text=conversation.system)
        if conversation.definitions:
            yield ToolsOffered(**place, definitions=conversation.definitions)

    def _take_message(
        self, session: DumpedSession, raw: Any, record: Record, step: Mapping[str, Any]
    ) -> Iterator[Event]:
        message = read_object(raw)
        session.ts = self.read_time(message) or session.ts
        own = self.step_facts(message)
        facts = {**step, **{key: fact for key, fact in own.items() if fact is not None}} if step else own
        for part in self.unwrap(message):
            for part_message in read_messages(part):
                yield from session.take(part_message, facts, record, self.fault_texts)

    def finish(self) -> Iterator[Event]:
        if self._only is not None:
            yield from self._only.finish()

    def close(self) -> None:  # noqa: B027 - part of the interface, no duty of a format
        """Do nothing: no file is open."""


class DumpedSession:
    """Translates one conversation.

    `where` and `ts` are the position in the file and the time of the newest event.
    """

    def __init__(self, session_id: str, where: LogLine) -> None:
        self._turns = AgentSession(session_id)
        self._results = 0  # number of results since the model's latest message
        self.where = where
        self.ts: datetime | None = None

    def take(
        self, message: Message, step: Mapping[str, Any], record: Record, texts: Texts
    ) -> Iterator[Event]:
        if message.role == "system" and message.text:
            yield PromptSeen(**self.event_place(), text=message.text)
        elif message.role == "user":
            self._turns.ask(self.where, self.ts, message.text)
        elif message.role == "assistant":
            places = [self._find_place(call.id, record) for call in message.calls]
            self.where, self._results = places[0] if places else self.where, 0
            yield from self._turns.add_step(self.where, self.ts, message.text, **step)
            for call, self.where in zip(message.calls, places, strict=True):
                yield self._make_call(call, step.get("strategy") or Strategy.TOOL_USE)
        for result in message.results:
            self.where = self._find_place(result.id, record)
            yield self._make_result(result, texts)
            self._results += 1

    @property
    def session_id(self) -> str:
        return self._turns.session_id

    def finish(self, verdict: Mapping[str, Any] | None = None) -> Iterator[Event]:
        if verdict is not None:
            self._turns.note_stop(self.where, self.ts, **verdict)
        yield from self._turns.close_turn()

    def event_place(self) -> dict[str, Any]:
        return {"session_id": self._turns.session_id, "where": self.where, "ts": self.ts}

    def _make_call(self, call: MessageCall, strategy: Strategy) -> CallMade:
        facts: dict[str, Any] = argument_fields(call.arguments)
        if call.refused is not None:
            facts |= {"refused_by_harness": FaultLayer.SYNTAX, "harness_message": call.refused}
        elif call.marks and facts["args_source"] is ArgsSource.RESERIALISED:
            facts["syntax_seen"] = Visibility.FAILURES
        facts |= {"tool": call.name, **native_call_fields(call.id), "strategy": strategy}
        return self._turns.add_call(self.where, self.ts, **facts)

    def _make_result(self, result: MessageResult, texts: Texts) -> ResultSeen:
        content = result.content or ""
        flag = PASSED if result.failed is False else ResultFlag()
        if result.failed:
            flag = failed_flag(content, find_layer(content, texts) or FaultLayer.EXECUTION)
        return ResultSeen(
            **self.event_place(),
            tool_call_id=result.id,
            ordinal=self._results if result.id is None else None,
            tool=result.name,
            content=result.content,
            **flag.fields,
        )

    def _find_place(self, call_id: str | None, record: Record) -> LogLine:
        place = record.find_line(f'"{call_id}"', past=True) if call_id else record.where
        # If the id was not found, keep the current line: call and result may be in the same part.
        return self.where if place is record.where else place
