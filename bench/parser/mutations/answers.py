"""Determines the right answers for a broken tool call, and judges the results of the parsers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.parser.readings import Reading, Tool
from bench.parser.scoring import Verdict, comparable, same, without_nulls


@dataclass(frozen=True, slots=True)
class Mutant:
    """A tool call with defects. `intended` are the arguments before the defects.

    `certain` is True when a person can tell the arguments from `text`. `certain_if_defined` is True when a
    person can tell the arguments from `text` and the definition. `unmarked` is True when the intended object
    is right without a report. `loose` are the parameters whose value is unknown.

    If brackets are defective, `readings` are the results of the fewest bracket repairs. `closed_at_end` is
    the result if only closing brackets at the end are missing. If the answer is uncertain and `any_mark` is
    True, any object with a report is right. `as_spelled` is the object with the names in `text`, which is
    right for a parser without the definition.
    """

    kinds: tuple[str, ...]
    tool: Tool
    text: str
    intended: dict[str, Any]
    certain: bool
    certain_if_defined: bool
    unmarked: bool = True
    loose: frozenset[str] = frozenset()
    readings: tuple[Any, ...] = ()
    closed_at_end: Any = None
    any_mark: bool = False
    as_spelled: Any = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The right answers for a broken tool call.

    The objects in `right` need no report. The objects in `possible` are right if they are reported as lossy
    or doubtful. If the answer is not `certain`, a refusal is also right, and so are the remaining arguments
    with a report.
    """

    right: list[Any]
    possible: list[Any]
    certain: bool


def answers(mutant: Mutant, *, defined: bool) -> Answers:
    readings = list(mutant.readings) or [mutant.intended]
    if defined:
        fits = [misfits(value, mutant.tool.schema) for value in readings]
        readings = [value for value, misfit in zip(readings, fits, strict=True) if misfit == min(fits)]
    is_certain = mutant.certain_if_defined if defined else mutant.certain
    right = [mutant.intended] if mutant.unmarked else []
    right += readings if len(readings) == 1 and mutant.readings else []
    if mutant.closed_at_end is not None and (not mutant.readings or _among(mutant.closed_at_end, readings)):
        right.append(mutant.closed_at_end)
    if mutant.as_spelled is not None and not defined:
        right.append(mutant.as_spelled)
    return Answers(right, [*readings, mutant.intended], is_certain and len(readings) == 1)


def _among(value: Any, values: list[Any]) -> bool:
    return any(same(value, other) for other in values)


def verdict(mutant: Mutant, reading: Reading, *, defined: bool, null_is_absent: bool = False) -> Verdict:
    """Return the verdict: right, refused, told (incorrect with a report) or silent (incorrect without a
    report).
    """
    accepted = answers(mutant, defined=defined)
    got = reading.arguments
    if got is None:
        return Verdict.REFUSED if accepted.certain else Verdict.RIGHT
    schema = mutant.tool.schema if defined else {}

    def plain(value: Any) -> Any:
        return without_nulls(value) if null_is_absent else comparable(value, schema)

    if any(same(plain(candidate), plain(got)) for candidate in accepted.right):
        return Verdict.RIGHT
    if not any(finding.warns for finding in reading.findings):
        return Verdict.SILENT
    possible = any(same(plain(candidate), plain(got)) for candidate in accepted.possible)
    survived = not accepted.certain and (mutant.any_mark or _survives(mutant.intended, got, mutant.loose))
    return Verdict.RIGHT if possible or survived else Verdict.TOLD


def _survives(intended: Any, got: Any, loose: frozenset[str] = frozenset()) -> bool:
    """Return True when the result contains only intended values, or the beginnings of intended values.

    The parameters in `loose` are ignored.
    """
    if isinstance(intended, dict) and isinstance(got, dict):
        return all(
            name in loose or (name in intended and _survives(intended[name], value))
            for name, value in got.items()
        )
    if isinstance(intended, list) and isinstance(got, list):
        pairs = zip(intended, got, strict=False)
        return len(got) <= len(intended) and all(_survives(part, other) for part, other in pairs)
    if isinstance(intended, str) and isinstance(got, str):
        return intended.startswith(got)
    return got is None or same(intended, got)


def misfits(value: Any, schema: Mapping[str, Any]) -> int:
    """Return the number of differences from the definition.

    Invalid types, invalid values, undeclared names and missing names are counted.
    """
    if value not in schema.get("enum", (value,)):
        return 1
    names = schema.get("type") or []
    names = [names] if isinstance(names, str) else names
    if names and not any(_is_a(value, name) for name in names):
        return 1
    if isinstance(value, dict):
        declared: Mapping[str, Any] = schema.get("properties") or {}
        others = schema.get("additionalProperties")
        inner = others if isinstance(others, dict) else {}
        strange = sum(name not in declared for name in value) if declared else 0
        missing = sum(name not in value for name in schema.get("required") or [])
        return (
            strange + missing + sum(misfits(item, declared.get(name, inner)) for name, item in value.items())
        )
    if isinstance(value, list):
        return sum(misfits(item, schema.get("items") or {}) for item in value)
    return 0


_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def _is_a(value: Any, name: str) -> bool:
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    return isinstance(value, _TYPES[name])
