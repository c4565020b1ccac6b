"""Describes a replay: its result in one sentence, and all its settings."""

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
    ChangeKind.FINDINGS: "with other diagnostics only",
}
_REPAIRED = frozenset({"coerced", "repaired"})
_PASSED = _REPAIRED | {"clean"}
_ALL = frozenset(Outcome)
_NAMED = 3  # edits or codes that are listed; further edits or codes are only counted
_IN_HEADLINE = 2  # edits that the sentence itself lists
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def describe_replay(scenario: Scenario, summary: ReplaySummary) -> str:
    """Return the result of a replay as one sentence.

    Example: “If read.limit accepted a string, 31 of 97 failed calls would pass; 2 clean calls would fail.”
    """
    if not summary.replayed_calls:
        return "No call of this slice could be parsed again."
    words = "; ".join(_list_moves(summary))
    if not summary.changed:
        words = f"nothing would change: {wording.plural(summary.replayed_calls, 'call')} with the same result"
    condition = _name_condition(scenario)
    return f"{condition}, {words}." if condition else f"{words[0].upper()}{words[1:]}."


def describe_order(summary: ReplaySummary) -> str:
    """Return the number of changed calls of each kind, in the order in which the list shows the kinds."""
    counts = [
        f"{summary.changes[kind]:,} {words}" for kind, words in _CHANGES.items() if summary.changes.get(kind)
    ]
    return f"Biggest changes first: {', '.join(counts)}."


def _name_condition(scenario: Scenario) -> str:
    conditions = []
    if scenario.edited is not None:
        edits = [*_list_edits(scenario)]
        is_short = 0 < len(edits) <= _IN_HEADLINE
        conditions.append(f"If {wording.list_words(edits)}" if is_short else "With the edited definition")
    if scenario.policy != "lenient":
        conditions.append(f"Under the policy {scenario.policy}")
    for codes, single, several in (
        (scenario.refused, "If {} counted as an error", "If these {} codes counted as errors"),
        (scenario.silent, "If {} were ignored", "If these {} codes were ignored"),
    ):
        if codes:
            conditions.append(single.format(codes[0]) if len(codes) == 1 else several.format(len(codes)))
    if scenario.before == STORED:
        conditions.append(f"With parser version {PARSER_VERSION}")
    return "With these settings" if len(conditions) > 1 else "".join(conditions)


def describe_settings(scenario: Scenario) -> str:
    """Return a sentence with all settings.

    The result is empty when the settings change nothing.
    """
    conditions = list(_list_conditions(scenario))
    return f"{' and '.join(conditions)}." if conditions else ""


def _list_conditions(scenario: Scenario) -> Iterator[str]:
    begun = False
    if scenario.before == STORED:
        yield f"With parser version {PARSER_VERSION} instead of the stored results"
        begun = True
    edited = [*_list_edits(scenario)]
    refused = [f"{code} counted as an error" for code in scenario.refused]
    silent = [f"{code} were ignored" for code in scenario.silent]
    for clauses in (edited, refused, silent):
        if clauses:
            more = len(clauses) - _NAMED
            words = clauses[:_NAMED] + ([f"{more} more changes were made"] if more > 0 else [])
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
    """Return clauses on how a schema was edited. Each clause can stand after the word “if”."""
    if before == after:
        return []
    old, new = schema_properties(before), schema_properties(after)
    clauses = [f"{tool} took {name}" for name in new if name not in old]
    clauses += [f"{tool} had no {name}" for name in old if name not in new]
    for name in new:
        if name in old and old[name] != new[name]:
            clauses += _describe_parameter(f"{tool}.{name}", old[name], new[name])
    was, is_now = set(required_names(before)), set(required_names(after))
    clauses += [f"{tool}.{name} were optional" for name in sorted(was - is_now) if name in new]
    clauses += [f"{tool}.{name} were required" for name in sorted(is_now - was) if name in old]
    return clauses or [f"{tool} were declared as edited"]


def _describe_parameter(name: str, old: Any, new: Any) -> list[str]:
    was, now = set(list_types(old)), set(list_types(new))
    clauses = [f"{name} accepted {_with_article(kind)}" for kind in sorted(now - was)]
    if was and now:
        clauses += [f"{name} no longer accepted {_with_article(kind)}" for kind in sorted(was - now)]
    return clauses or [f"{name} were declared as edited"]


def _with_article(kind: str) -> str:
    return _ARTICLES.get(kind, f"a {kind}")


def _list_moves(summary: ReplaySummary) -> Iterator[str]:
    """Yield clauses on how results changed. Each clause can stand after the condition of the sentence."""

    def count(before: Container[str], after: Container[str]) -> int:
        return sum(calls for old, new, calls in summary.flows if old in before and new in after)

    refused, saved = count({"failed"}, _ALL), count({"failed"}, _PASSED)
    lost, lost_clean = count(_PASSED, {"failed"}), count({"clean"}, {"failed"})
    lost_unmeasured = count({"unmeasured"}, {"failed"})
    repaired, cleaned = count(_REPAIRED, _ALL), count(_REPAIRED, {"clean"})
    dirtied = count({"clean"}, _REPAIRED)
    moved = sum(calls for old, new, calls in summary.flows if old != new)
    if saved:
        yield f"{saved:,} of {wording.plural(refused, 'failed call')} would pass"
    if lost:
        kind = "clean call" if lost == lost_clean else "call"
        yield f"{wording.plural(lost, kind)}{'' if lost == lost_clean else ' that passed'} would fail"
    if lost_unmeasured:
        yield f"{wording.plural(lost_unmeasured, 'call')} not measured before would fail"
    if unchecked := count({"failed"}, {"unmeasured"}):
        yield f"{unchecked:,} of {wording.plural(refused, 'failed call')} may pass (no raw text to check)"
    if saved and not (lost or lost_unmeasured):
        yield "no other call would fail"
    if cleaned and not lost:
        yield f"{cleaned:,} of {wording.plural(repaired, 'call')} that needed repair would be clean"
    if dirtied:
        yield f"{wording.plural(dirtied, 'clean call')} would need repair"
    if moved and not (saved or lost or lost_unmeasured or unchecked or cleaned or dirtied):
        yield f"{wording.plural(moved, 'call')} would have another outcome"
    if not moved:
        others = wording.plural(summary.changed, "call")
        yield f"no outcome would change; {others} would have other values or diagnostics"
