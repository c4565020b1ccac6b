"""Advice on a stored tool definition: the lint's findings, with the calls that each may explain.

Each says how many calls it may explain, where that can be told by the parameter.
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
    """Calls with one finding of the parser at one parameter, such as `filters[].name`; "" is the whole."""

    parameter: str
    code: str
    severity: str
    calls: int


@dataclass(frozen=True, slots=True)
class Advice:
    """One finding about a definition.

    `edit` is a JSON merge patch for what stands at `place`, or a sentence where only a person can know
    (`patch` says which). `explained`: what calls got wrong at that parameter; a call with two findings is
    in both, so the numbers do not add up.
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
        """The calls that failed, or had to be guessed at, where the finding is; at least so many."""
        return max((one.calls for one in self.explained), default=0)


class NotReadableError(Exception):
    """A stored definition is none that the lint can read; the message says why."""


def find_advice(
    tool: str, description: str | None, definition: str | None, culprits: Iterable[Culprit]
) -> list[Advice]:
    """The findings, those that explain most calls first, then the worst. Raises NotReadableError."""
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
