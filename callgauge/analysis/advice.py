"""Gives advice on a stored tool definition: lint findings, and the tool calls whose errors each finding may
explain.

The number of calls is known only for findings about a single parameter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from lenient import DefinitionFinding, ToolDefinition, ToolDefinitionError, definition_findings
from lenient.lint import DEFINITION_CODES

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Culprit:
    """The number of tool calls with one diagnostic code at one parameter, such as `filters[].name`.

    An empty parameter name stands for all arguments together.
    """

    parameter: str
    code: str
    severity: str
    calls: int


@dataclass(frozen=True, slots=True)
class Advice:
    """One lint finding about a tool definition, with a suggested edit.

    If `patch` is True, `edit` is a JSON merge patch for the value at the path `place`. Otherwise `edit` is a
    sentence, because only a person can decide on the edit. `explained` counts the diagnostics at the
    finding's parameter. A call with two diagnostics counts twice.
    """

    code: str
    severity: str
    place: str | None
    summary: str
    why: str
    edit: str
    patch: bool
    explained: tuple[Culprit, ...] = field(default=())

    @property
    def calls(self) -> int:
        """A lower bound for the number of calls with an error or a warning at the finding's parameter."""
        return max((culprit.calls for culprit in self.explained), default=0)


class NotReadableError(Exception):
    """Raised when the lint cannot read a stored definition. The message says why."""


def find_advice(
    tool: str, description: str | None, definition: str | None, culprits: Iterable[Culprit]
) -> list[Advice]:
    """Return the lint findings about a definition.

    Findings that explain most calls come first, then severe findings. `definition` is the parameters' JSON
    Schema as JSON text. Raises NotReadableError when the lint cannot read the definition.
    """
    try:
        schema = json.loads(definition or "null")
        subject = ToolDefinition.from_json_schema(name=tool, description=description or "", schema=schema)
    except (ValueError, RecursionError, ToolDefinitionError) as refused:
        raise NotReadableError(str(refused) or "it is nested too deep") from refused
    guilty = [culprit for culprit in culprits if culprit.severity != "note"]
    advice = [_make_advice(finding, guilty) for finding in definition_findings(subject)]
    return sorted(advice, key=lambda suggestion: (-suggestion.calls, SEVERITIES.index(suggestion.severity)))


def _make_advice(finding: DefinitionFinding, guilty: Iterable[Culprit]) -> Advice:
    code = DEFINITION_CODES[finding.code]
    patch = not isinstance(finding.suggested, str)
    summary = code.summary + (f" ({finding.detail})" if finding.detail is not None else "")
    explained: tuple[Culprit, ...] = ()
    # errors in the arguments as a whole have many causes, so they are not counted
    if finding.path not in (None, "$"):
        parameter = str(finding.path).removeprefix("$").removeprefix(".")
        explained = tuple(culprit for culprit in guilty if culprit.parameter == parameter)
    return Advice(
        finding.code,
        str(finding.severity),
        finding.path,
        summary,
        code.why,
        json.dumps(finding.suggested, ensure_ascii=False) if patch else str(finding.suggested),
        patch,
        explained,
    )
