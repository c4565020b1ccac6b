"""The records of one step of a session history in, its calls with their results out; failures counted once.

The same failure may stand in several records of a step (the answer's text, `meta.parse_error` here and
there): only the whole step shows that it is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ingest.events import ArgsSource, FaultLayer, Strategy
from ingest.fields import table, tables, text, whole
from ingest.formats.session_history.entries import Entry, StepRecords, strategy_of
from ingest.formats.session_history.texts import Unparsed, arguments_in

# Named once: looking a member up in its Enum takes as long as making a small object.
_RAW, _RESERIALISED = ArgsSource.RAW, ArgsSource.RESERIALISED
_TRUNCATED, _MISSING = ArgsSource.TRUNCATED, ArgsSource.MISSING
_SYNTAX = FaultLayer.SYNTAX


class LoggedCall(msgspec.Struct, gc=False):
    """A call as its pieces are put together. `noted`: a `parse_error` has been found to be about it."""

    entry: Entry
    tool: str | None = None
    call_id: str | None = None
    raw: str | None = None
    source: ArgsSource = _MISSING
    value: Any = None
    retry_of: str | None = None
    refused: FaultLayer | None = None
    message: str | None = None
    strategy: Strategy | None = None
    result: Entry | None = None
    noted: bool = False


def calls_of(
    step: StepRecords, unparsed: Sequence[Unparsed], said: str
) -> tuple[list[LoggedCall], list[Entry]]:
    """The calls of a step, those handed to tools first, and the observations that belong to none of them.

    `unparsed` and `said` are the two parts of what the model answered.
    """
    calls = [call for action in step.actions for call in _action_calls(action)]
    stray = _join_results(step, calls)
    if len(calls) == 1:
        _recover_text(calls[0], said)
    if unparsed:
        calls += [_unparsed_call(step.entries[0], found) for found in unparsed]
    for entry, error in _parse_errors(step):
        _note_parse_error(entry, error, calls)
    return calls or _calls_never_made(step, said), stray


def _action_calls(action: Entry) -> list[LoggedCall]:
    """The calls of an action: `toolBlocks` where they stand, else `tool` and `input`, else names alone."""
    blocks = tables(action.meta.get("toolBlocks"))
    if blocks:
        return [_block_call(action, block, block.get("name")) for block in blocks]
    if text(action.meta.get("tool")) is not None:
        return [_block_call(action, {**action.meta, "id": action.meta.get("action_id")}, action.meta["tool"])]
    names = action.meta.get("tools")
    return (
        [LoggedCall(action, tool=name) for name in names if isinstance(name, str)]
        if isinstance(names, list)
        else []
    )


def _block_call(action: Entry, block: Mapping[str, Any], tool: Any) -> LoggedCall:
    raw = text(block.get("raw"))
    value = block.get("input") if raw is None else None
    if raw is not None:
        source = _TRUNCATED if block.get("truncated") is True else _RAW
    else:
        source = _RESERIALISED if value is not None else _MISSING
    call = LoggedCall(
        action, text(tool), text(block.get("id")), raw, source, value, text(block.get("retry_of"))
    )
    if "parse_error" in block and "toolBlocks" in action.meta:
        error = table(block["parse_error"])
        if error:
            call.refused, call.message = _SYNTAX, text(error.get("error"))
            call.strategy = strategy_of(error.get("mode"))
    return call


def _unparsed_call(entry: Entry, found: Unparsed) -> LoggedCall:
    return LoggedCall(
        entry,
        raw=found.raw,
        source=_RAW,
        refused=_SYNTAX,
        message=found.message,
        strategy=Strategy.TOOL_USE,
    )


def _recover_text(call: LoggedCall, said: str) -> None:
    """Take the model's own text for the arguments when the answer itself was the call."""
    if call.source is _RESERIALISED and '"tool"' in said:
        call.raw = arguments_in(said, call.tool, call.value)
        if call.raw is not None:
            call.source, call.value, call.strategy = _RAW, None, Strategy.JSON_FALLBACK


