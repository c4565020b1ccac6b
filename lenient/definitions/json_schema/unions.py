"""Branches of a union: whether a value can fit two of them, and which field tells them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lenient.definitions.json_schema.json_values import same_json
from lenient.definitions.json_schema.nodes import EnumChoices, Node
from lenient.definitions.json_schema.value_kinds import ValueKind

_MAX_COMPARED = 64
_NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.NUMBER})
_TEXTS = frozenset({
    ValueKind.STRING, ValueKind.ENUM_TOKEN, ValueKind.TIMESTAMP, ValueKind.URI,
    ValueKind.ATTACHMENT_REFERENCE,
})  # fmt: skip

NULL = Node(choices=EnumChoices("const_mismatch", (None,)))
"""The branch that takes only null; a node keeps it as `nullable`."""


def are_all_disjoint(branches: Sequence[Node]) -> bool:
    """Return True when it is certain that no value fits two of the branches."""
    if len(branches) > _MAX_COMPARED:
        return False
    return all(are_disjoint(one, other) for at, one in enumerate(branches) for other in branches[at + 1 :])


def are_disjoint(one: Node, other: Node) -> bool:
    """Return True when it is certain that no value fits both nodes.

    Their types, their listed values, or the listed values of a field that both require must differ.
    """
    if one.never or other.never:
        return True
    if one.nullable and other.nullable:
        return False
    if other is NULL:
        return one.typed and one.kind is not None and not one.nullable
    if one.branches or other.branches or not (one.typed and other.typed):
        return _are_values_disjoint(one, other)
    if one.kind is not None and other.kind is not None and _kind_family(one.kind) != _kind_family(other.kind):
        return True
    if _are_values_disjoint(one, other):
        return True
    shared = one.required & other.required
    return any(_are_values_disjoint(one.fields[name], other.fields[name]) for name in shared)


def _kind_family(kind: ValueKind) -> str:
    return "number" if kind in _NUMBERS else "text" if kind in _TEXTS else kind.value


def _are_values_disjoint(one: Node, other: Node) -> bool:
    if one.choices is None or other.choices is None:
        return False
    return not any(same_json(a, b) for a in one.choices.allowed for b in other.choices.allowed)


def find_tag(branches: Sequence[Node]) -> tuple[str, Mapping[Any, Node]] | None:
    """Return the first field with distinct listed texts in each branch, and the branch for each text.

    Return None when there is no such field.
    """
    if not 1 < len(branches) <= _MAX_COMPARED:
        return None
    for name in branches[0].fields:
        found = _map_values(name, branches)
        if found is not None:
            return name, found
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
    """Return the branches to try for a value: the branch that its tag field names, else all branches."""
    if node.tag is not None and isinstance(value, dict):
        name, branches = node.tag
        named = value.get(name)
        if isinstance(named, str) and named in branches:
            return (branches[named],)
    return node.branches
