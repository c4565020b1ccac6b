"""The lanes of a session's traces in, in order of time, its events out; knows no convention and no file."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    PromptSeen,
    Rejected,
    ResultSeen,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.shapes.exchanges import End
from ingest.shapes.message_parts import CallSaid
from ingest.shapes.requests import Definitions, same_definitions
from ingest.shapes.span_calls import result_fields, sent_fields
from ingest.shapes.span_steps import Made, Step, steps_of
from ingest.shapes.span_tree import Lane
from ingest.shapes.span_turns import Turns, user_texts
from ingest.shapes.spans import Span, moment

_KNOWN = 1_000
_WAITING = 200  # calls of earlier traces that may still get a result


class TracedSession:
    """One session, trace by trace."""

    def __init__(self, session_id: str, parent: str | None = None) -> None:
        self._session_id = session_id
        self._parent = parent
        self._turns = Turns()
        self._prompt: tuple[str | None, ...] = (None, None, None)
        self._offered: Definitions | None = None
        self._introduced: tuple[str | None, ...] | None = None
        self._waiting: list[tuple[Made, dict[str, Any]]] = []  # calls without a result, and their places
        self._known: deque[str] = deque(maxlen=_KNOWN)  # the ids of the latest calls

    def take(self, lane: Lane, root: Span | None) -> Iterator[Event | Rejected]:
        """The events of one trace's lane. `root` is the span around all of it, where there is one."""
        steps, left = steps_of(lane, [made for made, _ in self._waiting])
        left = self._run_for_waiting(left)
        yield from self._introduce(lane, root)
        yield from self._late_results()
        yield from self._answers_to_another_file(steps)
        planned = self._turns.plan(steps)
        for turn, (begins, of_turn) in planned.items():
            yield from self._turn_events(turn, of_turn, root, begins=begins, alone=len(planned) == 1)
        if not steps and lane.agents:
            yield from self._turn_without_steps(lane.agents[0])
        for run in left:
            yield self._unasked(run)

    def _at(self, span: Span, time: int | None) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": span.where, "ts": moment(time)}

    def _introduce(self, lane: Lane, root: Span | None) -> Iterator[Event]:
        span = next(iter((*lane.calls, *lane.agents)), None)
        if span is None:
            return
        named = root if root is not None and root.harness else span
        told = [one.facts for one in (root, *lane.calls, *lane.agents) if one is not None]
        user = next((facts.user for facts in told if facts.user), None)
        task = next((facts.task for facts in told if facts.task), None)
        found = (named.harness, named.harness_version, self._parent, user, task)
        if any(found) and found != self._introduced:
            self._introduced = found
            yield SessionSeen(
                **self._at(span, span.start),
                harness=named.harness,
                harness_version=named.harness_version,
                parent_session_id=self._parent,
                user=user,
                task=task,
            )

    # --- turns ---------------------------------------------------------------------------------

    def _turn_events(
        self, turn: int, steps: Sequence[Step], root: Span | None, *, begins: bool, alone: bool
    ) -> Iterator[Event]:
        first, last = steps[0].span, steps[-1]
        around = root if alone and _stands_around(root, steps) else None
        if begins:
            asked = next(reversed(user_texts(first)), None) or (root.facts.asked if root else None)
            key = f"{first.trace_id}/{first.span_id}"
            at = self._at(first, around.start if around else first.start)
            yield TurnStarted(**at, turn=turn, text=asked, key=key)
        for step in steps:
            if not step.unanswered:
                yield from self._step_events(step, turn)
        answer, status = _end_of(last, around)
        if answer is not None or status is not None or not last.calls:
            at = self._at(last.span, around.end if around else last.span.end)
            latency = around.latency_ms if around else None
            yield TurnEnded(**at, turn=turn, status=status, answer=answer, latency_ms=latency)

    def _turn_without_steps(self, agent: Span) -> Iterator[Event]:
        """An agent's run of whose model calls nothing was recorded."""
        turn = self._turns.another()
        facts = agent.facts
        if facts.model is not None:
            at = self._at(agent, agent.start)
            yield SessionSeen(**at, model=facts.model, provider=facts.provider)
        key = f"{agent.trace_id}/{agent.span_id}"
        yield TurnStarted(**self._at(agent, agent.start), turn=turn, text=facts.asked, key=key)
        yield TurnEnded(
            **self._at(agent, agent.end),
            turn=turn,
            status="error" if agent.error is not None else None,
            answer=facts.answered if agent.error is None else "",
            latency_ms=agent.latency_ms,
        )

    # --- steps ---------------------------------------------------------------------------------

    def _step_events(self, step: Step, turn: int) -> Iterator[Event]:
        span, facts = step.span, step.span.facts
        shared = self._at(span, span.end or span.start)
        yield from self._prompt_seen(span)
        if facts.definitions and not same_definitions(facts.definitions, self._offered):
            self._offered = facts.definitions
            yield ToolsOffered(**self._at(span, span.start), definitions=facts.definitions)
        number = self._turns.next_step(turn)
        place: dict[str, Any] = {"turn": turn, "step": number}
        yield StepMade(
            **shared,
            **place,
            text=step.text or (None if step.calls else step.text),
            provider=facts.provider,
            model=facts.model,
            input_tokens=facts.input_tokens if step.whole else None,
            output_tokens=facts.output_tokens if step.whole else None,
            latency_ms=span.latency_ms if step.whole else None,
            answers=not step.calls and step.end is End.ANSWER,
        )
        key = f"{span.trace_id}/{span.span_id}/{number if not step.whole else 0}"
        self._known.extend(made.said.id for made in step.calls if made.said.id is not None)
        for ordinal, made in enumerate(step.calls):
            yield CallMade(
                **shared,
                **place,
                tool=made.said.name,
                tool_call_id=made.said.id,
                key=f"{key}/{ordinal}",
                **sent_fields(step, ordinal),
            )
        if not step.calls and step.broken is not None:
            yield CallMade(  # the API says that the model wrote a call which was none
                **shared,
                **place,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=FaultLayer.EMISSION,
                harness_message=step.broken,
            )
        for ordinal, made in enumerate(step.calls):
            yield from self._result(made, {**place, "ordinal": ordinal, "tool": made.said.name})

    def _prompt_seen(self, span: Span) -> Iterator[Event]:
        facts = span.facts
        spoken = (message.text for message in facts.input or () if message.role == "system" and message.text)
        found = (facts.system or "\n\n".join(spoken) or None, facts.prompt_name, facts.prompt_version)
        if any(found) and found != self._prompt:
            self._prompt = found
            at = self._at(span, span.start)
            yield PromptSeen(**at, text=found[0], name=found[1], version=found[2])

    # --- results -------------------------------------------------------------------------------

    def _result(self, made: Made, place: dict[str, Any]) -> Iterator[Event]:
        fields = result_fields(made)
        if fields is None:
            self._waiting = [*self._waiting[-_WAITING + 1 :], (made, place)]
            return
        source = made.run or made.told_by
        if source is not None:
            yield ResultSeen(
                **self._at(source, made.run.end if made.run else source.start), **place, **fields
            )

    def _late_results(self) -> Iterator[Event]:
        """Results of calls in earlier traces: an approval by a person may lie between."""
        waiting, self._waiting = self._waiting, []
        for made, place in waiting:
            yield from self._result(made, place)

    def _run_for_waiting(self, runs: Sequence[Span]) -> list[Span]:
        """Give runs to calls of earlier traces that have their ids; the others are left."""
        waiting = {made.said.id: made for made, _ in self._waiting if made.run is None}
        left = []
        for run in runs:
            made = waiting.pop(run.facts.call_id, None) if run.facts.call_id is not None else None
            if made is None:
                left.append(run)
            else:
                made.run = run
        return left

    def _answers_to_another_file(self, steps: Sequence[Step]) -> Iterator[Event]:
        """Results that end a trace's first request, of calls that are not here: `ingest.store` joins them."""
        messages = steps[0].span.facts.input or () if steps else ()
        ended = list(takewhile(lambda message: message.results, reversed(messages)))
        for result in (result for message in reversed(ended) for result in message.results):
            if result.id is not None and result.id not in self._known:
                made = Made(said=CallSaid(result.name, result.id), answered=result)
                span = steps[0].span
                yield self._result_of_another(made, span, span.start)

    def _unasked(self, run: Span) -> Event | Rejected:
        """A run that no model call of its trace asked for: one in another file may have."""
        call_id, tool = run.facts.call_id, run.facts.tool
        if call_id is not None and call_id not in self._known:
            return self._result_of_another(Made(said=CallSaid(tool, call_id), run=run), run, run.end)
        reason = f"a run of the tool {tool} that no model call of its trace asked for"
        return Rejected(run.where, "orphan_result", reason[:500], run.span_id[:200])

    def _result_of_another(self, made: Made, told_by: Span, time: int | None) -> ResultSeen:
        fields = result_fields(made) or {}
        return ResultSeen(**self._at(told_by, time), tool_call_id=made.said.id, tool=made.said.name, **fields)


def _stands_around(root: Span | None, steps: Sequence[Step]) -> bool:
    """True when a span lasted from before the first of the steps until after the last."""
    first, last = steps[0].span, steps[-1].span
    if root is None or root.start is None or root.end is None:
        return False
    return root.start <= (first.start or root.start) and root.end >= (last.end or root.end)


def _end_of(step: Step, root: Span | None) -> tuple[str | None, str | None]:
    """(answer, status) of a turn whose last step this is; (None, None) where its end is not in the file."""
    failed = step.span.error is not None or (root is not None and root.error is not None)
    if failed and not step.text:
        return "", "error"
    if not step.calls:
        return step.text, None
    done = all(result_fields(made) is not None for made in step.calls)
    return (root.facts.answered if root is not None and done else None), None
