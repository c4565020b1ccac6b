"""What may stand in the fields of an object → one Python function that tests a whole object and counts its
quotes.

The function is written as source and compiled, as dataclasses write their `__init__`: a loop over the fields
takes twice as long (timeit). Only names and constants of ours enter the source, field names by `repr`.
Knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Fit = Callable[[Any], int]
"""A value → the number of quotes around the keys and strings in it; -1 when it does not fit."""

_ONE = 1 << 40
"""Fields are counted above this, quotes below: no text has so many."""


class Test(NamedTuple):
    """A Python expression over `v`; each `{}` in it stands for one of `objects`.

    `counts` = its value is what a `Fit` returns, else it is true when the value fits.
    """

    expression: str
    objects: tuple[object, ...] = ()
    counts: bool = False


ALWAYS = Test("")
Types = Mapping[type, Test]
"""The Python types that may stand without a word, each with a further test of the value."""


def calling(function: Callable[[Any], object]) -> Test:
    """The test that a function makes."""
    return Test("{}(v)", (function,))


def counting(fit: Fit) -> Test:
    """The test of a list or an object, whose quotes count."""
    return Test("{}(v)", (fit,), counts=True)


def every(tests: list[Test]) -> Test:
    """Fits when each test does; the first may count."""
    if len(tests) <= 1:
        return tests[0] if tests else ALWAYS
    first, rest = tests[0], tests[1:]
    others = " and ".join(f"({test.expression})" for test in rest)
    objects = tuple(item for test in tests for item in test.objects)
    if first.counts:
        return Test(f"{first.expression} if {others} else -1", objects, counts=True)
    return Test(f"({first.expression}) and {others}", objects)


def some(found: type, tests: list[Test]) -> Test:
    """Fits when one test does."""
    if ALWAYS in tests or len(tests) == 1:
        return ALWAYS if ALWAYS in tests else tests[0]
    fits = [value_fit({found: test}) for test in tests]
    return counting(lambda value: next((quotes for fit in fits if (quotes := fit(value)) >= 0), -1))


def value_fit(types: Types) -> Fit:
    """A function that tests one value."""
    bound: dict[str, object] = {}
    lines = [" kind = type(v)"]
    for found, test in types.items():
        expression, own = _bound(test, bound), 2 if found is str else 0
        if not test.counts:
            expression = f"{own} if {expression} else -1" if expression else str(own)
        lines.append(f" if kind is {_name(found)}: return {expression}")
    return _compiled("v", [*lines, " return -1"], bound)


def list_fit(types: Types) -> Fit:
    """A function that tests the items of a list."""
    if all(test is ALWAYS for test in types.values()):
        allowed, texts = frozenset(types), str in types
        if texts and len(types) > 1:
            return lambda v: (
                2 * sum(type(item) is str for item in v) if allowed.issuperset(map(type, v)) else -1
            )
        return lambda v: (2 * len(v) if texts else 0) if allowed.issuperset(map(type, v)) else -1
    fit_item = value_fit(types)

    def fit(value: Any) -> int:
        total = 0
        for item in value:
            quotes = fit_item(item)
            if quotes < 0:
                return -1
            total += quotes
        return total

    return fit


def object_fit(fields: Mapping[str, Types], required: frozenset[str]) -> Fit:
    """A function that tests an object: its keys, and the value of each."""
    bound: dict[str, object] = {}
    lines: list[str] = []
    known = 0  # the weight of the fields that must stand, where their types leave no choice
    for name, types in fields.items():
        written, weight = _field(f"value[{name!r}]", types, bound)
        if name in required:
            known += weight
            lines += written
        else:
            lines += [f"if {name!r} in value:", *(f" {line}" for line in written), f" total += {weight}"]
    body = [f" total = {known}", " try:", *(f"  {line}" for line in lines), "  pass"]
    end = [
        " except KeyError:",
        "  return -1",
        f" return total - len(value) * {_ONE} if total >> 40 == len(value) else -1",
    ]
    return _compiled("value", body + end, bound)


def _field(read: str, types: Types, bound: dict[str, object]) -> tuple[list[str], int]:
    """The lines that test a field, and what they leave to be added to the total."""
    weights = {_ONE + (4 if found is str else 2) for found in types}
    weight = min(weights, default=0)
    if len(types) == 1 and types[next(iter(types))] is ALWAYS:
        return [f"if type({read}) is not {_name(next(iter(types)))}: return -1"], weight
    lines = [f"v = {read}", "kind = type(v)"]
    for found, test in types.items():
        lines.append(f"{'if' if len(lines) == 2 else 'elif'} kind is {_name(found)}:")
        expression = _bound(test, bound)
        if test.counts:
            lines += [f" quotes = {expression}", " if quotes < 0: return -1", " total += quotes"]
        elif expression:
            lines.append(f" if not ({expression}): return -1")
        lines.append(f" total += {_ONE + (4 if found is str else 2) - weight}")
    return [*lines, "else: return -1"] if types else ["return -1"], weight


def _name(found: type) -> str:
    return "NoneType" if found is type(None) else found.__name__


def _bound(test: Test, bound: dict[str, object]) -> str:
    """The expression, its objects bound to names of their own."""
    names = [f"o{len(bound) + index}" for index in range(len(test.objects))]
    bound.update(zip(names, test.objects, strict=True))
    return test.expression.format(*names)


def _compiled(argument: str, lines: list[str], bound: dict[str, object]) -> Fit:
    # What the tests name is bound by default arguments: local names are the quickest to look up.
    space: dict[str, Any] = {**bound, "NoneType": type(None)}
    head = f"def fit({argument}{''.join(f', {name}={name}' for name in space)}):"
    exec("\n".join([head, *lines]), space)  # noqa: S102  nothing of a definition enters but quoted names
    return space["fit"]  # type: ignore[no-any-return]
