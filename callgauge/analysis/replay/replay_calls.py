"""Parses stored tool calls before and after the changes of a scenario.

The outcome of a call follows the rules of ingest (`ingest.sessions.classification`). A call with arguments
that the log cut is not parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from callgauge.analysis.reparsed_call import definition_used, why_not_read
from callgauge.analysis.replay.scenarios import STORED, ReplayRules, Scenario
from lenient import Outcome, ToolCallRequest, ToolDefinition, clean_tool_name, parse_arguments

_ARGUMENT_LAYERS = ("syntax", "schema")
_KNOWN = 4_096  # maximum number of compiled definitions in the cache


class StoredCall(NamedTuple):
    """A row of the metric `replayed_calls`."""

    call_id: str
    session_id: str
    ts: datetime | None
    model: str | None
    sent: str | None
    args_source: str
    raw_arguments: str | None
    refused_by_harness: str | None
    result_fault_layer: str | None
    definition_id: str | None
    offered: bool
    outcome: str
    codes: list[str] | None

    @property
    def tool(self) -> str | None:
        """The name of the tool as the parser reads it."""
        return clean_tool_name(self.sent)[0] if self.sent is not None else None


class CallReading(NamedTuple):
    """The result of parsing a call: outcome, findings (code, path, detail) and arguments.

    `arguments` is None if the call has no arguments, or if only the stored outcome is known.
    """

    outcome: str
    findings: tuple[tuple[str, str, str | None], ...]
    arguments: dict[str, Any] | None


class ChangeKind(StrEnum):
    """The kinds of change that a replay makes to a call, the most serious first."""

    FAILS = "fails"
    PASSES = "passes"
    OUTCOME = "outcome"  # another outcome, and neither outcome is "failed"
    VALUES = "values"  # other values with the same outcome
    FINDINGS = "findings"  # other findings with the same outcome and values


class ReplayedCall(NamedTuple):
    """A call with its results before and after the changes of a scenario.

    When the call was not parsed, `not_read` is a key of reparsed_call.NOT_READ, and both results are None.
    """

    call: StoredCall
    tool: str | None
    before: CallReading | None
    after: CallReading | None
    not_read: str | None = None

    @property
    def has_changed(self) -> bool:
        return self.before is not self.after and self.before != self.after

    @property
    def change(self) -> ChangeKind | None:
        """The kind of change, or None if the results are equal."""
        if self.before is None or self.after is None or not self.has_changed:
            return None
        was, now = self.before.outcome, self.after.outcome
        if was != now:
            by_end = {now: ChangeKind.FAILS, was: ChangeKind.PASSES}
            return by_end.get(Outcome.FAILED.value, ChangeKind.OUTCOME)
        # If a result comes from the store, it has no arguments, so values cannot be compared.
        is_known = self.before.arguments is not None or self.after.arguments is None
        return (
            ChangeKind.VALUES
            if is_known and self.before.arguments != self.after.arguments
            else ChangeKind.FINDINGS
        )


class CallReplay:
    """Parses calls before and after the changes of a scenario. `find` returns a tool definition by id."""

    def __init__(self, scenario: Scenario, find: Callable[[str], ToolDefinition | None]) -> None:
        """Read the definitions of the scenario. Raises ScenarioError when the definitions cannot be read."""
        self._find = lru_cache(maxsize=_KNOWN)(find)
        self._before, self._after = scenario.definitions()
        self._rules = scenario.rules
        self._stored = scenario.before == STORED

    def replay_call(self, call: StoredCall) -> ReplayedCall:
        tool = call.tool
        own = self._find(call.definition_id) if call.definition_id is not None else None
        definition = self._after.get(tool or "", own)
        reason = find_unread_reason(call, definition)
        if reason:
            return ReplayedCall(call, tool, None, None, reason)
        request = parse_call(call, definition)
        after = _make_reading(call, request, self._rules)
        if _is_other(definition, own):
            after = _forget_refusal(call, request, after)
        if self._stored:
            return ReplayedCall(call, tool, _stored_reading(call, after), after)
        former = self._before.get(tool or "", own)
        if former is definition:
            before = after if self._rules.is_plain else _make_reading(call, request, ReplayRules())
        else:
            before = _former_reading(call, former)
        return ReplayedCall(call, tool, before, after)


def restore_definition(rows: Sequence[Mapping[Any, Any]]) -> ToolDefinition | None:
    """Return the definition from the rows of the metric `replayed_definition`.

    Return None when there are no rows.
    """
    if not rows:
        return None
    row = rows[0]
    return ToolDefinition.from_json_schema(
        name=row["tool"], schema=orjson.loads(row["definition"]), description=row["description"]
    )


def find_unread_reason(call: StoredCall, definition: ToolDefinition | None) -> str | None:
    """Return why a call is not parsed again, as a key of reparsed_call.NOT_READ, or None if it is parsed."""
    made = call.refused_by_harness != "emission"
    return why_not_read(call.args_source, call.raw_arguments, definition, made=made, offered=call.offered)


def parse_call(call: StoredCall, definition: ToolDefinition | None) -> ToolCallRequest:
    """Return the result of parsing a call's arguments with a definition, as ingest parses them."""
    used_definition = definition_used(definition, call.tool, offered=call.offered)
    return parse_arguments(call.raw_arguments or "", used_definition, tool_name=call.sent)


