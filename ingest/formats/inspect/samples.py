"""One sample of an Inspect log in, its events out: conversations, turns, calls, results, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.events import (
    Event,
    FlagSource,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.fields import moment, number, table, tables, text, whole
from ingest.formats.inspect.happened import happened
from ingest.formats.inspect.kept_once import KeptOnce
from ingest.formats.inspect.verdicts import call_facts, error_verdict, raw_arguments, scored
from ingest.records import Record
from ingest.shapes.chat import call_made
from ingest.shapes.verdicts import MESSAGE

_ASKS = ("input", "operator", "generate")


@dataclass(frozen=True, slots=True)
class Run:
    """What the header says of every sample."""

    identity: str
    model: str | None = None
    version: str | None = None
    task: str | None = None


@dataclass(slots=True)
class _Conversation:
    """One conversation of a sample: its session, and what has been told of it."""

    session_id: str
    asked: int = 0  # user messages that began a turn
    prompt: str | None = None
    tools: Any = None
    answer: str | None = None


def sample_events(sample: Mapping[str, Any], run: Run, record: Record) -> Iterator[Event]:
    """The events of one sample, from its model and tool events where it has any, else from its messages."""
    reader = _Sample(sample, run, record)
    log = happened(sample.get("events"))
    modelled = any(event.get("event") == "model" for event in log)
    yield from reader.from_events(log) if modelled else reader.from_messages()
    yield from reader.end()


class _Sample:
    def __init__(self, sample: Mapping[str, Any], run: Run, record: Record) -> None:
        self._sample = sample
        self._run = run
        self._record = record
        self._kept = KeptOnce(sample)
        name = f"{run.identity}/{sample.get('id')}/{sample.get('epoch')}"
        self._session_id = text(sample.get("uuid")) or name
        self._conversations: dict[tuple[str | None, ...], _Conversation] = {}
        self._callers: dict[str, _Conversation] = {}  # by call id
        self._where = record.where
        self._ts: datetime | None = None

    def from_events(self, log: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        for event in log:
            self._ts = moment(event.get("timestamp")) or self._ts
            token = text(event.get("uuid")) or text(event.get("timestamp"))
            self._where = self._record.place(f'"{token}"') if token else self._where
            if event.get("event") == "model":
                yield from self._model(event)
            else:
                yield from self._result(event.get("id"), event, event.get("result"))

    def from_messages(self) -> Iterator[Event]:
        for message in tables(self._sample.get("messages")):
            conversation, seen = self._conversation(())
            yield from seen
            role, content = message.get("role"), message.get("content")
            if role == "system":
                yield from self._prompted(conversation, self._kept.words(content))
            elif role == "user":
                asks = not conversation.asked or message.get("source") in _ASKS
                yield from self._asked(conversation, [message] if asks else [])
            elif role == "assistant":
                yield from self._reply(conversation, message, {"model": text(message.get("model"))}, {})
            elif role == "tool":
                yield from self._result(message.get("tool_call_id"), message, content)

    def end(self) -> Iterator[Event]:
        """Sub-agents end with their answer; the verdict stands on the last turn of the sample's own talk."""
        own, seen = self._conversation(next(iter(self._conversations), ()))
        yield from seen
        for conversation in [*self._conversations.values()][1:]:
            if conversation.answer is not None:
                yield TurnEnded(**self._here(conversation), answer=conversation.answer)
        limit = text(table(self._sample.get("limit")).get("type"))
        yield TurnEnded(
            **self._here(own),
            status="error" if self._sample.get("error") else f"limit: {limit}" if limit else None,
            recorded_ok=scored(self._sample),
            answer=self._output() or own.answer or "",
        )

    def _output(self) -> str | None:
        output = table(self._sample.get("output"))
        choices = tables(output.get("choices"))
        content = table(choices[0].get("message")).get("content") if choices else None
        return self._kept.words(output.get("completion") or content)

    def _model(self, event: Mapping[str, Any]) -> Iterator[Event]:
        output = table(event.get("output"))
        choices = tables(output.get("choices"))
        if event.get("error") or not choices:
            return  # the provider failed: the model said nothing
        asked = self._kept.input_of(event)
        system, users = (self._of_role(asked, role) for role in ("system", "user"))
        begins = tuple(self._kept.words(one[0].get("content")) if one else None for one in (system, users))
        conversation, seen = self._conversation(begins)
        yield from seen
        yield from self._prompted(conversation, begins[0])
        yield from self._offered(conversation, event.get("tools"))
        asking = [one for at, one in enumerate(users) if not at or one.get("source") in _ASKS]
        yield from self._asked(conversation, asking[conversation.asked :])
        usage, took = table(output.get("usage")), number(output.get("time"))
        facts = {
            "model": text(event.get("model")),
            "input_tokens": whole(usage.get("input_tokens")),
            "output_tokens": whole(usage.get("output_tokens")),
            "latency_ms": took * 1000 if took is not None else None,
        }
        raw = raw_arguments(self._kept.resolved(table(event.get("call")).get("response")))
        yield from self._reply(conversation, table(choices[0].get("message")), facts, raw)

    def _of_role(self, messages: Sequence[Mapping[str, Any]], role: str) -> list[Mapping[str, Any]]:
        return [one for one in messages if one.get("role") == role]

    def _conversation(self, begins: tuple[str | None, ...]) -> tuple[_Conversation, list[Event]]:
        """The conversation that begins so, and its session where it is new."""
        if begins in self._conversations:
            return self._conversations[begins], []
        count = len(self._conversations)
        session_id = f"{self._session_id}/agent-{count}" if count else self._session_id
        new = self._conversations[begins] = _Conversation(session_id)
        seen = SessionSeen(
            **self._here(new),
            harness="inspect_ai",
            harness_version=self._run.version,
            model=self._run.model,
            parent_session_id=self._session_id if count else None,
            task=None if count else self._task(),
        )
        return new, [seen]

    def _task(self) -> str | None:
        """One name for all epochs of the sample."""
        sample_id = self._sample.get("id")
        told = self._run.task is not None and sample_id not in (None, "")
        return f"{self._run.task}/{sample_id}" if told else None

    def _prompted(self, conversation: _Conversation, words: str | None) -> Iterator[Event]:
        if words and words != conversation.prompt:
            conversation.prompt = words
            yield PromptSeen(**self._here(conversation), text=words)

    def _offered(self, conversation: _Conversation, tools: Any) -> Iterator[Event]:
        if tools and tools != conversation.tools:
            conversation.tools = tools
            definitions = tuple(tables(self._kept.resolved(tools)))
            yield ToolsOffered(**self._here(conversation), definitions=definitions)

    def _asked(self, conversation: _Conversation, users: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        """A turn for each user message that is new in this conversation."""
        for message in users:
            if conversation.asked:
                yield TurnEnded(**self._here(conversation), answer=conversation.answer or "")
            conversation.asked += 1
            conversation.answer = None
            words = self._kept.words(message.get("content"))
            yield TurnStarted(**self._here(conversation), text=words)

    def _reply(
        self,
        conversation: _Conversation,
        message: Mapping[str, Any],
        facts: Mapping[str, Any],
        raw: Mapping[str, str],
    ) -> Iterator[Event]:
        calls = tables(message.get("tool_calls"))
        words = self._kept.words(message.get("content"))
        strategy = Strategy.TOOL_USE if calls else None
        yield StepMade(**self._here(conversation), text=words, strategy=strategy, **facts)
        conversation.answer = None if calls else words or ""
        for call in calls:
            call_id = text(call.get("id"))
            if call_id is not None:
                self._where = self._record.place(f'"{call_id}"')
                self._callers[call_id] = conversation
            sent = raw.get(call_id or "", self._kept.resolved(call.get("arguments")))
            made = call_facts(self._kept.resolved(call.get("parse_error")))
            told = {"id": call_id, "name": call.get("function"), "arguments": made.pop("sent", sent)}
            yield call_made(told, self._here(conversation), strategy=strategy, **made)

    def _result(self, call_id: Any, stated: Mapping[str, Any], content: Any) -> Iterator[Event]:
        conversation = self._callers.get(str(call_id))
        if conversation is None:
            conversation, seen = self._conversation(next(iter(self._conversations), ()))
            yield from seen
        error = stated.get("error")
        status, layer = error_verdict(error) if isinstance(error, dict) else (ResultStatus.OK, None)
        if stated.get("failed") is True and layer is None:
            status = ResultStatus.ERROR
        took = number(stated.get("working_time"))
        said = text(table(error).get("message"))
        yield ResultSeen(
            **self._here(conversation),
            tool_call_id=text(call_id),
            tool=text(stated.get("function")),
            status=status,
            flag_source=FlagSource.EXPLICIT,
            fault_layer=layer,
            message=said[:MESSAGE] if said else None,
            content=self._kept.words(content) or said,
            latency_ms=took * 1000 if took is not None else None,
        )

    def _here(self, conversation: _Conversation) -> dict[str, Any]:
        return {"session_id": conversation.session_id, "where": self._where, "ts": self._ts}
