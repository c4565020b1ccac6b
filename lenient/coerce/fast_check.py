"""Compiles the tests of an object's fields to one Python function, which also counts quotes.

The function is compiled from source code, as in dataclasses, because a loop over the fields takes twice as
long (timeit). The source contains only names and constants of this module, and field names quoted by `repr`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lenient.definitions.json_schema.value_kinds import ValueKind

FastCheck = Callable[[Any], int]
"""Returns the number of quotes around the keys and strings of a value, or -1 when the value does not fit."""

FIRST_TYPES: Mapping[ValueKind, tuple[type, ...]] = {
    ValueKind.STRING: (str,),
    ValueKind.ENUM_TOKEN: (str,),
    ValueKind.ATTACHMENT_REFERENCE: (str,),
    ValueKind.TIMESTAMP: (str,),
    ValueKind.BOOLEAN: (bool,),
    ValueKind.INTEGER: (int,),
    ValueKind.NUMBER: (int, float),
    ValueKind.JSON_OBJECT: (dict,),
    ValueKind.JSON_ARRAY: (list,),
}
"""The Python types of values that need no conversion. URIs are missing, because the validator checks URIs."""
SCALARS = (str, bool, int, type(None))
"""The Python types of values that are neither objects nor lists, if no type is declared."""
_FIELD_WEIGHT = 1 << 40
"""The weight of one field in a count. The number of quotes is always smaller."""


class FieldTest(NamedTuple):
    """The test of one value `v`: a Python expression, where each `{}` is a placeholder for an object.

    When `counts` is True, the expression returns the number of quotes, or -1 for a value that does not fit.
    Otherwise the expression is true for a value that fits. If the expression is empty, every value fits.
    """

    expression: str
    objects: tuple[object, ...] = ()
    counts: bool = False


ALWAYS_FITS = FieldTest("")
TypeTests = Mapping[type, FieldTest]
"""The allowed Python types, each with an additional test for the values of this type."""


def make_function_test(function: Callable[[Any], object]) -> FieldTest:
    """Return a test that passes when `function` returns a true result for the value."""
    return FieldTest("{}(v)", (function,))


def make_counting_test(fit: FastCheck) -> FieldTest:
    """Return a test of a list or an object. The test calls the check function `fit`, which counts quotes."""
    return FieldTest("{}(v)", (fit,), counts=True)


def require_all(tests: list[FieldTest]) -> FieldTest:
    """Return a test that passes when all `tests` pass. Only the first test may count quotes."""
    if len(tests) <= 1:
        return tests[0] if tests else ALWAYS_FITS
    first, rest = tests[0], tests[1:]
    others = " and ".join(f"({test.expression})" for test in rest)
    objects = tuple(item for test in tests for item in test.objects)
    if first.counts:
        return FieldTest(f"{first.expression} if {others} else -1", objects, counts=True)
    return FieldTest(f"({first.expression}) and {others}", objects)


def require_any(python_type: type, tests: list[FieldTest]) -> FieldTest:
    """Return a test for values of `python_type` that passes when at least one of `tests` passes."""
    if ALWAYS_FITS in tests or len(tests) == 1:
        return ALWAYS_FITS if ALWAYS_FITS in tests else tests[0]
    fits = [compile_value_check({python_type: test}) for test in tests]
    return make_counting_test(lambda value: next((quotes for fit in fits if (quotes := fit(value)) >= 0), -1))


def compile_value_check(types: TypeTests) -> FastCheck:
    """Compile the check of one value: the type must be in `types`, and the test of this type must pass."""
    bound: dict[str, object] = {}
    lines = [" kind = type(v)"]
    for python_type, test in types.items():
        expression, own = _bind_objects(test, bound), 2 if python_type is str else 0
        if not test.counts:
            expression = f"{own} if {expression} else -1" if expression else str(own)
        lines.append(f" if kind is {_type_name(python_type)}: return {expression}")
    return compile_function("v", [*lines, " return -1"], bound)


def compile_list_check(types: TypeTests) -> FastCheck:
    """Return the check of a list. Each item must have one of the `types` and pass the test of this type."""
    if all(test is ALWAYS_FITS for test in types.values()):
        allowed, texts = frozenset(types), str in types
        if texts and len(types) > 1:
            return lambda v: (
                2 * sum(type(item) is str for item in v) if allowed.issuperset(map(type, v)) else -1
            )
        return lambda v: (2 * len(v) if texts else 0) if allowed.issuperset(map(type, v)) else -1
    fit_item = compile_value_check(types)

    def fit(value: Any) -> int:
        total = 0
        for item in value:
            quotes = fit_item(item)
            if quotes < 0:
                return -1
            total += quotes
        return total

    return fit


def compile_object_check(fields: Mapping[str, TypeTests], required: frozenset[str]) -> FastCheck:
    """Compile the check of an object whose fields allow the given types.

    An object with an undeclared field, or without a required field, does not fit.
    """
    bound: dict[str, object] = {}
    lines: list[str] = []
    required_weight = 0  # sum of the weights of the required fields
    for name, types in fields.items():
        written, weight = _write_field_test(f"value[{name!r}]", types, bound)
        if name in required:
            required_weight += weight
            lines += written
        else:
            lines += [f"if {name!r} in value:", *(f" {line}" for line in written), f" total += {weight}"]
    body = [f" total = {required_weight}", " try:", *(f"  {line}" for line in lines), "  pass"]
    end = [
        " except KeyError:",
        "  return -1",
        f" return total - len(value) * {_FIELD_WEIGHT} if total >> 40 == len(value) else -1",
    ]
    return compile_function("value", body + end, bound)


def _write_field_test(read: str, types: TypeTests, bound: dict[str, object]) -> tuple[list[str], int]:
    """Return the source lines that test a field, and the field's minimum weight.

    `read` is the source expression for the field's value. The weight is `_FIELD_WEIGHT` for the field plus
    the minimum number of quotes. The lines add the number of quotes above this minimum.
    """
    weights = {_FIELD_WEIGHT + (4 if python_type is str else 2) for python_type in types}
    weight = min(weights, default=0)
    if len(types) == 1 and types[next(iter(types))] is ALWAYS_FITS:
        return [f"if type({read}) is not {_type_name(next(iter(types)))}: return -1"], weight
    lines = [f"v = {read}", "kind = type(v)"]
    for python_type, test in types.items():
        lines.append(f"{'if' if len(lines) == 2 else 'elif'} kind is {_type_name(python_type)}:")
        expression = _bind_objects(test, bound)
        if test.counts:
            lines += [f" quotes = {expression}", " if quotes < 0: return -1", " total += quotes"]
        elif expression:
            lines.append(f" if not ({expression}): return -1")
        lines.append(f" total += {_FIELD_WEIGHT + (4 if python_type is str else 2) - weight}")
    return [*lines, "else: return -1"] if types else ["return -1"], weight


def _type_name(python_type: type) -> str:
    return "NoneType" if python_type is type(None) else python_type.__name__


def _bind_objects(test: FieldTest, bound: dict[str, object]) -> str:
    """Return the expression of a test, where each object has a new variable name in `bound`."""
    names = [f"o{len(bound) + index}" for index in range(len(test.objects))]
    bound.update(zip(names, test.objects, strict=True))
    return test.expression.format(*names)


def compile_function(argument: str, lines: list[str], bound: dict[str, object]) -> FastCheck:
    """Compile a function with one argument.

    `lines` is the body of the function. `bound` maps variable names to the objects that the body uses.
    """
    # Default arguments bind the objects, because local names are the fastest to look up.
    space: dict[str, Any] = {**bound, "NoneType": type(None)}
    head = f"def fit({argument}{''.join(f', {name}={name}' for name in space)}):"
    exec("\n".join([head, *lines]), space)  # noqa: S102  nothing of a definition enters but quoted names
    return space["fit"]  # type: ignore[no-any-return]