def _former_reading(call: StoredCall, definition: ToolDefinition | None) -> CallReading:
    if find_unread_reason(
        call, definition
    ):  # the log contains the decoded value, and only the edited definition declares a type for the value
        return CallReading(_outcome_without_text(call, None), (), None)
    return _make_reading(call, parse_call(call, definition), ReplayRules())


def _make_reading(call: StoredCall, request: ToolCallRequest, rules: ReplayRules) -> CallReading:
    outcome = request.outcome if rules.is_plain else rules.outcome(request)
    findings = rules.drop_silent(request.diagnostics) if rules.silent else request.diagnostics
    return CallReading(
        _outcome_under_rules(call, request, outcome),
        tuple((diagnostic.code, diagnostic.path, diagnostic.detail) for diagnostic in findings),
        request.arguments,
    )


def _outcome_under_rules(call: StoredCall, request: ToolCallRequest, outcome: Outcome) -> str:
    tells = request.tool is not None and (request.tool.schema is None or len(request.tool.schema) > 0)
    if call.args_source != "raw":
        return _outcome_without_text(call, outcome if tells or outcome is not Outcome.COERCED else None)
    return (Outcome.UNMEASURED if outcome is Outcome.CLEAN and not tells else outcome).value


def _outcome_without_text(call: StoredCall, outcome: Outcome | None) -> str:
    refused_at = call.refused_by_harness or call.result_fault_layer
    if refused_at in _ARGUMENT_LAYERS:
        return Outcome.FAILED.value
    if outcome in (Outcome.FAILED, Outcome.COERCED):
        return outcome.value
    return Outcome.UNMEASURED.value


def _is_other(definition: ToolDefinition | None, own: ToolDefinition | None) -> bool:
    """Return True when a definition differs from the definition that the call was made with."""
    return definition is not own and (not definition or not own or definition.schema != own.schema)


def _forget_refusal(call: StoredCall, request: ToolCallRequest, reading: CallReading) -> CallReading:
    """Return the result without the agent's rejection, because the new definition might have accepted the
    arguments.

    If the log has no raw text, the outcome is then unmeasured.
    """
    if call.args_source == "raw" or reading.outcome != Outcome.FAILED or request.outcome is Outcome.FAILED:
        return reading
    return reading._replace(outcome=Outcome.UNMEASURED.value)


def _stored_reading(call: StoredCall, after: CallReading) -> CallReading:
    """Return the stored outcome and codes of a call, or `after` when `after` has the same outcome and codes.

    The stored codes have no paths, so a comparison with `after` would show differences that do not exist.
    """
    codes = tuple(call.codes or ())
    if call.outcome == after.outcome and sorted(codes) == sorted(code for code, _, _ in after.findings):
        return after
    return CallReading(call.outcome, tuple((code, "", None) for code in codes), None)
