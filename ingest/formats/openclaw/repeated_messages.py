"""Completes a turn's events with facts from the messages that repeat the turn (ids, times, texts, …)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ingest.decoding.fields import (
    count_input_parts,
    read_count,
    read_epoch_ms,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import CallMade, Event, ResultSeen, StepMade, Strategy, TurnEnded, TurnStarted
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.formats.provider_messages.message_hashes import unique_id

Message = Mapping[str, Any]


def add_message_facts(events: Sequence[Event], messages: Sequence[Message]) -> Iterator[Event]:
    """Yield the events of a turn, completed with ids, times, texts, tokens and results from `messages`.

    The messages are those of this turn when the last user message is its prompt and the same calls follow;
    else the events are yielded unchanged. No steps are added when the messages end at a call (as in a turn
    that waits for a sub-agent): nobody could say whether the turn came to an answer.
    """
    told = _RepeatedMessages(messages)
    calls = [event for event in events if isinstance(event, CallMade)]
    sent = [(call.tool, call.arguments) for call in calls]
    first = events[0] if events else None
    if not isinstance(first, TurnStarted) or first.text != told.prompt or sent != told.sent:
        yield from events
        return
    of_call = {id(call): at for at, call in enumerate(calls)}
    answered = bool(told.replies) and not _find_calls(told.replies[-1])
    waiting = list(told.ids)
    for event in events:
        if isinstance(event, TurnStarted):
            yield replace(event, ts=event.ts or told.asked_at)
        elif isinstance(event, CallMade):
            at = of_call[id(event)]
            if answered and (at == 0 or told.steps[at] != told.steps[at - 1]):
                yield told.make_step(told.steps[at], event)
            yield told.make_call(at, event)
        elif isinstance(event, ResultSeen):
            yield told.make_result(event, waiting)
        elif isinstance(event, TurnEnded) and answered:
            yield told.make_step(len(told.replies) - 1, event)
            yield replace(
                event, ts=event.ts or _message_time(told.replies[-1]), answer=_join_words(told.replies[-1])
            )
        else:
            yield event


class _RepeatedMessages:
    """The facts of the messages since the last user message."""

    def __init__(self, messages: Sequence[Message]) -> None:
        asked = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=-1)
        since = messages[asked + 1 :]
        self.prompt = join_content(messages[asked].get("content")) if asked >= 0 else None
        self.asked_at = _message_time(messages[asked]) if asked >= 0 else None
        self.replies = [one for one in since if one.get("role") == "assistant"]
        self.results = {
            read_text(one.get("toolCallId")): one for one in since if one.get("role") == "toolResult"
        }
        made = [(step, call) for step, reply in enumerate(self.replies) for call in _find_calls(reply)]
        self.steps = [step for step, _ in made]
        self.sent = [(read_text(call.get("name")), call.get("arguments")) for _, call in made]
        self.ids = [(read_text(call.get("name")), read_text(call.get("id"))) for _, call in made]

    def make_step(self, number: int, at: Event) -> StepMade:
        reply = self.replies[number]
        usage = read_object(reply.get("usage"))
        return StepMade(
            session_id=at.session_id,
            where=at.where,
            ts=_message_time(reply),
            step=number,
            text=_join_words(reply) or None,
            provider=read_text(reply.get("provider")),
            model=read_text(reply.get("model")),
            strategy=Strategy.TOOL_USE if _find_calls(reply) else None,
            **count_input_parts(*map(usage.get, ("input", "cacheRead", "cacheWrite"))),
            output_tokens=read_count(usage.get("output")) or None,
        )

    def make_call(self, at: int, event: CallMade) -> CallMade:
        call_id = self.ids[at][1]
        ts = event.ts or _message_time(self.replies[self.steps[at]])
        return replace(event, step=self.steps[at], tool_call_id=call_id, key=unique_id(call_id), ts=ts)

    def make_result(self, event: ResultSeen, waiting: list[tuple[str | None, str | None]]) -> ResultSeen:
        """Return the result with the call id, text and time of its call.

        The call is the first of the same tool in `waiting`, the (tool, id) pairs without a result; it is
        removed there.
        """
        place = next((at for at, (tool, _) in enumerate(waiting) if tool == event.tool), None)
        call_id = waiting.pop(place)[1] if place is not None else None
        said = self.results.get(call_id) if call_id is not None else None
        if said is None:
            return replace(event, tool_call_id=call_id)
        content = event.content or join_content(said.get("content"))
        return replace(event, tool_call_id=call_id, content=content, ts=event.ts or _message_time(said))


def _find_calls(reply: Message) -> list[dict[str, Any]]:
    return [block for block in read_objects(reply.get("content")) if block.get("type") == "toolCall"]


def _join_words(reply: Message) -> str:
    blocks = read_objects(reply.get("content"))
    return "\n".join(read_text(block.get("text")) or "" for block in blocks if block.get("type") == "text")


def _message_time(message: Message) -> Any:
    return read_epoch_ms(message.get("timestamp"))
