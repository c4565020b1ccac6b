"""Makes the events of one step of a session history: the step, its calls and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_number, read_object, read_text
from ingest.events import (
    MESSAGE_READ,
    CallMade,
    Event,
    FaultLayer,
    ResultSeen,
    StepMade,
    Strategy,
    Visibility,
)
from ingest.formats.session_history.history_calls import HistoryCall, build_calls
from ingest.formats.session_history.history_entries import HistoryEntry, StepRecords
from ingest.formats.session_history.history_texts import (
    DENIED,
    find_unparsable_call,
    read_observation,
    split_unparsed,
)

# Enum members are bound once, because an Enum look-up takes as long as making a small object.
_FAILURES, _TOOL_USE = Visibility.FAILURES, Strategy.TOOL_USE


def add_step_events(step: StepRecords, out: list[Event]) -> None:
    """Append to `out` the step, its tool calls and their results, in this order.

    Calls that were passed to tools come first.
    """
    answers = step.answers
    content = (answers[0].content or "") if len(answers) == 1 else _join_contents(answers)
    unparsed, text = split_unparsed(content)
    calls, stray = build_calls(step, unparsed, text)
    strategy = _find_strategy(step, calls)
    out.append(_make_step(step, text, strategy))
    out += [_make_call(step, call, strategy) for call in calls]
    for ordinal, call in enumerate(calls):
        if call.result is not None:
            out.append(_make_result(step, call, ordinal))
    out += [_make_stray_result(step, entry) for entry in stray]


def _join_contents(entries: Sequence[HistoryEntry]) -> str:
    return "\n".join([entry.content or "" for entry in entries])


def add_failed_model_call(step: StepRecords, out: list[Event]) -> None:
    """Append to `out` the step and tool call of a turn that ended because the arguments were not JSON.

    Nothing is added when the turn ended for another reason.
    """
    final = step.entries[0]
    message = find_unparsable_call(final.content or "")
    if message is None:
        return
    out.append(_make_step(step, "", step.strategy))
    call = HistoryCall(final, refused=FaultLayer.SYNTAX, message=message, strategy=_TOOL_USE)
    out.append(_make_call(step, call, None))


def _find_strategy(step: StepRecords, calls: Sequence[HistoryCall]) -> Strategy | None:
    for entry in step.entries:
        if "strategy" in entry.added and (stated := entry.strategy) is not None:
            return stated
    if step.strategy is not None:
        return step.strategy
    derived = next((call.strategy for call in calls if call.strategy is not None), None)
    return derived or (_TOOL_USE if calls else None)


def _make_step(step: StepRecords, text: str, strategy: Strategy | None) -> StepMade:
    first = step.entries[0]
    answer = step.answers[0] if step.answers else None
    sent, received, cached = _read_tokens(answer.meta.get("tokens")) if answer else (None, None, None)
    provider, model = (answer or first).provider_and_model
    return StepMade(
        session_id=step.session_id,
        where=first.where,
        ts=first.ts,
        turn=step.turn,
        step=step.step,
        text=text or None,
        provider=provider,
        model=model,
        strategy=strategy,
        input_tokens=sent,
        cached_tokens=cached,
        output_tokens=received,
        latency_ms=read_number(answer.added.get("latency_ms")) if answer else None,
        resent=read_count(answer.meta.get("resent")) if answer else None,
        stop_reason=read_text(answer.meta.get("stop_reason")) if answer else None,
    )


def _read_tokens(value: Any) -> tuple[int | None, int | None, int | None]:
    """Return the numbers of (input, output, cached) tokens. All are None when the log has only zeros.

    The cached tokens are included in the input tokens.
    """
    counts = read_object(value)
    sent = read_count(counts["prompt"] if "prompt" in counts else counts.get("inputTokens"))
    received = read_count(counts["completion"] if "completion" in counts else counts.get("outputTokens"))
    return (sent, received, read_count(counts.get("cached"))) if sent or received else (None, None, None)


def _make_call(step: StepRecords, call: HistoryCall, strategy: Strategy | None) -> CallMade:
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


def _make_result(step: StepRecords, call: HistoryCall, ordinal: int) -> ResultSeen:
    entry = call.result or call.entry
    content = entry.content or ""
    # If a denial ended the turn, the result is the final message of the turn.
    verdict = (
        DENIED if entry.kind == "final" else read_observation(read_text(entry.meta.get("status")), content)
    )
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
        message=content[:MESSAGE_READ] if verdict.layer is not None else None,
        content=content,
        latency_ms=read_number(entry.meta.get("duration_ms")),
        simulated=read_text(entry.meta.get("simulated")),
    )


def _make_stray_result(step: StepRecords, entry: HistoryEntry) -> ResultSeen:
    """Return the result of an observation that has no tool call in this step."""
    call = HistoryCall(
        entry, tool=read_text(entry.meta.get("tool")), call_id=read_text(entry.meta.get("action_id"))
    )
    return _make_result(step, call, read_count(entry.meta.get("index")) or 0)
