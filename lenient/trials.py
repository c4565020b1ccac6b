"""What one branch makes of a value, and what the text of a value holds when it is decoded again: trial runs,
kept apart from the run that asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lenient.coerce import REFUSED
from lenient.diagnostics import Diagnostic, Findings, Path
from lenient.located import Located
from lenient.nodes import Node

DecodeHeld = Callable[[Located, Node, Path, Findings], Located | None]


@dataclass(frozen=True, slots=True)
class Trial:
    """The value as one node wants it, and what was found on the way.

    The node and the place it was tried at are kept, so that their ids are not given to others meanwhile.
    """

    value: Any
    findings: list[Diagnostic]
    rejected: dict[str, Any]
    node: Node
    located: Located

    @property
    def score(self) -> tuple[int, int, int]:
        """Errors, warnings, notes."""
        counts = [0, 0, 0]
        for finding in self.findings:
            counts[2 - finding.severity.rank] += 1
        return counts[0], counts[1], counts[2]


class Held:
    """The source of one value: its text, and what that text holds when it is decoded again."""

    def __init__(self, decode: DecodeHeld, node: Node, located: Located, path: Path) -> None:
        self.decode, self.node, self.located, self.path = decode, node, located, path
        self.findings = Findings()
        self.inner: Located | None = None

    def json_text(self) -> str:
        """The value's JSON text as it was sent."""
        return self.located.text()

    def decoded(self, wanted: type) -> Any:
        """The value of that type which the text holds, or REFUSED."""
        findings = Findings()
        inner = self.decode(self.located, self.node, self.path, findings)
        if inner is None or not isinstance(inner.value, wanted):
            return REFUSED
        self.inner, self.findings = inner, findings
        return inner.value
