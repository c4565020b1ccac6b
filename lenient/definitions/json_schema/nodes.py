"""Nodes of a compiled schema: for each place of a value, what is allowed there.

`schema_compiler` makes them from a JSON Schema; a recursive reference makes the graph cyclic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lenient.definitions.json_schema.constraints import CompiledPattern, ValueRule
from lenient.definitions.json_schema.json_values import same_json
from lenient.definitions.json_schema.value_kinds import ValueKind

_SPELLING = re.compile(r"[\s_\-]+")


@dataclass(slots=True)
class EnumChoices:
    """The values that `enum` or `const` allows.

    `code` is reported for any other value; `folded` maps case-folded texts to the listed ones.
    """

    code: str
    allowed: tuple[Any, ...]
    folded: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, value: Any) -> bool:
        return any(same_json(value, allowed) for allowed in self.allowed)


@dataclass(slots=True)
class Contains:
    """How many items of a list must fit a node; `most` None = any number."""

    item: Node
    least: int
    most: int | None


@dataclass(slots=True)
class Conditions:
    """What further holds depends on the value.

    `base` is the node without them; each of `tests` fits the value or not, or that is unknown (None);
    `chosen` gives the node for the answers, made on first use.
    """

    base: Node
    tests: tuple[Node, ...]
    choose: Callable[[tuple[bool | None, ...]], Node]


@dataclass(slots=True)
class Demands:
    """Demands that ask whether a value would fit another node; the fast check leaves them to the validator.

    `patterns` are nodes for the fields whose name matches; every field name must fit `names`; `forbidden`
    must not fit, `also` must fit as well (with its keyword); `exclusive`: only one of the branches may fit.
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
    """What is allowed at one place. `kind` None without `branches` allows anything.

    `typed` is False when the kind is only implied by other keywords. `extra` is what undeclared fields must
    be: a node, True (anything), or None (they are unknown, and forbidden if `closed`). `tag` is the field
    that tells the branches apart, with the branch for each of its values. `remarks` are diagnostics without
    a place, as (code, detail), for keywords that are not checked.
    """

    kind: ValueKind | None = None
    typed: bool = True
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


def normalise_name(name: str) -> str:
    """Return the name without case, underscores, hyphens and blanks: other spellings give the same."""
    return _SPELLING.sub("", name).casefold()


def inner_nodes(node: Node, name: str) -> list[Node]:
    """Return the nodes that a field must fit: its own, then those of the patterns that match its name."""
    inner = [node.fields[name]] if name in node.fields else []
    if node.demands is not None:
        inner += [
            one
            for pattern, one in node.demands.patterns
            if pattern.is_affordable(name) and pattern.regex.search(name)
        ]
    return inner


def known_fields(node: Node | None) -> Mapping[str, Node]:
    """Return the declared fields of the objects that a node allows, of all its branches together."""
    if node is None:
        return {}
    if node.fields or not node.branches:
        return node.fields
    return {name: inner for branch in node.branches[:64] for name, inner in branch.fields.items()}
