"""Two schemas that both hold → one schema that says the same, for `allOf`, references with siblings, and
branches.

What cannot be said in one schema is gathered beside it, to be checked on its own, or named as unsupported.
Knows nothing of references or values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from lenient.json_values import same_json

Schema = Mapping[Any, Any]


class Gathered(Enum):
    """Keys of a prepared schema, each with a list, for demands that stand beside its shape.

    They are no strings, so that no schema from outside can hold them.
    """

    NOT = "schemas that must not hold"
    ALSO = "schemas that must hold as well"
    WHEN = "(test, schema when it holds, schema when it does not)"
    CONTAINS = "(schema, least, most)"
    UNSUPPORTED = "keywords that are not checked"


SAYING_NOTHING = frozenset({
    "description", "title", "default", "examples", "example", "$comment", "deprecated", "readOnly",
    "writeOnly", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$vocabulary",
    "contentEncoding", "contentMediaType", "contentSchema", "discriminator",
})  # fmt: skip
"""Keywords that demand nothing of a value."""
_FIRST_WINS = SAYING_NOTHING | {"nullable", "x-case-sensitive"}
_HIGHER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_ARRAY_SHAPE = ("items", "prefixItems", "additionalItems")
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")


def prepared(schema: Schema) -> dict[Any, Any]:
    """A copy of a schema with what stands beside its shape gathered into lists."""
    result = dict(schema)
    for keyword, bound in _EXCLUSIVE.items():
        flag = result.get(keyword)
        if isinstance(flag, bool):  # draft 4: a flag beside the bound
            del result[keyword]
            if flag and bound in result:
                result[keyword] = result.pop(bound)
    if result.get("nullable") is True and "type" in result:
        declared = result["type"]
        result["type"] = [*(declared if isinstance(declared, list) else [declared]), "null"]
    if isinstance(result.get("not"), (Mapping, bool)):
        _gather(result, Gathered.NOT, result.pop("not"))
    if "contains" in result:
        least, most = result.pop("minContains", 1), result.pop("maxContains", None)
        _gather(result, Gathered.CONTAINS, (result.pop("contains"), least, most))
    if "if" in result:
        _gather(result, Gathered.WHEN, (result.pop("if"), result.pop("then", True), result.pop("else", True)))
    _prepare_dependencies(result)
    return result


def _prepare_dependencies(result: dict[Any, Any]) -> None:
    """What a field asks for when it is there, as conditions."""
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        entries = result.pop(keyword, None)
        for name, asked in entries.items() if isinstance(entries, Mapping) else ():
            wanted = {"required": asked} if isinstance(asked, list) else asked
            _gather(result, Gathered.WHEN, ({"type": "object", "required": [name]}, wanted, True))


def _gather(result: dict[Any, Any], key: Gathered, *found: Any) -> None:
    result[key] = [*result.get(key, ()), *found]


def merged(base: Any, over: Any) -> Any:
    """Both schemas at once, each prepared or not; False when no value can fit both.

    Annotations of `base` win. `unevaluated…` counts in `base` alone: in `over` it cannot see the rest.
    """
    if base is False or over is False:
        return False
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return base if isinstance(base, Mapping) else over
    result, other = prepared(base), prepared(over)
    for keyword in _UNEVALUATED:
        _merge_unevaluated(result, other, keyword)
    _merge_fields(result, other)
    _merge_items(result, other)
    for keyword, value in other.items():
        if isinstance(keyword, Gathered):
            _gather(result, keyword, *value)
        elif keyword not in result:
            result[keyword] = value
        elif keyword not in _FIRST_WINS and not same_json(result[keyword], value):
            _merge_keyword(result, keyword, value)
    return False if result.get("type") == [] or result.get("enum") == [] else result


def _merge_unevaluated(result: dict[Any, Any], other: dict[Any, Any], keyword: str) -> None:
    """What `other` leaves to itself is not checked; what it allows altogether is evaluated for both."""
    theirs = other.pop(keyword, None)
    if theirs not in (None, True):
        _gather(result, Gathered.UNSUPPORTED, keyword)
    all_properties = keyword == _UNEVALUATED[0] and other.get("additionalProperties") is True
    if all_properties or theirs not in (None, False):
        result.pop(keyword, None)


def _merge_keyword(result: dict[Any, Any], keyword: str, value: Any) -> None:
    both = _JOINED.get(keyword)
    joined = both(result[keyword], value) if both is not None else None
    if joined is not None:
        result[keyword] = joined
    elif keyword == "format":
        _gather(result, Gathered.UNSUPPORTED, f"a second {keyword}")
    else:
        _gather(result, Gathered.ALSO, {keyword: value})


def _higher(one: Any, other: Any) -> Any:
    return max(one, other) if _are_numbers(one, other) else None


def _lower(one: Any, other: Any) -> Any:
    return min(one, other) if _are_numbers(one, other) else None


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _common_types(one: Any, other: Any) -> Any:
    ours, theirs = (value if isinstance(value, list) else [value] for value in (one, other))
    names = [_narrower(name, theirs) for name in ours if isinstance(name, str)]
    return [name for name in names if name is not None]


def _narrower(name: str, allowed: list[Any]) -> str | None:
    lowered = [str(other).lower() for other in allowed]
    if name.lower() in lowered or (name.lower() == "integer" and "number" in lowered):
        return name
    return "integer" if name.lower() == "number" and "integer" in lowered else None


def _common_values(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return None
    return [value for value in one if any(same_json(value, allowed) for allowed in other)]


def _both_required(one: Any, other: Any) -> Any:
    return [*one, *other] if isinstance(one, list) and isinstance(other, list) else None


_JOINED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_HIGHER, _higher),
    **dict.fromkeys(_LOWER, _lower),
    "type": _common_types,
    "enum": _common_values,
    "required": _both_required,
    "uniqueItems": lambda one, other: one is True or other is True,
    "propertyNames": lambda one, other: {"allOf": [one, other]},
}
"""Keywords that two schemas can say in one; None comes back for a value that the keyword does not ask for."""


def _merge_fields(result: dict[Any, Any], other: dict[Any, Any]) -> None:
    """Properties by name, and what may stand beside them.

    `additionalProperties` counts the properties of its own schema alone, which one schema cannot say when
    the other schema has further ones: then the properties of both are allowed, and that is said.
    """
    names = [{*_names(schema)} for schema in (result, other)]
    extras = [schema.get("additionalProperties", True) for schema in (result, other)]
    if (extras[0] is not True and names[1] - names[0]) or (extras[1] is not True and names[0] - names[1]):
        _gather(result, Gathered.UNSUPPORTED, "additionalProperties beside further properties")
    extra = other.pop("additionalProperties", True)
    if extra is not True:
        result["additionalProperties"] = _both(extras[0], extra)
    for keyword in ("properties", "patternProperties"):
        mine, theirs = result.get(keyword), other.get(keyword)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            del other[keyword]
            shared = {name: _both(mine[name], inner) for name, inner in theirs.items() if name in mine}
            result[keyword] = {**mine, **theirs, **shared}


def _names(schema: dict[Any, Any]) -> list[tuple[str, str]]:
    declared = ((keyword, schema.get(keyword)) for keyword in ("properties", "patternProperties"))
    return [(keyword, name) for keyword, names in declared if isinstance(names, Mapping) for name in names]


def _both(one: Any, other: Any) -> Any:
    if one is False or other is False:
        return False
    if one is True or same_json(one, other):
        return other
    return one if other is True else {"allOf": [one, other]}


def _merge_items(result: dict[Any, Any], other: dict[Any, Any]) -> None:
    """Two schemas for all items become one; tuples are checked on their own."""
    theirs = {keyword: other.pop(keyword) for keyword in _ARRAY_SHAPE if keyword in other}
    mine = [keyword for keyword in _ARRAY_SHAPE if keyword in result]
    if not mine:
        result.update(theirs)
    elif mine == ["items"] == list(theirs) and not isinstance(result["items"], list):
        result["items"] = _both(result["items"], theirs["items"])
    elif theirs:
        _gather(result, Gathered.ALSO, theirs)
