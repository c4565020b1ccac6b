"""Rebuilds turns from their rows in `turns` and `tool_calls`, so that the turns can be judged again.

The stored content replaces the log: raw arguments, messages of the agent, definitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ingest.events import (
    ArgsSource,
    CallMade,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    ResultStatus,
    Strategy,
    TurnEnded,
    Visibility,
)
from ingest.sessions.classification import CallDefinitions
from ingest.sessions.redacted_arguments import mark_redacted
from ingest.sessions.results.failure_envelopes import told_flag
from ingest.sessions.split_turns import Place, assign_calls, row_place, sort_parts
from ingest.sessions.stored_text import decode_json
from ingest.sessions.table_rows import Row, definition_row
from ingest.sessions.turns import ConclusionReason, OpenCall, OpenTurn
from lenient import ToolCatalog, ToolDefinition, clean_tool_name

TURN_COLUMNS = (
    "turn_id", "session_id", "turn", "file_id", "line", "byte_offset", "ts", "day", "steps", "calls",
    "first_step", "begun", "faults", "retries", "recorded_status", "recorded_ok", "derived_ok",
    "derived_reason", "answer_text", "results_expected", "duplicate",
)  # fmt: skip
CALL_COLUMNS = (
    "call_id", "session_id", "turn_id", "file_id", "line", "byte_offset", "day", "step", "ordinal",
    "provider", "model", "prompt_id", "tool", "tool_sent", "mcp_server", "tool_call_id", "strategy",
    "raw_arguments", "args_source", "own_arguments", "as_sent", "rejected", "outcome",
    "syntax_seen", "schema_seen",
    "parse_error", "parse_warning", "worst_severity", "lossy", "harness_verdict", "harness_message",
    "refused_by_harness", "syntax_told", "schema_told", "fault_layer", "result_status",
    "error_flag_source", "result_fault_layer", "result_text", "result_bytes", "latency_ms",
    "definition_id", "definition_origin", "tools_offered", "chain_id", "attempt", "retry_of",
    "retry_kind", "chain_outcome", "parser_version",
)  # fmt: skip


_NO_RESULT = (None, ResultStatus.MISSING)


class StoredTurn(msgspec.Struct):
    """A turn with its calls, from one file or several files. `rows[i]` is the row of `turn.calls[i]`."""

    row: Row
    turn: OpenTurn
    rows: list[Row]


class StoredDefinitions:
    """The definitions for judging stored calls, as sets for `OpenTurn.judge`.

    `definitions` are the stored definitions by id. `catalog` replaces the definitions of --tools. If
    `catalog` is None, the earlier definitions are kept.
    """

    def __init__(self, definitions: Mapping[str, ToolDefinition], catalog: ToolCatalog | None) -> None:
        self._known = definitions
        self._given = catalog
        self._places: dict[tuple[str | None, str | None, bool], int] = {}
        self._ids = {id(definition): definition_id for definition_id, definition in definitions.items()}
        self.sets: list[CallDefinitions] = []
        self.new: list[ToolDefinition] = []  # definitions of the catalog by which a call was judged

    def set_index(self, row: Row) -> int:
        """Return the index in `sets` of the definitions by which the call in this row is judged."""
        key = (row["definition_id"], row["definition_origin"], bool(row["tools_offered"]))
        if key not in self._places:
            self._places[key] = len(self.sets)
            self.sets.append(self._make_set(*key))
        return self._places[key]

    def find_id(self, definition: ToolDefinition | None) -> str | None:
        """Return the `definition_id` of a definition in one of `sets`."""
        if definition is None:
            return None
        if id(definition) not in self._ids:
            self._ids[id(definition)] = definition_row(definition)["definition_id"]
            self.new.append(definition)
        return self._ids[id(definition)]

    def _make_set(self, definition_id: str | None, origin: str | None, offered: bool) -> CallDefinitions:
        definition = self._known.get(definition_id) if definition_id is not None else None
        recalled = ToolCatalog.from_definitions([definition] if definition is not None else [])
        if origin == "log":
            return CallDefinitions(self._given or ToolCatalog(), recalled)
        catalog = recalled if self._given is None else self._given
        # Only the definition of the call's tool is stored, and this tool was not offered. So the offered set
        # is empty.
        return CallDefinitions(catalog, ToolCatalog() if offered else None)


def restore_turns(
    turns: Sequence[Row], calls: Sequence[Row], parts: Mapping[Place, Row], definitions: StoredDefinitions
) -> list[StoredTurn]:
    """Return the turns with one turn id. Each copy is a turn, and all parts of a split turn are one turn.

    `parts` are the rows of `turn_parts` by position. A row whose position is not in `parts` is a copy.
    """
    pieces = assign_calls(turns, calls)
    spread = [piece for piece in pieces if row_place(piece[0]) in parts]
    alone = [[piece] for piece in pieces if row_place(piece[0]) not in parts]
    return [_restore_turn(some, parts, definitions) for some in ([spread] if spread else []) + alone]


def _restore_turn(
    pieces: Sequence[tuple[Row, list[Row]]], parts: Mapping[Place, Row], definitions: StoredDefinitions
) -> StoredTurn:
    """Rebuild a turn from one or several parts.

    The first part that is not a duplicate has the combined values of all parts.
    """
    calls_of = {row_place(row): calls for row, calls in pieces}
    ordered = sort_parts([row for row, _ in pieces])
    head = next((row for row in ordered if not row["duplicate"]), ordered[0])
    turn = _restore_open_turn(head)
    rows, steps = {}, 0
    for row in ordered:
        # step numbers counted by Callgauge start again in each file
        shift = steps if row["first_step"] is None else 0
        for call_row in calls_of[row_place(row)]:
            call = _restore_call(call_row, definitions.set_index(call_row), call_row["step"] + shift)
            turn.calls.append(call)
            rows[id(call)] = call_row
        steps = max(steps, shift + (parts.get(row_place(row), row)["steps"] or 0))
    turn.calls.sort(key=lambda call: (call.step, call.ordinal))
    return StoredTurn(head, turn, [rows[id(call)] for call in turn.calls])


def _restore_open_turn(row: Row) -> OpenTurn:
    where = LogLine(row["line"] or 0, row["byte_offset"] or 0)
    turn = OpenTurn(number=row["turn"] or 0, where=where, ts=row["ts"])
    if row["derived_reason"] == ConclusionReason.NOT_ENDED:
        turn.superseded = row["derived_ok"] is False
    else:
        turn.end = TurnEnded(
            session_id=row["session_id"],
            where=where,
            status=row["recorded_status"],
            recorded_ok=row["recorded_ok"],
            answer=row["answer_text"],
        )
    return turn


def _restore_call(row: Row, definitions: int, step: int) -> OpenCall:
    event = mark_redacted(_restore_call_event(row))
    return OpenCall(
        event,
        step=step,
        ordinal=row["ordinal"],
        provider=row["provider"],
        model=row["model"],
        prompt_id=row["prompt_id"],
        definitions=definitions,
        result=_restore_result(row, event),
        tool=clean_tool_name(event.tool)[0] if event.tool is not None else None,
        result_bytes=row["result_bytes"],
    )


def _restore_call_event(row: Row) -> CallMade:
    source, raw = ArgsSource(row["args_source"]), row["raw_arguments"]
    decoded = source is ArgsSource.RESERIALISED
    refused = row["refused_by_harness"]
    return CallMade(
        session_id=row["session_id"],
        where=LogLine(row["line"] or 0, row["byte_offset"] or 0),
        tool=row["tool_sent"] or row["tool"],
        mcp_server=row["mcp_server"],
        tool_call_id=row["tool_call_id"],
        raw_arguments=None if decoded else raw,
        arguments=decode_json(raw) if decoded and raw is not None else None,
        args_source=source,
        strategy=Strategy(row["strategy"]) if row["strategy"] else None,
        refused_by_harness=FaultLayer(refused) if refused else None,
        harness_message=row["harness_message"] if refused or row["result_status"] in _NO_RESULT else None,
        retry_of=row["retry_of"],
        syntax_seen=Visibility(row["syntax_told"] or Visibility.NONE),
        schema_seen=Visibility(row["schema_told"] or Visibility.NONE),
    )


def _restore_result(row: Row, event: CallMade) -> ResultSeen | None:
    if row["result_status"] in _NO_RESULT:
        return None
    source = FlagSource(row["error_flag_source"] or FlagSource.ABSENT)
    status, original_source = told_flag(ResultStatus(row["result_status"]), source)
    layer = row["result_fault_layer"] if original_source is source else None
    return ResultSeen(
        session_id=row["session_id"],
        where=event.where,
        status=status,
        flag_source=original_source,
        fault_layer=FaultLayer(layer) if layer else None,
        message=row["harness_message"] if original_source is source else None,
        content=row["result_text"],
        latency_ms=row["latency_ms"],
    )