def _parse_errors(step: StepRecords) -> list[tuple[Entry, Mapping[str, Any]]]:
    """Each `parse_error` of the step once, though several records may repeat it."""
    found: dict[tuple[Any, Any], tuple[Entry, Mapping[str, Any]]] = {}
    for entry in step.entries:
        value = entry.added.get("parse_error")
        if value is None:
            continue
        for error in tables(value) or tables([value]):
            key = (text(error.get("error")), text(error.get("snippet")))
            found.setdefault(key, (entry, error))
    return list(found.values())


def _note_parse_error(entry: Entry, error: Mapping[str, Any], calls: list[LoggedCall]) -> None:
    """Add what a `parse_error` tells to the call it is about; a call of its own when it is about none."""
    message, snippet = text(error.get("error")), text(error.get("snippet"))
    free = [call for call in calls if not call.noted]
    about = [call for call in free if _is_about(entry, snippet, call)]
    # No text to compare: the writer told one failure twice rather than two failures once each.
    about += [call for call in free if call.refused is _SYNTAX]
    if about:
        call = about[0]
    else:
        source = _TRUNCATED if snippet is not None else _MISSING
        call = LoggedCall(entry, raw=snippet, source=source)
        calls.append(call)
    call.noted, call.refused = True, _SYNTAX
    call.message = message or call.message
    call.strategy = strategy_of(error.get("mode")) or call.strategy


def _is_about(entry: Entry, snippet: str | None, call: LoggedCall) -> bool:
    if entry.kind == "observation":
        return call.result is entry
    if entry.kind == "action" and len(_action_calls(entry)) == 1:
        return call.entry is entry
    return bool(snippet) and call.raw is not None and call.raw.startswith(str(snippet).removesuffix("…"))


def _calls_never_made(step: StepRecords, said: str) -> list[LoggedCall]:
    """Calls that the harness would not hear: written as plain text, or made while tools were off."""
    final = step.finals[0] if step.finals else None
    meta = final.meta if final else {}
    answer = next((e for e in step.answers if e.meta.get("protocol_violation") is True), None)
    if answer is not None:
        reason = "the call was written as plain text"
        tool = text(answer.meta.get("tool")) or text(meta.get("tool"))
        call = LoggedCall(answer, tool=tool, raw=said, source=_RAW)
        call.refused, call.message = FaultLayer.EMISSION, reason
        return [call]
    if final is not None and meta.get("error_type") == "tool_disabled":
        names = (text(meta.get("tools")) or "").split(",")
        return [LoggedCall(final, tool=name, result=final) for name in names if name]
    return []


def _join_results(step: StepRecords, calls: Sequence[LoggedCall]) -> list[Entry]:
    """Give each call its observation, by id, else by index, else in order; returns those of no call."""
    stray = []
    for entry in step.observations:
        if entry.meta.get("phase") == "protocol_repair":
            continue  # the harness scolds the model; no tool ran
        call = _call_observed(entry, calls)
        if call is None:
            stray.append(entry)
        else:
            call.result = entry
    for final in step.finals:
        refused = next((call for call in calls if call.result is None), None)
        if final.meta.get("rejected") is True and refused is not None:
            refused.result = final
    for call in calls:
        if call.result is None:
            _read_unparsed_input(call)
    return stray


def _call_observed(entry: Entry, calls: Sequence[LoggedCall]) -> LoggedCall | None:
    action_id = text(entry.meta.get("action_id"))
    if action_id is not None:
        for call in calls:
            if call.call_id == action_id:
                return call
        if any(call.call_id is not None for call in calls):
            return None
    index = whole(entry.meta.get("index"))
    if index is not None and index < len(calls):
        return calls[index]
    return next((call for call in calls if call.result is None), None)


def _read_unparsed_input(call: LoggedCall) -> None:
    """Text that is not JSON as input, an id and no observation: the SDK could not parse the arguments."""
    value = call.value
    if call.call_id is None or not isinstance(value, str) or _is_json(value):
        return
    call.raw, call.value, call.source = value, None, _RAW
    call.refused, call.message = _SYNTAX, "the arguments were not JSON; no tool ran"


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True
