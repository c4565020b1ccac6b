"""Findings about located values: each is put where its value stands in the raw text; what is refused is kept.

Knows nothing of definitions.
"""

from __future__ import annotations

from typing import Any, Final

from lenient.diagnostics import Diagnostic, Findings, Path, render_path, shorten
from lenient.located import Located
from lenient.nodes import Node

REJECTED: Final = object()
"""What stands in place of a value that does not fit."""


class Reporter:
    """What one run found, and by path the values that it refused. Whoever inherits keeps both."""

    __slots__ = ()
    findings: Findings
    rejected: dict[str, Any]

    def remark(self, node: Node, located: Located, path: Path) -> None:
        for code, detail in node.remarks:
            self.report(code, located, path, detail=detail)

    def reject(
        self, code: str, located: Located, path: Path, detail: str | None = None, hint: str | None = None
    ) -> Any:
        self.report(code, located, path, detail=detail, hint=hint)
        self.rejected[render_path(path)] = located.value
        return REJECTED

    def report(
        self,
        code: str,
        located: Located,
        path: Path,
        *,
        became: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        found: str | bool = True,
    ) -> None:
        """`found` True = the value's text, False = nothing was found."""
        text = located.snippet() if found is True else found or None
        start, end = located.piece.span(located.mark.start, located.mark.end)
        shown, became = text and shorten(text), became and shorten(became)
        self.findings.add(Diagnostic(code, render_path(path), start, end, shown, became, detail, hint))
