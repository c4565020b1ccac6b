"""The result of reading one call's arguments: the raw text, the typed arguments, and what was found on the
way.

Strictness is a threshold over the same run, never another run. Knows nothing of how arguments are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from lenient.codes import CODES, Severity, Stage
from lenient.defaults import defaults_beside
from lenient.diagnostics import Diagnostic, joined
from lenient.json_values import compact
from lenient.tools import ToolDefinition


class Outcome(StrEnum):
    """What became of a call's arguments."""

    CLEAN = "clean"
    COERCED = "coerced"
    REPAIRED = "repaired"
    FAILED = "failed"
    UNMEASURED = "unmeasured"


_TEXT_STAGES = frozenset({Stage.UNWRAP, Stage.REPAIR})


def outcome_of(codes: Iterable[str], *, defined: bool) -> Outcome:
    """What became of arguments in which just these codes were found. `defined`: held against a definition."""
    rows = [CODES[code] for code in codes]
    stages = {row.stage for row in rows}
    if any(row.severity is Severity.ERROR for row in rows):
        return Outcome.FAILED
    if not stages.isdisjoint(_TEXT_STAGES):
        return Outcome.REPAIRED
    if Stage.COERCE in stages:
        return Outcome.COERCED
    return Outcome.CLEAN if defined else Outcome.UNMEASURED


class Policy(StrEnum):
    """The severity up to which diagnostics are accepted."""

    STRICT = "strict"  # none
    SAFE = "safe"  # notes
    LENIENT = "lenient"  # notes and warnings

    def accepts(self, diagnostics: Iterable[Diagnostic]) -> bool:
        """True when no diagnostic is beyond the threshold."""
        highest = _HIGHEST[self]
        return all(diagnostic.severity.rank <= highest for diagnostic in diagnostics)


_HIGHEST = {Policy.STRICT: -1, Policy.SAFE: Severity.NOTE.rank, Policy.LENIENT: Severity.WARNING.rank}
LENIENT = Policy.LENIENT
NOTHING_REJECTED: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Step:
    """One stage that changed something: the text before and after it."""

    stage: Stage
    title: str
    before: str
    after: str


class ToolCallRequest(NamedTuple):  # a frozen dataclass of this size takes ten times as long to make
    """One call's arguments as read.

    `raw_arguments` is what came in, unchanged. `arguments` holds the values that fit the definition, None
    when there is no object. `rejected` maps the path of each value that could not be converted to what was
    sent. `trace` keeps what `steps` shows: the inner text, the decoded value.
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
    trace: tuple[tuple[Stage, str, str, Any], ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle` and `copy`, which cannot take the read-only mapping of nothing rejected."""
        return ToolCallRequest, (*self[:8], dict(self.rejected), self.trace)

    @property
    def parse_error(self) -> str | None:
        """What the policy does not accept, as `code:detail` joined by `; `. None when all is accepted."""
        return joined(self._beyond(refused=True))

    @property
    def parse_warning(self) -> str | None:
        """The warnings and notes that the policy accepts, as `code:detail` joined by `; `."""
        return joined(self._beyond(refused=False))

    def _beyond(self, *, refused: bool) -> Iterator[Diagnostic]:
        highest = _HIGHEST[self.policy]
        return (found for found in self.diagnostics if (found.severity.rank > highest) is refused)

    @property
    def worst_severity(self) -> Severity | None:
        """The severity of the gravest diagnostic."""
        return max((found.severity for found in self.diagnostics), key=lambda s: s.rank, default=None)

    @property
    def lossy(self) -> bool:
        """True when meaning was lost or invented: no tool should run on these arguments unasked."""
        return any(found.lossy for found in self.diagnostics)

    def accepted_under(self, policy: Policy) -> bool:
        """May a tool with this policy run on the arguments? Ask `lossy` as well."""
        return self.arguments is not None and Policy(policy).accepts(self.diagnostics)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The stages that changed something, in order, each with the text before and after it."""
        return tuple(
            Step(stage, title, before, after if isinstance(after, str) else compact(after))
            for stage, title, before, after in self.trace
        )

    def with_defaults(self) -> ToolCallRequest:
        """The same request with the declared defaults of absent parameters put in, each with a note.

        A default that its own declaration refuses is left out, with a warning.
        """
        if self.arguments is None or self.tool is None:
            return self
        arguments, found = defaults_beside(self.tool, self.arguments, self.rejected)
        new = tuple(one for one in found if one not in self.diagnostics)
        return self._replace(arguments=arguments, diagnostics=self.diagnostics + new)
