"""What may stand in the fields of an object → one Python function that tests a whole object.

The function is written as source and compiled, as dataclasses write their `__init__`: a loop over the fields
takes twice as long (timeit). Only names and constants of ours enter the source, field names by `repr`.
Knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Fit = Callable[[dict[str, Any]], int]
"""An object → the number of quotes around its keys and strings; `NESTED` when it may hold more keys below;
-1 when it does not fit.
"""
NESTED = 1 << 30
_ONE = 1 << 16
"""Fields are counted above this, quotes below."""


class Test(NamedTuple):
    """A Python expression over `v`; each `{}` in it stands for one of `objects`."""

    expression: str
    objects: tuple[object, ...] = ()


ALWAYS = Test("")
Types = Mapping[type, Test]
"""The Python types that may stand without a word, each with a further test of the value."""


def calling(function: Callable[[Any], object]) -> Test:
    """The test that a function makes."""
    return Test("{}(v)", (function,))


def every(tests: list[Test]) -> Test:
    """True when each test is."""
    return _joined(" and ", [test for test in tests if test.expression])


def some(tests: list[Test]) -> Test:
    """True when one test is."""
    return ALWAYS if ALWAYS in tests else _joined(" or ", tests)


def _joined(word: str, tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    expression = word.join(f"({test.expression})" for test in tests)
    return Test(expression, tuple(item for test in tests for item in test.objects))


def value_test(types: Types) -> Callable[[Any], bool]:
    """A function that tests one value."""
    bound: dict[str, object] = {}
    return _compiled("def fit(v):", [" kind = type(v)", f" return {_condition(types, bound)}"], bound)


def object_test(fields: Mapping[str, Types], required: frozenset[str]) -> Fit:
    """A function that tests an object: its keys, and the value of each."""
    bound: dict[str, object] = {}
    lines: list[str] = []
    known = 0  # the weight of the fields that must stand, where their types leave no choice
    for name, types in fields.items():
        weight = _weight(types) if name in required else 0
        known += weight
        lines += _field(name, types, bound, optional=name not in required, weighed=weight > 0)
    nested = any(dict in types or list in types for types in fields.values())
    lines = [
        f" total = {known}", " try:", *lines, "  pass", " except KeyError:", "  return -1",
        f" if total >> 16 != len(value): return -1\n return {NESTED if nested else 'total & 65535'}",
    ]  # fmt: skip
    return _compiled("def fit(value):", lines, bound)


def _weight(types: Types) -> int:
    """What a field adds to the count when all its types add the same, else 0."""
    weights = {_ONE + (4 if found is str else 2) for found in types}
    return weights.pop() if len(weights) == 1 else 0


def _field(name: str, types: Types, bound: dict[str, object], *, optional: bool, weighed: bool) -> list[str]:
    read = f"value[{name!r}]"
    if len(types) == 1 and types[next(iter(types))] is ALWAYS:
        lines = [f"if type({read}) is not {_name(next(iter(types)))}: return -1"]
    elif _weight(types):
        lines = [f"v = {read}", "kind = type(v)", f"if not ({_condition(types, bound)}): return -1"]
    else:
        lines = [f"v = {read}", "kind = type(v)"]
        for found, test in types.items():
            word = "if" if found is next(iter(types)) else "elif"
            weight = _ONE + (4 if found is str else 2)
            lines.append(f"{word} {_condition({found: test}, bound)}: total += {weight}")
        lines.append("else: return -1" if types else "return -1")
    if _weight(types) and not weighed:
        lines.append(f"total += {_weight(types)}")
    if optional:
        return [f"  if {name!r} in value:", *("   " + line for line in lines)]
    return ["  " + line for line in lines]


def _name(found: type) -> str:
    return "NoneType" if found is type(None) else found.__name__


def _condition(types: Types, bound: dict[str, object]) -> str:
    parts = []
    for found, (expression, objects) in types.items():
        names = [f"o{len(bound) + index}" for index in range(len(objects))]
        bound.update(zip(names, objects, strict=True))
        test = f" and ({expression.format(*names)})" if expression else ""
        parts.append(f"(kind is {_name(found)}{test})")
    return " or ".join(parts) or "False"


def _compiled(head: str, lines: list[str], bound: dict[str, object]) -> Callable[[Any], Any]:
    # What the tests name is bound by default arguments: local names are the quickest to look up.
    named = {**bound, "NoneType": type(None)}
    opening = head.replace(")", "".join(f", {name}={name}" for name in named) + "):", 1).removesuffix(":")
    space: dict[str, Any] = dict(named)
    exec("\n".join([opening, *lines]), space)  # noqa: S102  nothing of a definition enters but quoted names
    return space["fit"]  # type: ignore[no-any-return]
