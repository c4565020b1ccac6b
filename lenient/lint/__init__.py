"""A tool definition, or a catalog → what makes models fail on it, each with a place and something to do.

Knows nothing of calls: what a definition's calls really did is counted elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.lint.codes import DEFINITION_CODES, DefinitionCode
from lenient.lint.findings import DefinitionFinding, Found
from lenient.lint.prose import MAX_DESCRIPTION, prose_findings
from lenient.lint.shapes import cleaned, shape_findings
from lenient.nodes import spelling
from lenient.parameters import type_names
from lenient.places import place_path, places
from lenient.tools import ToolCatalog, ToolDefinition

__all__ = ["DEFINITION_CODES", "DefinitionCode", "DefinitionFinding", "definition_findings"]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_PARAMETERS = 20
_MAX_FINDINGS = 1_000


def definition_findings(subject: ToolDefinition | ToolCatalog) -> tuple[DefinitionFinding, ...]:
    """Everything found, tool by tool, in the order of the definition; at most 1,000 for each tool."""
    if isinstance(subject, ToolDefinition):
        return tuple(_of_tool(subject))
    between = list(_between(subject))
    return (*between, *(found for tool in subject for found in _of_tool(tool)))


def _between(catalog: ToolCatalog) -> Iterator[DefinitionFinding]:
    for name in catalog.repeated:
        yield _finding(Found("tool_name_repeated"), name, None)
    seen: dict[str, str] = {}
    for tool in catalog:
        other = seen.setdefault(spelling(tool.name), tool.name)
        if other != tool.name:
            yield _finding(Found("tool_names_alike", other[:100]), tool.name, None)


def _of_tool(tool: ToolDefinition) -> Iterator[DefinitionFinding]:
    for found in _own(tool):
        yield _finding(found, tool.name, None)
    schema = tool.to_json_schema()
    if type_names(schema) not in ([], ["object"]):
        yield _finding(Found("arguments_not_object", str(schema["type"])[:100]), tool.name, "$")
        return
    seen: set[tuple[str, str, str | None]] = set()
    for place in places(schema):
        path = place_path(place.path)
        checks = shape_findings(place, schema), prose_findings(place) if place.path is not None else ()
        for found in (found for check in checks for found in check):
            key = (found.code, path, found.detail)
            if key not in seen and len(seen) < _MAX_FINDINGS:
                seen.add(key)
                yield _finding(found, tool.name, path)


def _own(tool: ToolDefinition) -> Iterator[Found]:
    if not _TOOL_NAME.fullmatch(tool.name):
        yield Found("tool_name_refused", tool.name[:100], {"name": cleaned(tool.name)})
    if not tool.description.strip():
        yield Found("tool_description_missing")
    elif len(tool.description) > MAX_DESCRIPTION:
        yield Found("description_too_long", f"{len(tool.description):,} characters")
    if len(tool.parameters) > _MAX_PARAMETERS:
        yield Found("too_many_parameters", f"{len(tool.parameters)}")


def _finding(found: Found, tool: str, path: str | None) -> DefinitionFinding:
    advice = DEFINITION_CODES[found.code].advice
    suggested = found.suggested if found.suggested is not None else advice
    return DefinitionFinding(found.code, tool, path, found.detail, suggested)
