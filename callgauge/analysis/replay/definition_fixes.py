"""Proposes edits that fix a tool's definition, and replays the edits over the stored calls.

The calls are read twice: first to count the errors at each parameter, then to replay the edits. An edit is
proposed only if calls become clean, or if it saves tokens, and never if another call would fail.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from callgauge.analysis.metrics import open_answer
from callgauge.analysis.metrics.published_store import Connection
from callgauge.analysis.replay.definition_edits import (
    accept_types,
    add_enum_value,
    apply_changes,
    convert_to_unit,
    count_bytes,
    count_tokens,
    drop_parameter,
    find_place,
    has_type,
    list_droppable,
    name_unit,
    read_schema,
    shorten_texts,
    type_examples,
)
from callgauge.analysis.replay.fix_evidence import (
    Evidence,
    Suspicion,
    ToolTally,
    is_never_sent,
    list_values,
    read_parameters,
    read_sent,
)
from callgauge.analysis.replay.fix_results import (
    DefinitionChange,
    DefinitionFix,
    EditEffect,
    EditKind,
    LeftOut,
    Missing,
    ModelCount,
    RejectedFix,
    ToolFixes,
    list_changes,
)
from callgauge.analysis.replay.replay_calls import StoredCall, find_unread_reason, parse_call
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS
from lenient import Outcome, ToolDefinition, ToolDefinitionError

MOST_CALLS = (
    50_000  # maximum number of calls of a tool that are replayed; if more match, sessions are sampled
)
MOST_COMPARED = 20_000  # maximum number of calls of all tools that show how often models make an error
_LEAST_SAVED = 5  # minimum number of tokens that a shorter text must save
_BATCH = 1_000
_ROUNDS = 5

Row = Mapping[Any, Any]
Ask = Callable[[str, Mapping[str, Any]], Iterable[Row]]
"""Answers a metric with its rows. The arguments are the name and the parameters of the metric."""
Report = Callable[[int], None]
"""Receives the number of calls that were read so far."""


def ask_store(connection: Connection) -> Ask:
    """Return a function that reads the rows of a metric in batches, to save memory."""

    def ask(metric: str, parameters: Mapping[str, Any]) -> Iterator[Row]:
        with open_answer(connection, metric, parameters) as cursor:
            names = [column[0] for column in cursor.description or ()]
            while rows := cursor.fetchmany(_BATCH):
                for row in rows:
                    yield dict(zip(names, row, strict=True))

    return ask


@dataclass(slots=True)
class FixSearch:
    """A search for edits in one store, over the calls that the filters in `chosen` select.

    `report` is called with the number of calls read so far.
    """

    ask: Ask
    chosen: Mapping[str, Any]
    report: Report = lambda _: None
    _definitions: dict[str, ToolDefinition | None] = field(default_factory=dict)
    _tallies: dict[str, ToolTally] | None = None
    _read: int = 0

    def find_all(self) -> list[ToolFixes]:
        """Return the results for the tools with enough calls, the most used first. Raises MetricError."""
        used = [row for row in self.ask("fixable_tools", self.chosen) if row["calls"] >= ENOUGH]
        return [
            self.find_fixes(row["tool"])
            if row["definitions"]
            else ToolFixes(row["tool"], calls=row["calls"], missing=Missing.DEFINITION)
            for row in used
        ]

    def find_fixes(self, tool: str, keep: Sequence[str] | None = None) -> ToolFixes:
        """Return the proposed edits of a tool. `keep` limits the edits to those with the named keys.

        Raises MetricError.
        """
        chosen = {**self.chosen, "tools": [tool]}
        known = next((row for row in self.ask("fixable_tools", chosen) if row["tool"] == tool), None)
        if known is None:
            return ToolFixes(tool, missing=Missing.CALLS)
        servers = tuple(known["servers"] or ())
        result = ToolFixes(tool, calls=known["calls"], servers=servers)
        if len(servers) > 1:
            return replace(result, missing=Missing.SERVERS)
        newest = next((row for row in self.ask("definitions", chosen) if row["definition"]), None)
        if newest is None:
            return replace(result, missing=Missing.DEFINITION)
        schema, description = read_schema(newest["definition"]), newest["description"] or ""
        definition = _define(tool, description, schema)
        if definition is None:
            return replace(result, missing=Missing.UNREADABLE)
        result = replace(
            result,
            description=description,
            schema=schema,
            source=newest["source"] or "",
            mcp_server=servers[0] if servers else "",
        )
        return self._search(result, definition, chosen, keep)

    def _search(
        self,
        result: ToolFixes,
        definition: ToolDefinition,
        chosen: Mapping[str, Any],
        keep: Sequence[str] | None,
    ) -> ToolFixes:
        every = -(-result.calls // MOST_CALLS) or 1
        tally, unread = ToolTally(), 0
        for call in self._read_calls(chosen, every):
            own = self._find_definition(call.definition_id)
            if own is None or find_unread_reason(call, own):
                unread += 1
            else:
                tally.take(call, own)
        newest = read_parameters(result.schema)
        calls, sessions = _count_current(tally, newest)
        evidence = Evidence(tally, newest, lambda: self._count_others(result.tool))
        proposed, rejected = _propose(result, evidence)
        if not tally.checked and unread:
            result = replace(result, missing=Missing.TEXTS)
        elif calls < ENOUGH or sessions < ENOUGH_SESSIONS:
            result = replace(result, missing=Missing.DATA)
        older, left_out = sum(tally.checked.values()) - calls, tuple(rejected)
        result = replace(result, checked=calls, sessions=sessions, older=older, rejected=left_out)
        if keep is not None:
            proposed = [fix for fix in proposed if fix.key in keep]
        return self._replay(result, definition, proposed, chosen, every)

    def _replay(
        self,
        result: ToolFixes,
        definition: ToolDefinition,
        proposed: list[DefinitionFix],
        chosen: Mapping[str, Any],
        every: int,
    ) -> ToolFixes:
        """Replay the edits until each of them is supported, and return the result with the remaining ones."""
        rejected = list(result.rejected)
        effect = None
        for _ in range(_ROUNDS):
            proposed = _add_shorter_texts(result, proposed)
            if not proposed:
                break
            replay = EditReplay(definition, result.definition, proposed)
            for call in self._read_calls(chosen, every):
                replay.take(call)
            failing = replay.find_failing()
            idle = [
                fix
                for fix in proposed
                if fix.n and fix.kind is not EditKind.DROP and not replay.fixed[fix.key]
            ]
            effect = replay.effect(every)
            if not failing and not idle:
                proposed = [replace(fix, fixed=replay.fixed[fix.key]) for fix in proposed]
                break
            rejected += [RejectedFix(fix, LeftOut.WOULD_FAIL) for fix in failing]
            rejected += [RejectedFix(fix, LeftOut.NOTHING_FIXED) for fix in idle if fix not in failing]
            proposed = [fix for fix in proposed if fix not in failing and fix not in idle]
            effect = None
        proposed = [replace(fix, tokens=_count_saved(result, [fix])) for fix in proposed]
        return replace(
            result,
            fixes=tuple(proposed),
            rejected=tuple(rejected),
            effect=effect if proposed else None,
            tokens=_count_saved(result, proposed),
        )

    def _read_calls(self, chosen: Mapping[str, Any], every: int) -> Iterator[StoredCall]:
        for row in self.ask("replayed_calls", {**chosen, "every": every, "stored": False}):
            self._read += 1
            if self._read % _BATCH == 0:
                self.report(self._read)
            yield StoredCall(*row.values())

    def _count_others(self, tool: str) -> list[ToolTally]:
        """Return the tallies of the other tools, from a sample of sessions if there are many calls."""
        if self._tallies is None:
            self._tallies = {}
            total = sum(row["calls"] for row in self.ask("fixable_tools", self.chosen))
            for call in self._read_calls(self.chosen, -(-total // MOST_COMPARED) or 1):
                own = self._find_definition(call.definition_id)
                if own is not None and call.sent is not None and not find_unread_reason(call, own):
                    self._tallies.setdefault(call.tool or "", ToolTally()).take(call, own)
        return [tally for name, tally in self._tallies.items() if name != tool]

    def _find_definition(self, definition_id: str | None) -> ToolDefinition | None:
        if definition_id is None:
            return None
        if definition_id not in self._definitions:
            row = next(iter(self.ask("replayed_definition", {"definition": definition_id})), None)
            self._definitions[definition_id] = (
                _define(row["tool"] or "", row["description"], read_schema(row["definition"]))
                if row
                else None
            )
        return self._definitions[definition_id]


def _define(tool: str, description: str, schema: Any) -> ToolDefinition | None:
    try:
        return ToolDefinition.from_json_schema(name=tool, schema=schema, description=description)
    except (ToolDefinitionError, RecursionError):
        return None


def _count_current(tally: ToolTally, newest: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of calls and of sessions whose definition has the parameters of the newest one."""
    current = {name: each.text for name, each in newest.items()}
    allowed = {
        definition
        for definition, parameters in tally.definitions.items()
        if {name: each.text for name, each in parameters.items()} == current
    }
    checked, sessions = tally.count_checked(allowed)
    return sum(checked.values()), sessions


