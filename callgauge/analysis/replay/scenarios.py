"""Describes the changes that a replay makes: other tool definitions, and rules that say which findings reject
a call.

A *refused* code counts as an error, and a *silent* code is ignored. A call without arguments is rejected
under all rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from lenient import (
    CODES,
    Diagnostic,
    Outcome,
    Policy,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    outcome_of,
)

OWN, NEWEST, STORED = "own", "newest", "stored"
BEFORE = {
    OWN: "Each call's own definition",
    NEWEST: "The newest definition",
    STORED: "The stored results",
}
"""What the new results are compared with."""

# No policy rejects a call because its definition is unknown.
_NOT_COUNTED = frozenset({"tool_definition_missing"})
_LONGEST = 1_000_000  # maximum number of characters of a definition


class ScenarioError(ValueError):
    """Raised when the settings cannot be replayed. The message is one sentence for the user."""


Definitions = Mapping[str, ToolDefinition]
"""Tools by name."""


@dataclass(frozen=True, slots=True)
class ReplayRules:
    """The rules that say which findings reject a call: a policy, codes that count as errors, and codes to
    ignore.
    """

    policy: Policy = Policy.LENIENT
    refused: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()

    def drop_silent(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the findings whose code is not silent."""
        return tuple(diagnostic for diagnostic in findings if diagnostic.code not in self.silent)

    def outcome(self, request: ToolCallRequest) -> Outcome:
        """Return the outcome of a parsed call under the rules of the scenario."""
        if request.arguments is None:
            return Outcome.FAILED
        findings = self.drop_silent(request.diagnostics)
        codes = {diagnostic.code for diagnostic in findings}
        judged = [diagnostic for diagnostic in findings if diagnostic.code not in _NOT_COUNTED]
        if codes & self.refused or not self.policy.accepts(judged):
            return Outcome.FAILED
        return outcome_of(codes, defined=request.tool is not None)

    @property
    def is_plain(self) -> bool:
        return self == ReplayRules()


@dataclass(frozen=True, slots=True)
class Scenario:
    """The settings of one replay.

    `before` is a key of BEFORE. `newest` and `edited` are definitions as JSON text, or None. `refused` and
    `silent` hold diagnostic codes. Raises ScenarioError for unknown or contradicting settings.
    """

    before: str = OWN
    newest: str | None = None
    edited: str | None = None
    policy: str = Policy.LENIENT.value
    refused: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.before not in BEFORE:
            raise ScenarioError(f"There is nothing to compare with that is called {self.before!r}.")
        unknown = sorted({*self.refused, *self.silent} - CODES.keys())
        if unknown:
            raise ScenarioError(f"Unknown code {unknown[0]!r}.")
        both = sorted({*self.refused} & {*self.silent})
        if both:
            raise ScenarioError(f"{both[0]} cannot both count as an error and be silent.")

    @property
    def rules(self) -> ReplayRules:
        return ReplayRules(Policy(self.policy), frozenset(self.refused), frozenset(self.silent))

    @property
    def changes_nothing(self) -> bool:
        return self.edited is None and self.rules.is_plain and self.before != STORED

    def definitions(self) -> tuple[Definitions, Definitions]:
        """Return the definitions that replace the definitions of the calls, as a pair (before, after).

        Raises ScenarioError.
        """
        base = parse_definitions(self.newest) if self.newest and self.before == NEWEST else {}
        return base, base if self.edited is None else {**base, **parse_definitions(self.edited)}


def parse_definitions(text: str) -> Definitions:
    """Return the tools that a JSON text defines, in any format that the parser `lenient` reads.

    Raises ScenarioError.
    """
    if len(text) > _LONGEST:
        raise ScenarioError(f"The definition has {len(text):,} characters; {_LONGEST:,} are read at most.")
    try:
        # The text is decoded here, because the catalog would read text that is not JSON as a file path.
        decoded = orjson.loads(text)
        tools = ToolCatalog.load(decoded) if isinstance(decoded, dict | list) else ToolCatalog()
    except (ValueError, ToolDefinitionError) as unreadable:
        raise ScenarioError(f"The tool definition cannot be read: {unreadable}") from None
    if not len(tools):
        raise ScenarioError("The text defines no tool: it must be a JSON object or a list of them.")
    return {tool.name: tool for tool in tools}


def definition_text(tool: str, description: str | None, definition: str) -> str:
    """Return a stored definition as indented JSON with name, description and schema, for an editor."""
    stored = ToolDefinition.from_json_schema(
        name=tool, schema=json.loads(definition), description=description or ""
    )
    return json.dumps(stored.to_anthropic(defaults=True), indent=2, ensure_ascii=False)
