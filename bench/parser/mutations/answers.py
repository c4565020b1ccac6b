"""What is right for a broken call, and the verdict on a reading of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.parser.readings import Reading, Tool
from bench.parser.scoring import Verdict, comparable, same, without_nulls


@dataclass(frozen=True, slots=True)
class Mutant:
    """A call with defects. `intended` is what was written before they were made.

    `certain`: a person can tell the arguments from the text, and `certain_if_defined`: who knows the
    definition can. `unmarked`: the intended object is right without a report. `loose`: parameters of which
    nothing can be known. `readings`: what the fewest mends of brackets make of the text, if brackets are
    its defect. `closed_at_end`: what it says if it only lacks closers at its end. `any_mark`: where the
    answer is not certain, any object that is marked is right. `as_spelled`: the object with the names as the
    text has them, right for a reader without the definition.
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
    """`right`: objects that are right as they are; `possible`: right when reported as a loss or a doubt.

    Where the answer is not `certain`, refusing the text is right, and so is a report with whatever survived.
    """

    right: list[Any]
    possible: list[Any]
    certain: bool


def answers(mutant: Mutant, *, defined: bool) -> Answers:
    found = list(mutant.readings) or [mutant.intended]
    if defined:
        fits = [misfits(value, mutant.tool.schema) for value in found]
        found = [value for value, misfit in zip(found, fits, strict=True) if misfit == min(fits)]
    known = mutant.certain_if_defined if defined else mutant.certain
    right = [mutant.intended] if mutant.unmarked else []
    right += found if len(found) == 1 and mutant.readings else []
    if mutant.closed_at_end is not None and (not mutant.readings or _among(mutant.closed_at_end, found)):
        right.append(mutant.closed_at_end)
    if mutant.as_spelled is not None and not defined:
        right.append(mutant.as_spelled)
    return Answers(right, [*found, mutant.intended], known and len(found) == 1)


def _among(value: Any, values: list[Any]) -> bool:
    return any(same(value, other) for other in values)


def verdict(mutant: Mutant, reading: Reading, *, defined: bool, null_is_absent: bool = False) -> Verdict:
    """Right, refused, told (wrong, and marked as a loss or doubt) or silent (wrong without a mark)."""
    known = answers(mutant, defined=defined)
    got = reading.arguments
    if got is None:
        return Verdict.REFUSED if known.certain else Verdict.RIGHT
    schema = mutant.tool.schema if defined else {}

    def plain(value: Any) -> Any:
        return without_nulls(value) if null_is_absent else comparable(value, schema)

    if any(same(plain(one), plain(got)) for one in known.right):
        return Verdict.RIGHT
    if not any(finding.warns for finding in reading.findings):
        return Verdict.SILENT
    possible = any(same(plain(one), plain(got)) for one in known.possible)
    survived = not known.certain and (mutant.any_mark or _survives(mutant.intended, got, mutant.loose))
    return Verdict.RIGHT if possible or survived else Verdict.TOLD


def _survives(intended: Any, got: Any, loose: frozenset[str] = frozenset()) -> bool:
    """Is everything in the reading what was meant, or the beginning of it? Loose parameters do not count."""
    if isinstance(intended, dict) and isinstance(got, dict):
        return all(
            name in loose or (name in intended and _survives(intended[name], value))
            for name, value in got.items()
        )
    if isinstance(intended, list) and isinstance(got, list):
        pairs = zip(intended, got, strict=False)
        return len(got) <= len(intended) and all(_survives(one, other) for one, other in pairs)
    if isinstance(intended, str) and isinstance(got, str):
        return intended.startswith(got)
    return got is None or same(intended, got)


def misfits(value: Any, schema: Mapping[str, Any]) -> int:
    """How often a value differs from its definition: wrong types or words, undeclared names, missing ones."""
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
        return strange + missing + sum(misfits(one, declared.get(name, inner)) for name, one in value.items())
    if isinstance(value, list):
        return sum(misfits(one, schema.get("items") or {}) for one in value)
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