# --- proposals -----------------------------------------------------------------------------------------


def _propose(result: ToolFixes, evidence: Evidence) -> tuple[list[DefinitionFix], list[RejectedFix]]:
    """Return the edits that the counted errors suggest, and those that only one model suggests."""
    proposed: list[DefinitionFix] = []
    rejected: list[RejectedFix] = []
    for suspicion in evidence.find_suspicions():
        fix = _make_fix(result.schema, suspicion)
        if fix is None:
            continue
        if suspicion.only_model:
            rejected.append(RejectedFix(fix, LeftOut.ONE_MODEL, suspicion.only_model))
        else:
            proposed.append(fix)
    for name in list_droppable(result.schema, result.description):
        share = evidence.count_checked(name).share()
        if is_never_sent(share):
            high = share.interval.high if share.interval else 1.0
            changes = drop_parameter(result.schema, name)
            proposed.append(DefinitionFix(EditKind.DROP, name, changes, n=share.n, high=high))
    return sorted(proposed, key=lambda fix: list(EditKind).index(fix.kind)), rejected


def _make_fix(schema: Any, suspicion: Suspicion) -> DefinitionFix | None:
    kind, name, details = suspicion.kind, suspicion.parameter, suspicion.details
    place = find_place(schema, name)
    if place is None:
        return None
    changes: tuple[DefinitionChange, ...] = ()
    words = details
    if kind is EditKind.UNIT:
        changes = name_unit(schema, name, details[0])
        if not changes:  # the description already names the unit
            kind, words = EditKind.TYPE, ("string",)
    elif kind is EditKind.EXAMPLE:
        changes = type_examples(place.declared, place.path)
        words = tuple(json.dumps(change.after[0], ensure_ascii=False)[:60] for change in changes)
    elif kind is EditKind.ENUM:
        changes = add_enum_value(schema, name, json.loads(details[0]))
    if kind is EditKind.TYPE:
        changes = accept_types(schema, name, words)
    share, interval = suspicion.share, suspicion.share.interval
    if not changes or interval is None:
        return None
    counts = share.k, share.n, interval.low, interval.high, suspicion.usual
    by_model = tuple(ModelCount(model, each.k, each.n) for model, each in suspicion.by_model.items())
    return DefinitionFix(kind, name, changes, words, *counts, by_model)


