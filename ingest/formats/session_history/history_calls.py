"""Builds the calls and results of one step of a session history, so that each failure counts once.

Several records of a step may repeat the same failure (the answer's text, `meta.parse_error`). Only the whole
step shows that they mean one failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ingest.decoding.fields import read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FaultLayer, Strategy
from ingest.formats.session_history.history_entries import HistoryEntry, StepRecords, read_strategy
from ingest.formats.session_history.history_texts import UnparsedCall, find_arguments

# Enum members are bound once, because an Enum look-up takes as long as making a small object.
_RAW, _RESERIALISED = ArgsSource.RAW, ArgsSource.RESERIALISED
_TRUNCATED, _MISSING = ArgsSource.TRUNCATED, ArgsSource.MISSING
_UNATTRIBUTED = ArgsSource.UNATTRIBUTED
_SYNTAX = FaultLayer.SYNTAX
_NO_JSON = object()


class HistoryCall(msgspec.Struct, gc=False):
    """A tool call while its parts are collected.

    `noted` is True when a `parse_error` about this call was found.
    """

    entry: HistoryEntry
    tool: str | None = None
    call_id: str | None = None
    raw: str | None = None
    source: ArgsSource = _MISSING
    value: Any = None
    retry_of: str | None = None
    refused: FaultLayer | None = None
    message: str | None = None
    strategy: Strategy | None = None
    result: HistoryEntry | None = None
    noted: bool = False


def build_calls(
    step: StepRecords, unparsed: Sequence[UnparsedCall], text: str
) -> tuple[list[HistoryCall], list[HistoryEntry]]:
    """Return the tool calls of a step, and the observations that belong to no call.

    Calls that were passed to tools come first. `unparsed` and `text` are the two values that `split_unparsed`
    returns.
    """
    calls = [call for action in step.actions for call in _find_action_calls(action)]
    stray = _join_results(step, calls)
    if len(calls) == 1:
        _recover_text(calls[0], text)
    if unparsed:
        calls += [_make_unparsed_call(step.entries[0], unparsed_call) for unparsed_call in unparsed]
    for entry, error in _find_parse_errors(step):
        _note_parse_error(entry, error, calls)
    return calls or _find_calls_never_made(step, text), stray


def _find_action_calls(action: HistoryEntry) -> list[HistoryCall]:
    """Return the tool calls of an action.

    The calls are read from `toolBlocks`, or else from `tool` and `input`, or else from the list of tool
    names.
    """
    blocks = read_objects(action.meta.get("toolBlocks"))
    if blocks:
        return [_make_block_call(action, block, block.get("name")) for block in blocks]
    if read_text(action.meta.get("tool")) is not None:
        return [
            _make_block_call(action, {**action.meta, "id": action.meta.get("action_id")}, action.meta["tool"])
        ]
    names = action.meta.get("tools")
    return (
        [HistoryCall(action, tool=name) for name in names if isinstance(name, str)]
        if isinstance(names, list)
        else []
    )


def _make_block_call(action: HistoryEntry, block: Mapping[str, Any], tool: Any) -> HistoryCall:
    raw = read_text(block.get("raw"))
    value = block.get("input") if raw is None else None
    if raw is not None and block.get("raw_is") == "server" and isinstance(sent := _read_json(raw), dict):
        raw, value, source = None, sent, _RESERIALISED
    elif raw is not None:
        is_known = block.get("raw_is") != "unknown"
        source = _TRUNCATED if block.get("truncated") is True else _RAW if is_known else _UNATTRIBUTED
    else:
        source = _RESERIALISED if value is not None else _MISSING
    call = HistoryCall(
        action,
        read_text(tool),
        read_text(block.get("id")),
        raw,
        source,
        value,
        read_text(block.get("retry_of")),
    )
    if "parse_error" in block and "toolBlocks" in action.meta:
        error = read_object(block["parse_error"])
        if error:
            call.refused, call.message = _SYNTAX, read_text(error.get("error"))
            call.strategy = read_strategy(error.get("mode"))
    return call


def _make_unparsed_call(entry: HistoryEntry, unparsed_call: UnparsedCall) -> HistoryCall:
    return HistoryCall(
        entry,
        raw=unparsed_call.raw,
        source=_RAW,
        refused=_SYNTAX,
        message=unparsed_call.message,
        strategy=Strategy.TOOL_USE,
    )


def _recover_text(call: HistoryCall, text: str) -> None:
    """If the model's answer is the tool call, set the call's raw arguments to their text in the answer."""
    if call.source is _RESERIALISED and '"tool"' in text:
        call.raw = find_arguments(text, call.tool, call.value)
        if call.raw is not None:
            call.source, call.value, call.strategy = _RAW, None, Strategy.JSON_FALLBACK


def _find_parse_errors(step: StepRecords) -> list[tuple[HistoryEntry, Mapping[str, Any]]]:
    """Return each `parse_error` of the step once, with the first entry that contains it."""
    errors: dict[tuple[Any, Any], tuple[HistoryEntry, Mapping[str, Any]]] = {}
    for entry in step.entries:
        value = entry.added.get("parse_error")
        if value is None:
            continue
        for error in read_objects(value) or read_objects([value]):
            key = (read_text(error.get("error")), read_text(error.get("snippet")))
            errors.setdefault(key, (entry, error))
    return list(errors.values())


def _note_parse_error(entry: HistoryEntry, error: Mapping[str, Any], calls: list[HistoryCall]) -> None:
    """Add a `parse_error` to the tool call that it reports. If no call matches, add a new call."""
    message, snippet = read_text(error.get("error")), read_text(error.get("snippet"))
    free = [call for call in calls if not call.noted]
    about = [call for call in free if _is_about(entry, snippet, call)]
    # If there is no text to compare, assume that both records report the same failure.
    about += [call for call in free if call.refused is _SYNTAX]
    if about:
        call = about[0]
    else:
        source = _TRUNCATED if snippet is not None else _MISSING
        call = HistoryCall(entry, raw=snippet, source=source)
        calls.append(call)
    call.noted, call.refused = True, _SYNTAX
    call.message = message or call.message
    call.strategy = read_strategy(error.get("mode")) or call.strategy


def _is_about(entry: HistoryEntry, snippet: str | None, call: HistoryCall) -> bool:
    if entry.kind == "observation":
        return call.result is entry
    if entry.kind == "action" and len(_find_action_calls(entry)) == 1:
        return call.entry is entry
    return bool(snippet) and call.raw is not None and call.raw.startswith(str(snippet).removesuffix("…"))


def _find_calls_never_made(step: StepRecords, text: str) -> list[HistoryCall]:
    """Return the tool calls that were not run.

    The model wrote these calls as plain text, or tools were disabled.
    """
    final = step.finals[0] if step.finals else None
    meta = final.meta if final else {}
    answer = next((e for e in step.answers if e.meta.get("protocol_violation") is True), None)
    if answer is not None:
        reason = "the call was written as plain text"
        tool = read_text(answer.meta.get("tool")) or read_text(meta.get("tool"))
        call = HistoryCall(answer, tool=tool, raw=text, source=_RAW)
        call.refused, call.message = FaultLayer.EMISSION, reason
        return [call]
    if final is not None and meta.get("error_type") == "tool_disabled":
        names = (read_text(meta.get("tools")) or "").split(",")
        return [HistoryCall(final, tool=name, result=final) for name in names if name]
    return []


def _join_results(step: StepRecords, calls: Sequence[HistoryCall]) -> list[HistoryEntry]:
    """Set the result of each tool call to the observation of this call.

    Observations are matched by id, or else by index, or else by order. Return the observations that belong to
    no call.
    """
    stray = []
    for entry in step.observations:
        if entry.meta.get("phase") == "protocol_repair":
            continue  # The agent program asks the model to repeat a call; no tool ran.
        call = _find_observed_call(entry, calls)
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


def _find_observed_call(entry: HistoryEntry, calls: Sequence[HistoryCall]) -> HistoryCall | None:
    action_id = read_text(entry.meta.get("action_id"))
    if action_id is not None:
        for call in calls:
            if call.call_id == action_id:
                return call
        if any(call.call_id is not None for call in calls):
            return None
    index = read_count(entry.meta.get("index"))
    if index is not None and index < len(calls):
        return calls[index]
    return next((call for call in calls if call.result is None), None)


def _read_unparsed_input(call: HistoryCall) -> None:
    """Record a syntax failure if the tool call's arguments were not JSON.

    These calls have an id, no observation, and an input string that is not JSON.
    """
    value = call.value
    if call.call_id is None or not isinstance(value, str) or _read_json(value) is not _NO_JSON:
        return
    call.raw, call.value, call.source = value, None, _RAW
    call.refused, call.message = _SYNTAX, "the arguments were not JSON; no tool ran"


def _read_json(text: str) -> Any:
    """Return the decoded JSON text. Return `_NO_JSON` when the text is not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON
