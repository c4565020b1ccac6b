"""Advice on a stored tool definition: the lint's findings, with the calls that each may explain.

The number of calls is known only for a finding about a single parameter.
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
    """The number of calls with one diagnostic code at one parameter, such as `filters[].name`.

    The parameter "" means the arguments as a whole.
    """

    parameter: str
    code: str
    severity: str
    calls: int


@dataclass(frozen=True, slots=True)
class Advice:
    """One lint finding about a tool definition, with a suggested edit.

    `edit` is a JSON merge patch for the value at the path `place` when `patch` is True; otherwise it is a
    sentence, because only a person can know the edit. `explained`: the diagnostics of calls at that
    parameter; a call with two diagnostics counts in both, so the numbers do not add up.
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
        """A lower bound of the calls with an error or a warning at the finding's parameter."""
        return max((one.calls for one in self.explained), default=0)


class NotReadableError(Exception):
    """Raised when the lint cannot read a stored definition; the message says why."""


def find_advice(
    tool: str, description: str | None, definition: str | None, culprits: Iterable[Culprit]
) -> list[Advice]:
    """Return the lint findings about a definition: those that explain most calls first, then the most severe.

    `definition`: the parameters' JSON Schema as text. Raises NotReadableError when the lint cannot read it.
    """
    try:
        schema = json.loads(definition or "null")
        subject = ToolDefinition.from_json_schema(name=tool, description=description or "", schema=schema)
    except (ValueError, RecursionError, ToolDefinitionError) as refused:
        raise NotReadableError(str(refused) or "it is nested too deep") from refused
    guilty = [one for one in culprits if one.severity != "note"]
    found = [_make_advice(one, guilty) for one in definition_findings(subject)]
    return sorted(found, key=lambda one: (-one.calls, SEVERITIES.index(one.severity)))


def _make_advice(found: DefinitionFinding, guilty: Iterable[Culprit]) -> Advice:
    known = DEFINITION_CODES[found.code]
    patch = not isinstance(found.suggested, str)
    summary = known.summary + (f" ({found.detail})" if found.detail is not None else "")
    explained: tuple[Culprit, ...] = ()
    if found.path not in (None, "$"):  # what is wrong with the arguments as a whole has many causes
        parameter = str(found.path).removeprefix("$").removeprefix(".")
        explained = tuple(one for one in guilty if one.parameter == parameter)
    return Advice(
        found.code,
        str(found.severity),
        found.path,
        summary,
        known.why,
        json.dumps(found.suggested, ensure_ascii=False) if patch else str(found.suggested),
        patch,
        explained,
    )
