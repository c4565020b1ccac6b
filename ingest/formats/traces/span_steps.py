"""Finds the steps of one agent in a trace. A step is a reply of the model with its tool calls and their
results.

The model calls and tool runs of one agent are called a lane. Tool calls are read from the model's replies.
Tool runs are read as results, and each tool run is joined to the tool call with the same id. If no id
matches, tool runs are joined to tool calls by name and order. In three cases a tool run becomes a tool call:
the content of a reply was not recorded; an agent's span contains tool runs but no model call (Copilot in
Visual Studio); or only a model can start the tool run (OpenAI's Agents SDK). Results in later requests are
also joined to tool calls, by id or by name. Results are matched from the end, because every request repeats
the earlier messages.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ingest.formats.provider_messages.exchange import StopReason, read_stop_reason
from ingest.formats.provider_messages.message_parts import Message, MessageCall, MessageResult
from ingest.formats.spans.span import SpanFacts, SpanKind, UnderstoodSpan
from ingest.formats.traces.span_tree import TraceLane, time_key

_RECENT = 1_000  # maximum number of compared calls and results, because requests repeat all earlier ones
_BROKEN = frozenset({"malformed_function_call", "unexpected_tool_call", "malformed_tool_call"})
_UNREADABLE = "tool_use_failed"  # Groq's error code for a tool call that Groq could not parse


class TracedCall(msgspec.Struct):
    """A tool call and, if known, its result.

    The result is a tool run, a result in a later request, or both.
    """

    message_call: MessageCall
    run: UnderstoodSpan | None = None
    answered: MessageResult | None = None
    result_span: UnderstoodSpan | None = None  # the model call whose request contains the result


class TracedStep(msgspec.Struct):
    """One reply of a model.

    `whole` is False for the second and later replies in the same span. The span's tokens and latency are
    stored with the first reply.
    """

    span: UnderstoodSpan
    text: str | None = None
    calls: list[TracedCall] = []
    finish: str | None = None
    whole: bool = True

    @property
    def stop_reason(self) -> StopReason:
        """Return the reason why the model stopped."""
        return read_stop_reason(self.finish.replace("-", "_") if self.finish else None)

    @property
    def has_no_reply(self) -> bool:
        """Return True when the model call failed without a reply, for example because of a rate limit."""
        error = self.span.error
        return error is not None and not self.text and not self.calls and _UNREADABLE not in error

    @property
    def unreadable_call_message(self) -> str | None:
        """Return the provider's message about a tool call that the provider could not parse.

        Return None when there is no such message.
        """
        error = self.span.error or ""
        word = (self.finish or "").lower()
        return self.finish if word in _BROKEN else error if _UNREADABLE in error else None


def find_steps(
    lane: TraceLane, before: Sequence[TracedCall] = ()
) -> tuple[list[TracedStep], list[UnderstoodSpan]]:
    """Return the steps in order, and the tool runs that belong to no tool call.

    `before` contains the calls of the session's earlier traces that still have no result.
    """
    if not lane.calls and lane.agents:
        sure = [run for run in lane.runs if run.facts.kind is SpanKind.EXECUTION]
        return list(steps_of_runs(sure, lane.agents)), []
    runs = RunIndex(lane.runs)
    steps = [step for span in lane.calls for step in steps_in_output(span)]
    times = Counter(made.message_call.id for step in steps for made in step.calls)
    for step in steps:
        for made in step.calls:
            made.run = runs.take_by_id(made.message_call.id, step.span, once=times[made.message_call.id] == 1)
    for step in steps:
        for made in step.calls:
            made.run = made.run or runs.take_by_name(made.message_call, step.span)
    for number, step in enumerate(steps, start=1):
        if (
            not step.calls
            and step.span.error is None
            and (step.text is None or step.stop_reason is StopReason.CALLS)
        ):
            following = steps[number].span if number < len(steps) else None
            step.calls = infer_calls(step, runs.take_between(step.span, following))
    recent_calls = deque(before, maxlen=_RECENT)
    for step in steps:
        join_results(step.span.facts.input or (), recent_calls, step.span)
        recent_calls.extend(step.calls)
    left = runs.take_rest()
    unrecorded = [run for run in left if run.facts.by_model]
    alone = [run for run in unrecorded if not join_unrecorded(run, steps)]
    if alone:
        steps = sorted((*steps_of_runs(alone, lane.agents), *steps), key=lambda step: time_key(step.span))
    return steps, [run for run in left if not run.facts.by_model]


def steps_in_output(span: UnderstoodSpan) -> Iterator[TracedStep]:
    """Yield the steps in the output of a span.

    The span of a model call has one step. An agent's span has several steps if there are tool results between
    its replies.
    """
    step, answered = TracedStep(span=span, calls=[], finish=span.facts.finish), False
    for message in span.facts.output or ():
        if message.role == "assistant":
            if answered:
                yield step
                step, answered = TracedStep(span=span, calls=[], whole=False), False
            texts = [part for part in (step.text, message.text) if part is not None]
            step.text = "\n".join(texts) if texts else None
            step.finish = message.finish or step.finish
            step.calls.extend(TracedCall(message_call=call) for call in message.calls)
        elif message.results:
            answered = True
            join_results((message,), step.calls, span)
    yield step


def steps_of_runs(runs: Sequence[UnderstoodSpan], agents: Sequence[UnderstoodSpan]) -> Iterator[TracedStep]:
    """Yield the steps of an agent whose tool runs were recorded but whose model calls were not.

    Each tool run becomes a tool call. Tool runs that overlap in time belong to one reply. The model comes
    from the agent's span. Text, tokens and latency of the replies are unknown.
    """
    by_id = {agent.span_id: agent for agent in agents}
    step, ends = None, 0
    for run in runs:
        parent = by_id.get(run.parent_id or "", agents[0] if agents else run)
        if step is None or run.start is None or run.start >= ends:
            if step is not None:
                yield step
            facts = SpanFacts(provider=parent.facts.provider, model=parent.facts.model)
            reply = replace(run, facts=facts, kind=SpanKind.INFERENCE, error=None, end=None)
            step, ends = TracedStep(span=reply, calls=[], finish="tool_calls"), 0
        ends = max(ends, run.end or 0)
        call = MessageCall(run.facts.tool, run.facts.call_id, run.facts.arguments)
        step.calls.append(TracedCall(message_call=call, run=run))
    if step is not None:
        yield step


def join_unrecorded(run: UnderstoodSpan, steps: Sequence[TracedStep]) -> bool:
    """Add a tool run to the tool calls of the reply before it. Return False when no reply is before it."""
    before = [step for step in steps if not began_before(run, step.span)]
    if before:
        call = MessageCall(run.facts.tool, run.facts.call_id, run.facts.arguments)
        before[-1].calls.append(TracedCall(message_call=call, run=run))
    return bool(before)


def infer_calls(step: TracedStep, ran: Iterable[UnderstoodSpan]) -> list[TracedCall]:
    """Return the tool calls of a reply without recorded content: one call for each tool run after the reply.

    If there is no tool run but the model stopped for a call, return one call without a name.
    """
    calls = [
        TracedCall(message_call=MessageCall(run.facts.tool, run.facts.call_id, run.facts.arguments), run=run)
        for run in ran
    ]
    if not calls and step.text is None and step.stop_reason is StopReason.CALLS:
        calls = [TracedCall(message_call=MessageCall())]
    return calls


def join_results(
    messages: Sequence[Message], made: Sequence[TracedCall], result_span: UnderstoodSpan
) -> None:
    """Add the results in a request's messages to their tool calls."""
    results = [result for message in messages for result in message.results][-_RECENT:]
    if not results or not made:
        return
    rest = align_results(
        results, made, lambda result: result.id, lambda call: call.message_call.id, result_span
    )
    rest = align_results(
        rest, made, lambda result: result.name, lambda call: call.message_call.name, result_span
    )
    waiting = [call for call in made if call.answered is None]
    nameless = [result for result in rest if result.id is None and result.name is None]
    if len(nameless) == len(waiting):
        for call, result in zip(waiting, nameless, strict=True):
            call.answered, call.result_span = result, result_span


