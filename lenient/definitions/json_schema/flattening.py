"""Flattens schemas: resolves references and merges `allOf` into one flat schema with the same constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from lenient.definitions.json_schema.json_values import same_json

MAX_NODES = 20_000
"""The maximum number of schemas after references and `allOf` are merged. Further schemas are not checked."""

MAX_SCHEMA_DEPTH = 64


class Flattener:
    """Flattens the schemas in one document.

    `count` is the number of schemas flattened so far, at most `MAX_NODES`. The caller may reset `count` to 0.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.references = _References(root)
        self.opening: set[int] = set()
        self.count = 0

    def find_shared_target(self, schema: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
        """Return the target of a schema that consists only of a reference. Return None for other schemas.

        All references to one target share one node. The root schema is returned unchanged, so that the root
        and all references to the root share one node, too.
        """
        is_root = schema is self.root
        if is_root:
            return schema
        if not any(isinstance(schema.get(keyword), str) for keyword in _REFERENCES):
            return None
        if not (self.references.old or SAYING_NOTHING.union(_REFERENCES).issuperset(schema)):
            return None
        target: Any = self.references.find_target(schema)
        return target if isinstance(target, Mapping) else None

    def flatten(self, schema: Any, depth: int) -> Any:
        """Return the prepared schema after references and `allOf` are merged.

        The result may be a boolean schema.
        """
        if not isinstance(schema, Mapping):
            return schema is not False
        if id(schema) in self.opening:  # a reference to itself sets no constraint
            return {GatheredKey.UNSUPPORTED: ["$ref to itself"]}
        if depth > MAX_SCHEMA_DEPTH or self.count > MAX_NODES:
            return {GatheredKey.UNSUPPORTED: ["nesting"]}
        self.count += 1
        self.opening.add(id(schema))
        try:
            return self.merge_parts(schema, depth)
        finally:
            self.opening.discard(id(schema))

    def merge_parts(self, schema: Mapping[Any, Any], depth: int) -> Any:
        own = {key: value for key, value in schema.items() if key != "allOf" and key not in _REFERENCES}
        result: Any = _prepare_schema(own)
        if not _REFERENCES.isdisjoint(schema):
            target = self.references.find_target(schema)
            if target is _NOWHERE:
                pointer = next(str(schema[keyword]) for keyword in schema if keyword in _REFERENCES)
                result = merge_schemas(result, {GatheredKey.UNSUPPORTED: [f"$ref {pointer}"[:100]]})
            elif self.references.old:
                return self.flatten(target, depth + 1)
            else:
                result = merge_schemas(result, self.flatten(target, depth + 1))
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            result = merge_schemas(result, self.flatten(part, depth + 1))
        return result


# --- references ----------------------------------------------------------------------------------------

_NOWHERE: Final = object()
"""The target of a reference to a schema that is not in this document."""

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
# these keywords contain values, not schemas
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")
_MAX_INDEXED = 200_000


class _References:
    """The schemas of one document to which a reference can point.

    `old` is True for draft 7 or earlier, where keywords next to a `$ref` are ignored.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.resources: dict[str, Any] = {}
        self.anchors: dict[tuple[str, str], Any] = {}
        self.dynamic: dict[str, list[Any]] = {}
        self.bases: dict[int, str] = {}
        dialect = root.get("$schema") if isinstance(root, Mapping) else None
        self.old = isinstance(dialect, str) and any(draft in dialect for draft in _OLD_DRAFTS)
        self._register_all()

    def find_target(self, holder: Mapping[str, Any]) -> Any:
        """Return the schema to which the reference in `holder` points, or NOWHERE if there is none."""
        if isinstance(holder.get("$ref"), str):
            return self._resolve(holder["$ref"], self.bases.get(id(holder), ""))
        if isinstance(holder.get("$dynamicRef"), str):
            return self._find_dynamic(holder)
        if holder.get("$recursiveRef") != "#" or self.dynamic:
            return _NOWHERE
        return self._resolve("#", self.bases.get(id(holder), ""))

    def _find_dynamic(self, holder: Mapping[str, Any]) -> Any:
        """Return the target of a `$dynamicRef`, or NOWHERE when several schemas have the same anchor."""
        reference = holder["$dynamicRef"]
        places = self.dynamic.get(urldefrag(reference).fragment, [])
        if len(places) > 1:
            return _NOWHERE
        return self._resolve(reference, self.bases.get(id(holder), ""))

    def _resolve(self, reference: str, base: str) -> Any:
        url, fragment = _split_reference(reference, base)
        resource = self.resources.get(url, _NOWHERE)
        if resource is _NOWHERE or not fragment:
            return resource
        if not fragment.startswith("/"):
            return self.anchors.get((url, fragment), _NOWHERE)
        return _follow_pointer(resource, unquote(fragment))

    def _register_all(self) -> None:
        """Go through the document once and register the addresses of schemas, up to a limit."""
        self.resources[""] = self.root
        waiting: list[tuple[Any, str]] = [(self.root, "")]
        for _ in range(_MAX_INDEXED):
            if not waiting:
                return
            schema, base = waiting.pop()
            if isinstance(schema, Mapping):
                base = self._register_names(schema, base)
            waiting.extend((inner, base) for inner in _iterate_inner(schema))

    def _register_names(self, schema: Mapping[str, Any], base: str) -> str:
        """Register the addresses of one schema. Return the base address for its inner schemas."""
        sibling_of_ref = self.old and "$ref" in schema
        for key in () if sibling_of_ref else ("$id", "id"):
            name = schema.get(key)
            if isinstance(name, str) and (key == "$id" or (self.old and name[:1] != "#")):
                url, fragment = _split_reference(name, base)
                if fragment:  # draft 7 writes anchors this way
                    self.anchors[url or base, fragment] = schema
                else:
                    base = url
                    self.resources[url] = schema
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(key), str):
                self.anchors.setdefault((base, schema[key]), schema)
        if isinstance(schema.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(schema["$dynamicAnchor"], []).append(schema)
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.setdefault("", []).append(schema)
        if base and not _REFERENCES.isdisjoint(schema):
            self.bases[id(schema)] = base
        return base


def _split_reference(reference: str, base: str) -> tuple[str, str]:
    """Split a reference into the document's address and the fragment.

    `base` is the address against which a relative reference is resolved.
    """
    if reference.startswith("#"):
        return base, reference[1:]
    try:
        url, fragment = urldefrag(urljoin(base, reference))
    except ValueError:  # the reference is not a valid address
        return reference, ""
    return url, fragment


def _iterate_inner(schema: Any) -> Iterator[Any]:
    if isinstance(schema, Mapping):
        yield from (value for key, value in schema.items() if key not in _VALUES)
    elif isinstance(schema, list):
        yield from schema


def _follow_pointer(target: Any, pointer: str) -> Any:
    for step in pointer[1:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  the same step, unescaped
        if isinstance(target, Mapping) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and int(step[:9]) < len(target):
            target = target[int(step[:9])]
        else:
            return _NOWHERE
    return target


# --- merging two schemas -------------------------------------------------------------------------------

Schema = Mapping[Any, Any]


class GatheredKey(Enum):
    """Keys of a prepared schema for constraints that one flat schema cannot express.

    Each key maps to a list of constraints. The keys are not strings, so a user's schema cannot contain them.
    """

    NOT = "schemas that must not match"
    ALSO = "schemas that must also match"
    WHEN = "(test, schema if it matches, schema if it does not)"
    CONTAINS = "(schema, least, most)"
    UNSUPPORTED = "keywords that are not checked"


SAYING_NOTHING = frozenset({
    "description", "title", "default", "examples", "example", "$comment", "deprecated", "readOnly",
    "writeOnly", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$vocabulary",
    "contentEncoding", "contentMediaType", "contentSchema", "discriminator",
})  # fmt: skip
"""The keywords that do not constrain a value."""
_FIRST_WINS = SAYING_NOTHING | {"nullable", "x-case-sensitive"}
_HIGHER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_ARRAY_SHAPE = ("items", "prefixItems", "additionalItems")
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")


def _prepare_schema(schema: Schema) -> dict[Any, Any]:
    """Return a copy of a schema with `not`, `contains`, `if` and dependencies moved to `GatheredKey`s."""
    result = dict(schema)
    for keyword, bound in _EXCLUSIVE.items():
        flag = result.get(keyword)
        if isinstance(flag, bool):  # in draft 4, this keyword is a flag next to the bound
            del result[keyword]
            if flag and bound in result:
                result[keyword] = result.pop(bound)
    if result.get("nullable") is True and "type" in result:
        declared = result["type"]
        result["type"] = [*(declared if isinstance(declared, list) else [declared]), "null"]
    if isinstance(result.get("not"), (Mapping, bool)):
        _gather(result, GatheredKey.NOT, result.pop("not"))
    if "contains" in result:
        least, most = result.pop("minContains", 1), result.pop("maxContains", None)
        _gather(result, GatheredKey.CONTAINS, (result.pop("contains"), least, most))
    if "if" in result:
        _gather(
            result, GatheredKey.WHEN, (result.pop("if"), result.pop("then", True), result.pop("else", True))
        )
    _prepare_dependencies(result)
    return result


def _prepare_dependencies(result: dict[Any, Any]) -> None:
    """Move a constraint to `GatheredKey.WHEN` if it applies only when a field is present."""
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        entries = result.pop(keyword, None)
        for name, requirement in entries.items() if isinstance(entries, Mapping) else ():
            wanted = {"required": requirement} if isinstance(requirement, list) else requirement
            _gather(result, GatheredKey.WHEN, ({"type": "object", "required": [name]}, wanted, True))


def _gather(result: dict[Any, Any], key: GatheredKey, *values: Any) -> None:
    result[key] = [*result.get(key, ()), *values]


def merge_schemas(base: Any, over: Any) -> Any:
    """Return a schema that accepts what both schemas accept, or False when no value can fit both schemas.

    If the schemas have different annotations, those of `base` are kept. `unevaluatedProperties` and
    `unevaluatedItems` are merged only from `base`, because in `over` they do not cover the fields and items
    of `base`.
    """
    if base is False or over is False:
        return False
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return base if isinstance(base, Mapping) else over
    result, other = _prepare_schema(base), _prepare_schema(over)
    for keyword in _UNEVALUATED:
        _merge_unevaluated(result, other, keyword)
    _merge_fields(result, other)
    _merge_items(result, other)
    for keyword, value in other.items():
        if isinstance(keyword, GatheredKey):
            _gather(result, keyword, *value)
        elif keyword not in result:
            result[keyword] = value
        elif keyword not in _FIRST_WINS and not same_json(result[keyword], value):
            _merge_keyword(result, keyword, value)
    return False if result.get("type") == [] or result.get("enum") == [] else result


def _merge_unevaluated(result: dict[Any, Any], other: dict[Any, Any], keyword: str) -> None:
    """Merge `unevaluatedProperties` or `unevaluatedItems`, in place.

    A restriction in `other` is listed as unsupported. A permission in `other` also applies to the result.
    """
    theirs = other.pop(keyword, None)
    if theirs not in (None, True):
        _gather(result, GatheredKey.UNSUPPORTED, keyword)
    all_properties = keyword == _UNEVALUATED[0] and other.get("additionalProperties") is True
    if all_properties or theirs not in (None, False):
        result.pop(keyword, None)


def _merge_keyword(result: dict[Any, Any], keyword: str, value: Any) -> None:
    both = _JOINED.get(keyword)
    joined = both(result[keyword], value) if both is not None else None
    if joined is not None:
        result[keyword] = joined
    elif keyword == "format":
        _gather(result, GatheredKey.UNSUPPORTED, f"a second {keyword}")
    else:
        _gather(result, GatheredKey.ALSO, {keyword: value})


def _take_higher(bound: Any, other: Any) -> Any:
    return max(bound, other) if _are_numbers(bound, other) else None


def _take_lower(bound: Any, other: Any) -> Any:
    return min(bound, other) if _are_numbers(bound, other) else None


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _find_common_types(types: Any, other: Any) -> Any:
    ours, theirs = (value if isinstance(value, list) else [value] for value in (types, other))
    names = [_narrow_type(name, theirs) for name in ours if isinstance(name, str)]
    return [name for name in names if name is not None]


def _narrow_type(name: str, allowed: list[Any]) -> str | None:
    lowered = [str(other).lower() for other in allowed]
    if name.lower() in lowered or (name.lower() == "integer" and "number" in lowered):
        return name
    return "integer" if name.lower() == "number" and "integer" in lowered else None


def _find_common_values(values: Any, other: Any) -> Any:
    if not isinstance(values, list) or not isinstance(other, list):
        return None
    return [value for value in values if any(same_json(value, allowed) for allowed in other)]


def _join_required(names: Any, other: Any) -> Any:
    return [*names, *other] if isinstance(names, list) and isinstance(other, list) else None


_JOINED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_HIGHER, _take_higher),
    **dict.fromkeys(_LOWER, _take_lower),
    "type": _find_common_types,
    "enum": _find_common_values,
    "required": _join_required,
    "uniqueItems": lambda flag, other: flag is True or other is True,
    "propertyNames": lambda names, other: {"allOf": [names, other]},
}
"""Functions that join the values of a keyword in two schemas. They return None for malformed values."""


def _merge_fields(result: dict[Any, Any], other: dict[Any, Any]) -> None:
    """Merge the properties by name, and `additionalProperties`, in place.

    If one schema forbids names that the other schema lists, no merged schema is exact. Then the properties of
    both schemas are allowed, and `additionalProperties` is listed as unsupported.
    """
    names = [{*_declared_names(schema)} for schema in (result, other)]
    extras = [schema.get("additionalProperties", True) for schema in (result, other)]
    if (extras[0] is not True and names[1] - names[0]) or (extras[1] is not True and names[0] - names[1]):
        _gather(result, GatheredKey.UNSUPPORTED, "additionalProperties next to further properties")
    extra = other.pop("additionalProperties", True)
    if extra is not True:
        result["additionalProperties"] = _combine_schemas(extras[0], extra)
    for keyword in ("properties", "patternProperties"):
        mine, theirs = result.get(keyword), other.get(keyword)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            del other[keyword]
            shared = {
                name: _combine_schemas(mine[name], inner) for name, inner in theirs.items() if name in mine
            }
            result[keyword] = {**mine, **theirs, **shared}


def _declared_names(schema: dict[Any, Any]) -> list[tuple[str, str]]:
    declared = ((keyword, schema.get(keyword)) for keyword in ("properties", "patternProperties"))
    return [(keyword, name) for keyword, names in declared if isinstance(names, Mapping) for name in names]


def _combine_schemas(schema: Any, other: Any) -> Any:
    if schema is False or other is False:
        return False
    if schema is True or same_json(schema, other):
        return other
    return schema if other is True else {"allOf": [schema, other]}


def _merge_items(result: dict[Any, Any], other: dict[Any, Any]) -> None:
    """Merge the schemas that apply to all items of a list, in place."""
    theirs = {keyword: other.pop(keyword) for keyword in _ARRAY_SHAPE if keyword in other}
    mine = [keyword for keyword in _ARRAY_SHAPE if keyword in result]
    if not mine:
        result.update(theirs)
    elif mine == ["items"] == list(theirs) and not isinstance(result["items"], list):
        result["items"] = _combine_schemas(result["items"], theirs["items"])
    elif theirs:
        _gather(result, GatheredKey.ALSO, theirs)
