"""A decoded value and the node of its definition → the value in the declared types, every change and misfit
reported.

Values that do not fit are left out of the result and kept in `rejected`. Recursion is bounded by the depth
that the decoder lets through. Knows nothing of text: a string that holds an object is decoded by whoever
made it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from lenient.codes import CODES, Severity
from lenient.coerce import REFUSALS, REFUSED, coerce, compact, is_absolute_uri
from lenient.diagnostics import Diagnostic, Findings, Path, TooManyFindingsError, render_path, shorten
from lenient.located import Located
from lenient.nodes import Choices, Node, same_json, spelling
from lenient.source import Piece
from lenient.tools import ValueKind

REJECTED: Final = object()
"""What stands in place of a value that does not fit."""

_MAX_SUGGESTED = 64
_MAX_DECLARED_DEPTH = 64
"""Levels that a recursive definition is followed; each takes a few Python frames."""


DecodeHeld = Callable[[Located, Node, Path, Findings], Located | None]


@dataclass(slots=True)
class Conformer:
    """One run over one value. `decode_held` reads the JSON text that a string holds, None when it holds
    none.
    """

    decode_held: DecodeHeld
    findings: Findings = field(default_factory=Findings)
    rejected: dict[str, Any] = field(default_factory=dict)
    tried: dict[tuple[int, str], _Attempt] = field(default_factory=dict)
    attempts: int = 2_000
    depth: int = 0

    def arguments(self, root: Node, located: Located) -> dict[str, Any]:
        """The whole arguments object: the parameters that fit."""
        for code, detail in root.remarks:
            self.report(code, located, None, detail=detail)
        node = root
        if root.branches:
            node = min(root.branches, key=lambda branch: self.attempt(branch, located, None).score)
            return self.arguments(node, located) if self.descend() else {}
        result, _ = self.members(node, located, None)
        for rule in node.rules:
            if not rule.holds(result):
                self.report(rule.code, located, None, detail=rule.detail)
        return result

    def descend(self) -> bool:
        """Count one level of branches within branches; False when there are too many."""
        self.depth += 1
        return self.depth < _MAX_DECLARED_DEPTH

    def conform(self, node: Node, located: Located, path: Path) -> Any:
        """The value as the node wants it, or REJECTED."""
        if self.depth >= _MAX_DECLARED_DEPTH:
            return self.reject("nested_too_deep", located, path)
        self.depth += 1
        try:
            return self.conform_here(node, located, path)
        finally:
            self.depth -= 1

    def conform_here(self, node: Node, located: Located, path: Path) -> Any:
        if node.never:
            return self.reject("value_not_allowed", located, path)
        for code, detail in node.remarks:
            self.report(code, located, path, detail=detail)
        if located.value is None and (node.nullable or self.is_listed(node.choices, None)):
            return None
        if node.branches:
            return self.best_branch(node, located, path)
        if node.kind is None:
            return self.checked(node, self.anything(located, path), located, path)
        if located.value is None:
            return self.refused(node, located, path)
        converted = self.converted(node, located, path)
        return converted if converted is REJECTED else self.checked(node, converted, located, path)

    # --- kinds ---------------------------------------------------------------------------------------

    def anything(self, located: Located, path: Path) -> Any:
        """A place without a declared type takes any value that JSON can carry."""
        if _is_finite(located.value):
            return located.value
        return self.reject("unsupported_number_literal", located, path)

    def converted(self, node: Node, located: Located, path: Path) -> Any:
        kind = node.kind or ValueKind.STRING
        if self.is_listed(node.choices, located.value):
            return located.value
        source = _Held(self, node, located, path)
        value, code = coerce(kind, located.value, source)
        if value is REFUSED:
            return self.refused(node, located, path)
        if code is not None:
            became = (
                None
                if isinstance(value, (dict, list))
                else str(value)
                if kind is ValueKind.TIMESTAMP
                else compact(value)
            )
            self.report(code, located, path, became=became)
        self.findings.extend(source.findings.items)
        if kind is ValueKind.JSON_OBJECT:
            return self.fields(node, source.inner or located, path)
        if kind is ValueKind.JSON_ARRAY:
            if code == "scalar_coerced_to_list":
                return self.items(node, [located], path)
            held = source.inner or located
            return self.items(node, [held.child(index) for index in range(len(held.value))], path)
        return value

    def refused(self, node: Node, located: Located, path: Path) -> Any:
        return self.reject(REFUSALS[node.kind or ValueKind.STRING], located, path)

    def items(self, node: Node, items: list[Located], path: Path) -> Any:
        """All items, or REJECTED when one does not fit: leaving it out would move the others."""
        result = []
        for index, item in enumerate(items):
            inner = node.prefix[index] if index < len(node.prefix) else node.items
            place = (path, index)
            result.append(self.anything(item, place) if inner is None else self.conform(inner, item, place))
        return REJECTED if any(item is REJECTED for item in result) else result

    # --- objects -------------------------------------------------------------------------------------

    def fields(self, node: Node, located: Located, path: Path) -> Any:
        """The object with its fields conformed, or REJECTED when it lacks one or one does not fit."""
        result, whole = self.members(node, located, path)
        return result if whole else REJECTED

    def members(self, node: Node, located: Located, path: Path) -> tuple[dict[str, Any], bool]:
        """The fields that fit, and whether nothing is missing or rejected."""
        result: dict[str, Any] = {}
        sent: set[str] = set()
        for key in located.value:
            name = self.declared_name(node, key, located, path)
            sent.add(name)
            value = self.member(node, name, located.child(key), (path, name))
            if value is not _ABSENT:
                result[name] = value
        missing = [name for name in node.fields if name in node.required and name not in sent]
        for name in missing:
            self.report("missing_required", located, (path, name), detail=name, found=False)
        whole = not missing and all(value is not REJECTED for value in result.values())
        return {name: value for name, value in result.items() if value is not REJECTED}, whole

    def declared_name(self, node: Node, key: str, located: Located, path: Path) -> str:
        """The declared name that a key stands for; the key itself when there is none."""
        if key in node.fields or not node.fields:
            return key
        name = node.spellings.get(spelling(key)) if len(key) <= _MAX_SUGGESTED else None
        if (
            name is None
            or name in located.value
            or any(node.spellings.get(spelling(other)) == name for other in _keys_before(located.value, key))
        ):
            return key
        self.report("parameter_name_normalised", located.child(key), (path, name), became=name, found=key)
        return name

    def member(self, node: Node, name: str, located: Located, path: Path) -> Any:
        inner = node.fields.get(name)
        if inner is None:
            return self.undeclared(node, name, located, path)
        if located.value is not None or inner.nullable or self.takes_null(inner):
            return self.conform(inner, located, path)
        if name in node.required:
            return self.reject("null_not_allowed", located, path, detail=name)
        self.report("optional_null_dropped", located, path)
        return _ABSENT

    def takes_null(self, node: Node) -> bool:
        if node.branches:
            return any(
                branch.nullable or self.takes_null(branch) for branch in node.branches if branch is not node
            )
        return (node.kind is None and not node.never and node.choices is None) or self.is_listed(
            node.choices, None
        )

    def undeclared(self, node: Node, name: str, located: Located, path: Path) -> Any:
        if isinstance(node.extra, Node):
            return self.conform(node.extra, located, path)
        if node.extra is None:
            near = (
                difflib.get_close_matches(name, list(node.fields)[:200], 1, 0.75)
                if len(name) <= _MAX_SUGGESTED
                else []
            )
            hint = f"Did you mean {near[0]!r}?" if near else None
            self.report("unknown_parameter", located, path, detail=shorten(name), hint=hint)
        return self.anything(located, path)

    # --- branches ------------------------------------------------------------------------------------

    def best_branch(self, node: Node, located: Located, path: Path) -> Any:
        """The branch with the fewest and mildest findings; of equals, the first."""
        best: _Attempt | None = None
        for branch in node.branches:
            attempt = self.attempt(branch, located, path)
            if best is None or attempt.score < best.score:
                best = attempt
            if best.score == (0, 0, 0):
                break
        if best is None:
            return self.anything(located, path)
        self.findings.extend(best.findings)
        self.rejected.update(best.rejected)
        return best.value

    def attempt(self, branch: Node, located: Located, path: Path) -> _Attempt:
        """What a branch makes of the value; tried once for each place, so that nested branches stay
        linear.
        """
        if len(self.tried) >= self.attempts:
            raise TooManyFindingsError
        key = (id(branch), f"{id(located.piece)}:{located.mark.start}:{render_path(path)}")
        if key not in self.tried:
            run = Conformer(self.decode_held, tried=self.tried, attempts=self.attempts, depth=self.depth)
            value = run.conform(branch, located, path)
            self.tried[key] = _Attempt(value, run.findings.items, run.rejected, located.piece)
        return self.tried[key]

    # --- checks and reports --------------------------------------------------------------------------

    def checked(self, node: Node, value: Any, located: Located, path: Path) -> Any:
        """The value when every assertion of the node holds, else REJECTED."""
        if value is REJECTED:
            return value
        if node.choices is not None and not node.choices.holds(value):
            value = self.chosen(node.choices, value, located, path)
        if value is REJECTED:
            return value
        refused = False
        for rule in node.rules:
            if not rule.holds(value):
                self.report(rule.code, located, path, detail=rule.detail)
                refused |= CODES[rule.code].severity is Severity.ERROR
        if node.pattern is not None and isinstance(value, str):
            refused |= not self.matches(node, value, located, path)
        if node.kind is ValueKind.URI and not is_absolute_uri(value):
            self.report("uri_not_absolute", located, path)
        if refused:
            self.rejected[render_path(path)] = located.value
            return REJECTED
        return value

    def chosen(self, choices: Choices, value: Any, located: Located, path: Path) -> Any:
        listed = choices.folded.get(value.strip().casefold()) if isinstance(value, str) else None
        if listed is None:
            shown = value if isinstance(value, str) else compact(value)
            return self.reject(choices.code, located, path, detail=shorten(shown))
        self.report("enum_case_normalised", located, path, became=listed)
        return listed

    def matches(self, node: Node, value: str, located: Located, path: Path) -> bool:
        pattern = node.pattern
        if pattern is None or not pattern.affordable(value):
            self.report("pattern_not_checked", located, path, detail=pattern.text[:100] if pattern else None)
            return True
        if pattern.regex.search(value):
            return True
        self.report("pattern_mismatch", located, path, detail=pattern.text[:100])
        return False

    def is_listed(self, choices: Choices | None, value: Any) -> bool:
        return choices is not None and any(same_json(value, allowed) for allowed in choices.allowed)

    def reject(self, code: str, located: Located, path: Path, detail: str | None = None) -> Any:
        self.report(code, located, path, detail=detail)
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


@dataclass(frozen=True, slots=True)
class _Attempt:
    value: Any
    findings: list[Diagnostic]
    rejected: dict[str, Any]
    piece: Piece  # kept, so that its id in the key of `tried` is not given to another

    @property
    def score(self) -> tuple[int, int, int]:
        """Errors, warnings, notes."""
        counts = [0, 0, 0]
        for finding in self.findings:
            counts[2 - finding.severity.rank] += 1
        return counts[0], counts[1], counts[2]


class _Held:
    """The source of one value: its text, and what that text holds when it is decoded again."""

    def __init__(self, run: Conformer, node: Node, located: Located, path: Path) -> None:
        self.run, self.node, self.located, self.path = run, node, located, path
        self.findings = Findings()
        self.inner: Located | None = None

    def json_text(self) -> str:
        return self.located.text()

    def decoded(self, wanted: type) -> Any:
        findings = Findings()
        inner = self.run.decode_held(self.located, self.node, self.path, findings)
        if inner is None or not isinstance(inner.value, wanted):
            return REFUSED
        self.inner, self.findings = inner, findings
        return inner.value


_ABSENT: Final = object()


def _keys_before(value: dict[str, Any], key: str) -> list[str]:
    """The keys of an object up to one of them, as many as a call can reasonably have."""
    keys = list(value)[:200]
    return keys[: keys.index(key)] if key in keys else keys


def _is_finite(value: Any) -> bool:
    """No NaN or infinity anywhere in the value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, (dict, list)):
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return True
