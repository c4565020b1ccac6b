"""A turn's events and the messages that repeat it in, the events with what those add out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ingest.events import CallMade, Event, ResultSeen, StepMade, Strategy, TurnEnded, TurnStarted
from ingest.fields import epoch_ms, table, tables, text, whole
from ingest.shapes.chat import content_text
from ingest.shapes.marks import unique_id

Message = Mapping[str, Any]


def with_told(events: Sequence[Event], messages: Sequence[Message]) -> Iterator[Event]:
    """The events of a turn, with ids, times, texts, tokens and results where the messages are of this turn.

    They are when the last message of a user is its prompt and the same calls follow. A turn that ended at a
    call, as one that waits for a sub-agent does, has no steps: nobody could say whether it came to an answer.
    """
    told = _Told(messages)
    calls = [event for event in events if isinstance(event, CallMade)]
    sent = [(call.tool, call.arguments) for call in calls]
    first = events[0] if events else None
    if not isinstance(first, TurnStarted) or first.text != told.prompt or sent != told.sent:
        yield from events
        return
    of_call = {id(call): at for at, call in enumerate(calls)}
    answered = bool(told.replies) and not _calls_in(told.replies[-1])
    waiting = list(told.ids)
    for event in events:
        if isinstance(event, TurnStarted):
            yield replace(event, ts=event.ts or told.asked_at)
        elif isinstance(event, CallMade):
            at = of_call[id(event)]
            if answered and (at == 0 or told.steps[at] != told.steps[at - 1]):
                yield told.step(told.steps[at], event)
            yield told.call(at, event)
        elif isinstance(event, ResultSeen):
            yield told.result(event, waiting)
        elif isinstance(event, TurnEnded) and answered:
            yield told.step(len(told.replies) - 1, event)
            yield replace(event, ts=event.ts or _time(told.replies[-1]), answer=_words(told.replies[-1]))
        else:
            yield event


class _Told:
    """What the messages since the last one of a user tell."""

    def __init__(self, messages: Sequence[Message]) -> None:
        asked = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=-1)
        since = messages[asked + 1 :]
        self.prompt = content_text(messages[asked].get("content")) if asked >= 0 else None
        self.asked_at = _time(messages[asked]) if asked >= 0 else None
        self.replies = [one for one in since if one.get("role") == "assistant"]
        self.results = {text(one.get("toolCallId")): one for one in since if one.get("role") == "toolResult"}
        made = [(step, call) for step, reply in enumerate(self.replies) for call in _calls_in(reply)]
        self.steps = [step for step, _ in made]
        self.sent = [(text(call.get("name")), call.get("arguments")) for _, call in made]
        self.ids = [(text(call.get("name")), text(call.get("id"))) for _, call in made]

    def step(self, number: int, at: Event) -> StepMade:
        reply = self.replies[number]
        usage = table(reply.get("usage"))
        read = [whole(usage.get(name)) or 0 for name in ("input", "cacheRead", "cacheWrite")]
        return StepMade(
            session_id=at.session_id,
            where=at.where,
            ts=_time(reply),
            step=number,
            text=_words(reply) or None,
            provider=text(reply.get("provider")),
            model=text(reply.get("model")),
            strategy=Strategy.TOOL_USE if _calls_in(reply) else None,
            input_tokens=sum(read) or None,
            output_tokens=whole(usage.get("output")) or None,
        )

    def call(self, at: int, event: CallMade) -> CallMade:
        call_id = self.ids[at][1]
        ts = event.ts or _time(self.replies[self.steps[at]])
        return replace(event, step=self.steps[at], tool_call_id=call_id, key=unique_id(call_id), ts=ts)

    def result(self, event: ResultSeen, waiting: list[tuple[str | None, str | None]]) -> ResultSeen:
        """The end of a call belongs to the first of its tool that has none; `waiting` are those."""
        place = next((at for at, (tool, _) in enumerate(waiting) if tool == event.tool), None)
        call_id = waiting.pop(place)[1] if place is not None else None
        said = self.results.get(call_id) if call_id is not None else None
        if said is None:
            return replace(event, tool_call_id=call_id)
        content = event.content or content_text(said.get("content"))
        return replace(event, tool_call_id=call_id, content=content, ts=event.ts or _time(said))


def _calls_in(reply: Message) -> list[dict[str, Any]]:
    return [block for block in tables(reply.get("content")) if block.get("type") == "toolCall"]


def _words(reply: Message) -> str:
    blocks = tables(reply.get("content"))
    return "\n".join(text(block.get("text")) or "" for block in blocks if block.get("type") == "text")


def _time(message: Message) -> Any:
    return epoch_ms(message.get("timestamp"))
