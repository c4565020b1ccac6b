"""A decoded value and the node of its definition → the value in the declared types, every change and misfit
reported.

Values that do not fit are left out of the result and kept in `rejected`. Recursion is bounded by the depth
that the decoder lets through. Knows nothing of text: a string that holds an object is decoded by whoever
made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from lenient.checks import is_listed, listed_spelling, misfits
from lenient.codes import CODES, Severity
from lenient.coerce import REFUSALS, REFUSED, coerce
from lenient.diagnostics import Findings, Path, TooManyFindingsError, render_path, shorten
from lenient.fits import Fits
from lenient.json_values import compact, is_finite
from lenient.located import Located
from lenient.names import declared_name, near_name
from lenient.nodes import Choices, Conditions, Node, inner_nodes
from lenient.parameters import ValueKind
from lenient.reporting import REJECTED, Reporter
from lenient.trials import DecodeHeld, Held, Trial
from lenient.unions import likely

__all__ = ["REJECTED", "Conformer"]

_ABSENT: Final = object()

_MAX_TAKEN = 200  # characters of the listed values in a message
_MAX_DECLARED_DEPTH = 64
"""Levels that a recursive definition is followed; each takes a few Python frames."""


@dataclass(slots=True)
class Conformer(Reporter):
    """One run over one value. `decode_held` reads the JSON text that a string holds, None when it holds
    none.
    """

    decode_held: DecodeHeld
    findings: Findings = field(default_factory=Findings)
    rejected: dict[str, Any] = field(default_factory=dict)
    tried: dict[tuple[int, str], Trial] = field(default_factory=dict)
    fits: Fits = field(default_factory=Fits)
    attempts: int = 2_000
    depth: int = 0

    def arguments(self, root: Node, located: Located) -> dict[str, Any]:
        """The whole arguments object: the parameters that fit."""
        return self.whole(root, located)[0]

    def whole(self, node: Node, located: Located) -> tuple[dict[str, Any], bool]:
        """The parameters that fit, and whether nothing is missing or refused."""
        self.depth += 1
        if self.depth >= _MAX_DECLARED_DEPTH:
            return {}, False
        if node.demands is not None and node.demands.conditions is not None:
            return self.whole(self.chosen(node.demands.conditions, located, None), located)
        if node.never or node.kind not in (None, ValueKind.JSON_OBJECT):
            self.reject("value_not_allowed", located, None)
            return {}, False
        self.remark(node, located, None)
        if node.branches:
            best = min(likely(node, located.value), key=lambda one: self.attempt(one, located, None).score)
            result, fit = self.whole(best, located)
        else:
            result, fit = self.members(node, located, None)
            fit = self.checked(node, result, located, None) is not REJECTED and fit
        return result, fit and self.demanded(node, result, located, None) is not REJECTED

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
        if node.demands is not None and node.demands.conditions is not None:
            return self.conform(self.chosen(node.demands.conditions, located, path), located, path)
        if node.never:
            return self.reject("value_not_allowed", located, path)
        self.remark(node, located, path)
        return self.demanded(node, self.shaped(node, located, path), located, path)

    def shaped(self, node: Node, located: Located, path: Path) -> Any:
        """The value in the kind that is wanted, its assertions checked."""
        if located.value is None and (node.nullable or is_listed(node.choices, None)):
            return None
        if node.branches:
            return self.best_branch(node, located, path)
        if node.kind is None:
            return self.checked(node, self.untyped(node, located, path), located, path)
        if located.value is None:
            refused = node.typed and self.refused(node, located, path)
            return refused or self.checked(node, None, located, path)
        return self.checked(node, self.converted(node, located, path), located, path)

    # --- kinds ---------------------------------------------------------------------------------------

    def untyped(self, node: Node, located: Located, path: Path) -> Any:
        """A value where no type is declared: its fields or items may still be."""
        has_fields = node.fields or node.demands or node.closed or isinstance(node.extra, Node)
        if isinstance(located.value, dict) and has_fields:
            return self.fields(node, located, path)
        if isinstance(located.value, list) and (node.prefix or node.items is not None):
            return self.items(node, _items_of(located), path)
        return self.anything(located, path)

    def anything(self, located: Located, path: Path) -> Any:
        """A place without a declared type takes any value that JSON can carry."""
        if is_finite(located.value):
            return located.value
        return self.reject("unsupported_number_literal", located, path)

    def converted(self, node: Node, located: Located, path: Path) -> Any:
        kind = node.kind or ValueKind.STRING
        source = Held(self.decode_held, node, located, path)
        value, code = coerce(kind, located.value, source)
        if not node.typed and (value is REFUSED or code == "scalar_coerced_to_list"):
            return self.untyped(node, located, path)  # the definition refuses no other type
        if is_listed(node.choices, located.value) and not is_listed(node.choices, value):
            return located.value  # the definition lists it, whatever its type says
        if value is REFUSED:
            return self.refused(node, located, path)
        if code is not None:
            self.report(code, located, path, became=_shown(value, kind))
        self.findings.extend(source.findings.items)
        if kind is ValueKind.JSON_OBJECT:
            return self.fields(node, source.inner or located, path)
        if kind is ValueKind.JSON_ARRAY:
            items = [located] if code == "scalar_coerced_to_list" else _items_of(source.inner or located)
            return self.items(node, items, path)
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
            name = declared_name(node, key, located.value)
            if name != key:
                self.report(
                    "parameter_name_normalised", located.child(key), (path, name), became=name, found=key
                )
            sent.add(name)
            value = self.member(node, name, located.child(key), (path, name))
            if value is not _ABSENT:
                result[name] = value
        missing = [name for name in node.fields if name in node.required and name not in sent]
        for name in missing:
            self.report("missing_required", located, (path, name), detail=name, found=False)
        whole = not missing and all(value is not REJECTED for value in result.values())
        return {name: value for name, value in result.items() if value is not REJECTED}, whole

    def member(self, node: Node, name: str, located: Located, path: Path) -> Any:
        inner = inner_nodes(node, name)
        if node.demands is not None:
            for pattern, _ in node.demands.patterns:
                if not pattern.affordable(name):
                    self.report("pattern_not_checked", located, path, detail=pattern.text[:100])
        if not inner:
            return self.undeclared(node, name, located, path)
        if located.value is None and self.fits(inner[0], None) is False:
            if name in node.required:
                return self.reject("null_not_allowed", located, path, detail=name)
            self.report("optional_null_dropped", located, path)
            return _ABSENT
        value = self.conform(inner[0], located, path)
        if value is not REJECTED and any(self.fits(other, value) is False for other in inner[1:]):
            return self.reject("value_not_allowed", located, path, detail="patternProperties")
        return value

    def undeclared(self, node: Node, name: str, located: Located, path: Path) -> Any:
        if isinstance(node.extra, Node):
            return self.conform(node.extra, located, path)
        if node.extra is None:
            near = near_name(node, name)
            hint = f"Did you mean {near!r}?" if near else None
            self.report("unknown_parameter", located, path, detail=shorten(name), hint=hint)
        return self.anything(located, path)

    # --- branches and conditions ---------------------------------------------------------------------

    def best_branch(self, node: Node, located: Located, path: Path) -> Any:
        """The branch with the fewest and mildest findings; of equals, the first."""
        best: Trial | None = None
        for branch in likely(node, located.value):
            trial = self.attempt(branch, located, path)
            if best is None or trial.score < best.score:
                best = trial
            if best.score == (0, 0, 0):
                break
        if best is None:
            return self.anything(located, path)
        self.findings.extend(best.findings)
        self.rejected.update(best.rejected)
        return best.value

    def chosen(self, conditions: Conditions, located: Located, path: Path) -> Node:
        """The node that the conditions call for; they look at the converted value if there is one."""
        value = self.attempt(conditions.base, located, path).value
        return self.fits.chosen(conditions, located.value if value is REJECTED else value)

    def attempt(self, branch: Node, located: Located, path: Path) -> Trial:
        """What a branch makes of the value; tried once for each place: nested branches stay linear."""
        if len(self.tried) >= self.attempts:
            raise TooManyFindingsError
        key = (id(branch), f"{id(located.piece)}:{located.mark.start}:{render_path(path)}")
        if key not in self.tried:
            run = Conformer(
                self.decode_held, tried=self.tried, fits=self.fits, attempts=self.attempts, depth=self.depth
            )
            value = run.conform(branch, located, path)
            self.tried[key] = Trial(value, run.findings.items, run.rejected, branch, located)
        return self.tried[key]

    # --- checks and reports --------------------------------------------------------------------------

    def checked(self, node: Node, value: Any, located: Located, path: Path) -> Any:
        """The value when every assertion of the node holds, else REJECTED."""
        if value is not REJECTED and node.choices is not None and not node.choices.holds(value):
            value = self.listed(node.choices, value, located, path)
        if value is REJECTED:
            return value
        refused = False
        for misfit in misfits(node, value):
            self.report(misfit.code, located, path, detail=misfit.detail)
            refused |= CODES[misfit.code].severity is Severity.ERROR
        return self.kept(value, located, path, refused=refused)

    def kept(self, value: Any, located: Located, path: Path, *, refused: bool) -> Any:
        """The value, or REJECTED when it is refused. The parameters of a refused root still stand."""
        if refused and path is not None:
            self.rejected[render_path(path)] = located.value
        return REJECTED if refused else value

    def listed(self, choices: Choices, value: Any, located: Located, path: Path) -> Any:
        found = listed_spelling(choices, value)
        if found is None:
            shown = value if isinstance(value, str) else compact(value)
            taken = shorten(", ".join(map(compact, choices.allowed[:10])), _MAX_TAKEN)
            hint = f"It takes {taken}."
            return self.reject(choices.code, located, path, detail=shorten(shown), hint=hint)
        self.report("enum_case_normalised", located, path, became=found)
        return found

    def demanded(self, node: Node, value: Any, located: Located, path: Path) -> Any:
        """The value when it meets what the node demands beside its shape, else REJECTED."""
        if value is REJECTED or node.demands is None:
            return value
        refused = False
        for code, detail in self.fits.unmet(node.demands, node, value):
            self.report(code, located, path, detail=shorten(detail))
            refused |= CODES[code].severity is Severity.ERROR
        return self.kept(value, located, path, refused=refused)


def _items_of(located: Located) -> list[Located]:
    return [located.child(index) for index in range(len(located.value))]


def _shown(value: Any, kind: ValueKind) -> str:
    """What a diagnostic says a value became."""
    return str(value) if kind is ValueKind.TIMESTAMP else compact(value)
