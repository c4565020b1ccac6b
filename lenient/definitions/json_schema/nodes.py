"""Nodes of a compiled schema: each node describes the values that one position of the arguments may have.

`schema_compiler` makes the nodes from a JSON Schema. A recursive reference makes the graph of nodes cyclic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lenient.definitions.json_schema.constraints import CompiledPattern, ValueRule
from lenient.definitions.json_schema.json_values import same_json
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.regex import compile_regex

_SPELLING = compile_regex(r"[\s_\-\\\u200b\ufeff]+")
_AROUND = " \t\r\n\"'`*:?$@<>()[]\u200b\ufeff"
"""Characters of other notations that models put around a name."""


@dataclass(slots=True)
class EnumChoices:
    """The values that `enum` or `const` allows.

    `code` is reported for any other value. `folded` maps case-folded strings to the allowed strings.
    """

    code: str
    allowed: tuple[Any, ...]
    folded: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, value: Any) -> bool:
        return any(same_json(value, allowed) for allowed in self.allowed)


@dataclass(slots=True)
class Contains:
    """At least `least` and at most `most` list items must fit the node `item`.

    If `most` is None, there is no upper limit.
    """

    item: Node
    least: int
    most: int | None


@dataclass(slots=True)
class Conditions:
    """Constraints that apply only to some values.

    `base` is the node without the conditional constraints. Each of `tests` is matched against the value; the
    answer is True, False or None (unknown). `choose` maps the answers to a node and compiles this node on
    first use.
    """

    base: Node
    tests: tuple[Node, ...]
    choose: Callable[[tuple[bool | None, ...]], Node]


@dataclass(slots=True)
class Demands:
    """Constraints that need a match of a value against other nodes.

    `patterns` are the nodes for fields whose name matches a pattern. Every field name must fit `names`. A
    list must meet all of `contains`. A value must fit no node of `forbidden` and all nodes of the list
    `also`, where each node has its keyword. `exclusive` means that only one of the branches may fit.
    """

    patterns: tuple[tuple[CompiledPattern, Node], ...] = ()
    names: Node | None = None
    contains: tuple[Contains, ...] = ()
    forbidden: tuple[Node, ...] = ()
    also: tuple[tuple[str, Node], ...] = ()
    exclusive: bool = False
    conditions: Conditions | None = None


@dataclass(slots=True)
class Node:
    """The values that are allowed at one position of the arguments.

    If `kind` is None and `branches` is empty, any value is allowed. `typed` is False when only keywords other
    than `type` imply the kind. `holds_json` is True for a string that must contain JSON. A node with `never`
    allows no value. `extra` is the constraint on undeclared fields: a node, True (any value), or None
    (undeclared fields are reported, and forbidden if `closed`). `spellings` maps normalised names to declared
    names. `tag` is the field whose value distinguishes the branches, with a dict from values to branches.
    `remarks` are diagnostics as (code, detail) for keywords that are not checked.

    `lenient.coerce.compiled_tool` fills the last four fields on first use. `accepted` contains the types of
    values that need no conversion, and `accepted_fields` contains such types for each field. `is_scalar` is
    True when the node requires only a scalar kind. `is_listed_text` is True when the node requires only one
    of several strings.
    """

    kind: ValueKind | None = None
    typed: bool = True
    holds_json: bool = False
    nullable: bool = False
    never: bool = False
    choices: EnumChoices | None = None
    rules: tuple[ValueRule, ...] = ()
    pattern: CompiledPattern | None = None
    fields: dict[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Node | bool | None = None
    closed: bool = False
    spellings: dict[str, str | None] = field(default_factory=dict)
    items: Node | None = None
    prefix: tuple[Node, ...] = ()
    branches: tuple[Node, ...] = ()
    tag: tuple[str, Mapping[Any, Node]] | None = None
    demands: Demands | None = None
    remarks: tuple[tuple[str, str], ...] = ()
    accepted: Mapping[type, Any] | None = field(default=None, init=False, repr=False, compare=False)
    accepted_fields: dict[str, Mapping[type, Any]] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    is_scalar: bool = field(default=False, init=False, repr=False, compare=False)
    is_listed_text: bool = field(default=False, init=False, repr=False, compare=False)


def normalise_name(name: str) -> str:
    """Return a field name in the form in which different spellings of the name are equal.

    The form has no capitals, underscores, hyphens, backslashes or whitespace, and no quotes or brackets
    around the name.
    """
    return _SPELLING.sub("", name.strip(_AROUND) or name).casefold()


def inner_nodes(node: Node, name: str) -> list[Node]:
    """Return the nodes that the field `name` must fit: its own node, then the nodes of matching patterns."""
    inner = [node.fields[name]] if name in node.fields else []
    if node.demands is not None:
        inner += [
            pattern_node
            for pattern, pattern_node in node.demands.patterns
            if pattern.is_affordable(name) and pattern.regex.search(name)
        ]
    return inner


def known_fields(node: Node | None) -> Mapping[str, Node]:
    """Return the declared fields of a node and of all its branches. Return {} if the node is None."""
    if node is None:
        return {}
    if node.fields or not node.branches:
        return node.fields
    return {name: inner for branch in node.branches[:64] for name, inner in branch.fields.items()}


# --- branches of a union -------------------------------------------------------------------------------

_MAX_COMPARED = 64
_NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.NUMBER})
_TEXTS = frozenset({
    ValueKind.STRING, ValueKind.ENUM_TOKEN, ValueKind.TIMESTAMP, ValueKind.URI,
    ValueKind.ATTACHMENT_REFERENCE,
})  # fmt: skip

NULL = Node(choices=EnumChoices("const_mismatch", (None,)))
"""The branch that allows only null. A node stores this branch as `nullable`."""


def are_all_disjoint(branches: Sequence[Node]) -> bool:
    """Return True when no value can fit two of the branches."""
    if len(branches) > _MAX_COMPARED:
        return False
    return all(are_disjoint(node, other) for at, node in enumerate(branches) for other in branches[at + 1 :])


def are_disjoint(node: Node, other: Node) -> bool:
    """Return True when no value can fit both nodes.

    Either the types or the allowed values of the nodes differ, or the nodes require the same field with
    different allowed values.
    """
    if node.never or other.never:
        return True
    if node.nullable and other.nullable:
        return False
    if other is NULL:
        return node.typed and node.kind is not None and not node.nullable
    if node.branches or other.branches or not (node.typed and other.typed):
        return _are_values_disjoint(node, other)
    if (
        node.kind is not None
        and other.kind is not None
        and _kind_family(node.kind) != _kind_family(other.kind)
    ):
        return True
    if _are_values_disjoint(node, other):
        return True
    shared = node.required & other.required
    return any(_are_values_disjoint(node.fields[name], other.fields[name]) for name in shared)


def _kind_family(kind: ValueKind) -> str:
    return "number" if kind in _NUMBERS else "text" if kind in _TEXTS else kind.value


def _are_values_disjoint(node: Node, other: Node) -> bool:
    if node.choices is None or other.choices is None:
        return False
    return not any(same_json(a, b) for a in node.choices.allowed for b in other.choices.allowed)


def find_tag(branches: Sequence[Node]) -> tuple[str, Mapping[Any, Node]] | None:
    """Return the first field whose allowed strings differ in each branch, and a dict from strings to
    branches.

    Return None when there is no such field.
    """
    if not 1 < len(branches) <= _MAX_COMPARED:
        return None
    for name in branches[0].fields:
        tag_values = _map_values(name, branches)
        if tag_values is not None:
            return name, tag_values
    return None


def _map_values(name: str, branches: Sequence[Node]) -> Mapping[Any, Node] | None:
    result: dict[Any, Node] = {}
    for branch in branches:
        inner = branch.fields.get(name)
        allowed = inner.choices.allowed if inner is not None and inner.choices is not None else ()
        if not allowed or any(not isinstance(value, str) or value in result for value in allowed):
            return None
        result.update(dict.fromkeys(allowed, branch))
    return result


def select_branches(node: Node, value: Any) -> Sequence[Node]:
    """Return the branches to try for a value.

    If the tag field of the value selects a branch, try only this branch. Otherwise try all branches.
    """
    if node.tag is not None and isinstance(value, dict):
        name, branches = node.tag
        named = value.get(name)
        if isinstance(named, str) and named in branches:
            return (branches[named],)
    return node.branches
