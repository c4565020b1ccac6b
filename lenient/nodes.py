"""A JSON Schema → a graph of nodes that says, for each place of a value, what may stand there.

References, `allOf` and sibling keywords are merged here, once per definition; a reference that leads back
makes the graph cyclic. What is not understood is kept as a remark for the result. Knows nothing of any
value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lenient.rules import Pattern, Rule, compile_pattern, rules_of
from lenient.tools import KINDS_BY_FORMAT, UNSET, ValueKind, type_names

MAX_NODES = 20_000
"""Nodes beyond which a definition's remaining parts are not checked: merging branches can multiply them."""

_MAX_SCHEMA_DEPTH = 64

_UNSUPPORTED = (
    "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains", "propertyNames",
    "patternProperties", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef",
)  # fmt: skip
_REMARKS_ONLY = frozenset(
    {"description", "title", "default", "examples", "example", "$comment", "deprecated"}
)
_SPELLING = re.compile(r"[\s_\-]+")


@dataclass(slots=True)
class Choices:
    """The values that may stand, by `enum` or `const`."""

    code: str
    allowed: tuple[Any, ...]
    folded: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, value: Any) -> bool:
        return any(same_json(value, allowed) for allowed in self.allowed)


@dataclass(slots=True)
class Node:
    """What may stand at one place. `kind` None without `branches` = anything.

    `extra` is what undeclared fields must be: a node, True (anything), or None (they are unknown).
    `remarks` are diagnostics without a place, as (code, detail), for keywords that are not checked.
    """

    kind: ValueKind | None = None
    nullable: bool = False
    never: bool = False
    choices: Choices | None = None
    rules: tuple[Rule, ...] = ()
    pattern: Pattern | None = None
    fields: dict[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Node | bool | None = None
    spellings: dict[str, str | None] = field(default_factory=dict)
    items: Node | None = None
    prefix: tuple[Node, ...] = ()
    branches: tuple[Node, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()
    default: Any = UNSET


ANYTHING = Node()


def same_json(left: Any, right: Any) -> bool:
    """Equal as JSON values: true is not 1, but 1 is 1.0."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def spelling(name: str) -> str:
    """The form in which two spellings of one name agree: no case, no underscores, hyphens or blanks."""
    return _SPELLING.sub("", name).casefold()


def compile_schema(schema: Any) -> Node:
    """The graph of a whole schema. Never raises: what is malformed becomes a remark."""
    return _Compiler(schema).node(schema, 0)


class _Compiler:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.by_reference: dict[str, Node] = {}
        self.count = 0

    def node(self, schema: Any, depth: int) -> Node:
        self.count += 1
        if not isinstance(schema, Mapping):
            return Node(never=schema is False)
        if depth > _MAX_SCHEMA_DEPTH or self.count > MAX_NODES:
            return Node(remarks=(("schema_keyword_unsupported", "nesting"),))
        if "$ref" in schema:
            return self.referenced(schema, depth)
        node = Node()
        self.fill(node, schema, depth)
        return node

    def referenced(self, schema: Mapping[str, Any], depth: int) -> Node:
        pointer = str(schema["$ref"])
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        target = self.resolve(pointer)
        if target is UNSET:
            return Node(remarks=(("schema_keyword_unsupported", f"$ref {pointer}"[:100]),))
        if not _REMARKS_ONLY.issuperset(siblings) and isinstance(target, Mapping):
            return self.node(merged(target, siblings), depth + 1)
        if pointer in self.by_reference:
            return self.by_reference[pointer]
        if not isinstance(target, Mapping) or "$ref" in target:
            return self.node(target, depth + 1)
        node = self.by_reference[pointer] = Node()
        self.fill(node, target, depth + 1)
        return node

    def resolve(self, pointer: str) -> Any:
        """The schema at a pointer within this document, UNSET for any other."""
        target: Any = self.root
        if pointer != "#" and not pointer.startswith("#/"):
            return UNSET
        plain = pointer[2:].replace("%24", "$").split("/") if len(pointer) > 2 else []
        for step in (part.replace("~1", "/").replace("~0", "~") for part in plain):
            if isinstance(target, Mapping) and step in target:
                target = target[step]
            elif isinstance(target, list) and step.isdigit() and int(step[:9]) < len(target):
                target = target[int(step[:9])]
            else:
                return UNSET
        return target

    def fill(self, node: Node, schema: Mapping[str, Any], depth: int) -> None:
        """Write what `schema` says into `node`, which others may already refer to."""
        schema = self.flattened(schema, depth)
        node.default = schema.get("default", UNSET)
        node.nullable = schema.get("nullable") is True
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches:
                rest = {key: value for key, value in schema.items() if key != keyword}
                self.fill_branches(node, [merged(rest, branch) for branch in branches], depth)
                return
        types = type_names(schema)
        node.nullable |= "null" in types
        named = [name for name in dict.fromkeys(types) if name != "null"]
        if len(named) > 1:
            self.fill_branches(node, [{**schema, "type": name} for name in named], depth)
        else:
            self.fill_single(node, schema, named[0] if named else None, depth)

    def fill_branches(self, node: Node, branches: list[Any], depth: int) -> None:
        real = [
            branch
            for branch in branches
            if not (isinstance(branch, Mapping) and branch.get("type") == "null")
        ]
        node.nullable |= len(real) < len(branches)
        node.branches = tuple(self.node(branch, depth + 1) for branch in real)

    def flattened(self, schema: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        """The schema with its `allOf` merged into it."""
        parts = schema.get("allOf")
        if not isinstance(parts, list) or depth > _MAX_SCHEMA_DEPTH:
            return schema
        result: Any = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            opened = self.opened(part)
            if isinstance(opened, Mapping):
                result = merged(result, self.flattened(opened, depth + 1))
        return result  # type: ignore[no-any-return]  # merging two mappings gives one

    def opened(self, part: Any) -> Any:
        """A part of an `allOf` with its references followed."""
        for _ in range(_MAX_SCHEMA_DEPTH):
            if not isinstance(part, Mapping) or not isinstance(part.get("$ref"), str):
                return part
            target = self.resolve(part["$ref"])
            rest = {key: value for key, value in part.items() if key != "$ref"}
            part = merged(target, rest) if isinstance(target, Mapping) else {**rest, "not": part["$ref"]}
        return True

    def fill_single(self, node: Node, schema: Mapping[str, Any], type_name: str | None, depth: int) -> None:
        node.kind = _kind(schema, type_name)
        node.choices = _choices(schema)
        if type_name is None and not node.nullable and node.choices is None and "null" in type_names(schema):
            node.choices, node.nullable = Choices("const_mismatch", (None,)), True
        node.rules = tuple(rules_of(schema))
        self.fill_remarks(node, schema)
        if node.kind is ValueKind.JSON_OBJECT:
            self.fill_object(node, schema, depth)
        elif node.kind is ValueKind.JSON_ARRAY:
            self.fill_array(node, schema, depth)

    def fill_remarks(self, node: Node, schema: Mapping[str, Any]) -> None:
        remarks = [("schema_keyword_unsupported", keyword) for keyword in _UNSUPPORTED if keyword in schema]
        remarks += [
            ("schema_keyword_unsupported", keyword)
            for keyword in ("anyOf", "oneOf", "allOf")
            if keyword in schema
        ]
        if "pattern" in schema:
            node.pattern = compile_pattern(schema["pattern"])
            if node.pattern is None:
                remarks.append(("pattern_not_checked", str(schema["pattern"])[:100]))
        node.remarks = tuple(remarks)

    def fill_object(self, node: Node, schema: Mapping[str, Any], depth: int) -> None:
        properties = schema.get("properties")
        declared = properties if isinstance(properties, Mapping) else {}
        for name, inner in declared.items():
            node.fields[str(name)] = self.node(inner, depth + 1)
        required = schema.get("required")
        node.required = (
            frozenset(n for n in required if isinstance(n, str))
            if isinstance(required, list)
            else frozenset()
        )
        for name in node.required - node.fields.keys():
            node.fields[name] = Node()
        node.spellings = _spellings(node.fields)
        extra = schema.get("additionalProperties")
        open_ended = properties is None or "patternProperties" in schema
        if isinstance(extra, Mapping):
            node.extra = self.node(extra, depth + 1)
        elif extra is True or (extra is None and open_ended):
            node.extra = True

    def fill_array(self, node: Node, schema: Mapping[str, Any], depth: int) -> None:
        items, prefix = schema.get("items"), schema.get("prefixItems")
        if isinstance(items, list):  # draft 7 writes tuples so
            items, prefix = schema.get("additionalItems"), items
        node.prefix = tuple(self.node(item, depth + 1) for item in prefix) if isinstance(prefix, list) else ()
        node.items = self.node(items, depth + 1) if isinstance(items, (Mapping, bool)) else None


def merged(base: Any, over: Any) -> Any:
    """Both schemas at once: properties and required lists are joined, of other keywords the later counts."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over if over is False or not isinstance(base, Mapping) else base
    result = {**base, **over}
    if isinstance(base.get("properties"), Mapping) and isinstance(over.get("properties"), Mapping):
        result["properties"] = {**base["properties"], **over["properties"]}
    if isinstance(base.get("required"), list) and isinstance(over.get("required"), list):
        result["required"] = [*base["required"], *over["required"]]
    for keyword in ("anyOf", "oneOf"):
        if keyword in base and keyword in over:
            result[keyword] = base[keyword]
            result["not"] = f"a second {keyword}"  # said in the result as a keyword that is not checked
    return result


_BY_TYPE = {
    "boolean": ValueKind.BOOLEAN, "integer": ValueKind.INTEGER, "number": ValueKind.NUMBER,
    "object": ValueKind.JSON_OBJECT, "array": ValueKind.JSON_ARRAY,
}  # fmt: skip


def _kind(schema: Mapping[str, Any], type_name: str | None) -> ValueKind | None:
    if type_name is None:
        return _implied_kind(schema)
    if type_name != "string":
        return _BY_TYPE.get(type_name)
    if isinstance(schema.get("enum"), list):
        return ValueKind.ENUM_TOKEN
    return KINDS_BY_FORMAT.get(str(schema.get("format")), ValueKind.STRING)


def _implied_kind(schema: Mapping[str, Any]) -> ValueKind | None:
    """The kind of a schema without a type: told by its listed values, properties or items."""
    if isinstance(schema.get("properties"), Mapping):
        return ValueKind.JSON_OBJECT
    if "items" in schema or "prefixItems" in schema:
        return ValueKind.JSON_ARRAY
    listed = (
        schema["enum"]
        if isinstance(schema.get("enum"), list)
        else [schema["const"]]
        if "const" in schema
        else []
    )
    types = {type(value) for value in listed if value is not None}
    if len(types) != 1:
        return ValueKind.NUMBER if types == {int, float} else None
    return {
        str: ValueKind.ENUM_TOKEN,
        bool: ValueKind.BOOLEAN,
        int: ValueKind.INTEGER,
        float: ValueKind.NUMBER,
    }.get(types.pop())


def _choices(schema: Mapping[str, Any]) -> Choices | None:
    if "const" in schema:
        return Choices("const_mismatch", (schema["const"],))
    listed = schema.get("enum")
    if not isinstance(listed, list):
        return None
    folded: dict[str, Any] = {}
    if schema.get("x-case-sensitive") is not True:
        for value in listed:
            if isinstance(value, str):
                key = value.strip().casefold()
                folded[key] = None if key in folded else value
    return Choices("enum_out_of_range", tuple(listed), folded)


def _spellings(fields: Mapping[str, Node]) -> dict[str, str | None]:
    """Normalised spelling → declared name; None where two names share one."""
    result: dict[str, str | None] = {}
    for name in fields:
        key = spelling(name)
        result[key] = None if key in result else name
    return result
