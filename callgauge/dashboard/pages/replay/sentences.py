"""Describes a replay: what it found in one sentence, and its settings in full."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.replay.replay_calls import ChangeKind
from callgauge.analysis.replay.scenarios import STORED, Scenario, parse_definitions
from callgauge.analysis.replay.tally import ReplaySummary
from callgauge.dashboard.components.definition_editor.parameters import (
    list_types,
    required_names,
    schema_properties,
)
from lenient import PARSER_VERSION, Outcome

_CHANGES = {
    ChangeKind.FAILS: "would fail",
    ChangeKind.PASSES: "would no longer fail",
    ChangeKind.OUTCOME: "with another outcome",
    ChangeKind.VALUES: "with other values",
    ChangeKind.FINDINGS: "with other findings alone",
}
_MENDED = frozenset({"coerced", "repaired"})
_PASSED = _MENDED | {"clean"}
_ALL = frozenset(Outcome)
_TOLD = 3  # edits or codes that are named; of more, how many there are
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def describe_replay(scenario: Scenario, found: ReplaySummary) -> str:
    """Return a sentence on what a replay found.

    Example: “With this definition, 31 of 97 failed calls would be fine; 2 clean calls would fail.”
    """
    if not found.replayed_calls:
        return "No call of this slice could be read again."
    words = "; ".join(_list_moves(found))
    if not found.changed:
        words = f"nothing would move: all {found.replayed_calls:,} calls read as before"
    condition = _name_condition(scenario)
    return f"{condition}, {words}." if condition else f"{words[0].upper()}{words[1:]}."


def describe_order(found: ReplaySummary) -> str:
    """Return how many calls changed in which way, in the order in which they are listed."""
    told = [f"{found.changes[kind]:,} {words}" for kind, words in _CHANGES.items() if found.changes.get(kind)]
    return f"The gravest first: {', '.join(told)}."


def _name_condition(scenario: Scenario) -> str:
    told = []
    if scenario.edited is not None:
        told.append("With this definition")
    if scenario.policy != "lenient":
        told.append(f"Under the policy {scenario.policy}")
    for codes, one, several in (
        (scenario.refused, "If {} counted as an error", "If these {} codes counted as errors"),
        (scenario.silent, "If {} were accepted silently", "If these {} codes were accepted silently"),
    ):
        if codes:
            told.append(one.format(codes[0]) if len(codes) == 1 else several.format(len(codes)))
    if scenario.before == STORED:
        told.append("Read by today's parser")
    return "With these settings" if len(told) > 1 else "".join(told)


def describe_settings(scenario: Scenario) -> str:
    """Return a sentence with the settings in full; empty when they change nothing."""
    conditions = list(_list_conditions(scenario))
    return f"{' and '.join(conditions)}." if conditions else ""


def _list_conditions(scenario: Scenario) -> Iterator[str]:
    begun = False
    if scenario.before == STORED:
        yield f"Read by today's parser (version {PARSER_VERSION}) instead of the one that loaded them"
        begun = True
    edited = [*_list_edits(scenario)]
    refused = [f"{code} counted as an error" for code in scenario.refused]
    silent = [f"{code} were accepted silently" for code in scenario.silent]
    for told in (edited, refused, silent):
        if told:
            words = told[:_TOLD] + (
                [f"{len(told) - _TOLD} more changes were made"] if len(told) > _TOLD else []
            )
            yield f"{'if' if begun else 'If'} {wording.list_words(words)}"
            begun = True
    if scenario.policy != "lenient":
        yield f"{'under' if begun else 'Under'} the policy {scenario.policy}"


def _list_edits(scenario: Scenario) -> Iterator[str]:
    if scenario.edited is None:
        return
    old = parse_definitions(scenario.newest) if scenario.newest else {}
    for name, tool in parse_definitions(scenario.edited).items():
        if name not in old:
            yield f"{name} were defined like this"
        else:
            yield from describe_edits(name, old[name].to_json_schema(), tool.to_json_schema())


def describe_edits(tool: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return clauses that describe the edit of a tool's schema, each worded to follow “if”."""
    if before == after:
        return []
    old, new = schema_properties(before), schema_properties(after)
    told = [f"{tool} took {name}" for name in new if name not in old]
    told += [f"{tool} had no {name}" for name in old if name not in new]
    for name in new:
        if name in old and old[name] != new[name]:
            told += _describe_parameter(f"{tool}.{name}", old[name], new[name])
    was, is_now = set(required_names(before)), set(required_names(after))
    told += [f"{tool}.{name} were optional" for name in sorted(was - is_now) if name in new]
    told += [f"{tool}.{name} were required" for name in sorted(is_now - was) if name in old]
    return told or [f"{tool} were declared as edited"]


def _describe_parameter(name: str, old: Any, new: Any) -> list[str]:
    was, now = set(list_types(old)), set(list_types(new))
    told = [f"{name} accepted {_with_article(kind)}" for kind in sorted(now - was)]
    if was and now:
        told += [f"{name} no longer accepted {_with_article(kind)}" for kind in sorted(was - now)]
    if not told:
        told = [f"{name} were declared as edited"]
    return told


def _with_article(kind: str) -> str:
    return _ARTICLES.get(kind, f"a {kind}")


def _list_moves(found: ReplaySummary) -> Iterator[str]:
    """Yield clauses that describe the changed results, each worded to follow a condition."""

    def count(before: Container[str], after: Container[str]) -> int:
        return sum(calls for old, new, calls in found.flows if old in before and new in after)

    refused, saved = count({"failed"}, _ALL), count({"failed"}, _PASSED)
    lost, lost_clean = count(_PASSED, {"failed"}), count({"clean"}, {"failed"})
    lost_unmeasured = count({"unmeasured"}, {"failed"})
    mended, cleaned = count(_MENDED, _ALL), count(_MENDED, {"clean"})
    dirtied = count({"clean"}, _MENDED)
    moved = sum(calls for old, new, calls in found.flows if old != new)
    if saved:
        yield f"{saved:,} of {wording.plural(refused, 'failed call')} would be fine"
    if lost:
        kind = "clean call" if lost == lost_clean else "call"
        yield f"{wording.plural(lost, kind)}{'' if lost == lost_clean else ' that passed'} would fail"
    if lost_unmeasured:
        yield f"{wording.plural(lost_unmeasured, 'call')} not judged before would fail"
    if untold := count({"failed"}, {"unmeasured"}):
        yield f"{untold:,} of {wording.plural(refused, 'failed call')} may pass, without text to tell"
    if saved and not (lost or lost_unmeasured):
        yield "no other call would fail"
    if cleaned and not lost:
        yield f"{cleaned:,} of {wording.plural(mended, 'mended call')} would be clean"
    if dirtied:
        yield f"{wording.plural(dirtied, 'clean call')} would be mended"
    if moved and not (saved or lost or lost_unmeasured or untold or cleaned or dirtied):
        yield f"{wording.plural(moved, 'call')} would have another outcome"
    if not moved:
        yield f"no outcome would move; {wording.plural(found.changed, 'call')} would read otherwise"
