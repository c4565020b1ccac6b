"""Translates one sample of an Inspect log into conversations, turns, calls, results and its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ingest.decoding.fields import (
    count_input_parts,
    count_whole_input,
    read_count,
    read_number,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import (
    MESSAGE_READ,
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
from ingest.formats.inspect.sample_events import SamplePools, agent_events
from ingest.formats.inspect.sample_scores import call_facts, error_verdict, find_raw_arguments, read_scores
from ingest.formats.provider_messages.chat_messages import make_call
from ingest.log_format import Record

_ASKS = ("input", "operator", "generate")


class EvaluationRun(msgspec.Struct, frozen=True):
    """The values in the log's header that apply to every sample."""

    identity: str
    model: str | None = None
    version: str | None = None
    task: str | None = None


class _SampleConversation(msgspec.Struct):
    """One conversation of a sample, and what its earlier events already stated."""

    session_id: str
    turns: int = 0  # number of user messages that began a turn
    prompt: str | None = None
    tools: Any = None
    answer: str | None = None


def translate_sample(sample: Mapping[str, Any], run: EvaluationRun, record: Record) -> Iterator[Event]:
    """Yield the events of one sample, from its model and tool events.

    If there are no model events, the sample's messages are used.
    """
    reader = _SampleTranslator(sample, run, record)
    log = agent_events(sample.get("events"))
    modelled = any(event.get("event") == "model" for event in log)
    yield from reader.from_events(log) if modelled else reader.from_messages()
    yield from reader.end()