def _add_shorter_texts(result: ToolFixes, proposed: Sequence[DefinitionFix]) -> list[DefinitionFix]:
    """Return the edits with an edit that shortens the other texts of the definition, if it saves tokens."""
    others = [fix for fix in proposed if fix.kind is not EditKind.SHORTEN]
    places = [find_place(result.schema, fix.parameter) for fix in others]
    changes, reasons = shorten_texts(
        result.tool, result.description, result.schema, [place.path for place in places if place]
    )
    fix = DefinitionFix(EditKind.SHORTEN, "", changes, reasons)
    is_worth = bool(changes) and _count_saved(result, [fix]) >= _LEAST_SAVED
    return [*others, fix] if is_worth else others


def _count_saved(result: ToolFixes, fixes: Sequence[DefinitionFix]) -> int:
    edited = apply_changes(result.definition, list_changes(fixes))
    before, after = (count_bytes(result.tool, each) for each in (result.definition, edited))
    return count_tokens(before - after)


# --- replay --------------------------------------------------------------------------------------------


class EditReplay:
    """Replays edits over calls: all edits together, and each edit alone where the result changes.

    `fixed` holds by the key of an edit the number of affected calls that are clean with all edits.
    """

    def __init__(
        self, definition: ToolDefinition, before: Mapping[str, Any], fixes: Sequence[DefinitionFix]
    ) -> None:
        self.fixed = dict.fromkeys((fix.key for fix in fixes), 0)
        self._newest = definition
        self._fixes = list(fixes)
        self._edited = _edit(definition, before, fixes)
        self._alone = {fix.key: _edit(definition, before, [fix]) for fix in fixes}
        self._conditional = [fix for fix in fixes if fix.kind.is_conditional]
        self._types = {name: each.types for name, each in read_parameters(before["schema"]).items()}
        self._dropped = [fix for fix in fixes if fix.kind is EditKind.DROP]
        self._failing = dict.fromkeys(self.fixed, 0)
        self._flows = Counter[tuple[Outcome, Outcome]]()
        self._n_conditional = 0
        self._would_fail = 0

    def take(self, call: StoredCall) -> None:
        if find_unread_reason(call, self._newest):
            return
        before = parse_call(call, self._newest).outcome
        after = parse_call(call, self._edited).outcome
        would_fail = after is Outcome.FAILED and before is not Outcome.FAILED
        is_worse = before is Outcome.CLEAN and after is not Outcome.CLEAN
        self._would_fail += would_fail
        if would_fail or is_worse:
            for fix in self._fixes:
                alone = parse_call(call, self._alone[fix.key]).outcome
                self._failing[fix.key] += alone is not before and alone is not Outcome.CLEAN
        sent = read_sent(call.raw_arguments) if self._dropped else None
        for fix in self._dropped:  # a strict server would reject an unknown parameter
            self._failing[fix.key] += sent is not None and fix.parameter in sent
        if before is not Outcome.CLEAN:
            answered = self._answer_definition(call)
            if answered is not call and after is not Outcome.CLEAN:
                after = parse_call(answered, self._edited).outcome
                self._n_conditional += after is Outcome.CLEAN
            if after is Outcome.CLEAN:
                self._count_fixed(call)
        self._flows[before, after] += 1

    def _count_fixed(self, call: StoredCall) -> None:
        """Count a fixed call for each edit of a parameter at which the call has an error."""
        if len(self._fixes) == 1:
            self.fixed[self._fixes[0].key] += 1
            return
        sent = read_sent(call.raw_arguments)
        for fix in self._fixes:
            self.fixed[fix.key] += sent is not None and self._affects(fix, sent)

    def _affects(self, fix: DefinitionFix, sent: dict[str, Any]) -> bool:
        values = [each.value for each in list_values(sent) if each.parameter == fix.parameter]
        if fix.kind is EditKind.ENUM:
            return any(json.dumps(value) == fix.words[0] for value in values)
        if fix.kind in (EditKind.DROP, EditKind.SHORTEN):
            return False
        return any(not has_type(value, self._types[fix.parameter]) for value in values)

    def _answer_definition(self, call: StoredCall) -> StoredCall:
        """Return the call with the values that the edited definition asks for instead of other types."""
        sent = read_sent(call.raw_arguments) if self._conditional else None
        if sent is None:
            return call
        changed = False
        for fix in self._conditional:
            for name, value, parent, key in list_values(sent):
                if name == fix.parameter:
                    parent[key] = _answer(fix, value, self._types[name])
                    changed |= parent[key] is not value
        return call._replace(raw_arguments=orjson.dumps(sent).decode()) if changed else call

    def find_failing(self) -> list[DefinitionFix]:
        """Return the edits because of which a call would fail or need repair."""
        failing = [fix for fix in self._fixes if self._failing[fix.key]]
        return failing if failing or not self._would_fail else list(self._fixes)

    def effect(self, every: int) -> EditEffect:
        def count(before: Sequence[Outcome]) -> tuple[int, int]:
            """Return the calls with these outcomes, and how many of them would be clean."""
            whole = sum(calls for (old, _), calls in self._flows.items() if old in before)
            return whole, sum(self._flows[old, Outcome.CLEAN] for old in before)

        repaired, failed = count((Outcome.COERCED, Outcome.REPAIRED)), count((Outcome.FAILED,))
        return EditEffect(*repaired, *failed, self._n_conditional, self._would_fail, every)


def _edit(
    definition: ToolDefinition, before: Mapping[str, Any], fixes: Sequence[DefinitionFix]
) -> ToolDefinition:
    edited = apply_changes(before, list_changes(fixes))
    return ToolDefinition.from_json_schema(
        name=definition.name, description=edited["description"], schema=edited["schema"]
    )


def _answer(fix: DefinitionFix, value: Any, types: Sequence[str]) -> Any:
    """Return the value that a model would send instead of a value of another type after an edit."""
    if value is None or has_type(value, types):
        return value
    if fix.kind is EditKind.UNIT:
        number = convert_to_unit(value, fix.words[0])
        return value if number is None else number
    if not isinstance(value, str):
        return json.dumps(value) if "string" in types else value
    try:
        converted = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return converted if has_type(converted, types) else value
