"""Findings about a tool definition, as data; the property `message` makes the sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lenient.diagnostics.codes import Severity
from lenient.lint.definition_codes import DEFINITION_CODES


@dataclass(frozen=True, slots=True)
class DefinitionFinding:
    """One fault at one place of a tool definition.

    `path` is `$` for the arguments, `$.filters.year` below them, and None for the tool's own name and
    description. `suggested` is a JSON merge patch (RFC 7396) for the schema at the path, or for the tool
    where the path is None; or a sentence, where only a person can decide.
    """

    code: str
    tool: str
    path: str | None
    detail: str | None = None
    suggested: Mapping[str, Any] | str = ""

    @property
    def severity(self) -> Severity:
        return DEFINITION_CODES[self.code].severity

    @property
    def message(self) -> str:
        """An English sentence or two for a person."""
        where = self.tool if self.path is None else f"{self.tool} {self.path}"
        detail = f" ({self.detail})" if self.detail is not None else ""
        summary = DEFINITION_CODES[self.code].summary
        return f"{where}: {summary}{detail}"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of one check at one place; the caller adds the tool and the path."""

    code: str
    detail: str | None = None
    suggested: Mapping[str, Any] | str | None = None
