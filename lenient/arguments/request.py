"""The result of reading the arguments of one tool call.

A policy sets the highest accepted severity. A stricter policy can be applied later without reading the
arguments again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from lenient.coerce.defaults import apply_defaults
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics import Diagnostic, join_diagnostics
from lenient.diagnostics.codes import CODES, Severity, Stage


class Outcome(StrEnum):
    """The result of reading a tool call's arguments.

    CLEAN: the arguments are valid JSON that fits the definition. COERCED: values were converted. REPAIRED:
    the JSON was unwrapped or repaired. FAILED: an error was found. UNMEASURED: no repair was needed, but
    there was no definition to check the arguments against.
    """

    CLEAN = "clean"
    COERCED = "coerced"
    REPAIRED = "repaired"
    FAILED = "failed"
    UNMEASURED = "unmeasured"


CONVERTED, _CHANGED, _FAILED = 1, 2, 4
CHANGES: Mapping[str, int] = {
    code: (_FAILED if row.severity is Severity.ERROR else 0)
    | (_CHANGED if row.stage in (Stage.UNWRAP, Stage.REPAIR) else 0)
    | (CONVERTED if row.stage is Stage.COERCE else 0)
    for code, row in CODES.items()
}
"""What each diagnostic code means, as bit flags: a value was converted, JSON was changed, reading failed."""
OUTCOMES = (Outcome.CLEAN, Outcome.COERCED, *[Outcome.REPAIRED] * 2, *[Outcome.FAILED] * 4)
"""The outcome for the combined `CHANGES` flags of all codes. `outcome_of` adds UNMEASURED."""


def outcome_of(codes: Iterable[str], *, defined: bool) -> Outcome:
    """Return the outcome of a tool call from the codes of its diagnostics.

    `defined` is True when the arguments were checked against a definition.
    """
    changes = 0
    for code in codes:
        changes |= CHANGES[code]
    return OUTCOMES[changes] if changes or defined else Outcome.UNMEASURED


class Policy(StrEnum):
    """A policy sets the highest severity that diagnostics of accepted arguments may have."""

    STRICT = "strict"  # rejects a call with any diagnostic
    SAFE = "safe"  # accepts notes
    LENIENT = "lenient"  # accepts notes and warnings

    def accepts(self, diagnostics: Iterable[Diagnostic]) -> bool:
        """Return True when no diagnostic is more severe than this policy allows."""
        highest = _HIGHEST[self]
        return all(diagnostic.severity.rank <= highest for diagnostic in diagnostics)


_HIGHEST = {Policy.STRICT: -1, Policy.SAFE: Severity.NOTE.rank, Policy.LENIENT: Severity.WARNING.rank}
LENIENT = Policy.LENIENT
NOTHING_REJECTED: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Step:
    """One stage that changed the arguments, with the JSON or value before and after the stage."""

    stage: Stage
    title: str
    before: str
    after: str


class ToolCallRequest(NamedTuple):  # creating a frozen dataclass with as many fields takes ten times as long
    """The result of reading the arguments of one tool call.

    `raw_arguments` is the unchanged input. `arguments` contains the values that fit the definition, or is
    None when the input contains no object. `rejected` maps the path of a value in the arguments to the sent
    value, if it could not be converted. `trace` contains the data of `steps`: stage, title, and the content
    before and after the stage.
    """

    tool_name: str | None
    tool_call_id: str | None
    raw_arguments: str | bytes
    arguments: dict[str, Any] | None
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...] = ()
    policy: Policy = LENIENT
    tool: ToolDefinition | None = None
    rejected: Mapping[str, Any] = NOTHING_REJECTED
    trace: tuple[tuple[Stage, str, Any, Any], ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the data for pickle and copy.

        `rejected` becomes a dict because a read-only mapping cannot be pickled.
        """
        return ToolCallRequest, (*self[:8], dict(self.rejected), self.trace)

    @property
    def parse_error(self) -> str | None:
        """The diagnostics that the policy rejects, each as `code:detail`, joined by `; `.

        The property is None when the policy rejects no diagnostic.
        """
        return join_diagnostics(self._select_diagnostics(refused=True))

    @property
    def parse_warning(self) -> str | None:
        """The diagnostics that the policy accepts, each as `code:detail`, joined by `; `.

        The property is None when there are no such diagnostics.
        """
        return join_diagnostics(self._select_diagnostics(refused=False))

    def _select_diagnostics(self, *, refused: bool) -> Iterator[Diagnostic]:
        highest = _HIGHEST[self.policy]
        return (
            diagnostic for diagnostic in self.diagnostics if (diagnostic.severity.rank > highest) is refused
        )

    @property
    def worst_severity(self) -> Severity | None:
        """The severity of the most severe diagnostic. The property is None when there are no diagnostics."""
        return max(
            (diagnostic.severity for diagnostic in self.diagnostics), key=lambda s: s.rank, default=None
        )

    @property
    def lossy(self) -> bool:
        """True when a repair lost or invented meaning.

        Ask the user before you call a tool with these arguments.
        """
        return any(diagnostic.lossy for diagnostic in self.diagnostics)

    def accepted_under(self, policy: Policy) -> bool:
        """Return True when there are arguments and `policy` accepts all diagnostics.

        Also check `lossy` before you call the tool.
        """
        return self.arguments is not None and Policy(policy).accepts(self.diagnostics)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The stages that changed the arguments, in order, with the content before and after each stage."""
        return tuple(
            Step(stage, title, *(part if isinstance(part, str) else to_json_text(part) for part in parts))
            for stage, title, *parts in self.trace
        )

    def with_defaults(self) -> ToolCallRequest:
        """Return a copy of the request that contains the declared defaults of absent parameters.

        Each default is reported by a note. A default that does not fit its own declaration is left out and
        causes a warning.
        """
        if self.arguments is None or self.tool is None:
            return self
        arguments, diagnostics = apply_defaults(self.tool, self.arguments, self.rejected)
        new = tuple(diagnostic for diagnostic in diagnostics if diagnostic not in self.diagnostics)
        return self._replace(arguments=arguments, diagnostics=self.diagnostics + new)