def align_results(
    results: Sequence[MessageResult],
    made: Sequence[TracedCall],
    key_of_result: Callable[[MessageResult], str | None],
    key_of_call: Callable[[TracedCall], str | None],
    result_span: UnderstoodSpan,
) -> list[MessageResult]:
    """Add each result to a tool call with the same key. Within a key, results and calls are paired from the
    end.

    Return the results whose key matches no call.
    """
    calls: dict[str, list[TracedCall]] = {}
    for call in made:
        if (key := key_of_call(call)) is not None:
            calls.setdefault(key, []).append(call)
    left: list[MessageResult] = []
    for result in reversed(results):
        key = key_of_result(result)
        if key is None or key not in calls:
            left.append(result)
        elif calls[key]:
            call = calls[key].pop()
            if call.answered is None:
                call.answered, call.result_span = result, result_span
    return left[::-1]


class RunIndex:
    """The tool runs of one agent in order of time. Each tool run is returned once.

    Steps must also be processed in order of time.
    """

    def __init__(self, runs: Sequence[UnderstoodSpan]) -> None:
        self._runs = runs
        self._at = 0  # `take_between` has already checked the runs before this index.
        self._joined: set[str] = set()
        self._by_id = group_runs(runs, lambda run: run.facts.call_id)
        self._by_name = group_runs(runs, lambda run: run.facts.tool)

    def take_by_id(
        self, call_id: str | None, request_span: UnderstoodSpan, *, once: bool
    ) -> UnderstoodSpan | None:
        """Return the tool run that has this call id. Return None when there is no such tool run.

        `once` is True when a single call has the id. Its last tool run is then returned, because earlier ones
        were failed attempts. If several calls have the id (some providers use the tool's name), each call
        gets the next tool run.
        """
        queue = self._by_id.get(call_id or "", deque())
        while queue:
            run = queue.popleft()
            if not queue or not (once or began_before(run, request_span)):
                self._joined.add(run.span_id)
                return run
            if once:
                self._joined.add(run.span_id)
        return None

    def take_by_name(self, call: MessageCall, request_span: UnderstoodSpan) -> UnderstoodSpan | None:
        """Return the next tool run that has the name of the called tool and is not joined yet, or None.

        Call this method when no tool run has the id of the call, or when the call or the tool run has no id.
        """
        queue = self._by_name.get(call.name or "", deque())
        while queue:
            run = queue[0]
            if run.span_id in self._joined or began_before(run, request_span):
                queue.popleft()
            elif None in (call.id, run.facts.call_id) or call.id not in self._by_id:
                self._joined.add(run.span_id)
                return run
            else:
                break
        return None

    def take_between(
        self, request_span: UnderstoodSpan, following: UnderstoodSpan | None
    ) -> Iterator[UnderstoodSpan]:
        """Yield the tool runs that are not joined yet and began between one model call and the next."""
        end = following.start if following is not None else None
        while self._at < len(self._runs):
            run = self._runs[self._at]
            if end is not None and run.start is not None and run.start >= end:
                return
            self._at += 1
            if run.span_id not in self._joined and not began_before(run, request_span):
                self._joined.add(run.span_id)
                yield run

    def take_rest(self) -> list[UnderstoodSpan]:
        """Return the tool runs that are not joined to a tool call.

        A span is left out if only its name suggests that it is a tool run.
        """
        sure = (run for run in self._runs if run.facts.kind is SpanKind.EXECUTION)
        return [run for run in sure if run.span_id not in self._joined]


def group_runs(
    runs: Iterable[UnderstoodSpan], key_of: Callable[[UnderstoodSpan], str | None]
) -> dict[str, deque[UnderstoodSpan]]:
    groups: dict[str, deque[UnderstoodSpan]] = {}
    for run in runs:
        if (key := key_of(run)) is not None:
            groups.setdefault(key, deque()).append(run)
    return groups


def began_before(run: UnderstoodSpan, request_span: UnderstoodSpan) -> bool:
    """Return True when a tool run began before the model request."""
    return run.start is not None and request_span.start is not None and run.start < request_span.start
