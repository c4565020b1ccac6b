"""Makes the events of a session from its traces, in order of time.

The spans of a trace are divided into lanes: the model calls and tool runs of one agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from ingest.decoding.fields import count_whole_input
from ingest.decoding.lines import SNIPPET_READ
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
from ingest.formats.provider_messages.exchange import StopReason
from ingest.formats.provider_messages.message_parts import MessageCall
from ingest.formats.provider_messages.model_requests import Definitions, are_same_definitions
from ingest.formats.spans.span import UnderstoodSpan, to_datetime
from ingest.formats.traces.span_calls import call_fields, result_fields
from ingest.formats.traces.span_steps import TracedCall, TracedStep, find_steps
from ingest.formats.traces.span_tree import TraceLane
from ingest.formats.traces.span_turns import TurnPlan, user_texts

_KNOWN = 1_000
_WAITING = 200  # maximum number of calls from earlier traces that may still get a result


class TracedSession:
    """Makes the events of one session, one trace at a time.

    `parent` is the id of the parent session.
    """

    def __init__(self, session_id: str, parent: str | None = None) -> None:
        self._session_id = session_id
        self._parent = parent
        self._turns = TurnPlan()
        self._prompt: tuple[str | None, ...] = (None, None, None)
        self._offered: Definitions | None = None
        self._introduced: tuple[str | None, ...] | None = None
        self._waiting: list[
            tuple[TracedCall, dict[str, Any]]
        ] = []  # (call, fields of its event) for each call without a result
        self._known: deque[str] = deque(maxlen=_KNOWN)  # the ids of the latest calls

    def take(self, lane: TraceLane, root: UnderstoodSpan | None) -> Iterator[Event | Rejected]:
        """Yield the events of one agent in a trace: its model calls and tool runs.

        `root` is the span that contains all these spans, or None when there is no such span.
        """
        steps, left = find_steps(lane, [made for made, _ in self._waiting])
        left = self.give_runs_to_waiting(left)
        yield from self._introduce(lane, root)
        yield from self.late_result_events()
        yield from self.foreign_result_events(steps)
        planned = self._turns.plan(steps, lane.agents)
        for turn, (begins, of_turn) in planned.items():
            yield from self._turn_events(turn, of_turn, root, begins=begins, alone=len(planned) == 1)
        if not steps and lane.agents:
            yield from self._turn_without_steps(lane.agents[0])
        for run in left:
            yield self.unrequested_run_event(run)

    def event_place(self, span: UnderstoodSpan, time: int | None) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": span.where, "ts": to_datetime(time)}

    def _introduce(self, lane: TraceLane, root: UnderstoodSpan | None) -> Iterator[Event]:
        span = next(iter((*lane.calls, *lane.agents)), None)
        if span is None:
            return
        named = root if root is not None and root.harness else span
        all_facts = [span.facts for span in (root, *lane.calls, *lane.agents) if span is not None]
        user = next((facts.user for facts in all_facts if facts.user), None)
        task = next((facts.task for facts in all_facts if facts.task), None)
        environment = next((facts.environment for facts in all_facts if facts.environment), None)
        introduction = (named.harness, named.harness_version, self._parent, user, task, environment)
        if any(introduction) and introduction != self._introduced:
            self._introduced = introduction
            yield SessionSeen(
                **self.event_place(span, span.start),
                harness=named.harness,
                harness_version=named.harness_version,
                parent_session_id=self._parent,
                user=user,
                task=task,
                environment=environment,
            )

    # --- turns ---------------------------------------------------------------------------------

    def _turn_events(
        self,
        turn: int,
        steps: Sequence[TracedStep],
        root: UnderstoodSpan | None,
        *,
        begins: bool,
        alone: bool,
    ) -> Iterator[Event]:
        first, last = steps[0].span, steps[-1]
        around = root if alone and encloses(root, steps) else None
        if begins:
            question = next(reversed(user_texts(first)), None) or (root.facts.question if root else None)
            key = f"{first.trace_id}/{first.span_id}"
            at = self.event_place(first, around.start if around else first.start)
            yield TurnStarted(**at, turn=turn, text=question, key=key)
        for step in steps:
            if not step.has_no_reply:
                yield from self._step_events(step, turn)
        answer, status = turn_end(last, around)
        if answer is not None or status is not None or not last.calls:
            at = self.event_place(last.span, around.end if around else last.span.end)
            latency = around.latency_ms if around else None
            yield TurnEnded(**at, turn=turn, status=status, answer=answer, latency_ms=latency)

    def _turn_without_steps(self, agent: UnderstoodSpan) -> Iterator[Event]:
        """Yield a turn without steps for an agent whose model calls were not recorded."""
        turn = self._turns.begin_turn()
        facts = agent.facts
        if facts.model is not None:
            at = self.event_place(agent, agent.start)
            yield SessionSeen(**at, model=facts.model, provider=facts.provider)
        key = f"{agent.trace_id}/{agent.span_id}"
        yield TurnStarted(**self.event_place(agent, agent.start), turn=turn, text=facts.question, key=key)
        yield TurnEnded(
            **self.event_place(agent, agent.end),
            turn=turn,
            status="error" if agent.error is not None else None,
            answer=facts.answered if agent.error is None else "",
            latency_ms=agent.latency_ms,
        )

    # --- steps ---------------------------------------------------------------------------------

    def _step_events(self, step: TracedStep, turn: int) -> Iterator[Event]:
        span, facts = step.span, step.span.facts
        shared = self.event_place(span, span.end or span.start)
        yield from self.prompt_events(span)
        if facts.definitions and not are_same_definitions(facts.definitions, self._offered):
            self._offered = facts.definitions
            yield ToolsOffered(**self.event_place(span, span.start), definitions=facts.definitions)
        number = self._turns.next_step(turn)
        place: dict[str, Any] = {"turn": turn, "step": number}
        yield StepMade(
            **shared,
            **place,
            text=step.text or (None if step.calls else step.text),
            provider=facts.provider,
            model=facts.model,
            # The counts are computed again, because another convention may have filled in missing counts.
            **(
                count_whole_input(facts.input_tokens, facts.cached_tokens, facts.cache_write_tokens)
                if step.whole
                else {}
            ),
            output_tokens=facts.output_tokens if step.whole else None,
            latency_ms=span.latency_ms if step.whole else None,
            answers=not step.calls and step.stop_reason is StopReason.ANSWER,
        )
        key = f"{span.trace_id}/{span.span_id}/{number if not step.whole else 0}"
        self._known.extend(made.message_call.id for made in step.calls if made.message_call.id is not None)
        for ordinal, made in enumerate(step.calls):
            yield CallMade(
                **shared,
                **place,
                tool=made.message_call.name,
                tool_call_id=made.message_call.id,
                key=f"{key}/{ordinal}",
                **call_fields(step, ordinal),
            )
        if not step.calls and step.unreadable_call_message is not None:
            yield CallMade(  # The API reports a call that it could not read.
                **shared,
                **place,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=FaultLayer.EMISSION,
                harness_message=step.unreadable_call_message,
            )
        for ordinal, made in enumerate(step.calls):
            yield from self.result_events(made, {**place, "ordinal": ordinal, "tool": made.message_call.name})

    def prompt_events(self, span: UnderstoodSpan) -> Iterator[Event]:
        facts = span.facts
        system_texts = (
            message.text for message in facts.input or () if message.role == "system" and message.text
        )
        prompt = (facts.system or "\n\n".join(system_texts) or None, facts.prompt_name, facts.prompt_version)
        if any(prompt) and prompt != self._prompt:
            self._prompt = prompt
            at = self.event_place(span, span.start)
            yield PromptSeen(**at, text=prompt[0], name=prompt[1], version=prompt[2])

    # --- results -------------------------------------------------------------------------------

    def result_events(self, made: TracedCall, place: dict[str, Any]) -> Iterator[Event]:
        fields = result_fields(made)
        if fields is None:
            self._waiting = [*self._waiting[-_WAITING + 1 :], (made, place)]
            return
        source = made.run or made.result_span
        if source is not None:
            yield ResultSeen(
                **self.event_place(source, made.run.end if made.run else source.start), **place, **fields
            )

    def late_result_events(self) -> Iterator[Event]:
        """Yield new results for tool calls of earlier traces.

        For example, the tool run is in another trace if a person approved the call later.
        """
        waiting, self._waiting = self._waiting, []
        for made, place in waiting:
            yield from self.result_events(made, place)

    def give_runs_to_waiting(self, runs: Sequence[UnderstoodSpan]) -> list[UnderstoodSpan]:
        """Assign tool runs to tool calls of earlier traces with the same id. Return the other tool runs."""
        waiting = {made.message_call.id: made for made, _ in self._waiting if made.run is None}
        left = []
        for run in runs:
            made = waiting.pop(run.facts.call_id, None) if run.facts.call_id is not None else None
            if made is None:
                left.append(run)
            else:
                made.run = run
        return left

    def foreign_result_events(self, steps: Sequence[TracedStep]) -> Iterator[Event]:
        """Yield the results in a trace's first request that belong to no known tool call.

        `ingest.store.generation_file` joins these results to calls in other files.
        """
        messages = steps[0].span.facts.input or () if steps else ()
        ended = list(takewhile(lambda message: message.results, reversed(messages)))
        for result in (result for message in reversed(ended) for result in message.results):
            if result.id is not None and result.id not in self._known:
                made = TracedCall(message_call=MessageCall(result.name, result.id), answered=result)
                span = steps[0].span
                yield self.foreign_result(made, span, span.start)

    def unrequested_run_event(self, run: UnderstoodSpan) -> Event | Rejected:
        """Return the event for a tool run that no model call of its trace requested.

        The event is a `ResultSeen` if the tool run has the id of an unknown call, which may be in another
        file. Otherwise the event is a `Rejected`.
        """
        call_id, tool = run.facts.call_id, run.facts.tool
        if call_id is not None and call_id not in self._known:
            return self.foreign_result(
                TracedCall(message_call=MessageCall(tool, call_id), run=run), run, run.end
            )
        reason = f"a run of the tool {tool} that no model call of its trace asked for"
        return Rejected(run.where, "orphan_result", reason[:SNIPPET_READ], run.span_id[:SNIPPET_READ])

    def foreign_result(self, made: TracedCall, result_span: UnderstoodSpan, time: int | None) -> ResultSeen:
        fields = result_fields(made) or {}
        return ResultSeen(
            **self.event_place(result_span, time),
            tool_call_id=made.message_call.id,
            tool=made.message_call.name,
            **fields,
        )


def encloses(root: UnderstoodSpan | None, steps: Sequence[TracedStep]) -> bool:
    """Return True when the root span began before the first step and ended after the last step."""
    first, last = steps[0].span, steps[-1].span
    if root is None or root.start is None or root.end is None:
        return False
    return root.start <= (first.start or root.start) and root.end >= (last.end or root.end)


def turn_end(step: TracedStep, root: UnderstoodSpan | None) -> tuple[str | None, str | None]:
    """Return (answer, status) of a turn whose last step is `step`.

    Both are None when the file does not contain the end of the turn.
    """
    failed = step.span.error is not None or (root is not None and root.error is not None)
    if failed and not step.text:
        return "", "error"
    if not step.calls:
        return step.text, None
    done = all(result_fields(made) is not None for made in step.calls)
    return (root.facts.answered if root is not None and done else None), None
