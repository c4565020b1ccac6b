"""Compiles a JSON Schema to a graph of nodes, once per definition.

An unsupported keyword becomes a remark of the node, which the validator reports with every value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lenient.definitions.json_schema.constraints import compile_pattern, read_rules
from lenient.definitions.json_schema.flattening import (
    MAX_NODES,
    MAX_SCHEMA_DEPTH,
    SAYING_NOTHING,
    Flattener,
    GatheredKey,
    merge_schemas,
)
from lenient.definitions.json_schema.nodes import (
    NULL,
    Conditions,
    Contains,
    Demands,
    EnumChoices,
    Node,
    are_all_disjoint,
    find_tag,
    inner_nodes,
    normalise_name,
)
from lenient.definitions.json_schema.value_kinds import (
    KINDS_BY_FORMAT,
    KINDS_BY_TYPE,
    ValueKind,
    says_json_text,
    type_names,
)

_NULL_ALONE = SAYING_NOTHING | {"type"}
_MAX_GATHERED = 1_000
_MAX_CHOSEN = 64


def compile_schema(schema: Any) -> Node:
    """Return the root node of the schema of an arguments object.

    Never raises: a malformed keyword becomes a remark.
    """
    root = _SchemaCompiler(schema).compile_node(schema, 0)
    if root.kind is None and not root.branches and not root.never:
        root.kind = ValueKind.JSON_OBJECT
    return root


class _SchemaCompiler:
    def __init__(self, root: Any) -> None:
        self.schemas = Flattener(root)
        self.by_target: dict[int, Node] = {}
        self.count = 0

    def compile_node(self, schema: Any, depth: int) -> Node:
        self.count += 1
        if not isinstance(schema, Mapping):
            return Node(never=schema is False)
        if depth > MAX_SCHEMA_DEPTH or self.count > MAX_NODES:
            return Node(remarks=(("schema_keyword_unsupported", "nesting"),))
        target = self.schemas.find_shared_target(schema)
        if target is None:
            node = Node()
            self.fill(node, self.schemas.flatten(schema, depth), depth)
        elif id(target) in self.by_target:
            return self.by_target[id(target)]
        else:
            node = self.by_target[id(target)] = Node()
            self.fill(node, self.schemas.flatten(target, depth), depth + 1)
        return node

    # --- one node ------------------------------------------------------------------------------------

    def fill(self, node: Node, flat: Any, depth: int) -> None:
        """Write a flattened schema into `node`, to which other nodes may already refer."""
        if not isinstance(flat, Mapping):
            node.never = flat is False
            return
        if "unevaluatedItems" in flat and _has_items_elsewhere(flat):
            flat = {key: value for key, value in flat.items() if key != "unevaluatedItems"}
            flat[GatheredKey.UNSUPPORTED] = [*flat.get(GatheredKey.UNSUPPORTED, ()), "unevaluatedItems"]
        schema = {key: value for key, value in flat.items() if not isinstance(key, GatheredKey)}
        node.remarks = tuple(
            ("schema_keyword_unsupported", keyword)
            for keyword in dict.fromkeys(flat.get(GatheredKey.UNSUPPORTED, ()))
        )
        self.fill_shape(node, schema, depth)
        self.fill_demands(node, flat, depth)

    def fill_shape(self, node: Node, schema: Mapping[Any, Any], depth: int) -> None:
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches:
                rest = {key: value for key, value in schema.items() if key != keyword}
                self.fill_branches(node, rest, branches, depth)
                apart = are_all_disjoint((*node.branches, NULL) if node.nullable else node.branches)
                if keyword == "oneOf" and not apart:
                    _ensure_demands(node).exclusive = True
                return
        types = type_names(schema)
        named = [name for name in dict.fromkeys(types) if name != "null"]
        if len(named) > 1:
            self.fill_branches(node, {}, [{**schema, "type": name} for name in named], depth)
            node.nullable |= _takes_null(schema)
        else:
            self.fill_single(node, schema, types, named[0] if named else None, depth)

    def fill_branches(self, node: Node, rest: Mapping[Any, Any], branches: list[Any], depth: int) -> None:
        apart = {"anyOf", "oneOf"}.isdisjoint(rest)  # if False, null must also fit another union
        null = next((branch for branch in branches if apart and _is_null(branch)), None)
        real = [branch for branch in branches if null is None or branch is not null]
        node.nullable = rest.get("nullable") is True or (len(real) < len(branches) and _admits_null(rest))
        node.branches = tuple(self.compile_branch(rest, branch, depth + 1) for branch in real)
        node.tag = find_tag(node.branches)
        if not real:
            node.choices = EnumChoices("const_mismatch", (None,) if node.nullable else ())

    def compile_branch(self, rest: Mapping[Any, Any], branch: Any, depth: int) -> Node:
        if SAYING_NOTHING.issuperset(rest) and not says_json_text(rest):
            return self.compile_node(branch, depth)
        node = Node()
        self.fill(node, merge_schemas(rest, self.schemas.flatten(branch, depth)), depth)
        return node

    def fill_single(
        self, node: Node, schema: Mapping[Any, Any], types: list[str], type_name: str | None, depth: int
    ) -> None:
        node.nullable = _takes_null(schema)
        node.kind = _find_kind(schema, type_name)
        node.typed = type_name is not None
        node.holds_json = type_name == "string" and says_json_text(schema)
        node.choices = _read_choices(schema)
        if type_name is None and types:  # null is the only allowed type
            node.kind, node.choices = None, EnumChoices("const_mismatch", (None,) if node.nullable else ())
        node.rules = tuple(read_rules(schema))
        self.fill_remarks(node, schema, type_name)
        if type_name in (None, "object"):
            self.fill_object(node, schema, depth)
        if type_name in (None, "array"):
            self.fill_array(node, schema, depth)

    def fill_remarks(self, node: Node, schema: Mapping[Any, Any], type_name: str | None) -> None:
        remarks = [
            ("schema_keyword_unsupported", keyword)
            for keyword in ("anyOf", "oneOf", "allOf", "not")
            if keyword in schema
        ]
        if node.typed and node.choices is not None and not lists_its_type(node):
            remarks.append(("schema_keyword_unsupported", "type next to enum of another type"))
        if type_name is not None and type_name not in KINDS_BY_TYPE:
            remarks.append(("schema_keyword_unsupported", f"type {type_name}"[:100]))
        if "pattern" in schema:
            node.pattern = compile_pattern(schema["pattern"])
            if node.pattern is None:
                remarks.append(("pattern_not_checked", str(schema["pattern"])[:100]))
        node.remarks += tuple(remarks)

    def fill_object(self, node: Node, schema: Mapping[Any, Any], depth: int) -> None:
        properties = schema.get("properties")
        declared = properties if isinstance(properties, Mapping) else {}
        for name, inner in declared.items():
            node.fields[str(name)] = self.compile_node(inner, depth + 1)
        required = schema.get("required")
        node.required = frozenset(
            name for name in (required if isinstance(required, list) else ()) if isinstance(name, str)
        )
        self.fill_extra(node, schema, depth)
        for name in sorted(node.required - node.fields.keys()):
            undeclared = node.extra if isinstance(node.extra, Node) else Node()
            if node.closed:  # the field is both required and forbidden
                undeclared.remarks = (
                    ("schema_keyword_unsupported", "additionalProperties next to required"),
                )
            node.fields[name] = next(iter(inner_nodes(node, name)), undeclared)
        node.spellings = _map_spellings(node.fields)
        if isinstance(schema.get("propertyNames"), (Mapping, bool)):
            _ensure_demands(node).names = self.compile_node(schema["propertyNames"], depth + 1)

    def fill_extra(self, node: Node, schema: Mapping[Any, Any], depth: int) -> None:
        patterns = schema.get("patternProperties")
        for text, inner in patterns.items() if isinstance(patterns, Mapping) else ():
            pattern = compile_pattern(text)
            if pattern is None:
                node.remarks += (("pattern_not_checked", str(text)[:100]),)
            else:
                _ensure_demands(node).patterns += ((pattern, self.compile_node(inner, depth + 1)),)
        extra = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        node.closed = extra is False
        if isinstance(extra, Mapping):
            node.extra = self.compile_node(extra, depth + 1)
        elif extra is True or (extra is None and (schema.get("properties") is None or patterns)):
            node.extra = True

    def fill_array(self, node: Node, schema: Mapping[Any, Any], depth: int) -> None:
        items, prefix = schema.get("items"), schema.get("prefixItems")
        if isinstance(items, list):  # draft 7 describes tuples this way
            items, prefix = schema.get("additionalItems"), items
        if items is None:
            items = schema.get("unevaluatedItems")
        node.prefix = (
            tuple(self.compile_node(item, depth + 1) for item in prefix) if isinstance(prefix, list) else ()
        )
        node.items = self.compile_node(items, depth + 1) if isinstance(items, (Mapping, bool)) else None

    # --- constraints next to the shape ---------------------------------------------------------------

    def fill_demands(self, node: Node, flat: Mapping[Any, Any], depth: int) -> None:
        if max(
            (len(gathered) for key, gathered in flat.items() if isinstance(key, GatheredKey)), default=0
        ) > (_MAX_GATHERED):
            node.remarks += (("schema_keyword_unsupported", "allOf"),)
            return
        for forbidden in flat.get(GatheredKey.NOT, ()):
            _ensure_demands(node).forbidden += (self.compile_node(forbidden, depth + 1),)
        for also in flat.get(GatheredKey.ALSO, ()):
            _ensure_demands(node).also += ((" ".join(also), self.compile_node(also, depth + 1)),)
        for item, least, most in flat.get(GatheredKey.CONTAINS, ()):
            contains = Contains(
                self.compile_node(item, depth + 1), _read_size(least, 1) or 0, _read_size(most, None)
            )
            _ensure_demands(node).contains += (contains,)
        if GatheredKey.WHEN in flat:
            self.fill_conditions(node, flat, depth)

    def fill_conditions(self, node: Node, flat: Mapping[Any, Any], depth: int) -> None:
        conditions = flat[GatheredKey.WHEN]
        base = replace(node, demands=replace(node.demands) if node.demands is not None else None)
        tests = tuple(self.compile_node(test, depth + 1) for test, _, _ in conditions)
        bare = {key: value for key, value in flat.items() if key is not GatheredKey.WHEN}
        chosen_nodes: dict[tuple[bool | None, ...], Node] = {}

        def choose(answers: tuple[bool | None, ...]) -> Node:
            node = chosen_nodes.get(answers)
            if node is None:
                if len(chosen_nodes) >= _MAX_CHOSEN:
                    chosen_nodes.clear()
                node = chosen_nodes[answers] = self.compile_chosen(bare, conditions, answers)
            return node

        _ensure_demands(node).conditions = Conditions(base, tests, choose)

    def compile_chosen(self, bare: Any, conditions: list[Any], answers: tuple[bool | None, ...]) -> Node:
        """Return the node of a schema merged with the `then` or `else` branch of each condition.

        `answers` contains True (`then`), False (`else`) or None (unknown) for each condition.
        """
        self.count = self.schemas.count = 0
        for (test, when, otherwise), holds in zip(conditions, answers, strict=True):
            if holds is None:
                bare = merge_schemas(bare, {GatheredKey.UNSUPPORTED: ["if"]})
                continue
            bare = merge_schemas(bare, self.schemas.flatten(when if holds else otherwise, 0))
            if holds and isinstance(bare, Mapping) and "additionalProperties" not in bare:
                bare = merge_schemas(bare, self.find_tested_fields(test))
        node = Node()
        self.fill(node, bare, 0)
        return node

    def find_tested_fields(self, test: Any) -> Mapping[str, Any]:
        """Return a schema that only declares the fields of the schema `test`, with any value in each."""
        flat = self.schemas.flatten(test, 0)
        if not isinstance(flat, Mapping):
            return {}
        named = {keyword: flat.get(keyword) for keyword in ("properties", "patternProperties")}
        return {
            keyword: dict.fromkeys(names, True)
            for keyword, names in named.items()
            if isinstance(names, Mapping)
        }


def _ensure_demands(node: Node) -> Demands:
    if node.demands is None:
        node.demands = Demands()
    return node.demands


def _is_null(branch: Any) -> bool:
    return isinstance(branch, Mapping) and branch.get("type") == "null" and branch.keys() <= _NULL_ALONE


def _has_items_elsewhere(flat: Mapping[Any, Any]) -> bool:
    """Return True when keywords other than `items` may also evaluate items of a list.

    `unevaluatedItems` cannot be checked next to such keywords.
    """
    beside = {"anyOf", "oneOf", GatheredKey.WHEN, GatheredKey.CONTAINS, GatheredKey.ALSO}
    return not beside.isdisjoint(flat)


def _read_size(value: Any, default: int | None) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default


# --- kinds, listed values and null ---------------------------------------------------------------------


def _takes_null(schema: Mapping[Any, Any]) -> bool:
    return schema.get("nullable") is True or ("null" in type_names(schema) and _admits_null(schema))


def _admits_null(schema: Mapping[Any, Any]) -> bool:
    """Return True when `type`, `enum` and `const` permit null.

    A schema without `type` permits null. An `enum` or `const` must contain null.
    """
    types = type_names(schema)
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return (not types or "null" in types) and (not isinstance(listed, list) or None in listed)


def _find_kind(schema: Mapping[Any, Any], type_name: str | None) -> ValueKind | None:
    if type_name is None:
        return _infer_kind(schema)
    if type_name != "string":
        return KINDS_BY_TYPE.get(type_name)
    if isinstance(schema.get("enum"), list):
        return ValueKind.ENUM_TOKEN
    return KINDS_BY_FORMAT.get(str(schema.get("format")), ValueKind.STRING)


def _infer_kind(schema: Mapping[Any, Any]) -> ValueKind | None:
    """Infer the kind of a schema without `type` from its listed values, properties or items."""
    if isinstance(schema.get("properties"), Mapping):
        return ValueKind.JSON_OBJECT
    if "items" in schema or "prefixItems" in schema:
        return ValueKind.JSON_ARRAY
    listed = schema.get("enum")
    listed = listed if isinstance(listed, list) else [schema["const"]] if "const" in schema else []
    types = {type(value) for value in listed if value is not None}
    if len(types) != 1:
        return ValueKind.NUMBER if types == {int, float} else None
    return _KINDS_BY_PYTHON_TYPE.get(types.pop())


_KINDS_BY_PYTHON_TYPE: Mapping[type, ValueKind] = {
    str: ValueKind.ENUM_TOKEN,
    bool: ValueKind.BOOLEAN,
    int: ValueKind.INTEGER,
    float: ValueKind.NUMBER,
}


def _read_choices(schema: Mapping[Any, Any]) -> EnumChoices | None:
    listed = schema.get("enum")
    if "const" in schema:
        is_listed = not isinstance(listed, list) or EnumChoices("", tuple(listed)).holds(schema["const"])
        code, listed = "const_mismatch", [schema["const"]] if is_listed else []
    elif isinstance(listed, list):
        code = "enum_out_of_range"
    else:
        return None
    return EnumChoices(
        code, tuple(listed), {} if schema.get("x-case-sensitive") is True else _fold_texts(listed)
    )


def _fold_texts(listed: list[Any]) -> dict[str, Any]:
    """Return a dict from case-folded strings to allowed strings.

    A key maps to None if two allowed strings have this key.
    """
    folded: dict[str, Any] = {}
    for value in listed:
        if isinstance(value, str):
            key = value.strip().casefold()
            folded[key] = None if key in folded else value
    return folded


def is_of_kind(kind: ValueKind, value: Any) -> bool:
    """Return True when the value has the JSON type of the kind. The format is ignored."""
    return _TYPES[kind](value)


def lists_its_type(node: Node) -> bool:
    """Return False if the node's `enum` contains a value, other than null, that is not of the node's type.

    Otherwise return True.
    """
    kind = node.kind
    if node.choices is None or kind is None:
        return True
    return all(value is None or is_of_kind(kind, value) for value in node.choices.allowed)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


_TYPES: Mapping[ValueKind, Callable[[Any], bool]] = {
    **dict.fromkeys(ValueKind, _is_text),
    ValueKind.BOOLEAN: lambda value: isinstance(value, bool),
    ValueKind.INTEGER: _is_integer,
    ValueKind.NUMBER: _is_number,
    ValueKind.JSON_OBJECT: lambda value: isinstance(value, dict),
    ValueKind.JSON_ARRAY: lambda value: isinstance(value, list),
}


def _map_spellings(fields: Mapping[str, Node]) -> dict[str, str | None]:
    """Return a dict from normalised spellings to declared names.

    A spelling maps to None if two names have this spelling.
    """
    result: dict[str, str | None] = {}
    for name in fields:
        key = normalise_name(name)
        result[key] = None if key in result else name
    return result
