"""Converts a decoded value to the declared types, checks the value, and reports changes and misfits.

Values that do not fit are left out of the result and kept in `rejected`. Without a definition, only the
strings "true", "false" and "null" are converted.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from lenient.coerce.coercions import OBJECT_AS_TEXT, REFUSALS, REFUSED, WRAPPING, coerce, is_absolute_uri
from lenient.coerce.compiled_tool import MAX_CHECKED, find_misfits, fits
from lenient.coerce.schema_match import SchemaMatcher
from lenient.definitions.json_schema.json_values import is_finite, same_json, to_json_text
from lenient.definitions.json_schema.nodes import (
    Conditions,
    EnumChoices,
    Node,
    inner_nodes,
    normalise_name,
    select_branches,
)
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import (
    FORBIDDEN_HINT,
    MAX_FOUND,
    Diagnostic,
    Findings,
    Path,
    TooManyFindingsError,
    render_path,
    shorten,
)
from lenient.diagnostics.codes import CODES, Severity
from lenient.scan.source_text import LocatedValue

REJECTED: Final = object()
"""Replaces a value that does not fit."""
ABSENT: Final = object()
"""Replaces a null that means an absent parameter."""

DecodeText = Callable[[LocatedValue, Node, Path, Findings], LocatedValue | None]
"""Returns the object or array that a string value contains as JSON, or None when there is neither."""

# An attribute lookup on the enum is slow.
_OBJECT, _ARRAY, _URI = ValueKind.JSON_OBJECT, ValueKind.JSON_ARRAY, ValueKind.URI
_NEW = tuple.__new__  # calling the named tuple takes twice as long
_MAX_TAKEN = 200  # maximum number of characters for the allowed values in a message
_MAX_DECLARED_DEPTH = 64
"""The maximum depth of a recursive definition; each level takes a few Python frames."""
_DEPTH_HINT = f"The limit is {_MAX_DECLARED_DEPTH} levels of a definition; each union is a level, too."

_MAX_CHECKED_DEPTH = _MAX_DECLARED_DEPTH - MAX_CHECKED - 1
"""From this depth of nodes on, the fast check is not used, because the value may be nested too deeply."""


@dataclass(slots=True)
class Validator:
    """The validation of one value.

    `findings` collects the diagnostics. `rejected` maps positions in the arguments to rejected values.
    `tried` caches the result of each branch, and `attempts` limits the number of branches tried. `depth` is
    the current level of nested nodes.
    """

    decode_text: DecodeText
    findings: Findings = field(default_factory=Findings)
    rejected: dict[str, Any] = field(default_factory=dict)
    tried: dict[tuple[int, str], Trial] = field(default_factory=dict)
    attempts: int = 2_000
    depth: int = 0
    _matcher: SchemaMatcher | None = None  # created on first use

    @property
    def matcher(self) -> SchemaMatcher:
        if self._matcher is None:
            self._matcher = SchemaMatcher()
        return self._matcher

    def validate_root(self, node: Node, located: LocatedValue) -> tuple[dict[str, Any], bool]:
        """Convert the arguments object.

        Return the parameters that fit, and True when there is no error. If one parameter does not fit, the
        other parameters are still returned.
        """
        self.depth += 1
        if self.depth >= _MAX_DECLARED_DEPTH:
            return {}, False
        if node.demands is not None and node.demands.conditions is not None:
            return self.validate_root(self.choose_node(node.demands.conditions, located, None), located)
        if node.never or node.kind not in (None, ValueKind.JSON_OBJECT):
            self.reject("value_not_allowed", located, None)
            return {}, False
        if node.remarks:
            self.report_remarks(node, located, None)
        if node.branches:
            branches = select_branches(node, located.value)
            best = min(branches, key=lambda branch: self.try_branch(branch, located, None).score)
            result, fits = self.validate_root(best, located)
        else:
            result, fits = self.convert_fields(node, located, None)
            fits = self.check_assertions(node, result, located, None) is not REJECTED and fits
        if fits and node.demands is not None:
            fits = self.check_demands(node, result, located, None) is not REJECTED
        return result, fits

    def convert(self, node: Node, located: LocatedValue, path: Path) -> Any:
        """Return the value converted to what the node allows, or REJECTED when the value does not fit."""
        if self.depth >= _MAX_DECLARED_DEPTH:
            return self.reject("nested_too_deep", located, path, hint=_DEPTH_HINT)
        self.depth += 1
        if node.demands is not None and node.demands.conditions is not None:
            value = self.convert(self.choose_node(node.demands.conditions, located, path), located, path)
        elif node.never:
            value = self.reject("value_not_allowed", located, path)
        else:
            if node.remarks:
                self.report_remarks(node, located, path)
            value = self.convert_shape(node, located, path)
            if node.demands is not None:
                value = self.check_demands(node, value, located, path)
        self.depth -= 1
        return value

    def convert_shape(self, node: Node, located: LocatedValue, path: Path) -> Any:
        """Return the value converted to the node's kind, or REJECTED when the value violates a constraint."""
        if located.value is None and (node.nullable or _is_listed(node.choices, None)):
            return None
        if node.branches:
            return self.choose_branch(node, located, path)
        if node.kind is None:
            value = self.convert_untyped(node, located, path)
        elif located.value is not None:
            value = self.convert_kind(node, node.kind, located, path)
        elif node.typed:
            return self.reject(REFUSALS[node.kind], located, path)
        else:
            value = None
        return self.check_assertions(node, value, located, path)

    # --- kinds ---------------------------------------------------------------------------------------

    def convert_untyped(self, node: Node, located: LocatedValue, path: Path) -> Any:
        """Return a value without a declared type.

        Declared fields and items of the value are converted.
        """
        has_fields = node.fields or node.demands or node.closed or isinstance(node.extra, Node)
        if isinstance(located.value, dict) and has_fields:
            return self.convert_object(node, located, path)
        if isinstance(located.value, list) and (node.prefix or node.items is not None):
            return self.convert_items(node, located, path)
        return self.accept_any(located, path)

    def accept_any(self, located: LocatedValue, path: Path) -> Any:
        """Return the value, or REJECTED when it contains NaN or infinity, which JSON cannot represent."""
        if is_finite(located.value):
            return located.value
        return self.reject("unsupported_number_literal", located, path)

    def convert_kind(self, node: Node, kind: ValueKind, located: LocatedValue, path: Path) -> Any:
        """Convert the value to the declared kind by `COERCIONS`. Return REJECTED when no conversion succeeds.

        If no `type` is declared and other keywords imply the kind, a value of another type is accepted.
        """
        source = _LocatedSource(self.decode_text, node, located, path)
        value, code = coerce(kind, located.value, source)
        if not node.typed and (value is REFUSED or code in WRAPPING):
            return self.convert_untyped(node, located, path)  # the definition does not exclude other types
        is_listed = node.choices is not None and _is_listed(node.choices, located.value)
        if is_listed and not _is_listed(node.choices, value):
            return located.value  # the enum contains this value, even if the declared type excludes it
        if value is REFUSED:
            return self.reject(REFUSALS[kind], located, path)
        if code == OBJECT_AS_TEXT and node.holds_json:
            code = "non_string_literal_retained"
        if code is not None:
            self.report(code, located, path, became=to_json_text(value))
        if source.findings is not None:
            self.findings.extend(source.findings.items)
        if kind is _OBJECT:
            return self.convert_object(node, source.inner or located, path)
        if kind is _ARRAY:
            wrapped = code in WRAPPING
            return self.convert_items(node, source.inner or located, path, wrapped=wrapped)
        return value

    def convert_items(self, node: Node, located: LocatedValue, path: Path, *, wrapped: bool = False) -> Any:
        """Return the converted items of a list.

        With `wrapped`, convert the single value as a list of one item. Return REJECTED when one item does not
        fit, because leaving out the item would move all later items.
        """
        values = [located.value] if wrapped else located.value
        result = []
        is_checked = self.depth < _MAX_CHECKED_DEPTH
        for index, value in enumerate(values):
            inner = node.prefix[index] if index < len(node.prefix) else node.items
            if is_checked and inner is not None and fits(inner, value):
                result.append(value)
                continue
            item, place = located if wrapped else located.child(index), (path, index)
            result.append(self.accept_any(item, place) if inner is None else self.convert(inner, item, place))
        return REJECTED if any(item is REJECTED for item in result) else result

    # --- objects -------------------------------------------------------------------------------------

    def convert_object(self, node: Node, located: LocatedValue, path: Path) -> Any:
        """Return the converted object, or REJECTED when a field is missing or does not fit."""
        result, is_whole = self.convert_fields(node, located, path)
        return result if is_whole else REJECTED

    def convert_fields(self, node: Node, located: LocatedValue, path: Path) -> tuple[dict[str, Any], bool]:
        """Return the converted fields that fit, and True when no field is missing or rejected."""
        result: dict[str, Any] = {}
        sent: set[str] = set()
        is_whole = True
        fields = node.fields
        is_checked = node.demands is None and self.depth < _MAX_CHECKED_DEPTH
        misfits = find_misfits(node, located.value)[0] if is_checked else located.value
        for key, sent_value in located.value.items():
            if key not in misfits:
                result[key] = sent_value
                continue
            child = located.child(key)
            name = key if key in fields else find_declared_name(node, key, located.value)
            place = (path, name)
            if name != key:
                self.report("parameter_name_normalised", child, place, became=name, found=key)
            sent.add(name)
            value = self.convert_field(node, name, child, place)
            if value is REJECTED:
                is_whole = False
            elif value is not ABSENT:
                result[name] = value
        if not node.required <= result.keys() and not node.required <= (sent := sent | result.keys()):
            self.report_missing(node, sent, located, path)
            is_whole = False
        return result, is_whole

    def report_missing(self, node: Node, sent: Set[str], located: LocatedValue, path: Path) -> None:
        """Report the required fields that are missing from the field names `sent`."""
        for name in list_missing(node, sent):
            self.report("missing_required", located, (path, name), detail=name, found=False)

    def convert_field(self, node: Node, name: str, located: LocatedValue, path: Path) -> Any:
        """Convert the value of one field. Return REJECTED when the value does not fit.

        Return ABSENT when an optional field is null.
        """
        own, others = node.fields.get(name), None
        if node.demands is not None:
            for pattern, _ in node.demands.patterns:
                if not pattern.is_affordable(name):
                    self.report("pattern_not_checked", located, path, detail=pattern.text[:100])
            matching = inner_nodes(node, name)
            own, others = (matching[0], matching[1:]) if matching else (None, [])
        if own is None:
            return self.convert_undeclared(node, name, located, path)
        if located.value is None and self.matcher.matches(own, None) is False:
            if name in node.required:
                return self.reject("null_not_allowed", located, path, detail=name)
            self.report("optional_null_dropped", located, path)
            return ABSENT
        value = self.convert(own, located, path)
        if value is REJECTED or not others:
            return value
        if any(self.matcher.matches(other, value) is False for other in others):
            return self.reject("value_not_allowed", located, path, detail="patternProperties")
        return value

    def convert_undeclared(self, node: Node, name: str, located: LocatedValue, path: Path) -> Any:
        """Return the value of a field that is not declared, or REJECTED when the value is not allowed.

        The field is reported, with a similar declared name as a hint, unless the node allows undeclared
        fields.
        """
        if isinstance(node.extra, Node):
            return self.convert(node.extra, located, path)
        if node.extra is None:
            hint = hint_undeclared(node, name, len(self.findings.items))
            self.report("unknown_parameter", located, path, detail=shorten(name), hint=hint)
        return self.accept_any(located, path)

    # --- branches and conditions ---------------------------------------------------------------------

    def choose_branch(self, node: Node, located: LocatedValue, path: Path) -> Any:
        """Return the value converted by the branch with the fewest errors.

        Equal branches are compared by losses, then by warnings, then by notes. Among equal branches, the
        first is chosen. The diagnostics and rejected values of the branch are kept.
        """
        best: Trial | None = None
        for branch in select_branches(node, located.value):
            trial = self.try_branch(branch, located, path)
            if best is None or trial.score < best.score:
                best = trial
            if not best.findings:
                break
        if best is None:
            return self.accept_any(located, path)
        self.findings.extend(best.findings)
        self.rejected.update(best.rejected)
        return best.value

    def choose_node(self, conditions: Conditions, located: LocatedValue, path: Path) -> Node:
        """Return the node that the conditions choose for a value.

        The conditions examine the converted value, or the original value when the conversion fails.
        """
        value = self.try_branch(conditions.base, located, path).value
        return self.matcher.choose_node(conditions, located.value if value is REJECTED else value)

    def try_branch(self, branch: Node, located: LocatedValue, path: Path) -> Trial:
        """Return the result of converting the value by one branch.

        Raises TooManyFindingsError after `attempts` branches.
        """
        if len(self.tried) >= self.attempts:
            raise TooManyFindingsError
        key = (id(branch), f"{id(located.piece)}:{located.mark.start}:{render_path(path)}")
        if key not in self.tried:
            run = Validator(
                self.decode_text,
                tried=self.tried,
                attempts=self.attempts,
                depth=self.depth,
                _matcher=self.matcher,
            )
            value = run.convert(branch, located, path)
            self.tried[key] = Trial(value, run.findings.items, run.rejected, branch, located)
        return self.tried[key]

    # --- checks --------------------------------------------------------------------------------------

    def check_assertions(self, node: Node, value: Any, located: LocatedValue, path: Path) -> Any:
        """Return the value when it meets all constraints, else REJECTED.

        A value that an enum lists is returned in the spelling of the enum.
        """
        if value is not REJECTED and node.choices is not None and not node.choices.holds(value):
            value = self.check_listed(node.choices, value, located, path)
        if value is REJECTED:
            return value
        if not node.rules and node.pattern is None and node.kind is not _URI:
            return value
        is_refused = False
        for misfit in _failed_assertions(node, value):
            self.report(misfit.code, located, path, detail=misfit.detail)
            is_refused |= CODES[misfit.code].severity is Severity.ERROR
        return self.reject_quietly(located, path) if is_refused else value

    def check_listed(self, choices: EnumChoices, value: Any, located: LocatedValue, path: Path) -> Any:
        """Return the enum value that differs from `value` only in case or outer whitespace, or REJECTED."""
        listed = choices.folded.get(value.strip().casefold()) if isinstance(value, str) else None
        if listed is None:
            shown = value if isinstance(value, str) else to_json_text(value)
            listed_values = shorten(", ".join(map(to_json_text, choices.allowed[:10])), _MAX_TAKEN)
            hint = f"It takes {listed_values}."
            return self.reject(choices.code, located, path, detail=shorten(shown), hint=hint)
        self.report("enum_case_normalised", located, path, became=listed)
        return listed

    def check_demands(self, node: Node, value: Any, located: LocatedValue, path: Path) -> Any:
        """Return the value when it meets all of `node.demands`.

        Otherwise report the reason and return REJECTED.
        """
        if value is REJECTED or node.demands is None:
            return value
        is_refused = False
        for code, detail in self.matcher.unmet_demands(node.demands, node, value):
            self.report(code, located, path, detail=shorten(detail))
            is_refused |= CODES[code].severity is Severity.ERROR
        return self.reject_quietly(located, path) if is_refused else value

    # --- reports -------------------------------------------------------------------------------------

    def reject_quietly(self, located: LocatedValue, path: Path) -> Any:
        """Keep a rejected value that was already reported, and return REJECTED.

        A rejected arguments object is not kept, because the parameters that fit remain valid.
        """
        if path is not None:
            self.rejected[render_path(path)] = located.value
        return REJECTED

    def reject(
        self, code: str, located: LocatedValue, path: Path, detail: str | None = None, hint: str | None = None
    ) -> Any:
        """Report a rejected value, keep it in `rejected`, and return REJECTED."""
        self.report(code, located, path, detail=detail, hint=hint)
        self.rejected[render_path(path)] = located.value
        return REJECTED

    def report_remarks(self, node: Node, located: LocatedValue, path: Path) -> None:
        """Report the keywords of the definition that the validator does not check."""
        for code, detail in node.remarks:
            self.report(code, located, path, detail=detail)

    def report(
        self,
        code: str,
        located: LocatedValue,
        path: Path,
        *,
        became: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        found: str | bool = True,
    ) -> None:
        """Add a diagnostic with the value's span in the raw arguments.

        `found` is the excerpt to show. True shows the start of the value's JSON, and False shows no excerpt.
        """
        start, end, _ = located.mark
        shown = located.snippet() if found is True else found or None
        if located.piece.parent is not None:
            start, end = located.piece.raw_span(start, end)
        if shown is not None and len(shown) > MAX_FOUND:
            shown = shorten(shown)
        if became is not None and len(became) > MAX_FOUND:
            became = shorten(became)
        self.findings.add(
            _NEW(Diagnostic, (code, render_path(path), start, end, shown, became, detail, hint))
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of converting a value by one branch: the converted value, diagnostics and rejected values.

    The trial keeps `node` and `located`, because their ids are cache keys.
    """

    value: Any
    findings: list[Diagnostic]
    rejected: dict[str, Any]
    node: Node
    located: LocatedValue

    @property
    def score(self) -> tuple[int, int, int, int]:
        """The number of errors, of lossy diagnostics, of warnings and of notes."""
        counts = [0, 0, 0]
        for finding in self.findings:
            counts[2 - finding.severity.rank] += 1
        return counts[0], sum(finding.lossy for finding in self.findings), counts[1], counts[2]


@dataclass(slots=True)
class _LocatedSource:
    """The source of one located value: the value's JSON, and the value decoded from a string.

    `inner` is the decoded value, or None when decoding was not tried or failed.
    """

    decode: DecodeText
    node: Node
    located: LocatedValue
    path: Path
    inner: LocatedValue | None = None
    findings: Findings | None = None  # diagnostics of a successful decoding

    def json_text(self) -> str:
        return self.located.text()

    def decode_text(self, wanted: type) -> Any:
        findings = Findings()
        inner = self.decode(self.located, self.node, self.path, findings)
        if inner is None or not isinstance(inner.value, wanted):
            return REFUSED
        self.inner, self.findings = inner, findings
        return inner.value


class _Misfit(NamedTuple):
    code: str
    detail: str | None = None


def _failed_assertions(node: Node, value: Any) -> Iterator[_Misfit]:
    for rule in node.rules:
        if not rule.holds(value):
            yield _Misfit(rule.code, rule.detail)
    pattern = node.pattern
    if pattern is not None and isinstance(value, str):
        if pattern.rules_out(value):
            yield _Misfit("pattern_mismatch", pattern.text[:100])
        elif not pattern.is_affordable(value):
            yield _Misfit("pattern_not_checked", pattern.text[:100])
    if node.kind is _URI and not is_absolute_uri(value):
        yield _Misfit("uri_not_absolute")


def _is_listed(choices: EnumChoices | None, value: Any) -> bool:
    return choices is not None and any(same_json(value, allowed) for allowed in choices.allowed)


# --- names of parameters -------------------------------------------------------------------------------

_MAX_NAME = 64
_SIMILAR = 0.75
_MAX_SUGGESTED = 100
_MAX_NAMES = 200  # maximum number of names to compare; no call needs more


def find_declared_name(node: Node, key: str, sent: Mapping[str, Any]) -> str:
    """Return the declared field name of which `key` is another spelling. If there is no such name, return
    `key`.

    The spelling must match exactly one declared name. `sent` must contain neither this name nor an earlier
    key that matches the name.
    """
    if len(key) > _MAX_NAME or key in node.fields or (node.demands is not None and inner_nodes(node, key)):
        return key
    name = node.spellings.get(normalise_name(key))
    if name is None or name in sent:
        return key
    earlier = (node.spellings.get(normalise_name(other)) for other in _keys_before(sent, key))
    return key if name in earlier else name


def list_missing(node: Node, sent: Set[str]) -> list[str]:
    """Return the required fields that the names `sent` lack, in the order of the definition."""
    return [name for name in node.fields if name in node.required and name not in sent]


def hint_undeclared(node: Node, name: str, earlier: int) -> str | None:
    """Return the hint for an undeclared field, or None.

    After many diagnostics, the slow search for similar names is skipped.
    """
    near = suggest_name(node, name) if earlier < _MAX_SUGGESTED else None
    hints = ([FORBIDDEN_HINT] if node.closed else []) + ([f"Did you mean {near!r}?"] if near else [])
    return " ".join(hints) or None


def suggest_name(node: Node, name: str) -> str | None:
    """Return the declared name most similar to an undeclared name, or None when no name is similar.

    The name is only a hint; the value does not move to that name.
    """
    if len(name) > _MAX_NAME:
        return None
    return _find_similar(name, tuple(node.fields)[:_MAX_NAMES])


@lru_cache(maxsize=1_024)  # caches results, because a model repeats the same unknown names
def _find_similar(name: str, declared_names: tuple[str, ...]) -> str | None:
    letters, length = {*name}, len(name)
    near = [
        declared
        for declared in declared_names
        if (needed := (length + (size := len(declared))) * _SIMILAR / 2) <= min(length, size)
        and size - len({*declared} - letters) >= needed
    ]  # names with too few common letters are skipped, because a comparison takes long
    near = difflib.get_close_matches(name, near, 1, _SIMILAR) if near else []
    return near[0] if near else None


def _keys_before(sent: Mapping[str, Any], key: str) -> list[str]:
    keys = list(sent)[:_MAX_NAMES]
    return keys[: keys.index(key)] if key in keys else keys


# --- without a definition ------------------------------------------------------------------------------

NO_DEFINITION = (Diagnostic("tool_definition_missing"),)
_PROMOTIONS: dict[str, tuple[str, bool | None]] = {
    "true": ("string_literal_converted_to_boolean", True),
    "false": ("string_literal_converted_to_boolean", False),
    "null": ("string_literal_converted_to_null", None),
}


def read_undeclared(located: LocatedValue, validator: Validator) -> dict[str, Any]:
    """Return the arguments unchanged, except that the strings "true", "false" and "null" become JSON values.

    A parameter is left out if it contains a number that JSON cannot represent.
    """
    validator.findings.extend(NO_DEFINITION)
    root: dict[str, Any] = {}
    refused: set[str | int] = set()
    waiting: list[tuple[LocatedValue, Any, Path, str | int | None]] = [(located, root, None, None)]
    while waiting:
        container, target, path, top = waiting.pop()
        below: list[tuple[LocatedValue, Any, Path, str | int | None]] = []
        for step in container.value if isinstance(container.value, dict) else range(len(container.value)):
            child, place = container.child(step), (path, step)
            value = _promote(child, validator, place)
            if value is REJECTED:
                refused.add(step if top is None else top)
            if isinstance(value, (dict, list)):
                value = {} if isinstance(value, dict) else []
                below.append((child, value, place, step if top is None else top))
            if isinstance(target, dict):
                target[step] = value
            else:
                target.append(value)
        waiting.extend(reversed(below))
    return {name: value for name, value in root.items() if name not in refused}


def _promote(located: LocatedValue, validator: Validator, path: Path) -> Any:
    value = located.value
    if isinstance(value, str) and value in _PROMOTIONS:
        code, became = _PROMOTIONS[value]
        validator.report(code, located, path, became=to_json_text(became))
        return became
    if isinstance(value, float):
        return validator.accept_any(located, path)
    return value
