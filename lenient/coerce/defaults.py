"""Adds the declared defaults of absent parameters to the arguments.

A default is converted like a value that was sent, so the result fits the definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from lenient.coerce.compiled_tool import compile_tool
from lenient.coerce.validator import REJECTED, Validator
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import known_fields
from lenient.definitions.parameters import UNSET, ToolParameter
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics import (
    Diagnostic,
    Findings,
    TooManyFindingsError,
    UnreadableError,
    join_path,
    shorten,
)
from lenient.diagnostics.codes import Severity
from lenient.scan.scanner import scan_value
from lenient.scan.source_text import LocatedValue, SourceText
from lenient.unwrap.extraction import decode_nested


def apply_defaults(
    tool: ToolDefinition, arguments: Mapping[str, Any], rejected: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Return the arguments with the defaults of absent parameters, and one diagnostic for each default.

    `rejected` contains the rejected values; a parameter with a rejected value is not absent. A default of
    null is left out silently when the definition does not allow null.
    """
    filled = dict(arguments)
    diagnostics: list[Diagnostic] = []
    for parameter in tool.parameters:
        path = join_path("$", parameter.name)
        sent = parameter.name in arguments or any(_is_at_or_below(place, path) for place in rejected)
        if parameter.default is UNSET or sent:
            continue
        value, text = convert_default(tool, parameter), shorten(to_json_text(parameter.default))
        if value is not REJECTED:
            filled[parameter.name] = value
            diagnostics.append(Diagnostic("default_applied", path, became=text, detail=parameter.name))
        elif parameter.default is not None:
            diagnostics.append(Diagnostic("default_not_applied", path, found=text, detail=parameter.name))
    return filled, tuple(diagnostics)


def _is_at_or_below(place: str, path: str) -> bool:
    return place.startswith(path) and place[len(path) : len(path) + 1] in ("", ".", "[")


def convert_default(tool: ToolDefinition, parameter: ToolParameter) -> Any:
    """Return a copy of the default, converted to the declared type.

    Return REJECTED when the default does not fit.
    """
    node = known_fields(compile_tool(tool).root).get(parameter.name)
    if node is None:
        return deepcopy(parameter.default)
    piece, findings = SourceText(to_json_text(parameter.default)), Findings()
    try:
        read = scan_value(piece, 0, None, findings)
        validator = Validator(decode_nested, findings)
        value = validator.convert(
            node, LocatedValue(read.value, read.mark, piece, False), (None, parameter.name)
        )
    except (UnreadableError, TooManyFindingsError):
        return REJECTED
    refused = any(finding.severity is Severity.ERROR for finding in findings.items)
    return REJECTED if refused else value
