"""Lint of tool definitions: finds problems that cause wrong tool calls, and suggests a fix for each
problem.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from lenient.definitions.json_schema.nodes import normalise_name
from lenient.definitions.json_schema.schema_walk import render_place, walk_places
from lenient.definitions.json_schema.value_kinds import type_names
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.diagnostics.codes import Severity
from lenient.lint.definition_codes import DEFINITION_CODES, DefinitionCode, DefinitionFinding, LintFinding
from lenient.lint.rules import MAX_DESCRIPTION, check_description, check_schema, clean_name
from lenient.regex import compile_regex

__all__ = ["DEFINITION_CODES", "DefinitionCode", "DefinitionFinding", "definition_findings"]

_TOOL_NAME = compile_regex(r"[a-zA-Z0-9_-]{1,64}")
_MAX_PARAMETERS = 20
_MAX_FINDINGS = 1_000


def definition_findings(subject: ToolDefinition | ToolCatalog) -> tuple[DefinitionFinding, ...]:
    """Return the findings about a tool or a catalog. Return at most 1,000 findings for each tool's schema.

    Findings about several tools come first, then the findings about each tool in the order of its definition.
    """
    if isinstance(subject, ToolDefinition):
        return tuple(_check_tool(subject))
    between = list(_check_catalog(subject))
    return (*between, *(finding for tool in subject for finding in _check_tool(tool)))


def _check_catalog(catalog: ToolCatalog) -> Iterator[DefinitionFinding]:
    for name in catalog.repeated:
        yield _complete_finding(LintFinding("tool_name_repeated"), name, None)
    names: dict[str, str] = {}
    for tool in catalog:
        other = names.setdefault(normalise_name(tool.name), tool.name)
        if other != tool.name:
            yield _complete_finding(LintFinding("tool_names_alike", other[:100]), tool.name, None)


def _check_tool(tool: ToolDefinition) -> Iterator[DefinitionFinding]:
    for finding in _check_tool_itself(tool):
        yield _complete_finding(finding, tool.name, None)
    schema = tool.to_json_schema()
    if type_names(schema) not in ([], ["object"]):
        yield _complete_finding(
            LintFinding("arguments_not_object", str(schema["type"])[:100]), tool.name, "$"
        )
        return
    reported: set[tuple[str, str, str | None]] = set()
    for place in walk_places(schema):
        path = render_place(place.path)
        checks = check_schema(place, schema), check_description(place) if place.path is not None else ()
        for finding in (finding for check in checks for finding in check):
            key = (finding.code, path, finding.detail)
            if key not in reported and len(reported) < _MAX_FINDINGS:
                reported.add(key)
                yield _complete_finding(finding, tool.name, path)


def _check_tool_itself(tool: ToolDefinition) -> Iterator[LintFinding]:
    if not _TOOL_NAME.fullmatch(tool.name):
        yield LintFinding("tool_name_refused", tool.name[:100], {"name": clean_name(tool.name)})
    if not tool.description.strip():
        yield LintFinding("tool_description_missing")
    elif len(tool.description) > MAX_DESCRIPTION:
        yield LintFinding("description_too_long", f"{len(tool.description):,} characters")
    if len(tool.parameters) > _MAX_PARAMETERS:
        yield LintFinding("too_many_parameters", f"{len(tool.parameters)}")


def _complete_finding(finding: LintFinding, tool: str, path: str | None) -> DefinitionFinding:
    advice = DEFINITION_CODES[finding.code].advice
    suggested = finding.suggested if finding.suggested is not None else advice
    return DefinitionFinding(finding.code, tool, path, finding.detail, suggested)


# --- suggested edits -----------------------------------------------------------------------------------

_MOST = 100  # maximum number of edits per definition


def apply_edits(definition: ToolDefinition) -> tuple[ToolDefinition, tuple[DefinitionFinding, ...]]:
    """Return the definition with the suggested edits, and the findings that the edits fix.

    Only warnings and errors whose suggestion is a JSON merge patch are applied. The name of the tool stays.
    An edit that does not fix its finding, for example inside a shared `$ref`, is left out.
    """
    made: list[DefinitionFinding] = []
    for finding in definition_findings(definition)[:_MOST]:
        edited = _apply_edit(definition, finding)
        if edited is not None and not _is_found(finding, edited):
            definition = edited
            made.append(finding)
    return definition, tuple(made)


def _apply_edit(definition: ToolDefinition, finding: DefinitionFinding) -> ToolDefinition | None:
    if finding.path is None or isinstance(finding.suggested, str) or finding.severity is Severity.NOTE:
        return None
    schema: dict[str, Any] = copy.deepcopy(definition.to_json_schema())
    for place in walk_places(schema):
        if render_place(place.path) == finding.path and isinstance(place.own, dict):
            _merge_patch(place.own, finding.suggested)
    return ToolDefinition.from_json_schema(
        name=definition.name, description=definition.description, schema=schema
    )


def _merge_patch(target: dict[str, Any], patch: Any) -> None:
    """Apply a JSON merge patch to an object, in place. The value None removes a member (RFC 7396)."""
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict) and isinstance(target.get(name), dict):
            _merge_patch(target[name], value)
        else:
            target[name] = value


def _is_found(finding: DefinitionFinding, definition: ToolDefinition) -> bool:
    return any(
        (other.code, other.path) == (finding.code, finding.path) for other in definition_findings(definition)
    )
