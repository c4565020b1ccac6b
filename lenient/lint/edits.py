"""Makes the edits that the lint suggests for a definition, as far as they need no decision of a person."""

from __future__ import annotations

import copy
from typing import Any

from lenient.definitions.json_schema.schema_walk import render_place, walk_places
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics.codes import Severity
from lenient.lint import definition_findings
from lenient.lint.findings import DefinitionFinding

_MOST = 100  # edits of one definition


def apply_edits(definition: ToolDefinition) -> tuple[ToolDefinition, tuple[DefinitionFinding, ...]]:
    """Return the definition with the suggested edits of its parameters, and the findings that they settle.

    Only warnings and errors whose suggestion is a JSON merge patch. The tool keeps its name. An edit that
    does not settle its finding, as within a shared `$ref`, is left out.
    """
    made: list[DefinitionFinding] = []
    for found in definition_findings(definition)[:_MOST]:
        edited = _apply_edit(definition, found)
        if edited is not None and not _is_found(found, edited):
            definition = edited
            made.append(found)
    return definition, tuple(made)


def _apply_edit(definition: ToolDefinition, found: DefinitionFinding) -> ToolDefinition | None:
    if found.path is None or isinstance(found.suggested, str) or found.severity is Severity.NOTE:
        return None
    schema: dict[str, Any] = copy.deepcopy(definition.to_json_schema())
    for place in walk_places(schema):
        if render_place(place.path) == found.path and isinstance(place.own, dict):
            _merge_patch(place.own, found.suggested)
    return ToolDefinition.from_json_schema(
        name=definition.name, description=definition.description, schema=schema
    )


def _merge_patch(target: dict[str, Any], patch: Any) -> None:
    """Lay a merge patch over an object, in place; None takes a member out (RFC 7396)."""
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict) and isinstance(target.get(name), dict):
            _merge_patch(target[name], value)
        else:
            target[name] = value


def _is_found(found: DefinitionFinding, definition: ToolDefinition) -> bool:
    return any((one.code, one.path) == (found.code, found.path) for one in definition_findings(definition))
