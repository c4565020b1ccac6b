"""The branches of a union → whether no value can fit two of them, and which field tells them apart.

Knows nothing of where values stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lenient.json_values import same_json
from lenient.nodes import Choices, Node
from lenient.parameters import ValueKind

_MAX_COMPARED = 64
_NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.NUMBER})
_TEXTS = frozenset({
    ValueKind.STRING, ValueKind.ENUM_TOKEN, ValueKind.TIMESTAMP, ValueKind.URI,
    ValueKind.ATTACHMENT_REFERENCE,
})  # fmt: skip

NULL = Node(choices=Choices("const_mismatch", (None,)))
"""The branch that takes null alone; a node keeps it as `nullable`."""


def all_apart(branches: Sequence[Node]) -> bool:
    """True when it is certain that no value fits two of the branches."""
    if len(branches) > _MAX_COMPARED:
        return False
    return all(apart(one, other) for at, one in enumerate(branches) for other in branches[at + 1 :])


def apart(one: Node, other: Node) -> bool:
    """True when it is certain that no value fits both: another type, other listed values, another tag."""
    if one.never or other.never:
        return True
    if one.nullable and other.nullable:
        return False
    if other is NULL:
        return one.typed and one.kind is not None and not one.nullable
    if one.branches or other.branches or not (one.typed and other.typed):
        return _listed_apart(one, other)
    if one.kind is not None and other.kind is not None and _family(one.kind) != _family(other.kind):
        return True
    if _listed_apart(one, other):
        return True
    shared = one.required & other.required
    return any(_listed_apart(one.fields[name], other.fields[name]) for name in shared)


def _family(kind: ValueKind) -> str:
    return "number" if kind in _NUMBERS else "text" if kind in _TEXTS else kind.value


def _listed_apart(one: Node, other: Node) -> bool:
    if one.choices is None or other.choices is None:
        return False
    return not any(same_json(a, b) for a in one.choices.allowed for b in other.choices.allowed)


def tag_of(branches: Sequence[Node]) -> tuple[str, Mapping[Any, Node]] | None:
    """The first field that each branch gives texts of its own, with the branch for each text."""
    if not 1 < len(branches) <= _MAX_COMPARED:
        return None
    for name in branches[0].fields:
        found = _by_value(name, branches)
        if found is not None:
            return name, found
    return None


def _by_value(name: str, branches: Sequence[Node]) -> Mapping[Any, Node] | None:
    result: dict[Any, Node] = {}
    for branch in branches:
        inner = branch.fields.get(name)
        allowed = inner.choices.allowed if inner is not None and inner.choices is not None else ()
        if not allowed or any(not isinstance(value, str) or value in result for value in allowed):
            return None
        result.update(dict.fromkeys(allowed, branch))
    return result


def likely(node: Node, value: Any) -> Sequence[Node]:
    """The branches worth trying for a value: the one that it names by its tag, else all."""
    if node.tag is not None and isinstance(value, dict):
        name, branches = node.tag
        named = value.get(name)
        if isinstance(named, str) and named in branches:
            return (branches[named],)
    return node.branches