class _SampleTranslator:
    def __init__(self, sample: Mapping[str, Any], run: EvaluationRun, record: Record) -> None:
        self._sample = sample
        self._run = run
        self._record = record
        self._pools = SamplePools(sample)
        name = f"{run.identity}/{sample.get('id')}/{sample.get('epoch')}"
        self._session_id = read_text(sample.get("uuid")) or name
        self._conversations: dict[tuple[str | None, ...], _SampleConversation] = {}
        self._callers: dict[str, _SampleConversation] = {}  # call id → the conversation that made the call
        self._where = record.where
        self._ts: datetime | None = None

    def from_events(self, log: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        for event in log:
            self._ts = read_time(event.get("timestamp")) or self._ts
            token = read_text(event.get("uuid")) or read_text(event.get("timestamp"))
            self._where = self._record.find_line(f'"{token}"') if token else self._where
            if event.get("event") == "model":
                yield from self._take_model(event)
            else:
                yield from self._take_result(event.get("id"), event, event.get("result"))

    def from_messages(self) -> Iterator[Event]:
        for message in read_objects(self._sample.get("messages")):
            conversation, introductions = self._find_conversation(())
            yield from introductions
            role, content = message.get("role"), message.get("content")
            if role == "system":
                yield from self._take_prompt(conversation, self._pools.message_text(content))
            elif role == "user":
                asks = not conversation.turns or message.get("source") in _ASKS
                yield from self._take_question(conversation, [message] if asks else [])
            elif role == "assistant":
                yield from self._take_reply(
                    conversation, message, {"model": read_text(message.get("model"))}, {}
                )
            elif role == "tool":
                yield from self._take_result(message.get("tool_call_id"), message, content)

    def end(self) -> Iterator[Event]:
        """Yield the end of every conversation.

        A sub-agent's turn ends with its answer. The sample's verdict is stored with the last turn of the main
        conversation.
        """
        own, introductions = self._find_conversation(next(iter(self._conversations), ()))
        yield from introductions
        for conversation in [*self._conversations.values()][1:]:
            if conversation.answer is not None:
                yield TurnEnded(**self._event_place(conversation), answer=conversation.answer)
        limit = read_text(read_object(self._sample.get("limit")).get("type"))
        yield TurnEnded(
            **self._event_place(own),
            status="error" if self._sample.get("error") else f"limit: {limit}" if limit else None,
            recorded_ok=read_scores(self._sample),
            answer=self._take_output() or own.answer or "",
        )

    def _take_output(self) -> str | None:
        output = read_object(self._sample.get("output"))
        choices = read_objects(output.get("choices"))
        content = read_object(choices[0].get("message")).get("content") if choices else None
        return self._pools.message_text(output.get("completion") or content)

    def _take_model(self, event: Mapping[str, Any]) -> Iterator[Event]:
        output = read_object(event.get("output"))
        choices = read_objects(output.get("choices"))
        if event.get("error") or not choices:
            return  # The provider failed, so the model did not answer.
        messages = self._pools.input_messages(event)
        system, users = (self._filter_by_role(messages, role) for role in ("system", "user"))
        begins = tuple(
            self._pools.message_text(group[0].get("content")) if group else None for group in (system, users)
        )
        conversation, introductions = self._find_conversation(begins)
        yield from introductions
        yield from self._take_prompt(conversation, begins[0])
        yield from self._offer_tools(conversation, event.get("tools"))
        asking = [message for at, message in enumerate(users) if not at or message.get("source") in _ASKS]
        yield from self._take_question(conversation, asking[conversation.turns :])
        usage, took = read_object(output.get("usage")), read_number(output.get("time"))
        facts = {
            "model": read_text(event.get("model")),
            **_count_input(usage),
            "output_tokens": read_count(usage.get("output_tokens")),
            "latency_ms": took * 1000 if took is not None else None,
        }
        raw = find_raw_arguments(self._pools.resolve(read_object(event.get("call")).get("response")))
        yield from self._take_reply(conversation, read_object(choices[0].get("message")), facts, raw)

    def _filter_by_role(self, messages: Sequence[Mapping[str, Any]], role: str) -> list[Mapping[str, Any]]:
        return [message for message in messages if message.get("role") == role]

    def _find_conversation(self, begins: tuple[str | None, ...]) -> tuple[_SampleConversation, list[Event]]:
        """Return the conversation that begins with the texts `begins`.

        If the conversation is new, also return its `SessionSeen` event. `begins` contains the first system
        message and the first user message.
        """
        if begins in self._conversations:
            return self._conversations[begins], []
        count = len(self._conversations)
        session_id = f"{self._session_id}/agent-{count}" if count else self._session_id
        new = self._conversations[begins] = _SampleConversation(session_id)
        introduction = SessionSeen(
            **self._event_place(new),
            harness="inspect_ai",
            harness_version=self._run.version,
            model=self._run.model,
            parent_session_id=self._session_id if count else None,
            task=None if count else self._task_name(),
        )
        return new, [introduction]

    def _task_name(self) -> str | None:
        """Return the task name `<task>/<sample id>`, which is the same for all epochs.

        Return None when the task or the sample id is missing.
        """
        sample_id = self._sample.get("id")
        is_named = self._run.task is not None and sample_id not in (None, "")
        return f"{self._run.task}/{sample_id}" if is_named else None

    def _take_prompt(self, conversation: _SampleConversation, words: str | None) -> Iterator[Event]:
        if words and words != conversation.prompt:
            conversation.prompt = words
            yield PromptSeen(**self._event_place(conversation), text=words)

    def _offer_tools(self, conversation: _SampleConversation, tools: Any) -> Iterator[Event]:
        if tools and tools != conversation.tools:
            conversation.tools = tools
            definitions = tuple(read_objects(self._pools.resolve(tools)))
            yield ToolsOffered(**self._event_place(conversation), definitions=definitions)

    def _take_question(
        self, conversation: _SampleConversation, users: Sequence[Mapping[str, Any]]
    ) -> Iterator[Event]:
        """Begin a turn for each new user message of the conversation. End the previous turn first."""
        for message in users:
            if conversation.turns:
                yield TurnEnded(**self._event_place(conversation), answer=conversation.answer or "")
            conversation.turns += 1
            conversation.answer = None
            words = self._pools.message_text(message.get("content"))
            yield TurnStarted(**self._event_place(conversation), text=words)

    def _take_reply(
        self,
        conversation: _SampleConversation,
        message: Mapping[str, Any],
        facts: Mapping[str, Any],
        raw: Mapping[str, str],
    ) -> Iterator[Event]:
        calls = read_objects(message.get("tool_calls"))
        words = self._pools.message_text(message.get("content"))
        strategy = Strategy.TOOL_USE if calls else None
        yield StepMade(**self._event_place(conversation), text=words, strategy=strategy, **facts)
        conversation.answer = None if calls else words or ""
        for call in calls:
            call_id = read_text(call.get("id"))
            if call_id is not None:
                self._where = self._record.find_line(f'"{call_id}"')
                self._callers[call_id] = conversation
            sent = raw.get(call_id or "", self._pools.resolve(call.get("arguments")))
            made = call_facts(self._pools.resolve(call.get("parse_error")))
            fields = {"id": call_id, "name": call.get("function"), "arguments": made.pop("sent", sent)}
            yield make_call(fields, self._event_place(conversation), strategy=strategy, **made)

    def _take_result(self, call_id: Any, stated: Mapping[str, Any], content: Any) -> Iterator[Event]:
        conversation = self._callers.get(str(call_id))
        if conversation is None:
            conversation, introductions = self._find_conversation(next(iter(self._conversations), ()))
            yield from introductions
        error = stated.get("error")
        status, layer = error_verdict(error) if isinstance(error, dict) else (ResultStatus.OK, None)
        if stated.get("failed") is True and layer is None:
            status = ResultStatus.ERROR
        took = read_number(stated.get("working_time"))
        message = read_text(read_object(error).get("message"))
        yield ResultSeen(
            **self._event_place(conversation),
            tool_call_id=read_text(call_id),
            tool=read_text(stated.get("function")),
            status=status,
            flag_source=FlagSource.EXPLICIT,
            fault_layer=layer,
            message=message[:MESSAGE_READ] if message else None,
            content=self._pools.message_text(content) or message,
            latency_ms=took * 1000 if took is not None else None,
        )

    def _event_place(self, conversation: _SampleConversation) -> dict[str, Any]:
        return {"session_id": conversation.session_id, "where": self._where, "ts": self._ts}


def _count_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of input tokens.

    The total token count shows whether `input_tokens` includes the cached tokens.
    """
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    counts = [read_count(usage.get(name)) for name in names]
    together = sum(count or 0 for count in counts) + (read_count(usage.get("output_tokens")) or 0)
    is_apart = together == read_count(usage.get("total_tokens"))
    return count_input_parts(*counts) if is_apart else count_whole_input(*counts)
