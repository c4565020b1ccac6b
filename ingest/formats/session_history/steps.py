"""The records of one step of a session history in, its events out: the step, its calls, their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.events import (
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    ResultSeen,
    ResultStatus,
    Seen,
    StepMade,
    Strategy,
)
from ingest.fields import number, table, text, whole
from ingest.formats.session_history.calls import LoggedCall, calls_of
from ingest.formats.session_history.entries import Entry, StepRecords
from ingest.formats.session_history.texts import Verdict, split_unparsed, unparsable_call_in, verdict_on
from ingest.shapes.verdicts import MESSAGE


def step_events(step: StepRecords) -> Iterator[Event]:
    """The step, then its calls (those that were handed to tools first), then their results."""
    unparsed, said = split_unparsed("\n".join(entry.content for entry in step.of("assistant")))
    calls, stray = calls_of(step, unparsed, said)
    strategy = _strategy_of(step, calls)
    yield _step_made(step, said, strategy)
    for call in calls:
        yield _call_made(step, call, strategy)
    for ordinal, call in enumerate(calls):
        if call.result is not None:
            yield _result_seen(step, call, ordinal)
    yield from (_stray_result(step, entry) for entry in stray)


def failed_model_call(step: StepRecords) -> Iterator[Event]:
    """The step of a turn that died when the arguments of its call were not JSON: nothing else is logged."""
    final = step.entries[0]
    message = unparsable_call_in(final.content)
    if message is None:
        return
    yield _step_made(step, "", step.strategy)
    call = LoggedCall(final, refused=FaultLayer.SYNTAX, message=message, strategy=Strategy.TOOL_USE)
    yield _call_made(step, call, None)


def _strategy_of(step: StepRecords, calls: Sequence[LoggedCall]) -> Strategy | None:
    stated = next(filter(None, (entry.strategy for entry in step.entries)), None) or step.strategy
    derived = next((call.strategy for call in calls if call.strategy is not None), None)
    return stated or derived or (Strategy.TOOL_USE if calls else None)


def _step_made(step: StepRecords, said: str, strategy: Strategy | None) -> StepMade:
    first = step.entries[0]
    answer = next(iter(step.of("assistant")), None)
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
    sent = next((whole(counts[name]) for name in ("prompt", "inputTokens") if name in counts), None)
    received = next((whole(counts[name]) for name in ("completion", "outputTokens") if name in counts), None)
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
        syntax_seen=Seen.FAILURES,
        schema_seen=Seen.FAILURES,
    )


def _result_seen(step: StepRecords, call: LoggedCall, ordinal: int) -> ResultSeen:
    entry = call.result or call.entry
    verdict = _verdict(entry)
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
        message=entry.content[:MESSAGE] if verdict.layer is not None else None,
        content=entry.content,
        latency_ms=number(entry.meta.get("duration_ms")),
    )


def _stray_result(step: StepRecords, entry: Entry) -> ResultSeen:
    """An observation of no call in this step: passed on, so that it is counted and not lost."""
    call = LoggedCall(entry, tool=text(entry.meta.get("tool")), call_id=text(entry.meta.get("action_id")))
    return _result_seen(step, call, whole(entry.meta.get("index")) or 0)


def _verdict(entry: Entry) -> Verdict:
    if entry.kind == "final":  # the turn stopped because a user or a policy said no
        return Verdict(ResultStatus.DENIED, FlagSource.EXPLICIT, FaultLayer.REFUSED)
    return verdict_on(text(entry.meta.get("status")), entry.content)
