"""The records of one step of a session history in, its events out: the step, its calls, their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.events import (
    CallMade,
    Event,
    FaultLayer,
    ResultSeen,
    Seen,
    StepMade,
    Strategy,
)
from ingest.fields import number, table, text, whole
from ingest.formats.session_history.calls import LoggedCall, calls_of
from ingest.formats.session_history.entries import Entry, StepRecords
from ingest.formats.session_history.texts import DENIED, split_unparsed, unparsable_call_in, verdict_on
from ingest.shapes.verdicts import MESSAGE

# Named once: looking a member up in its Enum takes as long as making a small object.
_FAILURES, _TOOL_USE = Seen.FAILURES, Strategy.TOOL_USE


def step_events(step: StepRecords, out: list[Event]) -> None:
    """Add the step, then its calls (those that were handed to tools first), then their results."""
    answers = step.answers
    content = (answers[0].content or "") if len(answers) == 1 else _joined(answers)
    unparsed, said = split_unparsed(content)
    calls, stray = calls_of(step, unparsed, said)
    strategy = _strategy_of(step, calls)
    out.append(_step_made(step, said, strategy))
    out += [_call_made(step, call, strategy) for call in calls]
    for ordinal, call in enumerate(calls):
        if call.result is not None:
            out.append(_result_seen(step, call, ordinal))
    out += [_stray_result(step, entry) for entry in stray]


def _joined(entries: Sequence[Entry]) -> str:
    return "\n".join([entry.content or "" for entry in entries])


def failed_model_call(step: StepRecords, out: list[Event]) -> None:
    """The step of a turn that died when the arguments of its call were not JSON: nothing else is logged."""
    final = step.entries[0]
    message = unparsable_call_in(final.content or "")
    if message is None:
        return
    out.append(_step_made(step, "", step.strategy))
    call = LoggedCall(final, refused=FaultLayer.SYNTAX, message=message, strategy=_TOOL_USE)
    out.append(_call_made(step, call, None))


def _strategy_of(step: StepRecords, calls: Sequence[LoggedCall]) -> Strategy | None:
    for entry in step.entries:
        if "strategy" in entry.added and (stated := entry.strategy) is not None:
            return stated
    if step.strategy is not None:
        return step.strategy
    derived = next((call.strategy for call in calls if call.strategy is not None), None)
    return derived or (_TOOL_USE if calls else None)


def _step_made(step: StepRecords, said: str, strategy: Strategy | None) -> StepMade:
    first = step.entries[0]
    answer = step.answers[0] if step.answers else None
    sent, received = _tokens(answer.meta.get("tokens")) if answer else (None, None)
    provider, model = (answer or first).provider_and_model
    return StepMade(
        session_id=step.session_id,
        where=first.where,
        ts=first.ts,
        turn=step.turn,
        step=step.step,
        text=said or None,
        provider=provider,
        model=model,
        strategy=strategy,
        input_tokens=sent,
        output_tokens=received,
        latency_ms=number(answer.added.get("latency_ms")) if answer else None,
    )


def _tokens(value: Any) -> tuple[int | None, int | None]:
    """(input, output) tokens. Both zero means that the provider sent no counts."""
    counts = table(value)
    sent = whole(counts["prompt"] if "prompt" in counts else counts.get("inputTokens"))
    received = whole(counts["completion"] if "completion" in counts else counts.get("outputTokens"))
    return (sent, received) if sent or received else (None, None)


def _call_made(step: StepRecords, call: LoggedCall, strategy: Strategy | None) -> CallMade:
    return CallMade(
        session_id=step.session_id,
        where=call.entry.where,
        ts=call.entry.ts,
        turn=step.turn,
        step=step.step,
        tool=call.tool,
        tool_call_id=call.call_id,
        raw_arguments=call.raw,
        arguments=call.value,
        args_source=call.source,
        strategy=call.strategy or strategy,
        refused_by_harness=call.refused,
        harness_message=call.message,
        retry_of=call.retry_of,
        syntax_seen=_FAILURES,
        schema_seen=_FAILURES,
    )


def _result_seen(step: StepRecords, call: LoggedCall, ordinal: int) -> ResultSeen:
    entry = call.result or call.entry
    content = entry.content or ""
    # A turn stopped at its final because a user or a policy said no.
    verdict = DENIED if entry.kind == "final" else verdict_on(text(entry.meta.get("status")), content)
    return ResultSeen(
        session_id=step.session_id,
        where=entry.where,
        ts=entry.ts,
        turn=step.turn,
        step=step.step,
        tool=call.tool,
        tool_call_id=call.call_id,
        ordinal=ordinal,
        status=verdict.status,
        flag_source=verdict.flag_source,
        fault_layer=verdict.layer,
        message=content[:MESSAGE] if verdict.layer is not None else None,
        content=content,
        latency_ms=number(entry.meta.get("duration_ms")),
    )


def _stray_result(step: StepRecords, entry: Entry) -> ResultSeen:
    """An observation of no call in this step: passed on, so that it is counted and not lost."""
    call = LoggedCall(entry, tool=text(entry.meta.get("tool")), call_id=text(entry.meta.get("action_id")))
    return _result_seen(step, call, whole(entry.meta.get("index")) or 0)
