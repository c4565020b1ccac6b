"""Describes a replay in one sentence: its settings and the changes in results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from callgauge.dashboard import wording
from callgauge.dashboard.replay.scenarios import STORED, Scenario, parse_definitions
from callgauge.dashboard.replay.tally import ReplaySummary
from lenient import CODES, PARSER_VERSION
from lenient.diagnostics.codes import Stage

_TOLD = 3  # edits or codes that are named; of more, how many there are
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def describe_replay(scenario: Scenario, found: ReplaySummary) -> str:
    """Return a sentence on a replay's settings and result.

    Example: “If read.range accepted a string, 31% of the coercions would go (12 / 39).”
    """
    if not found.replayed_calls:
        return "No call of this slice could be read again."
    words = "; ".join(_list_moves(found))
    if not found.changed:
        words = f"nothing would move: all {found.replayed_calls:,} calls read as before"
    conditions = list(_list_conditions(scenario))
    return f"{' and '.join(conditions)}, {words}." if conditions else f"{words[0].upper()}{words[1:]}."


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
            yield f"{'if' if begun else 'If'} {', '.join(words)}"
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
    old, new = _schema_properties(before), _schema_properties(after)
    told = [f"{tool} took {name}" for name in new if name not in old]
    told += [f"{tool} had no {name}" for name in old if name not in new]
    for name in new:
        if name in old and old[name] != new[name]:
            told += _describe_parameter(f"{tool}.{name}", old[name], new[name])
    was, is_now = _required_names(before), _required_names(after)
    told += [f"{tool}.{name} were optional" for name in sorted(was - is_now) if name in new]
    told += [f"{tool}.{name} were required" for name in sorted(is_now - was) if name in old]
    return told or [f"{tool} were declared as edited"]


def _schema_properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return dict(found) if isinstance(found, Mapping) else {}


def _required_names(schema: Mapping[str, Any]) -> set[str]:
    found = schema.get("required")
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def _describe_parameter(name: str, old: Any, new: Any) -> list[str]:
    was, now = _type_names(old), _type_names(new)
    told = [f"{name} accepted {_with_article(kind)}" for kind in sorted(now - was)]
    if was and now:
        told += [f"{name} no longer accepted {_with_article(kind)}" for kind in sorted(was - now)]
    if not told:
        told = [f"{name} were declared as edited"]
    return told


def _type_names(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    kinds = schema.get("type", [])
    found = {kinds} if isinstance(kinds, str) else {kind for kind in kinds if isinstance(kind, str)}
    for branches in (schema.get("anyOf"), schema.get("oneOf")):
        for branch in branches if isinstance(branches, list) else ():
            found |= _type_names(branch)
    return found


def _with_article(kind: str) -> str:
    return _ARTICLES.get(kind, f"a {kind}")


def _list_moves(found: ReplaySummary) -> Iterator[str]:
    """Yield clauses that describe the changed results, each worded to follow a condition."""
    coerced = [moves for code, moves in found.codes.items() if CODES[code].stage is Stage.COERCE]
    before, after = sum(moves.before for moves in coerced), sum(moves.after for moves in coerced)
    if after < before:
        share = wording.rate(before - after, before)
        yield f"{share} of the coercions would go ({wording.fraction(before - after, before)})"
    elif after > before:
        yield f"{wording.plural(after - before, 'coercion')} would come"
    refused = sum(calls for old, _, calls in found.flows if old == "failed")
    saved = sum(calls for old, new, calls in found.flows if old == "failed" and new != "failed")
    lost = sum(calls for old, new, calls in found.flows if old != "failed" and new == "failed")
    if saved:
        part = wording.fraction(saved, refused)
        yield f"{wording.rate(saved, refused)} of the refused calls would pass ({part})"
    if lost:
        passed = found.replayed_calls - refused
        share = wording.rate(lost, passed)
        yield f"{share} of the calls that pass would be refused ({wording.fraction(lost, passed)})"
    moved = sum(calls for old, new, calls in found.flows if old != new)
    if moved and not (saved or lost or after != before):
        yield f"{wording.plural(moved, 'call')} would have another outcome"
    if not moved and after == before:
        yield f"no outcome would move; {wording.plural(found.changed, 'call')} would read otherwise"
