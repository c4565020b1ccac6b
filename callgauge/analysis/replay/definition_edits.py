"""Edits a stored tool definition so that the definition accepts the arguments that models sent.

The only edit so far is a wider type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.replay.scenarios import ScenarioError, definition_text, parse_definitions
from callgauge.analysis.replay.tally import ReplaySummary
from callgauge.analysis.texts.text_diff import unified_diff
from callgauge.analysis.verdicts.tool_answers import EditEffect
from lenient import Outcome

JSON_TYPES = {
    "text": "string",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "object": "object",
    "null": "null",
}
"""The JSON Schema type for each kind of value in the metric `parameter_faults`."""
_CLOSED = ("enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not")
"""Keywords that restrict a value in addition to its type, so that a wider type may have no effect."""

_REPAIRED = frozenset({Outcome.COERCED.value, Outcome.REPAIRED.value})
_CLEAN = frozenset({Outcome.CLEAN.value})
_FAILED = frozenset({Outcome.FAILED.value})


@dataclass(frozen=True, slots=True)
class DefinitionEdit:
    """An edit of one parameter of a tool definition.

    `accepts` holds the types that the parameter accepts after the edit. `before` and `after` are the whole
    definition as indented JSON. `diff` is the unified diff between `before` and `after`.
    """

    parameter: str
    accepts: tuple[str, ...]
    before: str
    after: str
    diff: str


def find_declaration(definition: str | None, parameter: str) -> dict[str, Any] | None:
    """Return the JSON Schema of a parameter, such as `filters[].name`.

    Return None when the parameter is not declared. `definition` is the JSON Schema of all parameters, as JSON
    text.
    """
    return _find_place(_read_schema(definition), parameter)


def describe_type(declared: dict[str, Any] | None) -> str:
    """Return the declared type of a parameter in one line, or a dash when no type is declared."""
    if declared is None:
        return "–"
    types = _list_types(declared)
    if types:
        return " or ".join(types)
    return "one of a list" if "enum" in declared else "any"


def propose_edit(
    tool: str, description: str | None, definition: str | None, parameter: str, sent: Sequence[str]
) -> DefinitionEdit | None:
    """Return the edit that adds the types of the sent values to the declared types of a parameter.

    `sent` holds the kinds of the sent values, which are keys of JSON_TYPES. Return None if the definition
    cannot be read, declares no type for the parameter, or would still reject the values.
    """
    schema = _read_schema(definition)
    declared = _find_place(schema, parameter)
    if declared is None or definition is None or any(keyword in declared for keyword in _CLOSED):
        return None
    types = _list_types(declared)
    added = [name for kind in sent if (name := JSON_TYPES.get(kind)) and name not in types]
    if not types or not added:
        return None
    accepts = [*types, *dict.fromkeys(added)]
    try:
        before = definition_text(tool, description, definition)
        declared["type"] = accepts
        after = definition_text(tool, description, json.dumps(schema, ensure_ascii=False))
        parse_definitions(after)
    except (ValueError, RecursionError, ScenarioError):
        return None
    changes = unified_diff(before, after)
    return DefinitionEdit(parameter, tuple(accepts), before, after, changes) if changes else None


def measure_effect(edit: DefinitionEdit, summary: ReplaySummary, every: int = 1) -> EditEffect | None:
    """Return the effect of an edited definition, as a replay measured it.

    Return None when the replay could parse no call. `every` is n if only every n-th session was replayed.
    """
    if not summary.replayed_calls:
        return None

    def count(before: frozenset[str], after: frozenset[str]) -> int:
        return sum(calls for old, new, calls in summary.flows if old in before and new in after)

    return EditEffect(
        edit.accepts,
        repaired=count(_REPAIRED, frozenset(Outcome)),
        repaired_fixed=count(_REPAIRED, _CLEAN),
        failed=count(_FAILED, frozenset(Outcome)),
        failed_fixed=count(_FAILED, _REPAIRED | _CLEAN),
        would_fail=count(_REPAIRED | _CLEAN, _FAILED),
        every=every,
    )


def _read_schema(definition: str | None) -> Any:
    try:
        return json.loads(definition or "null")
    except (ValueError, RecursionError):
        return None


def _find_place(schema: Any, parameter: str) -> dict[str, Any] | None:
    """Return the object in a schema that declares a parameter. The caller may change this object in place."""
    place = schema
    for name in _split_path(parameter) if parameter else ():
        if not isinstance(place, dict):
            return None
        below = place.get("items") if name == "[]" else place.get("properties")
        place = below if name == "[]" or not isinstance(below, dict) else below.get(name)
    return place if isinstance(place, dict) and parameter else None


def _split_path(parameter: str) -> list[str]:
    """Return the steps of a path. For example, `filters[].name` has the steps filters, [] and name."""
    steps: list[str] = []
    for part in parameter.split("."):
        name = part
        while name.endswith("[]"):
            name = name[:-2]
        steps += [*([name] if name else []), *["[]"] * ((len(part) - len(name)) // 2)]
    return steps


def _list_types(declared: dict[str, Any]) -> list[str]:
    types = declared.get("type")
    if isinstance(types, str):
        return [types]
    return [name for name in types if isinstance(name, str)] if isinstance(types, list) else []
