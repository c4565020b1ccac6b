"""A definition and the arguments read → the arguments with the declared defaults of absent parameters.

A default is read like a value that was sent, so that what comes out fits the definition. Knows nothing of
the text that the model sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from lenient.codes import Severity
from lenient.compiled import compiled
from lenient.conform import REJECTED, Conformer
from lenient.diagnostics import Diagnostic, Findings, TooManyFindingsError, join_path, shorten
from lenient.json_values import compact
from lenient.layers import decode_held
from lenient.located import Located
from lenient.nodes import known_fields
from lenient.parameters import UNSET, ToolParameter
from lenient.repair import UnreadableError, scan
from lenient.source import Piece
from lenient.tools import ToolDefinition


def defaults_beside(
    tool: ToolDefinition, arguments: Mapping[str, Any], rejected: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """The arguments with the defaults of what is absent from them, and one diagnostic for each default.

    A parameter of which something was refused is not absent. A default of null where null is not allowed
    says the same as leaving the parameter out.
    """
    filled = dict(arguments)
    found: list[Diagnostic] = []
    for parameter in tool.parameters:
        path = join_path("$", parameter.name)
        sent = parameter.name in arguments or any(_is_at_or_below(place, path) for place in rejected)
        if parameter.default is UNSET or sent:
            continue
        value, text = _read(tool, parameter), shorten(compact(parameter.default))
        if value is not REJECTED:
            filled[parameter.name] = value
            found.append(Diagnostic("default_applied", path, became=text, detail=parameter.name))
        elif parameter.default is not None:
            found.append(Diagnostic("default_not_applied", path, found=text, detail=parameter.name))
    return filled, tuple(found)


def _is_at_or_below(place: str, path: str) -> bool:
    return place.startswith(path) and place[len(path) : len(path) + 1] in ("", ".", "[")


def _read(tool: ToolDefinition, parameter: ToolParameter) -> Any:
    """The default in the declared type, apart from the definition's own; REJECTED when it does not fit."""
    node = known_fields(compiled(tool).root).get(parameter.name)
    if node is None:
        return deepcopy(parameter.default)
    piece, findings = Piece(compact(parameter.default)), Findings()
    try:
        read = scan(piece, 0, None, findings)
        conformer = Conformer(decode_held, findings)
        value = conformer.conform(node, Located(read.value, read.mark, piece, False), (None, parameter.name))
    except (UnreadableError, TooManyFindingsError):
        return REJECTED
    refused = any(finding.severity is Severity.ERROR for finding in findings.items)
    return REJECTED if refused else value
